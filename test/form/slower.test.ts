import { expect, test } from 'vitest';
import type { Convolution } from '../../src/form/convolution.ts';
import type { FormChoice } from '../../src/form/choose.ts';
import { rewritableKey } from '../../src/form/rewritable.ts';
import { slowerForms } from '../../src/form/slower.ts';

const tensor = (...shape: number[]) => ({ shape, elementType: 'f32' });

/** A 3x3 convolution of `channels` to `filters` over 14x14. */
const convolution = (channels: number, filters: number, stride = 1): Convolution => ({
  name: 'linalg.conv_2d_nchw_fchw',
  image: tensor(1, channels, 13 * stride + 3, 13 * stride + 3),
  filter: tensor(filters, channels, 3, 3),
  result: tensor(1, filters, 14, 14),
  strides: [stride, stride],
  dilations: [1, 1],
});

const choice = (operation: Convolution): FormChoice => ({ operation, form: 'channels-last' });
const [small, large, strided] = [convolution(8, 16), convolution(64, 128), convolution(64, 128, 2)];
const isOf = (key: string, dispatch: string) => dispatch.endsWith(` of ${key}`);
const dispatchOf = (one: Convolution, part = 0) => `main_dispatch_${part} of ${rewritableKey(one)}`;

const written = new Map([
  ['main_dispatch_3_conv_16x14x14x8x3x3_f32', 10],
  ['main_dispatch_4_conv_128x14x14x64x3x3_f32', 100],
  ['main_dispatch_5_transpose_16x14x14_f32', 1],
]);

test('only a form with slower dispatches is reported', () => {
  const formed = new Map([
    [dispatchOf(small), 14],
    [dispatchOf(large, 1), 20],
    [dispatchOf(large, 2), 20],
  ]);
  const slower = slowerForms([choice(small), choice(large)], written, formed, isOf, false);
  expect([...slower]).toEqual([rewritableKey(small)]);
});

test('a loss that is small next to the program is accepted', () => {
  const formed = new Map([
    [dispatchOf(small), 10.5],
    [dispatchOf(large), 40],
  ]);
  expect(slowerForms([choice(small), choice(large)], written, formed, isOf, false).size).toBe(0);
});

test('operations with equal loops are compared together, because their written dispatches have equal names', () => {
  const formed = new Map([
    [dispatchOf(large), 70],
    [dispatchOf(strided), 60],
  ]);
  const slower = slowerForms([choice(large), choice(strided)], written, formed, isOf, false);
  expect([...slower]).toEqual([large, strided].map(rewritableKey));
});

test('no form is reported without times of both variants', () => {
  const formed = new Map([[dispatchOf(large), 400]]);
  expect(slowerForms([choice(large)], new Map(), formed, isOf, false).size).toBe(0);
  expect(slowerForms([choice(large)], new Map(), new Map(), isOf, false).size).toBe(0);
});

test('a form without a known dispatch is compared by the rest of the program', () => {
  const formed = new Map([
    [dispatchOf(large), 40],
    ['main_dispatch_7_elementwise', 30],
  ]);
  const choices = [choice(small), choice(large)];
  expect([...slowerForms(choices, written, formed, isOf, false)]).toEqual([rewritableKey(small)]);
  formed.set('main_dispatch_7_elementwise', 8);
  expect(slowerForms(choices, written, formed, isOf, false).size).toBe(0);
});

test('a form stays if tuned tiles are likely to make it faster than the written operation', () => {
  const formed = new Map([
    [dispatchOf(small), 14],
    [dispatchOf(large), 40],
  ]);
  const choices = [choice(small), choice(large)];
  expect(slowerForms(choices, written, formed, isOf, true).size).toBe(0);
  // For 14 columns, the default keeps two pixels in registers; eight are best.
  formed.set(dispatchOf(small), 44);
  expect([...slowerForms(choices, written, formed, isOf, true)]).toEqual([rewritableKey(small)]);
});
