// Rounding as additions: the same result for every float.
import { expect, test } from 'vitest';
import { chooseForms } from '../../src/form/choose.ts';
import { rewritableKey } from '../../src/form/rewritable.ts';
import { isRounding, readRounding } from '../../src/form/rounding.ts';
import { HOST, preprocessed, resultsOf } from './support.ts';

const COUNT = 1 << 20;

/** A product goes before the rounding, because the compiler fuses products and additions. */
const program = `func.func @main(%a: tensor<${COUNT}xf32>, %b: tensor<${COUNT}xf32>) -> tensor<${COUNT}xf32> {
  %e = tensor.empty() : tensor<${COUNT}xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<${COUNT}xf32>, tensor<${COUNT}xf32>) outs(%e : tensor<${COUNT}xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %p = arith.mulf %x, %y : f32
    %s = math.roundeven %p : f32
    linalg.yield %s : f32
  } -> tensor<${COUNT}xf32>
  return %r : tensor<${COUNT}xf32>
}
`;

test('rounds every float as the compiler does, and products once', async () => {
  const operations = readRounding(Buffer.from(program));
  expect(operations.map(rewritableKey)).toEqual(['math.roundeven f32']);
  const choices = chooseForms(operations, {});
  expect(choices.map(({ form }) => form)).toEqual(['by-additions']);
  expect(await preprocessed(program, choices)).not.toContain('roundeven');
  // A quarter are products of any bits, among them NaN, infinities and both zeros; the others lie at halves, and next to them.
  const bits = new Float32Array(1);
  const asBits = new Uint32Array(bits.buffer);
  const valueAt = (i: number, at: number) => {
    if (i % 4 === 0) {
      asBits[0] = Math.imul(i + at, 2_654_435_761) >>> 0;
      return bits[0]!;
    }
    if (at === 1) return i % 4 === 1 ? 1 : 1 / 3;
    bits[0] = ((i % 2 === 0 ? 1 : -1) * (i >> 2)) / (i % 3 === 0 ? 2 : 32);
    asBits[0]! += (i % 5) - 2;
    return bits[0];
  };
  const shapes = [[COUNT], [COUNT]];
  const { written, formed } = await resultsOf(program, choices, shapes, valueAt, HOST);
  const bitsOf = (values: Float32Array) => Buffer.from(new Uint8Array(values.buffer));
  // The sign of a NaN means nothing.
  const same = written.map((value, i) =>
    Number.isNaN(value) && Number.isNaN(formed[i]) ? formed[i]! : value,
  );
  expect(new Set(written).size).toBeGreaterThan(10_000);
  expect(bitsOf(same).equals(bitsOf(formed))).toBe(true);
});

test('rounding of other types, and other backends, stay as written', () => {
  const text = Buffer.from('%1 = math.roundeven %0 : f16');
  expect(readRounding(text)).toEqual([]);
  expect(chooseForms(readRounding(Buffer.from(program)))).toEqual([]);
  expect(isRounding({ name: 'math.round' })).toBe(false);
});
