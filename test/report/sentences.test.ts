import { expect, test } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../src/backend/configuration.ts';
import { TILE } from '../store/samples.ts';
import { beginning, ending, progressLine, roundsLine, verdictSentence } from '../../src/report/sentences.ts';
import type { TuningProgress } from '../../src/tuning/search-job.ts';
import { because, NO_REASON } from '../../src/system/reason.ts';

const GAIN = { configuration: TILE, evidence: { complete: true } };
const same = (complete: boolean) => ({
  configuration: DEFAULT_CONFIGURATION,
  evidence: { complete },
});

const progress: TuningProgress = {
  ...{ workload: 'contraction m=512 n=512 k=256 f32,f32->f32 mk,kn->mn', flops: 2 * 512 * 512 * 256 },
  ...{ stage: 'search', trials: 32, defaultSeconds: 0.002, bestSeconds: 0.001 },
  ...{ secondsLeft: 41.2, workloads: 3, decided: 1 },
};

test('the first line of tuning says how many operations, and how long it takes at most', () => {
  expect(beginning(1, 59.2)).toBe('tuning 1 operation for 1 min at most');
  expect(beginning(3, 15)).toBe('tuning 3 operations for 15 s at most');
});

test('progress has the sizes, the best so far and the time left', () => {
  expect(progressLine(progress)).toBe(
    'tuning 512x512x256 (1/3 done): 134 GFLOP/s, best trial 2.00x the default, 42 s left',
  );
  expect(progressLine({ ...progress, workloads: 1, bestSeconds: 0.004, secondsLeft: 300 })).toBe(
    'tuning 512x512x256: 67.1 GFLOP/s, best trial 1.00x the default, 300 s left',
  );
  expect(progressLine({ ...progress, stage: 'finals' })).toMatch(/^confirming 512x512x256 /);
  const inDispatch = { ...progress, workload: `${progress.workload} in=7756478e0123abcd` };
  expect(progressLine(inDispatch)).toMatch(/^tuning 512x512x256 /);
  const beginning = { ...progress, trials: 0, defaultSeconds: NaN, bestSeconds: Infinity };
  expect(progressLine(beginning)).toBe('tuning 512x512x256 (1/3 done): timing the default, 42 s left');
});

test('a narrow terminal gets less of the progress, and always the time left', () => {
  for (const columns of [79, 59, 39, 29, 19, 9]) {
    const line = progressLine(progress, columns);
    expect(line.length).toBeLessThanOrEqual(columns);
    expect(line).toMatch(/42 s left$/);
  }
  expect(progressLine(progress, 39)).toBe('134 GFLOP/s 2.00x 42 s left');
});

test('progress of a program has the gain of all its operations', () => {
  const rounds = { rounds: 5, workloads: 12, ratio: 1.324, secondsLeft: 40 };
  expect(roundsLine(rounds)).toBe(
    'tuning 12 operations together: 1.32x the default after 5 rounds, 40 s left',
  );
  expect(roundsLine(rounds, 39)).toBe('1.32x the default, 40 s left');
  expect(roundsLine({ ...rounds, rounds: 1, ratio: 0.9 }, 59)).toBe(
    '12 operations: 1.00x the default, 40 s left',
  );
});

test('the last line of tuning counts the operations and names explain, which has the gains', () => {
  const more = '. iree-tuned explain shows each';
  expect(ending([GAIN], 0, '', 12.34)).toBe(`tuned 1 of 1 operation in 12.3 s${more}`);
  expect(ending([GAIN, GAIN, same(true), same(false)], 1, 'the tuning budget is spent', 60)).toBe(
    'tuned 2 of 5 operations in 1 min; the default is best for 1; ' +
      `nothing faster yet for 1; 1 left to the default: the tuning budget is spent${more}`,
  );
  expect(ending([], 2, 'the machine is too busy to measure', 9)).toBe(
    `tuned 0 of 2 operations in 9 s; 2 left to the default: the machine is too busy to measure${more}`,
  );
});

test('a program that was run says what it came to', () => {
  const nothing = { functions: [], skipped: [], leftOut: [], injected: true, ...NO_REASON };
  expect(verdictSentence('the program', nothing)).toBeNull();
  const untimed = {
    name: 'main',
    equal: true,
    maxError: 0,
    compared: null,
    reason: 'it runs for too long',
    timing: null,
  };
  expect(verdictSentence('the program', { ...nothing, functions: [untimed] })).toBe(
    'the program: @main was not timed: it runs for too long',
  );
  expect(verdictSentence('the program', { ...nothing, ...because('no-time', 'it takes too long') })).toBe(
    'the program: not verified: it takes too long',
  );
  expect(
    verdictSentence('the program', {
      ...nothing,
      injected: false,
      ...because('worse-in-program', 'it is worse with each'),
    }),
  ).toBe('the program: compiled as it is: it is worse with each');
});
