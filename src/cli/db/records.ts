// `iree-tuned db ls` and `show`: records by filters, or by a workload that the user names.
import type { KnobColumns } from '../../backend/schema.ts';
import { isDefault } from '../../backend/configuration.ts';
import { backendOf, configurationKey } from '../../backend/index.ts';
import { geometricMean } from '../../measure/statistics.ts';
import { table } from '../../report/table.ts';
import { type Filter, fits } from '../../store/filter.ts';
import type { RecordKey, Store, Trial, TuningRecord } from '../../store/store.ts';
import { formatRatio, formatSeconds, shortKey } from '../../system/format.ts';
import { UserError } from '../../system/user-error.ts';
import { staticForms, type Workload, workloadFlops } from '../../workload/workload.ts';
import { CliCommand } from '../command.ts';
import { openToRead } from '../database.ts';
import { page, sentences } from '../output.ts';

/** Whether the workload, the target or the device contains a text. True without a text. */
export const contains = ({ workload, target, device }: RecordKey, text: string | undefined): boolean =>
  text === undefined || [workload, target, device].some((key) => key.includes(text));

/** A filter in words, such as ` with device "zen4"`; empty for none. */
export const filterText = (filter: Filter, text?: string): string => {
  const parts = Object.entries(filter).map(([part, value]) => ` with ${part} "${value}"`);
  return [...(text === undefined ? [] : [` that contain "${text}"`]), ...parts].join('');
};

/**
 * All records of one workload, newest first.
 * @param workload its key, or a part that no other workload with records has
 * @throws UserError for no workload, or several
 */
export function recordsOf(
  store: Store,
  workload: string,
  filter: Filter,
): readonly [TuningRecord, ...TuningRecord[]] {
  const records = store.allRecords().filter((record) => fits(record, filter));
  const exact = records.filter((record) => record.workload === workload);
  const found = exact.length > 0 ? exact : records.filter((record) => record.workload.includes(workload));
  const [first, ...more] = found;
  if (first === undefined)
    throw new UserError(`no record matches "${workload}": iree-tuned db ls lists the records`);
  if (new Set(found.map((one) => one.workload)).size > 1)
    throw new UserError(
      `"${workload}" matches ${found.length} records: give more of the key:\n` +
        found.map((one) => `  ${one.workload}`).join('\n'),
    );
  return [first, ...more];
}

export const ls = new CliCommand('ls', 'list the records, newest first')
  .argument('[text]', 'only records whose workload, target or device contains the text')
  .filters()
  .json()
  .examples(
    ['iree-tuned db ls', 'all records'],
    ['iree-tuned db ls m=512', 'records with this text in their keys'],
    ['iree-tuned db ls --with-compiler 3.13 --json', 'records of one compiler, for scripts'],
  )
  .action(async (text: string | undefined, _, command: CliCommand) => {
    const surroundings = command.surroundings();
    const { filter } = command;
    using store = await openToRead(surroundings);
    const records = store.allRecords().filter((record) => fits(record, filter) && contains(record, text));
    command.printTable(
      records,
      ['workload', 'gain', 'default', 'tuned', 'configuration', 'device'],
      records.map(({ workload, failure, evidence, configuration, device }) => [
        shortKey(workload),
        failure === null ? formatRatio(evidence.ratio) : 'failed',
        formatSeconds(evidence.defaultSeconds),
        formatSeconds(evidence.seconds),
        configurationKey(configuration),
        device,
      ]),
      `No records${filterText(filter, text)} in ${surroundings.settings.database}.`,
    );
  });

/** Trials of a record that are shown without `--all`. */
const FIRST_TRIALS = 10;

export const show = new CliCommand('show', 'show the records of a workload, with their evidence and trials')
  .argument('<workload>', 'key of a workload, or a part that no other record has')
  .filters('target', 'compiler', 'device')
  .option('--all', 'all trials, one column per knob (default: the ten with the largest gains)')
  .json()
  .examples(
    ['iree-tuned db show "m=512 n=512"', 'the record with this text in its key'],
    ['iree-tuned db show m=997 --all', 'with all trials'],
    ['iree-tuned db show m=997 --json > trials.json', 'for other programs'],
  )
  .action(async (workload: string, options: { all?: boolean }, command: CliCommand) => {
    using store = await openToRead(command.surroundings());
    const records = recordsOf(store, workload, command.filter);
    const trials = records.flatMap((record) => trialsOf(store, record));
    const form = store.subject(records[0])?.workloadForm;
    // Times of dynamic dimensions are geometric means over the sizes; so is the work.
    const flops = form === undefined ? null : geometricMean(staticForms(form).map(workloadFlops));
    const described = options.all === true ? describeAll : describeBest;
    command.print({ records, trials }, () =>
      [...records.map((record) => describeRecord(record, flops)), '', described(trials, records[0])].join(
        '\n',
      ),
    );
  });

/** A trial with its place, and its configuration as values of knobs. */
interface KnobTrial extends Trial, Omit<RecordKey, 'workload'> {
  readonly knobs: KnobColumns;
}

function trialsOf(store: Store, record: TuningRecord): KnobTrial[] {
  const { target, device, compiler } = record;
  const form = store.subject(record)?.workloadForm;
  return store
    .trials(record)
    .map((trial) => ({ ...trial, knobs: knobsOf(form, trial), ...{ target, device, compiler } }));
}

const knobsOf = (workload: Workload | undefined, { configuration }: Trial): KnobColumns =>
  workload === undefined || isDefault(configuration)
    ? {}
    : backendOf(configuration).schema.columns(workload, configuration);

/** Searches at different times have other times for the same default, so gains are the order. */
const byGain = (a: Trial, b: Trial): number => (b.ratio ?? 0) - (a.ratio ?? 0);

function describeBest(all: readonly KnobTrial[], record: TuningRecord): string {
  const { target, device, compiler } = record;
  const isOwn = (one: KnobTrial) =>
    one.target === target && one.device === device && one.compiler === compiler;
  const trials = all.filter(isOwn);
  const measured = trials.filter(({ seconds }) => seconds !== null).sort(byGain);
  const shown = measured.slice(0, FIRST_TRIALS);
  return [
    `${trials.length} trials, ${measured.length} measured${shown.length < measured.length ? ', the largest gains:' : ':'}`,
    table(
      ['time', 'gain', 'configuration'],
      [
        [formatSeconds(record.evidence.seconds), formatRatio(record.evidence.ratio), 'the record'],
        ...shown.map(({ seconds, ratio, configuration }) => [
          formatSeconds(seconds!),
          formatRatio(ratio),
          configurationKey(configuration),
        ]),
      ],
      page,
    ),
  ].join('\n');
}

/** @param flops of one run; null if unknown */
function describeRecord(record: TuningRecord, flops: number | null): string {
  const { evidence } = record;
  const rate = (seconds: number) => (flops === null ? '' : `, ${(flops / seconds / 1e9).toFixed(1)} GFLOP/s`);
  return sentences(
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
  );
}

/** All trials, the fastest first. Knobs without any value have no column. */
function describeAll(all: readonly KnobTrial[]): string {
  const names = [...new Set(all.flatMap(({ knobs }) => Object.keys(knobs)))];
  const used = names.filter((name) => all.some(({ knobs }) => knobs[name] !== null && name in knobs));
  const text = (value: KnobColumns[string] | undefined) =>
    typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value ?? '-');
  return table(
    ['time', 'gain', ...used, 'outcome', 'message'],
    all
      .toSorted(byGain)
      .map(({ seconds, ratio, outcome, message, configuration, knobs }) => [
        formatSeconds(seconds ?? NaN),
        formatRatio(ratio),
        ...used.map((name) => text(knobs[name])),
        isDefault(configuration) ? `${outcome}, the default` : outcome,
        message ?? '',
      ]),
    page,
  );
}
