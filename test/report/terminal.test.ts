import { writeSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { terminalOf } from '../../src/report/terminal.ts';

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
