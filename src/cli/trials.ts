// `iree-tuned trials`: everything that was tried for a workload, each knob a column.
import type { Command as Program } from 'commander';
import type { KnobColumns } from '../backend/backend.ts';
import { backendOf, configurationKey } from '../backend/index.ts';
import { isDefault } from '../backend/configuration.ts';
import { csvLine } from '../profile/csv.ts';
import { table } from '../report/table.ts';
import type { Store, Trial, TuningRecord } from '../store/store.ts';
import { formatSeconds } from '../system/format.ts';
import type { Workload } from '../workload/workload.ts';
import { openToLook, surroundingsOf, UsageError } from './context.ts';
import { filterOf } from './filters.ts';
import { page } from './output.ts';
import { recordsOf } from './records.ts';

/** A trial with its configuration as values of knobs. */
interface KnobTrial {
  readonly trial: Trial;
  readonly knobs: KnobColumns;
  readonly record: TuningRecord;
}

export async function showTrials(
  workload: string,
  options: { csv?: boolean; json?: boolean },
  program: Program,
): Promise<void> {
  if (options.csv === true && options.json === true)
    throw new UsageError('--csv and --json: one of them is enough');
  const { store } = await openToLook(surroundingsOf(program));
  const records = recordsOf(store, workload, filterOf(program));
  const all = records.flatMap((record) => knobTrialsOf(store, record));
  store.close();
  const names = [...new Set(all.flatMap(({ knobs }) => Object.keys(knobs)))];
  if (options.json === true) {
    const rows = all.map(({ trial, knobs, record: { target, device, compiler } }) => ({
      ...{ ...trial, knobs, target, device, compiler },
    }));
    console.log(JSON.stringify({ workload: records[0].workload, trials: rows }, null, 2));
  } else if (options.csv === true) process.stdout.write(csvOf(all, names));
  else console.log(tableOf(all, names));
}

function knobTrialsOf(store: Store, record: TuningRecord): KnobTrial[] {
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

/** The fastest first. Knobs that nothing was tried of are left out. */
function tableOf(all: readonly KnobTrial[], names: readonly string[]): string {
  const used = names.filter((name) => all.some(({ knobs }) => knobs[name] !== null && name in knobs));
  const text = (value: KnobColumns[string] | undefined) =>
    typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value ?? '-');
  return table(
    ['time', 'gain', ...used, 'outcome'],
    all
      .toSorted((a, b) => (b.trial.ratio ?? 0) - (a.trial.ratio ?? 0))
      .map(({ trial, knobs }) => [
        formatSeconds(trial.seconds ?? NaN),
        trial.ratio === null ? '-' : `${trial.ratio.toFixed(2)}x`,
        ...used.map((name) => text(knobs[name])),
        isDefault(trial.configuration) ? `${trial.outcome}, the default` : trial.outcome,
      ]),
    page,
  );
}
