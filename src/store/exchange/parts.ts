// Lines that describe the keys of a subject.
import { storedForm } from '../../workload/workload.ts';
import type { Subject } from '../store.ts';
import type { PartLine } from './lines.ts';

/** Send them before any line with the keys. */
export function partsOf(subject: Subject): PartLine[] {
  const part = (type: PartLine['type'], key: string, form: unknown): PartLine => ({
    type,
    version: 1,
    key,
    form: JSON.parse(JSON.stringify(form)) as unknown,
  });
  return [
    part('workload', subject.workload, storedForm(subject.workloadForm)),
    part('target', subject.target, subject.targetForm),
    part('device', subject.device, subject.deviceForm),
    part('compiler', subject.compiler, subject.compilerForm),
  ];
}
