import { expect, test } from 'vitest';
import { surveyMemory } from '../../src/input/survey-memory.ts';
import { limitFor } from '../../src/plan/injected-command.ts';
import { inputOf, matmulText, surroundingsOf } from '../support/inspected.ts';
import { planPlace } from './plan-place.ts';

test(
  'a new plan that works without an end is ended, and the build done without it',
  { timeout: 60_000 },
  () => {
    const place = planPlace(
      'echo "$*" >>"${0%/*}/ran"; case $* in *--spec*) while :; do :; done ;; esac; echo original >out.vmfb; echo done',
      { output: 'out.vmfb', workSeconds: 1 },
    );
    const build = () => {
      expect(place.build()).toMatchObject({ status: 0, stdout: 'done\n' });
      return place.read('ran');
    };
    const tried = '--spec in.mlir -o out.vmfb\n';
    const original = 'in.mlir -o out.vmfb\n';
    expect(build()).toBe(tried + original);
    // The compiler blames no operation. The plan is not tried again.
    expect(place.read('events')).toBe('{"code":"tuned-compile-hung","reason":"the tuned compile hung"}\n');
    expect(build()).toBe(tried + original + original);
  },
);

test('the survey, or else the number of operations, sets the limit of a compile, with a minimum for small inputs', () => {
  const surroundings = surroundingsOf();
  const input = inputOf(matmulText(8, 512, 512));
  const [operation] = input.operations;
  const limitOf = (operations: number) =>
    limitFor({ ...input, operations: Array.from({ length: operations }, () => operation!) }, surroundings);
  expect([0, 1, 100].map(limitOf)).toEqual([300, 300, 6000]);
  const limitAfter = (seconds: number) => {
    const { identity } = input;
    surveyMemory.remember(surroundings.cacheDirectory, {
      ...{ identity, operations: [], rewritables: [], seconds },
    });
    return limitOf(100);
  };
  expect(limitAfter(0.2)).toBe(300);
  expect(limitAfter(100)).toBe(60_000);
});
