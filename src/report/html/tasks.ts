// Open tasks: misses of builds and unfinished searches, each with its command. Pure.
import { isDevice } from '../../backend/device.ts';
import type { Subject } from '../../store/store.ts';
import type { Task } from './data.ts';
import { plain, shellWord } from './plain.ts';
import { isWritable, programText } from './program-text.ts';

/** A workload without a record, or with an unfinished search. */
export interface Open {
  readonly kind: Task['kind'];
  readonly subject: Subject;
  /** Index of its place. */
  readonly place: number;
  readonly note: string;
  /** Order of the tasks: likely savings, in seconds or in builds times operations. */
  readonly weight: number;
}

/** Most items of a list, and functions of a program. */
const MOST_ITEMS = 12;

/** Usual budget of one search in seconds. */
const SECONDS_EACH = 30;

/** One task for each place and kind, largest first. */
export function tasksOf(all: readonly Open[]): Task[] {
  const groups = Map.groupBy(all, ({ kind, place }) => `${kind} ${place}`);
  return [...groups.values()].sort((a, b) => b.length - a.length).map(taskOf);
}

function taskOf(group: readonly Open[]): Task {
  const shown = group.toSorted((a, b) => b.weight - a.weight).slice(0, MOST_ITEMS);
  const { kind, place, subject } = group[0]!;
  const workloads = shown.map((open) => open.subject.workloadForm).filter(isWritable);
  const tune = (file: string, count: number) => tuneCommand(file, count, subject);
  return {
    kind,
    place,
    items: shown.map(({ subject: { workload }, note }) => ({ workload: plain(workload), note: plain(note) })),
    more: group.length - shown.length,
    command:
      workloads.length === 0
        ? null
        : `cat > open.mlir <<'END'\n${programText(workloads)}\nEND\n${tune('open.mlir', workloads.length)}`,
    programCommand: tune('model.mlir', group.length),
    covered: workloads.length,
  };
}

function tuneCommand(file: string, count: number, { deviceForm, targetForm }: Subject): string {
  const driver = driverOf(deviceForm);
  const flags = flagsOf(targetForm);
  return [
    `iree-tuned${driver === null ? '' : ` --device ${driver}`} tune ${file} --budget ${count * SECONDS_EACH}`,
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
