import { expect, test } from 'vitest';
import { boundOf, groupOf, lossOf, NO_RATES, type TimedDispatch } from '../../src/report/loss.ts';
import { lossText } from '../../src/report/loss-text.ts';
import { PLAIN } from '../../src/report/page.ts';

/** A device with 10 GB/s and 100 * 10^9 multiply-adds of f32 a second. */
const RATES = { bytesPerSecond: 10e9, cache: null, multiplicationsPerSecond: { f32: 100e9 } };

const PRODUCT = { multiplications: 1e9, type: 'f32', bytes: 1e6 };
const COPY = { multiplications: 0, type: null, bytes: 1e8 };

const timed = (dispatch: string, seconds: number, more: Partial<TimedDispatch> = {}): TimedDispatch => ({
  ...{ dispatch, seconds, calls: 1, amount: PRODUCT },
  ...more,
});

test('the larger of both times is the bound', () => {
  expect(boundOf(PRODUCT, RATES)).toEqual({ seconds: 0.01, limit: 'arithmetic' });
  expect(boundOf({ ...PRODUCT, bytes: 1e9 }, RATES)).toEqual({ seconds: 0.1, limit: 'memory' });
  expect(boundOf(COPY, RATES)).toEqual({ seconds: 0.01, limit: 'memory' });
});

test('data that fits into the caches is bound by them', () => {
  const cache = { bytes: 1e8, bytesPerSecond: 50e9 };
  expect(boundOf(COPY, { ...RATES, cache })).toEqual({ seconds: 0.002, limit: 'cache' });
  expect(boundOf({ ...COPY, bytes: 2e8 }, { ...RATES, cache })).toEqual({ seconds: 0.02, limit: 'memory' });
  const slow = { ...cache, bytesPerSecond: 1e9 };
  expect(boundOf(COPY, { ...RATES, cache: slow })).toEqual({ seconds: 0.01, limit: 'cache' });
});

test('work without products needs no peak', () => {
  expect(boundOf(COPY, { ...RATES, multiplicationsPerSecond: {} })).toMatchObject({ limit: 'memory' });
});

test.each([
  [{ ...PRODUCT, multiplications: null }, RATES, 'its multiplications are unknown'],
  [{ ...PRODUCT, bytes: null }, RATES, 'its bytes are unknown'],
  [{ ...PRODUCT, type: 'f64' }, RATES, 'no peak of f64 is measured'],
  [PRODUCT, { ...RATES, bytesPerSecond: null }, 'the memory rate is not measured'],
])('an unknown number gives no bound: %j', (amount, rates, unknown) => {
  expect(boundOf(amount, rates)).toEqual({ unknown });
});

test('a dispatch that is named after its zeros, and multiplies, is a product', () => {
  const groups = lossOf([timed('main_dispatch_0_fill_4x4x4_i32', 0.02)], 1, RATES)!.dispatches;
  expect(groups.map(({ group }) => group)).toEqual(['matrix product']);
});

test('the largest loss comes first, then unknown dispatches; sums leave these out', () => {
  const loss = lossOf(
    [
      timed('main_dispatch_0_generic_4xf32', 0.5, { amount: null }),
      timed('main_dispatch_1_matmul_4x4x4_f32', 0.02),
      timed('main_dispatch_2_transpose_4x4_f32', 0.1, { amount: COPY, calls: 4 }),
      timed('main_dispatch_3_matmul_4x4x4_f32', 0.005),
      timed('main_dispatch_4_matmul_4x4x4_f32', 0.1, { calls: null }),
    ],
    1,
    RATES,
  )!;
  expect(loss.dispatches.map(({ group, share, unknown }) => [group, share?.toFixed(2) ?? unknown])).toEqual([
    ['transpose or copy', '0.40'],
    ['matrix product', '0.50'],
    // A cache of several cores may be faster than the memory: nothing is lost.
    ['matrix product', '2.00'],
    ['other dispatches', 'its work is not read'],
    ['matrix product', 'its calls are not counted'],
  ]);
  expect(loss.lostSeconds).toBeCloseTo(0.06 + 0.01);
  expect(loss.unknownSeconds).toBeCloseTo(0.6);
  expect(loss.outsideSeconds).toBeCloseTo(1 - 0.725);
});

test('a device without rates has no shares, and the text says why', () => {
  const loss = lossOf([timed('main_dispatch_1_matmul_4x4x4_f32', 0.02)], null, NO_RATES)!;
  expect(loss).toMatchObject({ lostSeconds: null, outsideSeconds: null, wholeSeconds: null });
  expect(lossText(loss, PLAIN)).toBe(
    [
      'lost ms  time ms  of bound  dispatch                          group           bound by',
      '      -   20.000         -  main_dispatch_1_matmul_4x4x4_f32  matrix product  unknown: the memory rate is not measured',
      'No dispatch has a bound; all take 20.0 ms.',
      'The time outside of dispatches was not noted: iree-tuned profile times it.',
      'This machine: its memory rate is not measured; 10^9 multiply-adds per second: not measured.',
    ].join('\n'),
  );
});

test('an untimed program has no losses, and overlapping dispatches no time outside', () => {
  expect(lossOf([], null, RATES)).toBeNull();
  const both = lossOf([timed('a_dispatch_0_matmul', 0.2), timed('a_dispatch_1_matmul', 0.2)], 0.3, RATES)!;
  expect(lossText(both, PLAIN)).toContain('some of them ran at once');
});

test.each([
  ['main_dispatch_3_conv_16x112x112x3x3x3_f32', 'convolution'],
  ['main$async_dispatch_1_softmax_512x512xf32_dispatch_tensor_store', 'softmax or reduction'],
  ['main_dispatch_0_slow_memcpy', 'transpose or copy'],
  ['main_dispatch_0_elementwise_transpose_4x4_f32', 'element-wise'],
  ['main_dispatch_0_attention_12x128x64xf32', 'attention'],
  ['conv_dispatch_0_pooling_4x4_f32', 'pooling'],
  ['main_dispatch_0', 'other dispatches'],
])('%s is in the group %s', (name, group) => {
  expect(groupOf(name)).toBe(group);
});
