import { expect, test } from 'vitest';
import { programSeconds } from '../../src/tuning/tune-workloads.ts';

const seconds = new Map([
  ['main_dispatch_1_matmul_like_49x192x1152_f32', 0.5],
  ['main_dispatch_10_conv_7x7x64_f32', 0.25],
  ['main_dispatch_3', 0.125],
]);

test('the time of a workload is the sum over its dispatches', () => {
  expect(programSeconds({ executables: ['main_dispatch_1', 'main_dispatch_3'] }, seconds)).toBe(0.625);
  expect(programSeconds({ executables: ['main_dispatch_10', 'main_dispatch_77'] }, seconds)).toBe(0.25);
});

test('a workload without timed dispatches has no time', () => {
  expect(programSeconds({ executables: ['main_dispatch_2'] }, seconds)).toBeNull();
  expect(programSeconds({}, seconds)).toBeNull();
  expect(programSeconds({ executables: ['main_dispatch_1'] }, new Map())).toBeNull();
});
