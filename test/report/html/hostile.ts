// Hostile texts of a database: they try to leave the text of a page, or to be read as something else.
import type { ReportSource } from '../../../src/report/html/model.ts';
import type { Subject } from '../../../src/store/store.ts';
import { madeUp } from './made-up.ts';

export const HOSTILE = [
  `</script><script>globalThis.caught = 'script'</script>`,
  `"><img src=x onerror="globalThis.caught = 'image'">`,
  `'; globalThis.caught = 'string'; //`,
  `javascript:globalThis.caught='address'`,
  '</title><style>body { display: none }</style><!-- ',
  '\u202egnp.exe\u2066 \u200bhidden\u0000\u001b[31m',
  'سجل \u061c ١٢٣ עברית',
  '$(touch caught) `touch caught`',
  'a very long name '.repeat(900),
] as const;

/** A database whose free texts are all hostile. */
export function hostile(count = 40): ReportSource {
  const source = madeUp(count);
  const word = (i: number) => HOSTILE[i % HOSTILE.length]!;
  const subjects = new Map<string, Subject>();
  const records = source.records.map((record, i) => {
    const key = {
      workload: i % 3 === 0 ? `contraction ${word(i)} ${i}` : record.workload,
      ...{ target: word(i), device: word(i + 1), compiler: word(i + 2) },
    };
    const subject = source.subjectOf(record)!;
    const targetForm = { candidateFlags: [word(i), `--iree-x=${word(i)}`, '--iree-llvmcpu-target-cpu=host'] };
    subjects.set(JSON.stringify(Object.values(key)), { ...subject, ...key, targetForm });
    return {
      ...{ ...record, ...key, createdBy: word(i), machine: word(i + 3) },
      failure: i % 5 === 0 ? word(i) : null,
      evidence: { ...record.evidence, complete: i % 2 === 0 },
    };
  });
  return {
    ...source,
    records,
    subjectOf: ({ workload, target, device, compiler }) =>
      subjects.get(JSON.stringify([workload, target, device, compiler])),
    about: { ...source.about, database: word(1), filter: ` with device "${word(0)}"` },
  };
}
