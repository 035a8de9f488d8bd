// Hostile texts of a database: they try to leave the text of a page, or to be read as something else.
import type { ReportSource } from '../../../src/report/html/model.ts';
import type { RecordKey } from '../../../src/store/store.ts';
import { keysOf } from '../../../src/store/subject.ts';
import type { Workload } from '../../../src/workload/workload.ts';
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
  const works = new Map<string, Workload>();
  const keyOf = (key: RecordKey) => JSON.stringify(keysOf(key));
  const records = source.records.map((record, i) => {
    const key = {
      workload: i % 3 === 0 ? `contraction ${word(i)} ${i}` : record.workload,
      ...{ target: word(i), device: word(i + 1), compiler: word(i + 2) },
    };
    works.set(keyOf(key), source.workOf(record)!);
    return {
      ...{ ...record, ...key, createdBy: word(i), machine: word(i + 3) },
      failure: i % 5 === 0 ? word(i) : null,
      evidence: { ...record.evidence, complete: i % 2 === 0 },
    };
  });
  return {
    ...source,
    records,
    workOf: (key) => works.get(keyOf(key)),
    about: { ...source.about, database: word(1), filter: ` with device "${word(0)}"` },
  };
}
