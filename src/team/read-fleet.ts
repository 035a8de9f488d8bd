// Validates demands and workers in a server's answer: anybody may have written them.
import { isObject } from '../system/data.ts';
import type { Demand, FleetState, KnownWorker, Refused } from './team.ts';

export type Json = Record<string, unknown>;

export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

export const areCounts = (value: unknown): value is Record<string, number> =>
  isObject(value) && Object.values(value).every(isCount);

const areTexts = (row: Json, names: readonly string[]): boolean =>
  names.every((name) => typeof row[name] === 'string');

const isTextOrNull = (value: unknown): boolean => value === null || typeof value === 'string';

const isDemand = (row: unknown): row is Demand =>
  isObject(row) &&
  areTexts(row, ['workload', 'device']) &&
  isCount(row['builds']) &&
  isTextOrNull(row['refused']);

const isWorker = (row: unknown): row is KnownWorker =>
  isObject(row) &&
  areTexts(row, [
    ...['id', 'login', 'person', 'machine', 'tool'],
    ...['target', 'compiler', 'device', 'state'],
  ]) &&
  isTextOrNull(row['holds']) &&
  isCount(row['finished']) &&
  [row['since'], row['started'], row['seen']].every(Number.isFinite);

const isRefused = (row: unknown): row is Refused =>
  isObject(row) &&
  areTexts(row, ['workload', 'target', 'compiler', 'device', 'reason']) &&
  isCount(row['builds']);

const listOf = <T>(value: unknown, is: (row: unknown) => row is T): readonly T[] | undefined =>
  Array.isArray(value) && value.every(is) ? value : undefined;

export const readDemands = ({ demands }: Json): readonly Demand[] | undefined => listOf(demands, isDemand);

export function readFleet({ workers, wanted, refused }: Json): FleetState | undefined {
  const [known, cannot] = [listOf(workers, isWorker), listOf(refused, isRefused)];
  return known && cannot && isCount(wanted) ? { workers: known, wanted, refused: cannot } : undefined;
}
