// The search space of a whole dispatch.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Hardware } from '../../../src/backend/backend.ts';
import { dispatchSpace } from '../../../src/backend/llvm-cpu/dispatch-space.ts';
import { pointOf } from '../../../src/search/space.ts';
import { isConfiguration } from '../../../src/backend/index.ts';
import { startsOf } from '../drawn.ts';
import type { DispatchWork } from '../../../src/workload/dispatch/dispatch-work.ts';
import { WIDE } from '../../support/backend.ts';
import { softmax } from '../../support/workloads.ts';

/** The starts of a dispatch on a CPU with AVX-512, or another one. */
const startsFor = (work: DispatchWork, change: Partial<Hardware> = {}) =>
  startsOf(dispatchSpace(work, { ...WIDE, ...change }), 'dispatch-tile');

const attention = (queries: number, keys: number): DispatchWork => ({
  ...softmax(1, 1),
  pipeline: 'LinalgExtTileAndVectorize',
  dimensions: [
    { kind: 'm', size: 12 },
    { kind: 'm', size: queries },
    { kind: 'm', size: 64 },
    { kind: 'k', size: 64 },
    { kind: 'k', size: keys },
  ],
  parts: [{ name: 'iree_linalg_ext.online_attention', loops: [0, 1, 2, 3, 4], reduced: [4, 3] }],
  lane: 2,
});

test('a softmax begins with tiles that divide its rows and columns, if the default does not', () => {
  expect(startsFor(softmax(1500, 1500))[0]).toEqual({
    ...{ version: 1, kind: 'dispatch-tile' },
    distribution: [1, 60, 0],
    vector: [1, 4, 60],
  });
});

test.each([
  [64, 32, [1, 4, 64]],
  // Sixteen vectors at once would take all registers.
  [32, 16, [1, 4, 16]],
])(
  'work on elements begins with half of the registers at most: vectors of %i bytes in %i registers',
  (nativeVectorBytes, vectorRegisters, expected) => {
    const work: DispatchWork = {
      ...softmax(1, 1),
      dimensions: [64, 64, 192].map((size) => ({ kind: 'm', size })),
      parts: [{ name: 'linalg.generic', loops: [0, 1, 2], reduced: [] }],
    };
    const starts = startsFor(work, { nativeVectorBytes, vectorRegisters });
    expect(starts[0]).toMatchObject({ vector: expected });
    expect(starts).toHaveLength(8);
  },
);

test.each([
  // A transpose is done in squares.
  ['elementwise_transpose_64x192_f32', [8, 8]],
  ['elementwise_64x192_f32', [1, 64]],
])('the second start of %s', (name, expected) => {
  const work: DispatchWork = {
    ...{ ...softmax(1, 1), name, lane: 1 },
    dimensions: [64, 192].map((size) => ({ kind: 'm', size })),
    parts: [{ name: 'linalg.generic', loops: [0, 1], reduced: [] }],
  };
  const [, second] = startsFor(work, { nativeVectorBytes: 32, vectorRegisters: 16 });
  expect(second).toMatchObject({ vector: expected });
});

/** A sum over the columns. @param lane the dimension of vectors */
const sumOf = (rows: number, columns: number, lane: number): DispatchWork => ({
  ...softmax(1, 1),
  dimensions: [
    { kind: 'm', size: rows },
    { kind: 'k', size: columns },
  ],
  parts: [{ name: 'linalg.generic', loops: [0, 1], reduced: [1] }],
  lane,
});

test('a sum of each row begins with several rows at once, also of a prime number of rows', () => {
  const vectors = startsFor(sumOf(197, 384, 1)).map(({ vector }) => vector);
  expect(vectors.slice(0, 2)).toEqual([
    [8, 64],
    [8, 32],
  ]);
});

test('a sum over rows, which the compiler unrolls, has few rows in its vectors', () => {
  const elements = startsFor(sumOf(960, 256, 0)).map(({ vector }) => vector[0]! * vector[1]!);
  expect(elements.length).toBeGreaterThan(3);
  expect(Math.max(...elements)).toBeLessThanOrEqual(1024);
});

test('an attention begins with a few queries, a few keys, and all columns', () => {
  expect(startsFor(attention(128, 128))[0]).toMatchObject({
    distribution: [1, 64, 64, 0, 0],
    vector: [1, 8, 64, 64, 8],
  });
});

test('tiles of a dynamic dimension are powers of two, also larger than its tuned sizes', () => {
  const work = softmax(1, 500);
  const dimensions = work.dimensions.map((one, d) => (d === 1 ? { ...one, sizes: [1] } : one));
  const { knobs } = dispatchSpace({ ...work, dimensions }, WIDE);
  const valuesOf = (name: string) => knobs.find((knob) => knob.name === name)!.values;
  expect(valuesOf('distribution.m1')).toEqual([1, 2, 4, 8, 16]);
  expect(valuesOf('vector.m1')).toEqual([1, 2, 4, 8, 16]);
  expect(valuesOf('vector.k2')).toContain(500);
});

const sizes = fc.integer({ min: 1, max: 3000 });

test('for all sizes, starts are legal, points lead back, and no vector is too large for the compiler', () => {
  fc.assert(
    fc.property(fc.constantFrom(softmax, attention), sizes, sizes, fc.nat(), (make, rows, columns, seed) => {
      const work = make(rows, columns);
      const space = dispatchSpace(work, WIDE);
      for (const configuration of startsOf(space, 'dispatch-tile')) {
        expect(isConfiguration(configuration, work.dimensions.length)).toBe(true);
        expect(space.configurationAt(pointOf(space, configuration)!)).toEqual(configuration);
      }
      const point = space.knobs.map(({ values }, i) => (seed >> i) % values.length);
      const configuration = space.configurationAt(point);
      if (configuration?.kind !== 'dispatch-tile') return;
      const { distribution, vector } = configuration;
      for (const [d, { kind, size }] of work.dimensions.entries()) {
        expect(distribution[d]! === 0).toBe(kind === 'k');
        expect(vector[d]).toBeGreaterThan(0);
        expect(vector[d]).toBeLessThanOrEqual(size);
      }
    }),
  );
});

test('each thread gets a workgroup', () => {
  for (const { distribution } of startsFor(softmax(1500, 1500), { threads: 16 })) {
    const [a, b] = distribution;
    expect(Math.ceil(6 / a!) * Math.ceil(1500 / b!)).toBeGreaterThanOrEqual(16);
  }
});
