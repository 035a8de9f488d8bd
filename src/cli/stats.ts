// `iree-tuned stats`.
import type { Command as Program } from 'commander';
import { collectCounts } from '../report/counting.ts';
import { table } from '../report/table.ts';
import { openDatabase, surroundingsOf } from './context.ts';

export async function showStats(
  options: { json?: boolean; zero?: boolean },
  program: Program,
): Promise<void> {
  const surroundings = surroundingsOf(program);
  const store = await openDatabase(surroundings);
  if (!surroundings.settings.readonly) collectCounts(surroundings.cacheDirectory, store);
  const counters = store.counters();
  if (options.zero === true) store.zeroCounters();
  store.close();
  const of = (name: string) => counters[name] ?? 0;
  const looked = of('operations: hit') + of('operations: tuned') + of('operations: default');
  const hitRate = looked === 0 ? null : of('operations: hit') / looked;
  if (options.json === true) {
    console.log(JSON.stringify({ hitRate, counters }, null, 2));
    return;
  }
  if (Object.keys(counters).length === 0) {
    console.log('Nothing has been compiled yet.');
    return;
  }
  const rows = Object.entries(counters)
    .sort(([a], [b]) => Number(a !== 'compiles') - Number(b !== 'compiles') || a.localeCompare(b))
    .map(([name, value]) => [name, Number.isInteger(value) ? String(value) : value.toFixed(1)]);
  console.log(table(['what', 'count'], rows));
  if (hitRate !== null)
    console.log(
      `\nhit rate ${(hitRate * 100).toFixed(0)}% of ${looked} ${looked === 1 ? 'operation' : 'operations'}`,
    );
}
