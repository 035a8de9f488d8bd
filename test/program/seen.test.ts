// Evidence from the statistics of the running program.
import { describe, expect, test } from 'vitest';
import type { Configuration } from '../../src/backend/configuration.ts';
import { decided, passedOver, type Decision } from '../../src/decision/decision.ts';
import type { TunableOperation } from '../../src/input/operation.ts';
import { seenInProgram } from '../../src/program/seen.ts';
import type { ComparedWorkload } from '../../src/program/slower.ts';
import { workloadKey, type OperationWork } from '../../src/workload/workload.ts';
import { EVIDENCE, TILE } from '../store/samples.ts';
import { matmul } from '../support/workloads.ts';
import { because } from '../../src/system/reason.ts';

const inProgram: OperationWork = { ...matmul(64, 32, 16), context: { digest: 'abcd' } };
function decisionFor(workload: OperationWork, configuration: Configuration = TILE): Decision {
  const place = { name: 'linalg.matmul', operation: null, location: null };
  const key = workloadKey(workload);
  const tunable: TunableOperation = { place, workload, key, loops: [0, 1, 2], written: null };
  const of = { workload: key, target: 't', device: 'here', compiler: 'c' };
  return decided(tunable, { configuration, evidence: EVIDENCE, ...of }, 'tuned', 'here');
}

/** Three calls in each program, timed in seven pairs of processes. */
const shown = (workload: OperationWork, ratio: number, doubt = 0.05): ComparedWorkload => ({
  key: workloadKey(workload),
  comparison: { ratio, low: ratio - doubt, high: ratio + doubt, seconds: [3 * ratio, 3] },
  ...{ stock: Array<number>(7).fill(3 * ratio), calls: 3, processes: 7, isCertain: false },
});

test('a gain in the program replaces the evidence of the record', () => {
  const seen = seenInProgram(decisionFor(inProgram), [shown(inProgram, 1.5)], 'here');
  expect(seen?.evidence).toEqual({
    ...EVIDENCE,
    ...{ ratio: 1.5, low: 1.45, high: 1.55, defaultSeconds: 1.5, seconds: 1 },
    // Processes add up, because a merge prefers evidence from more processes.
    ...{ processes: 12, repetitions: 67 },
  });
  expect(seen?.reason).toBe('1.50x faster than the default, as its program shows');
});

test('disturbed pairs widen the interval, and the ratio is that of undisturbed times', () => {
  const few = shown(inProgram, 2);
  const disturbed = { ...few, comparison: { ...few.comparison, ratio: 4, low: 1.2, high: 12 } };
  const { evidence } = seenInProgram(decisionFor(inProgram), [disturbed], 'here')!;
  expect(evidence).toMatchObject({ ratio: 2, low: 1.2, high: 12, defaultSeconds: 2, seconds: 1 });
  // The ratio is clamped to the interval.
  const odd = { ...few, comparison: { ...few.comparison, ratio: 4, low: 3, high: 12 } };
  expect(seenInProgram(decisionFor(inProgram), [odd], 'here')!.evidence.ratio).toBe(3);
});

describe('the evidence of the record stays', () => {
  test.each([
    [
      'for a workload without a dispatch as its context',
      decisionFor(matmul(64, 32, 16)),
      shown(matmul(64, 32, 16), 1.5),
    ],
    ['for a workload without times', decisionFor(inProgram), shown(matmul(64, 32, 16), 1.5)],
    ['for a gain within noise', decisionFor(inProgram), shown(inProgram, 1.04)],
    ['for the default', decisionFor(inProgram, { version: 1, kind: 'default' }), shown(inProgram, 1.5)],
    [
      'for an operation without a configuration',
      passedOver(decisionFor(inProgram).tunable!, 'default', because('no-time')),
      shown(inProgram, 1.5),
    ],
  ])('%s', (_, decision, workload) => {
    expect(seenInProgram(decision, [workload], 'here')).toBeNull();
  });

  test('for another device', () => {
    expect(seenInProgram(decisionFor(inProgram), [shown(inProgram, 1.5)], 'there')).toBeNull();
  });
});
