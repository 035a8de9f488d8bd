import { expect, test } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../src/backend/configuration.ts';
import { bestLines, resultBlock, runLog } from '../../src/compat/run-log.ts';
import { measurement, PACKED } from './samples.ts';

const at = (seconds: number) => new Date(2023, 8, 5, 7, 3, 9, 1000 * seconds);
const times = { begun: at(0), prepared: at(1.4), ended: at(3727) };

test("the log of a run has the auto-scheduler's format", () => {
  expect(runLog({ ...times, spaceSizes: [16, 8], valid: 21 })).toBe(
    '[Date]: 05/09/2023 07:03:09\n\n' +
      '[Transform Time]: 0 hours 0 minutes 1 seconds\n\n' +
      '[Search Space Size]: 24\n\n' +
      'search space size is : 16\nsearch space size is : 8\nvalid run: 21\n' +
      '[Search Time]: 1 hours 2 minutes 6 seconds\n\n' +
      '=======================================\n\n',
  );
  expect(resultBlock([], { ...times, ended: at(61), spaceSizes: [], valid: 0 })).toContain(
    '0 hours 1 minutes 0 seconds',
  );
});

test('the best configuration is reported by its tiles', () => {
  expect(bestLines(measurement())).toBe(
    '[Performance]: The best is tilesizes:(64x32x128)_interchange:(012)_vectorsizes:(8x16x4)    simd tile\n' +
      'with gflops 2825.64',
  );
  expect(bestLines(measurement(undefined, { configuration: PACKED }))).toMatch(
    /tilesizes:\(4x8\)_.* simd mmt4d\n/,
  );
  expect(bestLines(measurement(undefined, { configuration: DEFAULT_CONFIGURATION, seconds: null }))).toBe(
    '[Performance]: The best is tilesizes:(default)\nwith gflops Not run',
  );
});
