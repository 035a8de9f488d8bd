// A sample of workgroups: the edited count, computed as the compiler does, and the number of all workgroups.
import { expect, test } from 'vitest';
import { sampledProfile, sampledText, workgroupsOf } from '../../src/inject/sampled-workgroups.ts';

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

const profile = sampledProfile(
  new Map([
    ['main_dispatch_0', Buffer.from(EXPORT)],
    ['main_dispatch_1', Buffer.from('hal.return %c1, %c1, %c1')],
  ]),
);

const event = (key: string, count: number, nanoseconds: number) =>
  JSON.stringify({
    ...{ type: 'host_dispatch_event', key, workgroup_count: [count, 1, 1], duration_ns: nanoseconds },
  });

test('the time of a sample stands for all workgroups, and other dispatches run whole', () => {
  const call = [
    event('main_dispatch_0_matmul', 13, 2e9),
    event('main_dispatch_0_matmul', 13, 1e9),
    event('main_dispatch_1_fill', 13, 1e6),
  ];
  const other = JSON.stringify({ type: 'dispatch_summary', duration_ns: 5 });
  const times = profile.read([...call, ...call, other, 'no JSON', ''].join('\n'));
  expect([...times.keys()]).toEqual(['main_dispatch_0_matmul', 'main_dispatch_1_fill']);
  const sampled = times.get('main_dispatch_0_matmul')!;
  expect(sampled.calls).toBe(2);
  expect(sampled.seconds).toBeCloseTo((3 * workgroupsOf(13)) / 13);
  expect(times.get('main_dispatch_1_fill')).toEqual({ seconds: expect.closeTo(1e-3) as number, calls: 1 });
});

test('no events give no times', () => {
  expect(profile.read('')).toEqual(new Map());
});
