// Many builds of one input at once, without a record: `npm run test:cold -- [COUNT]`.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Explanation } from '../../src/report/explain.ts';
import { HOST, oddMatmul, rowsOf, runMatmul, Workplace, WRAPPER } from '../scenarios/support.ts';

export interface ColdBuilds {
  /** Searches with trials. Each search begins with a trial of the default. */
  readonly searches: number;
  readonly records: number;
  /** Builds that succeeded with the right output. */
  readonly good: number;
  /** Number of builds for each outcome of the operation. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}

/**
 * Starts `count` builds at once.
 * @param killFirst kills the tuning build after its first trial; another build has to take over
 * @param place a workplace with real searches, or with searches that the file `hold` holds
 */
export async function coldBuilds(
  count: number,
  { killFirst, place }: { readonly killFirst: boolean; readonly place: Workplace },
): Promise<ColdBuilds> {
  place.write('in.mlir', oddMatmul);
  if (killFirst) place.write('hold', '');
  await place.stock([...HOST, 'in.mlir', '-o', 'stock.vmfb']);
  const run = (module: string) => runMatmul(place, module, 61, 67, 71);
  const right = (await run('stock.vmfb')).stdout;
  const builds = Array.from({ length: count }, (_, i) =>
    place.start(WRAPPER, [...HOST, 'in.mlir', '-o', `${i}.vmfb`], {
      env: { IREE_TUNED_EXPLAIN: `${i}.json` },
    }),
  );
  if (killFirst) {
    while (rowsOf(place, 'trial') === 0) await sleep(100);
    // Its scratch folder has its process id in the name.
    const pids = builds.map(({ child }) => child.pid);
    const tuner = readdirSync(place.path('cache/work')).find((name) => name.startsWith('tuning-'));
    const pid = Number(tuner?.split('-')[2]);
    if (!pids.includes(pid)) throw new Error(`nobody tunes: ${String(tuner)}`);
    process.kill(pid, 'SIGKILL');
    place.remove('hold');
  }
  const outcomes: Record<string, number> = {};
  const problems: string[] = [];
  let good = 0;
  for (const [i, { ended }] of builds.entries()) {
    const { code, signal, stdout, stderr } = await ended;
    if (signal === 'SIGKILL' && killFirst) continue;
    const result = code === 0 ? await run(`${i}.vmfb`) : null;
    if (code === 0 && stdout.length === 0 && stderr === '' && result!.stdout.equals(right)) good++;
    else problems.push(`build ${i} ended with ${code ?? signal ?? ''}: ${stderr}`);
    const explanation = JSON.parse(readFileSync(place.path(`${i}.json`), 'utf8')) as Explanation;
    const { outcome, reason } = explanation.operations[0]!;
    const what = outcome === 'default' ? `${outcome}: ${reason}` : outcome;
    outcomes[what] = (outcomes[what] ?? 0) + 1;
  }
  const searches = rowsOf(place, `trial WHERE configuration ->> 'kind' = 'default'`);
  return { searches, records: rowsOf(place, 'claim'), good, outcomes, problems };
}

if (import.meta.main) {
  const count = Number(process.argv[2] ?? 32);
  const begun = performance.now();
  for (const killFirst of [false, true]) {
    const result = await coldBuilds(count, { killFirst, place: Workplace.real({ IREE_TUNED_BUDGET: '60' }) });
    console.log(
      JSON.stringify({ killFirst, ...result, seconds: Math.round((performance.now() - begun) / 1000) }),
    );
    const expected = killFirst ? count - 1 : count;
    if (result.good !== expected || result.records !== 1 || result.outcomes['tuned'] !== 1)
      process.exitCode = 1;
  }
}
