import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { collectCounts, noteCounts } from '../../src/report/counting.ts';
import { formatSeconds } from '../../src/report/format.ts';
import { progressLine } from '../../src/report/progress.ts';
import { table } from '../../src/report/table.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import { temporaryDirectory } from '../support/folders.ts';

describe('counting', () => {
  test('adds up what was noted, once', () => {
    const folder = temporaryDirectory();
    const store = openSqliteStore(join(folder, 'tuning.db'));
    noteCounts(join(folder, 'cache'), { compiles: 1, 'operations: hit': 2 });
    noteCounts(join(folder, 'cache'), { compiles: 1 });
    collectCounts(join(folder, 'cache'), store);
    collectCounts(join(folder, 'cache'), store);
    expect(store.counters()).toEqual({ compiles: 2, 'operations: hit': 2 });
    store.close();
  });
  test('passes over a line that a killed process left unfinished', () => {
    const folder = temporaryDirectory();
    const store = openSqliteStore(join(folder, 'tuning.db'));
    noteCounts(folder, { compiles: 1 });
    appendFileSync(join(folder, 'counters.jsonl'), '{"compiles":');
    collectCounts(folder, store);
    expect(store.counters()).toEqual({ compiles: 1 });
    store.close();
  });
  test('does not mind a place that cannot be written', () => {
    const folder = temporaryDirectory();
    writeFileSync(join(folder, 'file'), '');
    expect(() => {
      noteCounts(join(folder, 'file', 'cache'), { compiles: 1 });
    }).not.toThrow();
  });
});

test.each([
  [2.5, '2.50 s'],
  [0.0123, '12.3 ms'],
  [0.0000456, '45.6 us'],
  [NaN, '-'],
])('%d seconds read %s', (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text);
});

test('progress names the workload, the trials, the best and the time left', () => {
  const line = progressLine({
    workload: 'contraction m=8 n=8 k=8 f32,f32->f32 mk,kn->mn',
    stage: 'search',
    trials: 32,
    defaultSeconds: 0.002,
    bestSeconds: 0.001,
    secondsLeft: 41.2,
  });
  expect(line).toBe('iree-tuned: 8x8x8: 32 trials, 2.00 ms -> 1.00 ms (2.00x), 42 s left');
});

test('tables align text to the left and numbers to the right', () => {
  expect(
    table(
      ['name', 'gain'],
      [
        ['a', '1.50x'],
        ['long', '12.00x'],
      ],
    ),
  ).toBe('name    gain\na      1.50x\nlong  12.00x');
});
