// `iree-tuned prune`: what nobody needs any more.
import type { Command as Program } from 'commander';
import type { Surplus } from '../store/exchange/exchange.ts';
import { isNarrow } from '../store/filter.ts';
import { openWholeDatabase, requireDatabase, surroundingsOf, UsageError } from './context.ts';
import { filterOf } from './filters.ts';
import { say } from './output.ts';

const DAY_MS = 24 * 3600 * 1000;

export function pruneDatabase(
  options: { trialsOlderThan?: string; records?: boolean; apply?: boolean; json?: boolean },
  program: Program,
): void {
  const surroundings = surroundingsOf(program);
  const { database } = surroundings.settings;
  const filter = filterOf(program);
  const { trialsOlderThan, records = false, apply = false } = options;
  if (trialsOlderThan === undefined && !records)
    throw new UsageError(
      'prune: say what: --trials-older-than DAYS, or --records with --compiler or another filter',
    );
  if (records && !isNarrow(filter))
    throw new UsageError('prune --records: say of what: --compiler, --target, --device or --workload');
  const trialsBefore = trialsOlderThan === undefined ? null : instantBefore(trialsOlderThan);
  const what: Surplus = { trialsBefore, claims: records, filter };
  requireDatabase(surroundings);
  const exchange = openWholeDatabase(surroundings);
  try {
    const pruned = apply ? exchange.prune(what) : exchange.surplus(what);
    if (options.json === true) {
      console.log(JSON.stringify({ database, applied: apply, ...pruned }, null, 2));
      return;
    }
    const { trials, runs, claims } = pruned;
    const text = `${trials} trials with ${runs} runs, and ${claims} claims`;
    say(
      apply
        ? `${database}: removed ${text}`
        : `${database}: ${text} would go; --apply removes them. What others have told comes back with their next file`,
    );
  } finally {
    exchange.close();
  }
}

function instantBefore(text: string): string {
  const days = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || days > 36500)
    throw new UsageError(`--trials-older-than ${text}: it takes a number of days`);
  return new Date(Date.now() - days * DAY_MS).toISOString();
}
