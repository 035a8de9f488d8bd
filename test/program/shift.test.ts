// Errors of quantized results with one direction, among rounding errors of the same size.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { largestShift } from '../../src/program/shift.ts';
import type { StockContest } from '../../src/program/verify.ts';
import { seededRandom } from '../../src/search/strategy.ts';
import { temporaryDirectory } from '../support/folders.ts';

const folder = temporaryDirectory();
const LENGTH = 1000;
const STEP = 0.5;
const random = seededRandom(1);
const levels = (most: number) =>
  Float64Array.from({ length: LENGTH }, () => Math.round(most * (2 * random() - 1)));

let count = 0;
/** A file with these multiples of a step. */
function fileOf(multiples: Float64Array): string {
  const path = join(folder, `${count++}.bin`);
  writeFileSync(path, Buffer.from(Float32Array.from(multiples, (one) => STEP * one).buffer));
  return path;
}

const shiftBy = (
  offset: (at: number) => number,
  { size = 100, step = 1.4, runs = Infinity, seconds = 0.1 } = {},
) => {
  let left = runs;
  const stock = {
    function: { results: [{ elementType: 'f32', shape: [LENGTH] }] },
  } as unknown as StockContest;
  const all: Float64Array[] = [];
  const moved = (values: Float64Array, by: Float64Array) => values.map((value, at) => value + by[at]!);
  const draws = {
    stepped: (i: number) => {
      const values = (all[i] = levels(size));
      const draw = {
        files: [fileOf(values)],
        seconds: 0,
        call: { inputs: [], flags: [] },
        honest: [],
        levels: 0,
      };
      return Promise.resolve({ draw, files: [fileOf(moved(values, levels(step)))] });
    },
    run: () => {
      const noise = levels(1.4).map((value, at) => value + offset(at));
      return Promise.resolve({ files: [fileOf(moved(all.at(-1)!, noise))], seconds: 0 });
    },
  };
  return largestShift(stock, draws, 'tuned.vmfb', [seconds, seconds], 1, () => left-- > 0);
};

/** As large as the noise. */
const wrong = (at: number) => (at % 2 === 0 ? 1 : -1);

test('errors without a direction are rounding', async () => {
  expect((await shiftBy(() => 0))!.times).toBeLessThan(0.8);
});

test('errors of the same size with one direction are a fault', async () => {
  const shift = await shiftBy(wrong);
  expect(shift!.times).toBeGreaterThan(1.3);
  expect(shift!.reason).toMatch(
    /^result 0: its errors on 8 inputs have one direction: their sum is 3\.\d times/,
  );
});

test('without enough inputs there is no verdict', async () => {
  expect(await shiftBy(wrong, { runs: 3 })).toBeNull();
  expect((await shiftBy(wrong, { runs: 4 }))!.times).toBeGreaterThan(1);
  expect(await shiftBy(wrong, { seconds: 1 })).toBeNull();
});

test('results that are not quantized, or that no step moves, have no verdict', async () => {
  expect(await shiftBy(wrong, { size: 10_000 })).toBeNull();
  expect(await shiftBy(wrong, { step: 0 })).toBeNull();
});
