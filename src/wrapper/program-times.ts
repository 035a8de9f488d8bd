// What a program spends its time in, as it was timed last.
import type { Store } from '../store/store.ts';
import type { MeasuredProgram } from './runnable.ts';
import { programNotes, programOf } from './program-notes.ts';

interface ProgramTimes {
  /** Seconds of each dispatch in one run of all functions. */
  readonly dispatches: readonly (readonly [name: string, seconds: number])[];
}

const programTimes = programNotes('times', isProgramTimes);

/** @param dispatchSeconds by name; nothing is noted where nobody knows any */
export function noteTimes(
  { command, inspected }: Pick<MeasuredProgram, 'command' | 'inspected'>,
  dispatchSeconds: ReadonlyMap<string, number>,
  store: Store,
): void {
  if (dispatchSeconds.size > 0)
    programTimes.remember(store, programOf(command, inspected), { dispatches: [...dispatchSeconds] });
}

/** Seconds by the name of a dispatch; empty where nobody knows. */
export const knownTimes = (
  { command, inspected }: Pick<MeasuredProgram, 'command' | 'inspected'>,
  store: Store | null,
): ReadonlyMap<string, number> =>
  new Map(programTimes.recall(store, programOf(command, inspected))?.dispatches ?? []);

function isProgramTimes(value: unknown): value is ProgramTimes {
  const { dispatches } = (value ?? {}) as { readonly dispatches?: unknown };
  const isTime = (one: unknown) =>
    Array.isArray(one) && one.length === 2 && typeof one[0] === 'string' && Number(one[1]) > 0;
  return Array.isArray(dispatches) && dispatches.every(isTime);
}
