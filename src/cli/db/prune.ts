// `iree-tuned db prune`
import type { Surplus } from '../../store/exchange/exchange.ts';
import { isNarrow } from '../../store/filter.ts';
import { CliCommand } from '../command.ts';
import { openLines, requireDatabase } from '../database.ts';
import { UsageError } from '../failure.ts';
import { sentences } from '../output.ts';

const DAY_MS = 24 * 3600 * 1000;

interface Options {
  readonly trialsOlderThan?: string;
  readonly records?: boolean;
  readonly apply?: boolean;
}

export const prune = new CliCommand(
  'prune',
  'count old trials and unused records, and remove them with --apply; marks and revocations stay',
)
  .filters()
  .option('--trials-older-than <days>', 'trials of this age, with their runs')
  .option('--records', 'records that match the filters')
  .option('--apply', 'remove them (default: only count them)')
  .json()
  .examples(
    ['iree-tuned db prune --trials-older-than 90', 'count old trials'],
    ['iree-tuned db prune --records --with-compiler 3.11 --apply', 'remove records of an old compiler'],
  )
  .action(({ trialsOlderThan, records = false, apply = false }: Options, command: CliCommand) => {
    const surroundings = command.surroundings();
    const { database } = surroundings.settings;
    const { filter } = command;
    if (trialsOlderThan === undefined && !records)
      throw new UsageError(
        'db prune needs --trials-older-than DAYS, or --records with a filter such as --with-compiler',
      );
    if (records && !isNarrow(filter))
      throw new UsageError(
        'db prune --records needs a filter: --workload, --for-target, --with-compiler or --on-device',
      );
    const trialsBefore = trialsOlderThan === undefined ? null : instantBefore(trialsOlderThan);
    const surplus: Surplus = { trialsBefore, claims: records, filter };
    requireDatabase(surroundings);
    using exchange = openLines(surroundings);
    const pruned = apply ? exchange.prune(surplus) : exchange.surplus(surplus);
    const text = `${pruned.trials} trials with ${pruned.runs} runs, and ${pruned.claims} claims`;
    command.print({ database, applied: apply, ...pruned }, () =>
      sentences(
        apply
          ? `${database}: removed ${text}`
          : `${database}: --apply removes ${text}. Imports and syncs bring lines of others back`,
      ),
    );
  });

function instantBefore(text: string): string {
  const days = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || days > 36500)
    throw new UsageError(`--trials-older-than ${text}: give a number of days`);
  return new Date(Date.now() - days * DAY_MS).toISOString();
}
