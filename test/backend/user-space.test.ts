import { expect, test } from 'vitest';
import { llvmCpu } from '../../src/backend/llvm-cpu/index.ts';
import { readUserSpace, type WrittenKnob } from '../../src/backend/user-space.ts';

const read = (...written: Omit<WrittenKnob, 'where'>[]) =>
  readUserSpace(
    written.map((knob, i) => ({ ...knob, where: `a.json:${i + 2}` })),
    llvmCpu.userKnobs,
  );

test('values are sorted and unique, and the last of two lists applies', () => {
  expect(
    read(
      { name: 'vector_m', values: [1] },
      { name: 'vector_m', values: [8, 4, 8] },
      { name: 'cache_k', values: [0, 64] },
      { name: 'peeling', values: [true, false] },
    ),
  ).toEqual({ vector_m: [4, 8], cache_k: [0, 64], peeling: [0, 1] });
  expect(read()).toBeUndefined();
});

test.each([
  [
    { name: 'tile_m', values: [1] },
    'a.json:2: unknown knob "tile_m": the knobs are distribution_batch, distribution_m',
  ],
  [{ name: 'vector_m', values: [] }, 'a.json:2: vector_m: write a list of 1 to 1000 values'],
  [{ name: 'vector_m', values: [0] }, 'a.json:2: vector_m: 0 is not a whole number from 1 to 1048576'],
  [{ name: 'distribution_n', values: [64.5] }, 'distribution_n: 64.5 is not a whole number'],
  [{ name: 'cache_n', values: [2 ** 21] }, 'cache_n: 2097152 is not a whole number from 0 to'],
  [{ name: 'cache_n', values: ['64'] }, 'cache_n: 64 is not a whole number'],
  [{ name: 'peeling', values: [1] }, 'a.json:2: peeling: 1 is not true or false'],
])('%j is refused', (knob, message) => {
  expect(() => read(knob)).toThrow(message);
});
