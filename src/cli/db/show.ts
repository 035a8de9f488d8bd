// `iree-tuned db show`
import { configurationKey } from '../../backend/index.ts';
import { geometricMean } from '../../measure/statistics.ts';
import { table } from '../../report/table.ts';
import { printable, wrapped } from '../../report/text.ts';
import type { Trial, TuningRecord } from '../../store/store.ts';
import { formatRatio, formatSeconds } from '../../system/format.ts';
import { staticForms, workloadFlops } from '../../workload/workload.ts';
import { CliCommand } from '../command.ts';
import { openToRead, surroundingsOf } from '../context.ts';
import { page } from '../output.ts';
import { recordsOf } from './records.ts';

/** Trials of a record that are shown without `--all`. */
const FIRST_TRIALS = 10;

export const show = new CliCommand('show', 'show the record of a workload, with its evidence and trials')
  .argument('<workload>', 'key of a workload, or a part that no other record has')
  .filters('target', 'compiler', 'device')
  .option('--all', 'all trials (default: the ten with the largest gains)')
  .json()
  .examples(
    ['iree-tuned db show "m=512 n=512"', 'the record with this text in its key'],
    ['iree-tuned db show m=997 --all', 'with all trials'],
  )
  .action(async (workload: string, options: { all?: boolean }, command: CliCommand) => {
    const store = await openToRead(surroundingsOf(command));
    const records = recordsOf(store, workload, command.filter);
    const trials = store.trials(records[0]);
    const form = store.subject(records[0])?.workloadForm;
    store.close();
    // Times of dynamic dimensions are geometric means over the sizes; so is the work.
    const flops = form === undefined ? null : geometricMean(staticForms(form).map(workloadFlops));
    command.print({ records, trials }, () =>
      [
        ...records.map((record) => describeRecord(record, flops)),
        '',
        describeTrials(trials, records[0], options.all === true),
      ].join('\n'),
    );
  });

/** Searches at different times have other times for the same default, so gains are the order. */
function describeTrials(trials: readonly Trial[], { evidence }: TuningRecord, isAll: boolean): string {
  const measured = trials
    .filter(({ seconds }) => seconds !== null)
    .sort((a, b) => (b.ratio ?? 0) - (a.ratio ?? 0));
  const shown = isAll ? measured : measured.slice(0, FIRST_TRIALS);
  const failed = isAll ? trials.filter(({ outcome }) => outcome !== 'measured') : [];
  return [
    `${trials.length} trials, ${measured.length} measured${shown.length < measured.length ? ', the largest gains:' : ':'}`,
    table(
      ['time', 'gain', 'configuration'],
      [
        [formatSeconds(evidence.seconds), formatRatio(evidence.ratio), 'the record'],
        ...shown.map(({ seconds, ratio, configuration }) => [
          formatSeconds(seconds!),
          formatRatio(ratio),
          configurationKey(configuration),
        ]),
      ],
      page,
    ),
    ...(failed.length === 0
      ? []
      : [
          '',
          table(
            ['outcome', 'configuration', 'message'],
            failed.map((trial) => [
              trial.outcome,
              configurationKey(trial.configuration),
              trial.message ?? '',
            ]),
            page,
          ),
        ]),
  ].join('\n');
}

/** @param flops of one run; null if unknown */
function describeRecord(record: TuningRecord, flops: number | null): string {
  const { evidence } = record;
  const rate = (seconds: number) => (flops === null ? '' : `, ${(flops / seconds / 1e9).toFixed(1)} GFLOP/s`);
  return [
    record.workload,
    `  target         ${record.target}`,
    `  device         ${record.device}`,
    `  compiler       ${record.compiler}`,
    `  configuration  ${configurationKey(record.configuration)}`,
    `  default        ${formatSeconds(evidence.defaultSeconds)}${rate(evidence.defaultSeconds)}`,
    `  tuned          ${formatSeconds(evidence.seconds)}${rate(evidence.seconds)}`,
    `  gain           ${evidence.ratio.toFixed(3)}x (99%: ${evidence.low.toFixed(3)} to ${evidence.high.toFixed(3)}), ` +
      `noise floor ${(evidence.noiseFloor * 100).toFixed(1)}%`,
    `  measured       ${evidence.repetitions} repetitions in ${evidence.processes} processes, largest error ${evidence.maxError}`,
    `  search         ${evidence.trials} trials in ${evidence.tuningSeconds.toFixed(1)} s of ${evidence.families.join(' and ') || 'the search space of a user'}${evidence.complete ? '' : ', not complete'}`,
    `  written        ${record.createdAt} by ${record.createdBy} on ${record.machine}, with ${record.tool}`,
    `  digest         ${record.digest}`,
    ...(record.failure === null ? [] : [`  failed         ${record.failure}`]),
  ]
    .map((line) => wrapped(printable(line), page.columns, ' '.repeat(17)))
    .join('\n');
}
