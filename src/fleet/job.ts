// Jobs of the queue. A job is data, which the worker validates. The worker writes the MLIR itself.
import * as v from 'valibot';
import { deviceClass } from '../backend/device.ts';
import { readValue } from '../store/exchange/read.ts';
import type { Site } from '../site/site.ts';
import { LONGEST_KEY } from '../store/limits.ts';
import { isObject } from '../system/data.ts';
import { sha256 } from '../system/hash.ts';
import { dispatchOf, isWorkload, workloadKey, type Workload } from '../workload/workload.ts';

/** Workers of one queue share these. */
export interface Place {
  readonly target: string;
  readonly compiler: string;
  /** The device's class; its key if it has none. */
  readonly device: string;
}

/** A workload to tune. */
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
    form: v.custom<Workload>(isWorkload, 'has an invalid workload'),
    target: key,
    compiler: key,
    device: key,
  }),
  v.check(({ form, workload }) => workloadKey(form) === workload, 'has a form with another key'),
  v.check(({ form }) => whyNotAlone(form) === null, 'needs the text of a program'),
);

/** @returns a reason as text if `data` is no job, or belongs to another queue */
export function readJob(data: unknown, { target, compiler, device }: Place): Job | string {
  const result = v.safeParse(job, data);
  if (!result.success) return `this is not a job: ${result.issues[0].message}`;
  const { output } = result;
  const isOurs = output.target === target && output.compiler === compiler && output.device === device;
  return isOurs ? output : 'this job is for another target, compiler or device';
}

/** Whether a job needs a later version of this program. */
export function isOfLaterVersion(data: unknown): boolean {
  if (!isObject(data) || !Number.isSafeInteger(data['version'])) return false;
  const { version, workload, form } = data;
  return (
    (version as number) > 1 ||
    readValue({ type: 'workload', version: 1, key: workload, form }).outcome === 'foreign'
  );
}

/** Why a worker cannot measure a workload without the text of its program; null if it can. */
export const whyNotAlone = (workload: Workload): string | null =>
  dispatchOf(workload) === null
    ? null
    : 'it needs the text of its program, and a queue has no programs: tune the program on a machine with such a device';

/** The class of a device from its form in the database; its key if it has none. */
export const deviceOf = (key: string, form: unknown): string => deviceClass(form) ?? key;

export const placeOfWorker = ({ target, compiler, device, deviceKey }: Site): Place => ({
  target: target.key,
  compiler: compiler.key,
  device: deviceOf(deviceKey, device),
});

/** A digest, because keys are too long for names of queues and have other characters. */
export const queueName = ({ target, compiler, device }: Place): string =>
  `tune/${sha256(JSON.stringify([target, compiler, device])).slice(0, 32)}`;

/** A queue has one job of a key at a time. */
export const jobKey = (workload: string): string => sha256(workload).slice(0, 32);
