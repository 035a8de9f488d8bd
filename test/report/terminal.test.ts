import { writeSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../src/backend/configuration.ts';
import {
  beginning,
  ending,
  progressLine,
  roundsLine,
  terminalOf,
  verdictSentence,
} from '../../src/report/terminal.ts';
import type { TuningProgress } from '../../src/tuning/search-job.ts';
import { because, NO_REASON, type Reason } from '../../src/system/reason.ts';
import { TILE } from '../store/samples.ts';

vi.mock('node:tty', () => ({ isatty: () => true }));
vi.mock('node:fs', async (original) => ({ ...(await original<object>()), writeSync: vi.fn() }));

const lines = () => vi.mocked(writeSync).mock.calls.map(([, text]) => text.replace('\r\u001b[2K', ''));

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubEnv('TERM', 'xterm');
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

test('the seconds on a terminal run down until the next message', () => {
  const terminal = terminalOf(null);
  terminal.begin(50, 60);
  vi.advanceTimersByTime(2000);
  terminal.rounds({ rounds: 1, workloads: 50, ratio: 1, secondsLeft: 30 });
  vi.advanceTimersByTime(1000);
  terminal.clear();
  vi.advanceTimersByTime(5000);
  expect(lines()).toEqual([
    'tuning 50 operations for 1 min at most',
    'tuning 50 operations for 59 s at most',
    'tuning 50 operations for 58 s at most',
    '30 s left: tuning 50 operations together, 1.00x the default after 1 round',
    '29 s left: tuning 50 operations together, 1.00x the default after 1 round',
    '',
  ]);
});

const SEARCH: TuningProgress = {
  ...{ workload: 'contraction m=512 n=512 k=256 f32,f32->f32 mk,kn->mn', flops: 2 * 512 * 512 * 256 },
  ...{ stage: 'search', trials: 32, defaultSeconds: 0.002, bestSeconds: 0.001 },
  ...{ secondsLeft: 41.2, workloads: 3, decided: 1 },
};
const GAIN = { configuration: TILE, evidence: { complete: true } };
const same = (complete: boolean) => ({ configuration: DEFAULT_CONFIGURATION, evidence: { complete } });

test.each([
  [beginning(3, 59.2), 'tuning 3 operations for 1 min at most'],
  [
    progressLine(SEARCH),
    '42 s left, 1 of 3 done: tuning 512x512x256: 134 GFLOP/s, best trial 2.00x the default',
  ],
  [
    progressLine({ ...SEARCH, workloads: 1, stage: 'finals', bestSeconds: 0.004 }),
    '42 s left: confirming 512x512x256: 67.1 GFLOP/s, best trial 1.00x the default',
  ],
  [
    progressLine({ ...SEARCH, workload: `${SEARCH.workload} in=7756478e0123abcd`, trials: 0 }),
    '42 s left, 1 of 3 done: tuning 512x512x256: timing the default',
  ],
  [
    roundsLine({ rounds: 5, workloads: 12, ratio: 0.9, secondsLeft: 40 }),
    '40 s left: tuning 12 operations together, 1.00x the default after 5 rounds',
  ],
  [ending([GAIN], 0, '', 12.34), 'tuned 1 of 1 operation in 12.3 s. iree-tuned explain shows each'],
  [
    ending([GAIN, same(true), same(false)], 1, 'the tuning budget is spent', 60),
    'tuned 1 of 4 operations in 1 min; the default is best for 1; nothing faster yet for 1; ' +
      '1 left to the default: the tuning budget is spent. iree-tuned explain shows each',
  ],
])('%s', (sentence, expected) => {
  expect(sentence).toBe(expected);
});

const UNTIMED = {
  ...{ name: 'main', equal: true, maxError: 0, compared: null, timing: null },
  reason: 'it runs for too long',
};

test.each<[string | null, { injected?: boolean; functions?: (typeof UNTIMED)[] } & Partial<Reason>]>([
  [null, {}],
  ['the program: @main was not timed: it runs for too long', { functions: [UNTIMED] }],
  ['the program: not verified: it takes too long', because('no-time', 'it takes too long')],
  [
    'the program: compiled as it is: it is worse with each',
    { injected: false, ...because('worse-in-program', 'it is worse with each') },
  ],
])('a program that was run says: %s', (sentence, verdict) => {
  const nothing = { functions: [], skipped: [], leftOut: [], injected: true, ...NO_REASON };
  expect(verdictSentence('the program', { ...nothing, ...verdict })).toBe(sentence);
});
