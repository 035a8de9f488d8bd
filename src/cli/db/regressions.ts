// `iree-tuned db regressions`
import { fits } from '../../store/filter.ts';
import type { TuningRecord } from '../../store/store.ts';
import { formatRatio, formatSeconds, shortKey } from '../../system/format.ts';
import { isRegression, recordedChanges } from '../../tuning/regressions.ts';
import { CliCommand } from '../command.ts';
import { openToRead } from '../database.ts';
import { UsageError } from '../failure.ts';

export const regressions = new CliCommand(
  'regressions',
  'list the workloads whose default became slower between two compilers, by the records of one device, the greatest loss first',
)
  .argument('<old>', 'a compiler: a part of its key that no other compiler with records has')
  .argument('<new>', 'another compiler')
  .filters('workload')
  .json()
  .examples([
    'iree-tuned db regressions 3.12 3.13',
    'after an upgrade, when both have tuned the same programs',
  ])
  .action(findRegressions);

/** Ends with 1 where a default became slower. */
async function findRegressions(older: string, newer: string, _: unknown, command: CliCommand): Promise<void> {
  using store = await openToRead(command.surroundings());
  const records = store.allRecords().filter((record) => fits(record, command.filter));
  const [from, to] = [compilerNamed(older, records), compilerNamed(newer, records)];
  const changes = recordedChanges(records, from, to).map((one) => ({
    ...one,
    isRegression: isRegression(one),
  }));
  command.printTable(
    { older: from, newer: to, changes },
    ['workload', from, to, 'ratio', 'interval', ''],
    changes.map((one) => [
      shortKey(one.workload),
      ...[formatSeconds(one.oldSeconds), formatSeconds(one.newSeconds), formatRatio(one.ratio)],
      `${one.low.toFixed(2)} to ${one.high.toFixed(2)}`,
      one.isRegression ? 'slower' : '',
    ]),
    `No device has records of both ${from} and ${to}: run iree-tuned tune with each compiler.`,
  );
  if (changes.some((one) => one.isRegression)) process.exitCode = 1;
}

/** The key of the only compiler with records whose key contains a text. @throws UsageError */
function compilerNamed(text: string, records: readonly TuningRecord[]): string {
  const keys = [...new Set(records.map(({ compiler }) => compiler))].filter((key) => key.includes(text));
  if (keys.length === 1) return keys[0]!;
  throw new UsageError(
    keys.length === 0
      ? `${text} is no part of the key of a compiler with records`
      : `${text} matches several compilers: ${keys.join(', ')}`,
  );
}
