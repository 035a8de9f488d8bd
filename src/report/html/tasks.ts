// Open tasks: misses of builds and unfinished searches, each with its commands. Pure.
import { isDefault } from '../../backend/configuration.ts';
import { isDevice } from '../../backend/device.ts';
import type { RecordKey, Subject } from '../../store/store.ts';
import { counted, formatRatio } from '../../system/format.ts';
import { isSelfContained, workloadFlops } from '../../workload/workload.ts';
import type { Task } from './data.ts';
import type { ReportSource } from './model.ts';
import { plain, shapeOf, shellWord } from './texts.ts';

/** A workload without a record, or with an unfinished search. */
interface Open {
  readonly kind: Task['kind'];
  readonly subject: Subject;
  /** Index of its place. */
  readonly place: number;
  readonly note: string;
  /** Order of the tasks: likely savings, in seconds or in builds times operations. */
  readonly weight: number;
}

/** Most items of a list. */
const MOST_ITEMS = 12;

/** Usual budget of one search in seconds. */
const SECONDS_EACH = 30;

/** One task for each place and kind, largest first. */
export function tasksOf(source: ReportSource, placeOf: (key: RecordKey) => number): Task[] {
  const all = [...missing(source, placeOf), ...incomplete(source, placeOf)];
  const groups = Map.groupBy(all, ({ kind, place }) => `${kind} ${place}`);
  return [...groups.values()].sort((a, b) => b.length - a.length).map(taskOf);
}

function missing({ misses, subjectOf, undecidedOf }: ReportSource, placeOf: (key: RecordKey) => number) {
  return misses.flatMap((miss): Open[] => {
    const subject = subjectOf(miss);
    if (subject === undefined) return [];
    const undecided = undecidedOf(miss);
    const tried =
      undecided === null ? '' : `; not decided in ${undecided.budgetSeconds} s: ${undecided.reason}`;
    const note = `missed by ${counted(miss.count, 'build')}, last on ${miss.lastSeenAt.slice(0, 10)}${tried}`;
    // The builds times the operations: an estimate of the lost time.
    const weight = miss.count * workloadFlops(subject.workloadForm);
    return [{ kind: 'missing', subject, place: placeOf(miss), note, weight }];
  });
}

function incomplete({ records, subjectOf }: ReportSource, placeOf: (key: RecordKey) => number) {
  return records.flatMap((record): Open[] => {
    const { configuration, evidence, failure } = record;
    if (evidence.complete || failure !== null) return [];
    const subject = subjectOf(record);
    if (subject === undefined) return [];
    const found = isDefault(configuration) ? 'nothing faster' : formatRatio(evidence.ratio);
    const note = `${found} after ${evidence.trials} trials in ${evidence.tuningSeconds.toFixed(0)} s`;
    return [{ kind: 'incomplete', subject, place: placeOf(record), note, weight: evidence.seconds }];
  });
}

function taskOf(group: readonly Open[]): Task {
  const shown = group.toSorted((a, b) => b.weight - a.weight).slice(0, MOST_ITEMS);
  const { kind, place, subject } = group[0]!;
  const tune = (work: string) => tuneCommand(work, subject);
  const program = {
    how: 'With their own program in place of model.mlir:',
    command: tune(`model.mlir --budget ${group.length * SECONDS_EACH}`),
  };
  const misses = { how: 'The misses of matmuls and other contractions:', command: tune('--from-misses') };
  const areMisses = kind === 'missing' && group.some((open) => isSelfContained(open.subject.workloadForm));
  return {
    ...{ kind, place, more: group.length - shown.length },
    items: shown.map(({ subject: { workload }, note }) => {
      const key = plain(workload);
      return { workload: key, shape: shapeOf(key), note: plain(note) };
    }),
    commands: areMisses ? [misses, program] : [program],
  };
}

function tuneCommand(work: string, { deviceForm, targetForm }: Subject): string {
  const driver = driverOf(deviceForm);
  const flags = flagsOf(targetForm);
  return [
    `iree-tuned${driver === null ? '' : ` --device ${driver}`} tune ${work}`,
    ...(flags.length === 0 ? [] : ['--', ...flags]),
  ].join(' ');
}

/** A driver name that is safe for a shell, else null. */
function driverOf(deviceForm: unknown): string | null {
  if (!isDevice(deviceForm) || deviceForm.driver === 'local-task') return null;
  return /^[a-z][a-z0-9-]{0,31}$/.test(deviceForm.driver) ? deviceForm.driver : null;
}

/**
 * The compiler's flags of the target, as words of a shell. The flags are untrusted: flags that could name a file, or that do not look
 * like flags of IREE, are left out.
 */
export function flagsOf(targetForm: unknown): string[] {
  const flags = (targetForm as { readonly candidateFlags?: unknown } | null)?.candidateFlags;
  if (!Array.isArray(flags)) return [];
  return flags
    .filter((flag: unknown): flag is string => typeof flag === 'string')
    .filter((flag) => /^--?iree-[a-z0-9-]{1,100}(?:=[\w.,:+-]{0,4000})?$/.test(flag))
    .map(shellWord);
}
