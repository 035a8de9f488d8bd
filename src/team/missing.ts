// What the server did not know a moment ago is not asked again. Pure: what time it is is handed in.
import { isObject } from '../system/data.ts';
import { shortHash } from '../system/hash.ts';
import type { Question } from './team.ts';

/** For each key that the server had nothing for, when that was, in milliseconds of the system's clock. */
export type Missing = Readonly<Record<string, number>>;

/** Short, because somebody may have tuned it by then: a build asks again, and `iree-tuned sync` forgets all of it. */
export const MISSING_MS = 600_000;

const isOver = (since: number, now: number) => now >= since + MISSING_MS || now < since;

const nameOf = (workload: string, { target, device, compiler }: Omit<Question, 'workloads'>) =>
  shortHash(JSON.stringify([workload, target, device, compiler]));

/** The workloads that are worth asking for. */
export const worthAsking = (missing: Missing, { workloads, ...place }: Question, now: number): string[] =>
  workloads.filter((workload) => isOver(missing[nameOf(workload, place)] ?? -Infinity, now));

/** What is missing after an answer that was of no use for some workloads, without what is over. */
export function afterAnswer(before: Missing, { workloads, ...place }: Question, now: number): Missing {
  const kept = Object.entries(before).filter(([, since]) => !isOver(since, now));
  const since = workloads.map((workload): [string, number] => [nameOf(workload, place), now]);
  return Object.fromEntries([...kept, ...since]);
}

export const isMissing = (value: unknown): value is Missing =>
  isObject(value) && Object.values(value).every(Number.isFinite);
