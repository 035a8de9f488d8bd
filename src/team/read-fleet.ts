// Validates a server's answers: anybody may have written them.
import { hasFields, isObject, isText, listOf, orNull, pick, type Check } from '../system/data.ts';
import type { Demand, FleetState, KnownWorker, Refused } from './team.ts';

export type Json = Record<string, unknown>;

export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

export const areCounts = (value: unknown): value is Record<string, number> =>
  isObject(value) && Object.values(value).every(isCount);

/** Returns a function that reads fields of an answer; undefined if one is invalid. */
export const reader =
  <T extends object>(checks: { readonly [Name in keyof T]-?: Check }) =>
  (answer: Json): T | undefined =>
    hasFields<T>(checks)(answer) ? pick(answer, Object.keys(checks) as (keyof T)[]) : undefined;

const PLACE = { target: isText, compiler: isText, device: isText };

export const readDemands = reader<{ readonly demands: readonly Demand[] }>({
  demands: listOf(
    hasFields<Demand>({ workload: isText, device: isText, builds: isCount, refused: orNull(isText) }),
  ),
});

export const readFleet = reader<FleetState>({
  workers: listOf(
    hasFields<KnownWorker>({
      ...{ id: isText, login: isText, person: isText, machine: isText, tool: isText },
      ...{ ...PLACE, state: isText, holds: orNull(isText), finished: isCount },
      ...{ since: Number.isFinite, started: Number.isFinite, seen: Number.isFinite },
    }),
  ),
  wanted: isCount,
  refused: listOf(hasFields<Refused>({ ...PLACE, workload: isText, reason: isText, builds: isCount })),
});
