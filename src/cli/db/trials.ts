// `iree-tuned db trials`
import type { KnobColumns } from '../../backend/backend.ts';
import { isDefault } from '../../backend/configuration.ts';
import { backendOf, configurationKey } from '../../backend/index.ts';
import { csvLine } from '../../report/csv.ts';
import { table } from '../../report/table.ts';
import type { Store, Trial, TuningRecord } from '../../store/store.ts';
import { formatRatio, formatSeconds } from '../../system/format.ts';
import type { Workload } from '../../workload/workload.ts';
import { CliCommand } from '../command.ts';
import { openToRead, surroundingsOf, UsageError } from '../context.ts';
import { page } from '../output.ts';
import { recordsOf } from './records.ts';

/** A trial with its configuration as values of knobs. */
interface KnobTrial {
  readonly trial: Trial;
  readonly knobs: KnobColumns;
  readonly record: TuningRecord;
}

export const trials = new CliCommand('trials', 'show all trials of a workload, one column per knob')
  .argument('<workload>', 'key of a workload, or a part that no other record has')
  .filters('target', 'compiler', 'device')
  .option('--csv', 'print as CSV')
  .json()
  .examples(
    ['iree-tuned db trials "m=512 n=512"', 'a table, the fastest first'],
    ['iree-tuned db trials m=997 --csv > trials.csv', 'for other programs'],
  )
  .action(async (workload: string, options: { csv?: boolean; json?: boolean }, command: CliCommand) => {
    const isCsv = options.csv === true;
    if (isCsv && options.json === true) throw new UsageError('--csv and --json exclude each other');
    const store = await openToRead(surroundingsOf(command));
    const records = recordsOf(store, workload, command.filter);
    const all = records.flatMap((record) => trialsOf(store, record));
    store.close();
    const names = [...new Set(all.flatMap(({ knobs }) => Object.keys(knobs)))];
    if (isCsv) process.stdout.write(csvOf(all, names));
    else
      command.print(
        {
          workload: records[0].workload,
          trials: all.map(({ trial, knobs, record: { target, device, compiler } }) => ({
            ...{ ...trial, knobs, target, device, compiler },
          })),
        },
        () => tableOf(all, names),
      );
  });

function trialsOf(store: Store, record: TuningRecord): KnobTrial[] {
  const form = store.subject(record)?.workloadForm;
  return store.trials(record).map((trial) => ({ trial, knobs: knobsOf(form, trial), record }));
}

const knobsOf = (workload: Workload | undefined, { configuration }: Trial): KnobColumns =>
  workload === undefined || isDefault(configuration)
    ? {}
    : backendOf(configuration).knobValues(workload, configuration);

function csvOf(all: readonly KnobTrial[], names: readonly string[]): string {
  const header = ['outcome', 'seconds', 'ratio', ...names, 'configuration', 'strategy', 'message'];
  const lines = all.map(({ trial, knobs, record: { target, device, compiler } }) =>
    csvLine([
      ...[trial.outcome, trial.seconds, trial.ratio],
      ...names.map((name) => knobs[name] ?? null),
      ...[configurationKey(trial.configuration), trial.strategy, trial.message],
      ...[target, device, compiler],
    ]),
  );
  return [csvLine([...header, 'target', 'device', 'compiler']), ...lines].join('');
}

/** The fastest first. Knobs without any value have no column. */
function tableOf(all: readonly KnobTrial[], names: readonly string[]): string {
  const used = names.filter((name) => all.some(({ knobs }) => knobs[name] !== null && name in knobs));
  const text = (value: KnobColumns[string] | undefined) =>
    typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value ?? '-');
  return table(
    ['time', 'gain', ...used, 'outcome'],
    all
      .toSorted((a, b) => (b.trial.ratio ?? 0) - (a.trial.ratio ?? 0))
      .map(({ trial: { seconds, ratio, outcome, configuration }, knobs }) => [
        formatSeconds(seconds ?? NaN),
        formatRatio(ratio),
        ...used.map((name) => text(knobs[name])),
        isDefault(configuration) ? `${outcome}, the default` : outcome,
      ]),
    page,
  );
}
