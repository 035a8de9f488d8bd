// Times of a sample, from the runtime's profile.
import { expect, test } from 'vitest';
import { workgroupsOf } from '../../src/inject/sampled-workgroups.ts';
import { sampledProfile } from '../../src/running/sampled-times.ts';

const COMPUTED = Buffer.from(`  %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice()
  iree_codegen.yield %x, %y, %z : index, index, index
`);
const profile = sampledProfile(
  new Map([
    ['main_dispatch_0', COMPUTED],
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
