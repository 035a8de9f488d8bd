// What the statistics of a program that was run make of its records.
import { describe, expect, test } from 'vitest';
import type { Configuration } from '../../src/backend/configuration.ts';
import { decided, passedOver, type Decision } from '../../src/decision/decision.ts';
import type { TunableOperation } from '../../src/input/operation.ts';
import { seenInProgram } from '../../src/program/seen.ts';
import type { ComparedWorkload } from '../../src/program/slower.ts';
import type { Evidence } from '../../src/store/store.ts';
import { workloadKey, type OperationWork } from '../../src/workload/workload.ts';
import { matmul } from '../support/workloads.ts';
import { because } from '../../src/system/reason.ts';

const inProgram: OperationWork = { ...matmul(64, 32, 16), context: { digest: 'abcd' } };
const configuration: Configuration = {
  ...{ version: 1, kind: 'tile', distribution: [8, 16, 0] },
  ...{ vectorCommonParallel: [4, 8, 0], vectorReduction: [0, 0, 1], peeling: false },
};
const before: Evidence = {
  ...{ ratio: 2, low: 1.9, high: 2.1, defaultSeconds: 2, seconds: 1 },
  ...{ processes: 5, repetitions: 15, noiseFloor: 0.01, maxError: 0.5 },
  ...{ trials: 10, tuningSeconds: 5, families: ['tile'], complete: true },
};

function decisionFor(workload: OperationWork, chosen: Configuration = configuration): Decision {
  const place = { name: 'linalg.matmul', operation: null, location: null };
  const key = workloadKey(workload);
  const tunable: TunableOperation = { place, workload, key, loops: [0, 1, 2], written: null };
  const of = { workload: key, target: 't', device: 'here', compiler: 'c' };
  return decided(tunable, { configuration: chosen, evidence: before, ...of }, 'tuned', 'here');
}

/** Three calls in each program, timed in seven pairs of processes. */
const shown = (workload: OperationWork, ratio: number, doubt = 0.05): ComparedWorkload => ({
  key: workloadKey(workload),
  comparison: { ratio, low: ratio - doubt, high: ratio + doubt, seconds: [3 * ratio, 3] },
  ...{ stock: Array<number>(7).fill(3 * ratio), calls: 3, processes: 7, areSame: true },
});

test('a program that shows another gain than its record says has its own evidence', () => {
  const seen = seenInProgram(decisionFor(inProgram), [shown(inProgram, 1.5)], 'here');
  expect(seen?.evidence).toEqual({
    ...before,
    ...{ ratio: 1.5, low: 1.45, high: 1.55, defaultSeconds: 1.5, seconds: 1 },
    // All in which it was timed: the better evidence of two that merge is the one of more processes.
    ...{ processes: 12, repetitions: 22 },
  });
  expect(seen?.reason).toBe('1.50x faster than the default, as its program shows');
});

test('pairs that were disturbed widen the interval, and the gain is that of undisturbed ones', () => {
  const few = shown(inProgram, 2);
  const disturbed = { ...few, comparison: { ...few.comparison, ratio: 4, low: 1.2, high: 12 } };
  const { evidence } = seenInProgram(decisionFor(inProgram), [disturbed], 'here')!;
  expect(evidence).toMatchObject({ ratio: 2, low: 1.2, high: 12, defaultSeconds: 2, seconds: 1 });
  // It is within its interval, whatever the samples say.
  const odd = { ...few, comparison: { ...few.comparison, ratio: 4, low: 3, high: 12 } };
  expect(seenInProgram(decisionFor(inProgram), [odd], 'here')!.evidence.ratio).toBe(3);
});

describe('what was measured by itself stays', () => {
  test.each([
    ['of a workload that is many programs', decisionFor(matmul(64, 32, 16)), shown(matmul(64, 32, 16), 1.5)],
    ['of a workload that was not seen', decisionFor(inProgram), shown(matmul(64, 32, 16), 1.5)],
    ['where the gain may be none', decisionFor(inProgram), shown(inProgram, 1.04)],
    ['of the default', decisionFor(inProgram, { version: 1, kind: 'default' }), shown(inProgram, 1.5)],
    [
      'of what has no configuration',
      passedOver(decisionFor(inProgram).place, decisionFor(inProgram).tunable, 'default', because('no-time')),
      shown(inProgram, 1.5),
    ],
  ])('%s', (_, decision, workload) => {
    expect(seenInProgram(decision, [workload], 'here')).toBeNull();
  });

  test('of another device', () => {
    expect(seenInProgram(decisionFor(inProgram), [shown(inProgram, 1.5)], 'there')).toBeNull();
  });
});
