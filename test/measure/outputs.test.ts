import { describe, expect, test } from 'vitest';
import { readTimings } from '../../src/measure/benchmark.ts';
import { readProfile } from '../../src/backend/gpu/device.ts';
import { readDispatchTimes } from '../../src/measure/compare-modules.ts';
import { decodeElements } from '../../src/measure/elements.ts';
import { compareOutputs, exactAllowance } from '../../src/measure/verify.ts';

const bytes = (values: ArrayBufferView) => new Uint8Array(values.buffer);
const f32 = (...values: number[]) => bytes(new Float32Array(values));
/** A bf16 is the upper half of an f32. All values here are exact in bf16. */
const bf16 = (...values: number[]) =>
  bytes(Uint16Array.from(new Uint32Array(new Float32Array(values).buffer), (whole) => whole >>> 16));

describe('decoding elements', () => {
  const shifted = new Uint8Array([0, ...f32(1.5)]).subarray(1);
  const halves = (...bits: number[]) => bytes(Uint16Array.from(bits));
  test.each([
    ['f16', 'f16', halves(0x3c00, 0xc000, 0x3555), [1, -2, Math.fround(0.333251953125)]],
    ['subnormals, infinities and NaN', 'f16', halves(0x0001, 0x7c00, 0x7e00), [2 ** -24, Infinity, NaN]],
    ['bf16', 'bf16', halves(0x3f80, 0xc040), [1, -3]],
    ['unaligned bytes', 'f32', shifted, [1.5]],
    ['an unaligned buffer', 'f32', Buffer.from([0, ...shifted]).subarray(1), [1.5]],
  ])('reads %s', (_, type, values, expected) => {
    expect([...(decodeElements(values, type) as Float32Array)]).toEqual(expected);
  });
  test('returns null for other types', () => {
    expect(decodeElements(new Uint8Array(4), 'f8E4M3FN')).toBeNull();
  });
});

/** Absolute and relative tolerances, by element type. */
const TOLERANCES: Readonly<Record<string, readonly [number, number]>> = {
  ...{ bf16: [1e-1, 3e-2], f32: [1e-4, 1e-5] },
};

function compare(expected: Uint8Array, actual: Uint8Array, elementType: string, truth?: Uint8Array) {
  const [absolute, relative] = TOLERANCES[elementType] ?? [0, 0];
  const fromExpected = (value: number) => absolute + relative * Math.abs(value);
  const fromTruth = (value: number, expectedError: number) => Math.max(expectedError, fromExpected(value));
  return compareOutputs(expected, actual, elementType, { fromExpected, fromTruth }, truth);
}

const RIGHT = { outcome: 'right', maxError: 0 };
const WRONG = { outcome: 'wrong-result' };

describe('comparing outputs', () => {
  const i32 = (value: number) => bytes(new Int32Array([value]));
  const third = { ...WRONG, reason: 'element 2 is 4 instead of 3' };
  const near = { ...RIGHT, maxError: expect.closeTo(0.005, 3) as number };
  test.each([
    ['accepts equal bytes of any type', new Uint8Array(3), new Uint8Array(3), 'f8E4M3FN', RIGHT],
    ['accepts rounding and gives its size', f32(1000), f32(1000.005), 'f32', near],
    ['refuses a wrong element and names it', f32(1, 2, 3), f32(1, 2, 4), 'f32', third],
    ['refuses a NaN instead of a number', f32(1), f32(NaN), 'f32', WRONG],
    ['refuses a number instead of an infinity', f32(-Infinity), f32(1), 'f32', WRONG],
    ['refuses another infinity', f32(Infinity), f32(-Infinity), 'f32', WRONG],
    ['accepts the same infinity', f32(Infinity, 1), f32(Infinity, 1.000001), 'f32', { outcome: 'right' }],
    ['refuses integers that are off by one', i32(7), i32(8), 'i32', WRONG],
    ['refuses outputs of different length', f32(1), f32(1, 2), 'f32', WRONG],
  ])('%s', (_, expected, actual, type, result) => {
    expect(compare(expected, actual, type)).toMatchObject(result);
  });
});

describe('comparing outputs with the truth', () => {
  const truth = f32(1064, 1113);
  const expected = bf16(1024, 1096);
  test('accepts an output that is nearer to the truth than the expected output', () => {
    const actual = bf16(1064, 1112);
    expect(compare(expected, actual, 'bf16').outcome).toBe('wrong-result');
    // `maxError` is still the difference from the expected output.
    expect(compare(expected, actual, 'bf16', truth)).toEqual({
      outcome: 'right',
      maxError: 40,
    });
  });
  test("accepts errors up to the expected output's largest error, in any element", () => {
    expect(compare(expected, bf16(1064, 1152), 'bf16', truth)).toMatchObject({ outcome: 'right' });
  });
  test('refuses an output that is further from the truth than the expected output', () => {
    expect(compare(expected, bf16(1064, 1024), 'bf16', truth)).toMatchObject({
      reason: 'element 1 is 1024 instead of 1113',
    });
  });
  test('allows the tolerance around the truth if the expected output is nearer than that', () => {
    const [near, exact] = [bf16(1008, 0), f32(1024, 0)];
    expect(compare(near, bf16(1048, 0), 'bf16').outcome).toBe('wrong-result');
    expect(compare(near, bf16(1048, 0), 'bf16', exact)).toMatchObject({ outcome: 'right', maxError: 40 });
    expect(compare(near, bf16(1056, 0), 'bf16', exact).outcome).toBe('wrong-result');
  });
  test('accepts an output near the expected output, regardless of the truth', () => {
    expect(compare(expected, bf16(1032, 1096), 'bf16', f32(0, 0)).outcome).toBe('right');
  });
  test('refuses a NaN and an overflow', () => {
    for (const value of [NaN, Infinity])
      expect(compare(expected, bf16(1064, value), 'bf16', truth)).toMatchObject({
        reason: `element 1 is ${value} instead of 1113`,
      });
  });
  test.each([
    ['has a NaN', bf16(NaN, 1096), truth],
    ['has overflowed', bf16(-Infinity, 1096), truth],
    ['has another length than the truth', bf16(0, 1096), f32(1064)],
  ])('ignores the truth if the expected output %s', (_, broken, exact) => {
    const actual = bf16(1064, 8);
    const withoutTruth = compare(broken, actual, 'bf16');
    expect(withoutTruth.outcome).toBe('wrong-result');
    expect(compare(broken, actual, 'bf16', exact)).toEqual(withoutTruth);
  });
});

describe('sums of small integers', () => {
  const exact = (expected: Uint8Array, actual: Uint8Array, truth: Uint8Array) =>
    compareOutputs(expected, actual, 'bf16', exactAllowance('bf16'), truth).outcome === 'right';

  test('show an omitted product, also in bf16', () => {
    const truth = f32(50, -120);
    expect(exact(bf16(50, -120), bf16(50, -120), truth)).toBe(true);
    expect(exact(bf16(50, -120), bf16(49, -120), truth)).toBe(false);
  });

  test('may be rounded as far as the default', () => {
    const truth = f32(300, 50);
    expect(exact(bf16(296, 50), bf16(304, 50), truth)).toBe(true);
    expect(exact(bf16(296, 50), bf16(310, 50), truth)).toBe(false);
  });
});

/** A row of the benchmark's output, in milliseconds. */
const row = (name: string, real_time: number, extra = {}) => ({
  ...{ name, run_type: 'iteration', real_time, cpu_time: 2 * real_time, time_unit: 'ms' },
  ...extra,
});
const text = (...benchmarks: object[]) => JSON.stringify({ context: {}, benchmarks });

describe('reading timings', () => {
  test('gives one value per repetition in seconds, without aggregates', () => {
    const timings = readTimings(
      text(
        row('BM_c0/process_time/real_time', 2),
        row('BM_c0/process_time/real_time', 3),
        row('BM_c0/process_time/real_time_mean', 2.5, { run_type: 'aggregate' }),
      ),
    );
    expect([...timings]).toEqual([['c0', [0.002, 0.003]]]);
  });
  test('skips lines before the JSON', () => {
    expect(readTimings(`a warning\n${text(row('BM_c1/real_time', 1))}`).get('c1')).toEqual([0.001]);
  });
  test('skips failed runs', () => {
    expect(readTimings(text(row('BM_c0/real_time', 0, { error_occurred: true }))).size).toBe(0);
  });
  test.each(['', 'no json', '{', '{}', '{"benchmarks":[{"name":3}]}'])('is empty for %j', (output) => {
    expect(readTimings(output).size).toBe(0);
  });
});

describe('reading the statistics of dispatches', () => {
  const own = row('BM_main/process_time/real_time', 3, { items_per_second: 333 });
  const matmul = row('BM_main/main_dispatch_1_matmul_like_196x512x256_f32', 2, { calls: 33, percent: 66 });
  const packing = row('BM_main/_encoding_0_encode_196x256xf32', 0.5, { calls: 1, percent: 16 });

  test('gives seconds and calls of each dispatch', () => {
    expect([...readDispatchTimes(text(own, matmul, packing))]).toEqual([
      ['main_dispatch_1_matmul_like_196x512x256_f32', { seconds: 0.002, calls: 33 }],
      ['_encoding_0_encode_196x256xf32', { seconds: 0.0005, calls: 1 }],
    ]);
  });

  test('does not mix dispatches with functions', () => {
    expect([...readTimings(text(own, matmul, packing))]).toEqual([['main', [0.003]]]);
  });

  test.each([
    ['no calls', { calls: 0 }],
    ['calls that are not a number', { calls: '3' }],
    ['a failure', { calls: 1, error_occurred: true }],
  ])('skips rows with %s', (_, extra) => {
    expect(readDispatchTimes(text(own, row('BM_main/d', 1, extra))).size).toBe(0);
  });

  test.each(['', 'no json', '{', '{}'])('is empty for %j', (output) => {
    expect(readDispatchTimes(output).size).toBe(0);
  });
});

describe('reading the profile of a device', () => {
  const group = (key: string, valid: number, avg_ns: number, more = {}) =>
    JSON.stringify({ type: 'dispatch_group', key, count: valid, valid, avg_ns, ...more });

  test('gives the seconds and calls of each dispatch in one call of the function', () => {
    const jsonl = ['{"type":"dispatch_summary"}', group('a', 12, 5000), group('b', 4, 1e6), ''].join('\n');
    expect([...readProfile(jsonl)]).toEqual([
      ['a', { seconds: 3 * 5e-6, calls: 3 }],
      ['b', { seconds: 1e-3, calls: 1 }],
    ]);
  });

  test.each([
    ['dispatches that the device did not time', group('a', 0, 5)],
    ['times that are no number', group('a', 3, 5, { avg_ns: 'x' })],
    ['text that is no JSON', 'device=0 count=47'],
  ])('skips %s', (_, line) => {
    expect(readProfile(line).size).toBe(0);
  });
});
