// What a job of the queue says: data only, which is checked by whoever takes it. The text that is measured is made there.
import * as v from 'valibot';
import { deviceClass } from '../backend/device.ts';
import { readValue } from '../store/exchange/read.ts';
import type { Site } from '../site/site.ts';
import { LONGEST_KEY } from '../store/limits.ts';
import { isObject } from '../system/data.ts';
import { sha256 } from '../system/sha256.ts';
import { dispatchOf, isWorkload, workloadKey, type Workload } from '../workload/workload.ts';

/** What workers of one queue have in common. */
export interface Place {
  readonly target: string;
  readonly compiler: string;
  /** The device's class, or its key where it has none. */
  readonly device: string;
}

/** A workload that is to be tuned. */
export interface Job extends Place {
  readonly version: 1;
  readonly workload: string;
  readonly form: Workload;
}

const key = v.pipe(v.string(), v.minLength(1), v.maxLength(LONGEST_KEY));

const job = v.pipe(
  v.strictObject({
    version: v.literal(1),
    workload: key,
    form: v.custom<Workload>(isWorkload, 'has a form that is no workload'),
    target: key,
    compiler: key,
    device: key,
  }),
  v.check(({ form, workload }) => workloadKey(form) === workload, 'has a form with another key'),
  v.check(({ form }) => whyNotAlone(form) === null, 'is about a dispatch of a program'),
);

/** @returns a reason as text where it is none, or is of another queue */
export function readJob(data: unknown, { target, compiler, device }: Place): Job | string {
  const result = v.safeParse(job, data);
  if (!result.success) return `this is no job: ${result.issues[0].message}`;
  const { output } = result;
  const isOurs = output.target === target && output.compiler === compiler && output.device === device;
  return isOurs ? output : 'this job is for another target, compiler or device';
}

/** Whether a job is for a later version of this program. */
export function isOfLaterVersion(data: unknown): boolean {
  if (!isObject(data) || !Number.isSafeInteger(data['version'])) return false;
  const { version, workload, form } = data;
  return (
    (version as number) > 1 ||
    readValue({ type: 'workload', version: 1, key: workload, form }).outcome === 'foreign'
  );
}

/** Why a workload cannot be measured by who knows nothing but what a database keeps of it; null when it can. */
export const whyNotAlone = (workload: Workload): string | null =>
  dispatchOf(workload) === null
    ? null
    : 'it is measured in its dispatch of a program, whose text no server has: tune that program on a machine of this kind';

/** The device as queues know it, from what a database says of it. */
export const deviceOf = (key: string, form: unknown): string => deviceClass(form) ?? key;

export const placeOfWorker = ({ target, compiler, device, deviceKey }: Site): Place => ({
  target: target.key,
  compiler: compiler.key,
  device: deviceOf(deviceKey, device),
});

/** Keys are longer, and have other signs in them, than names of queues may. */
export const queueName = ({ target, compiler, device }: Place): string =>
  `tune/${sha256(JSON.stringify([target, compiler, device])).slice(0, 32)}`;

/** There is one job of a key at a time in a queue. */
export const jobKey = (workload: string): string => sha256(workload).slice(0, 32);
