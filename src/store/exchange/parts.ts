// What the keys of a subject stand for, as lines.
import { storedForm } from '../../workload/workload.ts';
import type { Subject } from '../store.ts';
import type { PartLine } from './lines.ts';

/** Stand before any line that names the keys. */
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
