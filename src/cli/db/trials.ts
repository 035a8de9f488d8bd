// `iree-tuned db trials`
import type { KnobColumns } from '../../backend/schema.ts';
import { isDefault } from '../../backend/configuration.ts';
import { backendOf } from '../../backend/index.ts';
import { table } from '../../report/table.ts';
import type { Store, Trial, TuningRecord } from '../../store/store.ts';
import { formatRatio, formatSeconds } from '../../system/format.ts';
import type { Workload } from '../../workload/workload.ts';
import { CliCommand } from '../command.ts';
import { openToRead, surroundingsOf } from '../context.ts';
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
  .json()
  .examples(
    ['iree-tuned db trials "m=512 n=512"', 'a table, the fastest first'],
    ['iree-tuned db trials m=997 --json > trials.json', 'for other programs'],
  )
  .action(async (workload: string, _, command: CliCommand) => {
    const store = await openToRead(surroundingsOf(command));
    const records = recordsOf(store, workload, command.filter);
    const all = records.flatMap((record) => trialsOf(store, record));
    store.close();
    command.print(
      {
        workload: records[0].workload,
        trials: all.map(({ trial, knobs, record: { target, device, compiler } }) => ({
          ...{ ...trial, knobs, target, device, compiler },
        })),
      },
      () => tableOf(all),
    );
  });

function trialsOf(store: Store, record: TuningRecord): KnobTrial[] {
  const form = store.subject(record)?.workloadForm;
  return store.trials(record).map((trial) => ({ trial, knobs: knobsOf(form, trial), record }));
}

const knobsOf = (workload: Workload | undefined, { configuration }: Trial): KnobColumns =>
  workload === undefined || isDefault(configuration)
    ? {}
    : backendOf(configuration).schema.columns(workload, configuration);

/** The fastest first. Knobs without any value have no column. */
function tableOf(all: readonly KnobTrial[]): string {
  const names = [...new Set(all.flatMap(({ knobs }) => Object.keys(knobs)))];
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
