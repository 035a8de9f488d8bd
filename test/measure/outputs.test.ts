import { describe, expect, test } from 'vitest';
import { readTimings } from '../../src/measure/benchmark.ts';
import { decodeElements } from '../../src/measure/elements.ts';
import { compareOutputs } from '../../src/measure/verify.ts';

const bytes = (values: ArrayBufferView) => new Uint8Array(values.buffer);

describe('decoding elements', () => {
  test('reads f16, subnormals, infinities and NaN', () => {
    const halves = bytes(new Uint16Array([0x3c00, 0xc000, 0x0001, 0x7c00, 0x7e00, 0x3555]));
    expect([...(decodeElements(halves, 'f16') as Float32Array)]).toEqual([
      1,
      -2,
      2 ** -24,
      Infinity,
      NaN,
      Math.fround(0.333251953125),
    ]);
  });
  test('reads bf16', () => {
    expect([...(decodeElements(bytes(new Uint16Array([0x3f80, 0xc040])), 'bf16') as Float32Array)]).toEqual([
      1, -3,
    ]);
  });
  test('does not care about alignment', () => {
    const shifted = new Uint8Array([0, ...bytes(new Float32Array([1.5]))]).subarray(1);
    expect([...(decodeElements(shifted, 'f32') as Float32Array)]).toEqual([1.5]);
  });
  test('knows no types that it does not know', () => {
    expect(decodeElements(new Uint8Array(4), 'f8E4M3FN')).toBeNull();
  });
});

describe('comparing outputs', () => {
  const f32 = (...values: number[]) => bytes(new Float32Array(values));
  test('accepts equal bytes of any type', () => {
    expect(compareOutputs(new Uint8Array(3), new Uint8Array(3), 'f8E4M3FN')).toMatchObject({
      equal: true,
      maxError: 0,
    });
  });
  test('accepts rounding and says how much', () => {
    const result = compareOutputs(f32(1000), f32(1000.005), 'f32');
    expect(result.equal).toBe(true);
    expect(result.maxError).toBeCloseTo(0.005, 3);
  });
  test('refuses a wrong element and names it', () => {
    expect(compareOutputs(f32(1, 2, 3), f32(1, 2, 4), 'f32')).toMatchObject({
      equal: false,
      reason: 'element 2 is 4 instead of 3',
    });
  });
  test('refuses a NaN where there was a number', () => {
    expect(compareOutputs(f32(1), f32(NaN), 'f32')).toMatchObject({ equal: false, maxError: Infinity });
  });
  test('refuses integers that are off by one', () => {
    const i32 = (value: number) => bytes(new Int32Array([value]));
    expect(compareOutputs(i32(7), i32(8), 'i32').equal).toBe(false);
  });
  test('refuses outputs of different length', () => {
    expect(compareOutputs(f32(1), f32(1, 2), 'f32').equal).toBe(false);
  });
});

describe('reading timings', () => {
  const entry = (name: string, time: number, extra = {}) => ({
    name,
    run_type: 'iteration',
    real_time: time,
    time_unit: 'ms',
    ...extra,
  });
  const text = (...benchmarks: object[]) => JSON.stringify({ context: {}, benchmarks });

  test('gives one value per repetition in seconds, aggregates left out', () => {
    const timings = readTimings(
      text(
        entry('BM_c0/process_time/real_time', 2),
        entry('BM_c0/process_time/real_time', 3),
        entry('BM_c0/process_time/real_time_mean', 2.5, { run_type: 'aggregate' }),
      ),
    );
    expect([...timings]).toEqual([['c0', [0.002, 0.003]]]);
  });
  test('passes over lines before the JSON', () => {
    expect(readTimings(`a warning\n${text(entry('BM_c1/real_time', 1))}`).get('c1')).toEqual([0.001]);
  });
  test('leaves out what failed', () => {
    expect(readTimings(text(entry('BM_c0/real_time', 0, { error_occurred: true }))).size).toBe(0);
  });
  test.each(['', 'no json', '{', '{}', '{"benchmarks":[{"name":3}]}'])('is empty for %j', (output) => {
    expect(readTimings(output).size).toBe(0);
  });
});
