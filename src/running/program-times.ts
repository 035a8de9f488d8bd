// Time of each dispatch of a program, from its last run, its work, and the machine's memory rate.
import { basename } from 'node:path';
import type { DispatchTime } from '../backend/meter.ts';
import { isDispatchOf } from '../input/operation.ts';
import { lossOf, type DeviceRates, type ProgramLoss } from '../report/loss.ts';
import { NO_TIMES, type ProgramTimes } from '../report/time-shares.ts';
import type { Store } from '../store/store.ts';
import { hasFields, isNumber, isText, listOf, optional, orNull } from '../system/data.ts';
import { messageOf, tell } from '../system/tell.ts';
import type { Amount } from '../workload/kind.ts';
import type { MeasuredProgram } from './callable.ts';
import { placeIn, programIdentity, type SiteKeys } from '../compiler/command-identity.ts';
import { placeOf } from '../store/subject.ts';
import { knownRates, ratesPlaceOf } from './known-rates.ts';
import { programNotes } from './program-notes.ts';

/** A note in the database. Notes of earlier versions have only the first two fields. */
interface NotedTimes {
  /** Seconds of each dispatch in one run of all functions. */
  readonly dispatches: readonly (readonly [name: string, seconds: number])[];
  readonly bytesPerSecond: number | null;
  /** Calls of each dispatch in such a run, as far as they were counted. */
  readonly calls?: readonly (readonly [name: string, calls: number])[];
  /** Seconds of one call of each function together. */
  readonly wholeSeconds?: number | null;
  /** The work of one call, by executable. */
  readonly amounts?: readonly (readonly [executable: string, amount: Amount])[];
  /** Name of the input's file. */
  readonly name?: string;
  /** Device of `ratesPlaceOf`. The database describes only devices with records. */
  readonly ratesOf?: string;
}

const isPositive = (value: unknown): boolean => Number(value) > 0;
const isPair = (isValue: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.length === 2 && isText(value[0]) && isValue(value[1]);
const isAmount = hasFields<Amount>({
  ...{ multiplications: orNull(isNumber), type: orNull(isText), bytes: orNull(isNumber) },
});
const programTimes = programNotes(
  'times',
  hasFields<NotedTimes>({
    dispatches: listOf(isPair(isPositive)),
    bytesPerSecond: optional(orNull(isPositive)),
    calls: optional(listOf(isPair(isPositive))),
    wholeSeconds: optional(orNull(isPositive)),
    amounts: optional(listOf(isPair(isAmount))),
    ...{ name: optional(isText), ratesOf: optional(isText) },
  }),
);

type Program = Pick<MeasuredProgram, 'command' | 'inspected'>;

/** Key of the note. Names of dispatches contain names of functions, so the times are those of one text. */
const textOf = ({ command, inspected }: Program): string =>
  programIdentity(command, inspected.input.digest, placeOf(inspected.site));

let measured: Promise<number | null> | undefined;

/** Times of one run of all functions. */
export interface TimedRun {
  /** By dispatch. Calls are left out where they were not counted. */
  readonly dispatches: ReadonlyMap<string, Pick<DispatchTime, 'seconds'> & Partial<DispatchTime>>;
  /** Null if it was not timed. */
  readonly wholeSeconds: number | null;
}

/** The times of several functions as one run. */
export function runOf(functions: readonly (TimedRun & { readonly wholeSeconds: number })[]): TimedRun {
  const dispatches = new Map<string, DispatchTime>();
  for (const [name, { seconds, calls = 0 }] of functions.flatMap((one) => [...one.dispatches])) {
    const before = dispatches.get(name) ?? { seconds: 0, calls: 0 };
    dispatches.set(name, { seconds: before.seconds + seconds, calls: before.calls + calls });
  }
  return { dispatches, wholeSeconds: functions.reduce((sum, one) => sum + one.wholeSeconds, 0) };
}

/**
 * Notes the times of a program. The caller holds the measuring lock.
 * @param run if it has no dispatches, nothing is noted
 */
export async function noteTimes(
  program: Pick<MeasuredProgram, 'command' | 'inspected' | 'surroundings'>,
  run: TimedRun,
  store: Store,
): Promise<void> {
  if (run.dispatches.size === 0) return;
  const { command, inspected, surroundings } = program;
  const { runner, log } = surroundings.settings;
  measured ??=
    runner === undefined ? measuredRate(inspected.site.device.threads, log) : Promise.resolve(null);
  const { input } = command.arguments;
  const before = programTimes.recall(store, textOf(program));
  // The same text has the same work and calls, with any configuration.
  const calls = new Map(before?.calls);
  for (const [name, one] of run.dispatches) if (one.calls !== undefined) calls.set(name, one.calls);
  programTimes.remember(store, textOf(program), {
    dispatches: [...run.dispatches].map(([name, { seconds }]) => [name, seconds]),
    bytesPerSecond: await measured,
    ...{ calls: [...calls], wholeSeconds: run.wholeSeconds, ratesOf: ratesPlaceOf(inspected.site).device },
    ...(before?.amounts && { amounts: before.amounts }),
    ...(input?.kind === 'file' && { name: basename(input.path) }),
  });
}

/** Adds the work of the dispatches to a note. */
export function noteAmounts(program: Program, amounts: ReadonlyMap<string, Amount>, store: Store): void {
  const note = programTimes.recall(store, textOf(program));
  if (note !== null) programTimes.remember(store, textOf(program), { ...note, amounts: [...amounts] });
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
export function knownTimes(program: Program, store: Store | null): ProgramTimes {
  const noted = programTimes.recall(store, textOf(program));
  if (noted === null) return NO_TIMES;
  const rates = knownRates(ratesPlaceOf(program.inspected.site), store);
  return timesOf(noted, rates);
}

function timesOf(noted: NotedTimes, rates: DeviceRates): ProgramTimes {
  const calls = new Map(noted.calls);
  const amounts = noted.amounts ?? [];
  const amountOf = (name: string) =>
    amounts.find(([executable]) => isDispatchOf({ executables: [executable] }, name))?.[1] ?? null;
  return {
    dispatches: noted.dispatches.map(([dispatch, seconds]) => ({
      ...{ dispatch, seconds, calls: calls.get(dispatch) ?? null, amount: amountOf(dispatch) },
    })),
    wholeSeconds: noted.wholeSeconds ?? null,
    // Both are the same measurement at different times. A disturbance only lowers it.
    rates: {
      ...rates,
      bytesPerSecond: Math.max(rates.bytesPerSecond ?? 0, noted.bytesPerSecond ?? 0) || null,
    },
  };
}

/** A program of the database with the time that it loses. */
export interface NotedLoss extends SiteKeys {
  readonly name: string;
  readonly loss: ProgramLoss;
}

/** All timed programs of a database. */
export const notedLosses = (store: Store): NotedLoss[] =>
  programTimes.all(store).flatMap(([program, note]) => {
    const place = placeIn(program);
    if (place === null) return [];
    const rates = knownRates({ ...place, device: note.ratesOf ?? place.device }, store);
    const times = timesOf(note, rates);
    const loss = lossOf(times.dispatches, times.wholeSeconds, times.rates);
    return loss === null ? [] : [{ ...place, name: note.name ?? 'a program without a name', loss }];
  });
