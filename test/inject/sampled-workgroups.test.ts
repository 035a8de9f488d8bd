// A sample of workgroups: the edited count, computed as the compiler does, and the number of all workgroups.
import { expect, test } from 'vitest';
import { sampledText, workgroupsOf } from '../../src/inject/sampled-workgroups.ts';

const EXPORT = `    hal.executable.export public @f ordinal(0) count(%arg0: !hal.device) -> (index, index, index) {
      %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice() loc(#loc1)
      hal.return %x, %y, %z : index, index, index loc(#loc2)
    }
`;

const OPERATIONS: Readonly<Record<string, (a: number, b: number) => number>> = {
  subi: (a, b) => a - b,
  addi: (a, b) => a + b,
  maxsi: Math.max,
  minui: Math.min,
  ceildivui: (a, b) => Math.ceil(a / b),
};

/** Evaluates the edited count. @param workgroups value of `%x` */
function sampleOf(workgroups: number): number {
  const text = Buffer.from(sampledText(Buffer.from(EXPORT))!).toString();
  const values = new Map([['%x', workgroups]]);
  for (const [, name, constant] of text.matchAll(/(%\w+) = arith\.constant (\d+) : index/g))
    values.set(name!, Number(constant));
  for (const [, name, operation, a, b] of text.matchAll(/(%\w+) = arith\.(\w+) (%\w+), (%\w+) : index/g))
    values.set(name!, OPERATIONS[operation!]!(values.get(a!)!, values.get(b!)!));
  const [, returned] = /hal\.return (%\w+), %y, %z : index, index, index loc\(#loc2\)/.exec(text)!;
  return values.get(returned!)!;
}

test('a sample has a few workgroups, and tells the number of all up to a third', () => {
  for (let all = 1; all < 5000; all++) {
    const sampled = sampleOf(all);
    expect(sampled).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(all + 1)));
    expect(Math.abs(Math.log(workgroupsOf(sampled) / all))).toBeLessThan(Math.log(4 / 3));
  }
  expect(sampleOf(2)).toBe(2);
  expect(sampleOf(150)).toBe(13);
});

test('the count of a configured executable is edited, too; a constant count is not', () => {
  const configured = EXPORT.replace('hal.return', 'iree_codegen.yield');
  expect(Buffer.from(sampledText(Buffer.from(configured))!).toString()).toContain(
    'iree_codegen.yield %sample, %y, %z',
  );
  expect(sampledText(Buffer.from('hal.return %c1, %c1, %c1 : index, index, index'))).toBeNull();
});
