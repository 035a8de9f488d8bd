// Jobs of the queue. A job is data, which the worker validates. The worker writes the MLIR of a workload itself.
import * as v from 'valibot';
import { classOr } from '../backend/device.ts';
import { readValue } from '../store/exchange/read.ts';
import type { Site } from '../site/site.ts';
import { LONGEST_KEY, plainText } from '../store/validate.ts';
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

/** A program's file: its path below the workers' folder of models, and its digest. */
export interface ProgramFile {
  readonly path: string;
  readonly sha256: string;
}

export type Job = Place & {
  readonly version: 1;
  /** The worker's own if absent. */
  readonly budgetSeconds?: number;
} & ({ readonly workload: string; readonly form: Workload } | { readonly program: ProgramFile });

export const LONGEST_JOB_SECONDS = 6 * 3600;

const key = v.pipe(v.string(), v.minLength(1), v.maxLength(LONGEST_KEY));

/** A job has no other fields, so no flag of a compiler. */
const fields = {
  version: v.literal(1),
  target: key,
  compiler: key,
  device: key,
  budgetSeconds: v.optional(v.pipe(v.number(), v.minValue(1), v.maxValue(LONGEST_JOB_SECONDS))),
};

const shape = v.pipe(
  v.strictObject({
    ...fields,
    workload: key,
    form: v.custom<Workload>(isWorkload, 'has an invalid workload'),
  }),
  v.check(({ form, workload }) => workloadKey(form) === workload, 'has a form with another key'),
  v.check(({ form }) => whyNotAlone(form) === null, 'needs the text of a program'),
);

const program = v.strictObject({
  ...fields,
  program: v.strictObject({
    path: v.pipe(v.string(), v.regex(/^\P{C}{1,4096}$/u, 'has a path with control characters')),
    sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'has an invalid digest')),
  }),
});

/** @returns a reason as text if `data` is no job, or belongs to another queue */
export function readJob(data: unknown, { target, compiler, device }: Place): Job | string {
  const result = v.safeParse(isObject(data) && 'program' in data ? program : shape, data);
  if (!result.success) return `this is not a job: ${result.issues[0].message}`;
  const output = result.output as Job;
  const isOurs = output.target === target && output.compiler === compiler && output.device === device;
  return isOurs ? output : 'this job is for another target, compiler or device';
}

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
  dispatchOf(workload) === null ? null : 'it needs the text of its program: submit the program';

export const placeOfWorker = ({ target, compiler, device, deviceKey }: Site): Place => ({
  target: target.key,
  compiler: compiler.key,
  device: classOr(deviceKey, device),
});

/** A digest, because keys are too long for names of queues and have other characters. */
export const queueName = ({ target, compiler, device }: Place): string =>
  `tune/${sha256(JSON.stringify([target, compiler, device])).slice(0, 32)}`;

/** A queue has one job of a key at a time: of a workload, or of a program's content. */
export const jobKey = (job: Job): string =>
  sha256('program' in job ? `program ${job.program.sha256}` : job.workload).slice(0, 32);

/** The name of an untrusted job in messages. */
export function jobName(data: unknown): string {
  if (!isObject(data)) return '?';
  const name = isObject(data['program']) ? data['program']['path'] : data['workload'];
  return typeof name === 'string' ? plainText(name, LONGEST_KEY) : '?';
}
