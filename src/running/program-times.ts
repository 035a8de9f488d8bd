// Time of each dispatch of a program, from its last run, and the machine's memory rate.
import { NO_TIMES, type ProgramTimes } from '../report/time-shares.ts';
import type { Store } from '../store/store.ts';
import { hasFields, isText, listOf, optional, orNull } from '../system/data.ts';
import { messageOf, tell } from '../system/tell.ts';
import type { MeasuredProgram } from './callable.ts';
import { programIdentity } from '../compiler/command-identity.ts';
import { placeOf } from '../store/subject.ts';
import { programNotes } from './program-notes.ts';

/** A note in the database. */
interface NotedTimes {
  /** Seconds of each dispatch in one run of all functions. */
  readonly dispatches: readonly (readonly [name: string, seconds: number])[];
  readonly bytesPerSecond: number | null;
}

const isTime = (value: unknown): boolean =>
  Array.isArray(value) && value.length === 2 && isText(value[0]) && Number(value[1]) > 0;
const programTimes = programNotes(
  'times',
  hasFields<NotedTimes>({
    dispatches: listOf(isTime),
    bytesPerSecond: optional(orNull((rate) => Number(rate) > 0)),
  }),
);

/** Key of the note. Names of dispatches contain names of functions, so the times are those of one text. */
const textOf = ({ command, inspected }: Pick<MeasuredProgram, 'command' | 'inspected'>): string =>
  programIdentity(command, inspected.input.digest, placeOf(inspected.site));

let measured: Promise<number | null> | undefined;

/**
 * Notes the times of a program. The caller holds the measuring lock.
 * @param dispatchSeconds by name; if it is empty, nothing is noted
 */
export async function noteTimes(
  { command, inspected, surroundings }: Pick<MeasuredProgram, 'command' | 'inspected' | 'surroundings'>,
  dispatchSeconds: ReadonlyMap<string, number>,
  store: Store,
): Promise<void> {
  if (dispatchSeconds.size === 0) return;
  measured ??= measuredRate(inspected.site.device.threads, surroundings.settings.log);
  const noted = { dispatches: [...dispatchSeconds], bytesPerSecond: await measured };
  programTimes.remember(store, textOf({ command, inspected }), noted);
}

async function measuredRate(threads: number, log: string | undefined): Promise<number | null> {
  // Not loaded on a hit.
  const { memoryRate } = await import('./memory-rate.ts');
  try {
    return await memoryRate(threads);
  } catch (error) {
    tell(`the memory rate cannot be measured: ${messageOf(error)}`, log);
    return null;
  }
}

/** The times in the database. */
export function knownTimes(
  program: Pick<MeasuredProgram, 'command' | 'inspected'>,
  store: Store | null,
): ProgramTimes {
  const noted = programTimes.recall(store, textOf(program));
  return noted === null
    ? NO_TIMES
    : { seconds: new Map(noted.dispatches), bytesPerSecond: noted.bytesPerSecond ?? null };
}
