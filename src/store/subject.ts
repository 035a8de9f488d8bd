import type { Site } from '../site/site.ts';
import type { Workload } from '../workload/workload.ts';
import type { RecordKey, Subject } from './store.ts';

/** The four keys alone: callers may hand over a whole record, which holds what databases and servers do not take. */
export const keysOf = ({ workload, target, device, compiler }: RecordKey): RecordKey => ({
  workload,
  target,
  device,
  compiler,
});

/** What all records of a site have in common. */
export const placeOf = ({ target, deviceKey, compiler }: Site): Omit<RecordKey, 'workload'> => ({
  target: target.key,
  device: deviceKey,
  compiler: compiler.key,
});

/** What a record or a miss of a workload is about, in full: enough to measure it elsewhere. */
export const subjectOf = (
  { key, workload }: { readonly key: string; readonly workload: Workload },
  site: Site,
): Subject => ({
  workload: key,
  ...placeOf(site),
  workloadForm: workload,
  targetForm: { ...site.target.target, candidateFlags: site.flags },
  deviceForm: site.device,
  compilerForm: site.compiler,
});
