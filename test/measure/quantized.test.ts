// Results of quantized networks.
import { expect, test } from 'vitest';
import { isQuantized } from '../../src/measure/quantized.ts';
import { seededRandom } from '../../src/search/strategy.ts';

const random = seededRandom(3);
const normal = () => Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random());

test('a result of 8 bits is told from others', () => {
  const step = Math.fround(0.0637);
  const quantized = Float32Array.from({ length: 1000 }, () => step * Math.round(40 * normal()));
  expect(isQuantized(quantized)).toBe(true);
  expect(isQuantized(quantized.map((value, i) => (i === 500 ? value + step / 3 : value)))).toBe(false);
  expect(isQuantized(Float32Array.from({ length: 1000 }, normal))).toBe(false);
  expect(isQuantized(new Float32Array(1000))).toBe(false);
});
