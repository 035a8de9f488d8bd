// Errors of results, judged by their neighbours and by honest builds.
import { describe, expect, test } from 'vitest';
import type { ResultType } from '../../src/input/runtime-type.ts';
import { furthest, Scale, type Furthest } from '../../src/measure/deviation.ts';
import { isQuantized } from '../../src/measure/quantized.ts';
import { seededRandom } from '../../src/search/strategy.ts';

const random = seededRandom(3);
const normal = () => Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random());

/** Rounds to a number of bits. */
const rounded = (value: number, bits: number) => {
  const unit = 2 ** (Math.floor(Math.log2(Math.abs(value) || 1)) - bits);
  return Math.round(value / unit) * unit;
};
const BITS: Readonly<Record<string, number>> = { f32: 23, f16: 10, bf16: 7 };

/** Results of two honest builds, which round differently. */
function honestPair(exact: readonly number[], type: string, noise: number) {
  const build = () =>
    Float64Array.from(exact, (value) => rounded(value * (1 + noise * normal()), BITS[type]!));
  return [build(), build()] as const;
}

/** Judges `tuned` against a result with one honest reference. */
function judged(
  type: ResultType,
  base: Float64Array,
  other: Float64Array,
  tuned: Float64Array,
): Furthest | null {
  const scale = new Scale(base, type);
  const most = furthest(type, scale, scale.between(base, tuned), [scale.between(base, other)]);
  return most !== null && most.times > 1 ? most : null;
}

const SHAPE = [64, 256];
const LENGTH = 64 * 256;

/** Kinds of results: values in a type, with the noise of honest arithmetic. */
const RESULTS: readonly (readonly [
  name: string,
  type: string,
  noise: number,
  valueAt: (i: number) => number,
])[] = [
  ['activations in f32', 'f32', 2 ** -22, normal],
  ['activations in f16', 'f16', 2 ** -13, normal],
  ['activations in bf16', 'bf16', 2 ** -11, normal],
  ['probabilities of 256 words', 'f32', 2 ** -22, () => Math.exp(normal()) / 450],
  ['tiny values in f32', 'f32', 2 ** -22, () => 1e-20 * normal()],
  ['a half of masks', 'f32', 2 ** -22, (i) => (i % 256 >= 128 ? -1e9 : normal())],
  ['a single mask of the least f32', 'f32', 2 ** -22, (i) => (i === 7 ? -(2 ** 127) : normal())],
  ['columns of different sizes', 'f32', 2 ** -22, (i) => (i % 256 < 4 ? 640 : 0.01) * normal()],
  ['zeros behind a maximum', 'f32', 2 ** -22, () => Math.max(0, normal())],
];

/** Mistakes in a result. */
const FAULTS: Readonly<Record<string, (values: Float64Array) => Float64Array>> = {
  zeros: (values) => values.map(() => 0),
  'a missing tail': (values) => values.map((value, i) => (i % 256 >= 120 && i % 256 < 128 ? 0 : value)),
  'a dropped row': (values) => values.map((value, i) => (i >> 8 === 9 ? 0 : value)),
  'swapped rows': (values) =>
    values.map((_, i) => values[i >> 8 === 4 ? i + 256 : i >> 8 === 5 ? i - 256 : i]!),
  'one wrong element in 1,000': (values) => values.map((value, i) => (i % 1000 === 11 ? -2 * value : value)),
  'unwritten memory': (values) => values.map((value, i) => (i % 256 === 100 ? 12_345 : value)),
  'a channel of half the size': (values) => values.map((value, i) => (i % 256 === 50 ? value / 2 : value)),
  NaN: (values) => values.map((value, i) => (i === 5000 ? NaN : value)),
};

describe.each(RESULTS)('%s', (_, elementType, noise, valueAt) => {
  const type = { elementType, shape: SHAPE };
  const exact = Array.from({ length: LENGTH }, (_, i) => valueAt(i));
  const [base, other] = honestPair(exact, elementType, noise);

  test('another honest build is accepted', () => {
    for (let i = 0; i < 20; i++) {
      const [tuned] = honestPair(exact, elementType, noise);
      expect(judged(type, base, other, tuned)).toBeNull();
    }
  });

  test.each(Object.entries(FAULTS))('refuses %s', (_, fault) => {
    expect(judged(type, base, other, fault(other))).not.toBeNull();
  });

  // No comparison can find a mistake that the type's own rounding hides.
  if (elementType === 'f32')
    test('refuses a product in bf16', () => {
      const product = other.map((value) => rounded(value, 7));
      expect(judged(type, base, other, product)).not.toBeNull();
    });

  if (elementType !== 'bf16')
    test('refuses an operand times 1.001', () => {
      const scaled = other.map((value) => rounded(1.001 * value, BITS[elementType]!));
      expect(judged(type, base, other, scaled)?.times).toBeGreaterThan(1);
    });
});

test.each(RESULTS)(
  'half of %s is off by half, without a look at its elements',
  (_, elementType, __, valueAt) => {
    const base = Float64Array.from({ length: LENGTH }, (_, i) => valueAt(i));
    const scale = new Scale(base, { elementType, shape: SHAPE });
    const all = scale.between(
      base,
      base.map((value) => value / 2),
    );
    for (const [i, { norms, tilts }] of scale.halves.entries()) {
      expect(norms[0]).toBeCloseTo(all[i]!.norms[0]!);
      expect(tilts[0]).toBeCloseTo(all[i]!.tilts[0]!);
    }
  },
);

test('an error that honest builds have is accepted in as many elements, and refused in many more', () => {
  const type = { elementType: 'f32', shape: [1, 1000] };
  const step = 0.05;
  const base = Float64Array.from({ length: 1000 }, () => step * Math.round((4 * normal()) / step));
  const moved = (share: number) => base.map((value) => (random() < share ? value + step : value));
  expect(judged(type, base, moved(0.02), moved(0.02))).toBeNull();
  expect(judged(type, base, moved(0.02), moved(0.5))).not.toBeNull();
});

test('integers are equal unless honest builds move them', () => {
  const type = { elementType: 'i8', shape: [1000] };
  const base = Float64Array.from({ length: 1000 }, (_, i) => (i % 200) - 100);
  const one = base.with(17, base[17]! + 1);
  expect(judged(type, base, base, one)?.times).toBe(Infinity);
  expect(judged(type, base, base.with(30, base[30]! + 1), one)).toBeNull();
  expect(judged(type, base, base.with(30, base[30]! + 1), base.with(17, 120))).not.toBeNull();
});

test('a few floats that are rounded to 8 bits may be off by one', () => {
  const type = { elementType: 'i8', shape: [100, 1000] };
  const base = Float64Array.from({ length: 100_000 }, (_, i) => (i % 200) - 100);
  const scale = new Scale(base, type);
  const off = (count: number, by: number) => base.map((value, i) => (i % 1000 < count ? value + by : value));
  const isWrong = (other: Float64Array, mayRound = true, types = type) =>
    (furthest(types, scale, scale.between(base, other), [], mayRound)?.times ?? 0) > 1;
  const rare = base.map((value, i) => (i % 5000 === 7 ? value - 1 : value));
  expect(isWrong(rare)).toBe(false);
  expect(isWrong(rare, false)).toBe(true);
  expect(isWrong(rare, true, { ...type, elementType: 'i32' })).toBe(true);
  expect(isWrong(off(1, 1))).toBe(true);
  expect(isWrong(base.with(3, base[3]! + 2))).toBe(true);
});

test('infinities equal only themselves', () => {
  const type = { elementType: 'f32', shape: [20] };
  const base = Float64Array.from({ length: 20 }, (_, i) => (i < 3 ? -Infinity : i));
  expect(judged(type, base, base, base.with(1, -3e38))?.times).toBe(Infinity);
  expect(judged(type, base, base, base.with(1, Infinity))?.times).toBe(Infinity);
  expect(judged(type, base, base, base.slice())).toBeNull();
});

test('a shape with one dynamic size has slices, one with two has none', () => {
  const base = Float64Array.from({ length: 4000 }, (_, i) => (i % 20 === 3 ? 1e-3 : 1) * normal());
  const tuned = base.map((value, i) => (i % 20 === 3 ? value * 1.01 : value));
  const by = (shape: readonly number[]) => judged({ elementType: 'f32', shape }, base, base, tuned)?.by;
  expect(by([-1, 20])).toBeGreaterThan(0.009);
  expect(by([-1, -1])).toBeGreaterThan(0);
});

test('deviations of a result with other masks say nothing', () => {
  const type = { shape: [2], elementType: 'f32' };
  const scaleOf = (...values: number[]) => new Scale(Float32Array.from(values), type);
  const own = scaleOf(1, -1e9);
  const tuned = own.between(Float32Array.from([1, -1e9]), Float32Array.from([1.5, -1e9]));
  const other = scaleOf(1, 2).between(Float32Array.from([1, 2]), Float32Array.from([3, 2]));
  expect(other.length).toBeLessThan(tuned.length);
  expect(furthest(type, own, tuned, [other])!.times).toBeGreaterThan(1);
});

test('a result of 8 bits is told from others', () => {
  const step = Math.fround(0.0637);
  const quantized = Float32Array.from({ length: 1000 }, () => step * Math.round(30 * normal()));
  expect(isQuantized(quantized)).toBe(true);
  expect(isQuantized(quantized.map((value, i) => (i === 500 ? value + step / 3 : value)))).toBe(false);
  expect(isQuantized(Float32Array.from({ length: 1000 }, normal))).toBe(false);
  expect(isQuantized(new Float32Array(1000))).toBe(false);
});
