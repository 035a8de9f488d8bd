// Remembers misses of the server, so that builds do not repeat a question. Pure: the caller passes the time.
import { isObject } from '../system/data.ts';
import { shortHash } from '../system/hash.ts';
import type { Question } from './team.ts';

/** Time of the miss for each key, in milliseconds of the system's clock. */
export type Missing = Readonly<Record<string, number>>;

/** Short, because another machine may tune the workload. `iree-tuned team sync` forgets all misses. */
export const MISSING_MS = 600_000;

const isExpired = (since: number, now: number) => now >= since + MISSING_MS || now < since;

const nameOf = (workload: string, { target, device, compiler }: Omit<Question, 'workloads'>) =>
  shortHash(JSON.stringify([workload, target, device, compiler]));

/** Workloads without a recent miss. */
export const worthAsking = (missing: Missing, { workloads, ...place }: Question, now: number): string[] =>
  workloads.filter((workload) => isExpired(missing[nameOf(workload, place)] ?? -Infinity, now));

/** Adds misses of some workloads, and drops expired ones. */
export function afterAnswer(before: Missing, { workloads, ...place }: Question, now: number): Missing {
  const kept = Object.entries(before).filter(([, since]) => !isExpired(since, now));
  const since = workloads.map((workload): [string, number] => [nameOf(workload, place), now]);
  return Object.fromEntries([...kept, ...since]);
}

export const isMissing = (value: unknown): value is Missing =>
  isObject(value) && Object.values(value).every(Number.isFinite);
