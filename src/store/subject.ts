import { storedDevice } from '../backend/device.ts';
import type { Site } from '../site/site.ts';
import { storedForm, type Workload } from '../workload/workload.ts';
import type { PartType } from './fields.ts';
import type { RecordKey, Subject } from './store.ts';

/** The four keys without other fields, because databases and servers reject other fields. */
export const keysOf = ({ workload, target, device, compiler }: RecordKey): RecordKey => ({
  workload,
  target,
  device,
  compiler,
});

/** The description of a part as databases and servers store it. */
export const formOf = (subject: Subject, part: PartType): unknown =>
  part === 'workload' ? storedForm(subject.workloadForm) : subject[`${part}Form`];

/** Keys that all records of a site share. */
export const placeOf = ({ target, deviceKey, compiler }: Site): Omit<RecordKey, 'workload'> => ({
  target: target.key,
  device: deviceKey,
  compiler: compiler.key,
});

export const subjectOf = (
  { key, workload }: { readonly key: string; readonly workload: Workload },
  site: Site,
): Subject => ({
  workload: key,
  ...placeOf(site),
  workloadForm: workload,
  targetForm: { ...site.target.target, candidateFlags: site.flags },
  deviceForm: storedDevice(site.device),
  compilerForm: site.compiler,
});
