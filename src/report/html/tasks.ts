// What is left to do: what builds asked for in vain, and searches that did not end, with the command for each. Pure.
import { isDevice } from '../../backend/device.ts';
import { workloadFlops, type OperationWork } from '../../workload/workload.ts';
import type { Subject } from '../../store/store.ts';
import type { Task } from './data.ts';
import { plain, shellWord } from './plain.ts';
import { isWritable, programText } from './program-text.ts';

/** One workload that is missing or incomplete. */
export interface Open {
  readonly kind: Task['kind'];
  readonly subject: Subject;
  /** Index of its place. */
  readonly place: number;
  readonly note: string;
  /** What tuning it is likely to save comes first: seconds, or builds times work. */
  readonly weight: number;
}

/** Items of a list, and functions of a program: what can be read, and pasted. */
const MOST_ITEMS = 12;

/** Seconds of tuning that a search takes at most, as a rule. */
const SECONDS_EACH = 30;

/** One task for each place and kind, those with most to do first. */
export function tasksOf(all: readonly Open[]): Task[] {
  const groups = Map.groupBy(all, ({ kind, place }) => `${kind} ${place}`);
  return [...groups.values()].sort((a, b) => b.length - a.length).map(taskOf);
}

function taskOf(group: readonly Open[]): Task {
  const shown = group.toSorted((a, b) => b.weight - a.weight).slice(0, MOST_ITEMS);
  const { kind, place, subject } = group[0]!;
  const workloads = shown.map((open) => open.subject.workloadForm).filter(isWritable);
  const way: Way = { driver: driverOf(subject.deviceForm), flags: flagsOf(subject.targetForm) };
  return {
    kind,
    place,
    items: shown.map(({ subject: { workload }, note }) => ({ workload: plain(workload), note: plain(note) })),
    more: group.length - shown.length,
    command: workloads.length === 0 ? null : commandFor(workloads, way),
    programCommand: tuneCommand('model.mlir', group.length, way),
    covered: workloads.length,
  };
}

const tuneCommand = (file: string, count: number, { driver, flags }: Way): string =>
  [
    `iree-tuned${driver === null ? '' : ` --device ${driver}`} tune ${file} --budget ${count * SECONDS_EACH}`,
    ...(flags.length === 0 ? [] : ['--', ...flags]),
  ].join(' ');

const commandFor = (workloads: readonly OperationWork[], way: Way): string =>
  `cat > open.mlir <<'END'\n${programText(workloads)}\nEND\n${tuneCommand('open.mlir', workloads.length, way)}`;

/** How a place is tuned for: what to measure on, null for what is measured on anyway, and the compiler's flags. */
interface Way {
  readonly driver: string | null;
  readonly flags: readonly string[];
}

/** What a device's description names is for a shell: a plain name, or nothing. */
function driverOf(deviceForm: unknown): string | null {
  if (!isDevice(deviceForm) || deviceForm.driver === 'local-task') return null;
  return /^[a-z][a-z0-9-]{0,31}$/.test(deviceForm.driver) ? deviceForm.driver : null;
}

/**
 * The compiler's flags that make the target, as words of a shell. Whoever wrote the database wrote them: those that could
 * name a file, or that no flag of IREE's looks like, are left out.
 */
export function flagsOf(targetForm: unknown): string[] {
  const flags = (targetForm as { readonly candidateFlags?: unknown } | null)?.candidateFlags;
  if (!Array.isArray(flags)) return [];
  return flags
    .filter((flag: unknown): flag is string => typeof flag === 'string')
    .filter((flag) => /^--?iree-[a-z0-9-]{1,100}(?:=[\w.,:+-]{0,4000})?$/.test(flag))
    .map(shellWord);
}

/** Builds that asked for it, times what one run of it takes to do: where time is likely to be lost most. */
export const weightOfMiss = (count: number, { workloadForm }: Subject): number =>
  count * workloadFlops(workloadForm);
