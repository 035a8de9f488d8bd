// Quantized programs are computed in integers, and their convolutions become products.
// In full after a change of src/form/windows-by-filters.ts, src/form/generic-convolution.ts.
import { parse } from 'mlir-parser-ts';
import { expect, test } from 'vitest';
import { chooseForms, choicesOf, namesOf } from '../../src/form/choose.ts';
import { readConvolution, type Convolution } from '../../src/form/convolution.ts';
import { genericConvolutionText, readGenericConvolution } from '../../src/form/generic-convolution.ts';
import { IN_INTEGERS, readQuantized } from '../../src/form/quantized.ts';
import { packedName } from '../../src/form/packing.ts';
import { isRewritable, type Rewritable } from '../../src/form/rewritable.ts';
import { HOST, preprocessed, resultsOf, TARGET, VMVX } from './support.ts';
import { casesOfTier } from '../support/needs.ts';

const SAME = 'affine_map<(a, b, c, d) -> (a, b, c, d)>';
const SCALAR = 'affine_map<(a, b, c, d) -> ()>';

interface Step {
  readonly value: string;
  /** Shape with `x` at its end. */
  readonly shape: string;
  readonly zero?: number;
  readonly isUnsigned?: boolean;
}

/** `quantize` or `dequantize` with steps of 1/8 around a zero point. The result is named by the step and its value. */
function step(name: 'quantize' | 'dequantize', { value, shape, zero = 0, isUnsigned = false }: Step): string {
  const types = ['f32', 'i8'].map((element) => `tensor<${shape}${element}>`);
  const [from, to] = (name === 'quantize' ? types : types.toReversed()) as [string, string];
  const unsigned = name === 'quantize' ? ', storage_unsigned' : ', input_unsigned';
  const range = isUnsigned
    ? `quant_min = 0, quant_max = 255${unsigned}`
    : 'quant_min = -128, quant_max = 127';
  const own = `${name}_${value}`;
  return `
  %empty_${own} = tensor.empty() : ${to}
  %zero_${own} = arith.constant ${zero} : i64
  %${own} = iree_linalg_ext.${name}_affine <indexing_maps = [${SAME}, ${SCALAR}, ${SCALAR}, ${SAME}], ${range}> ins(%${value}, %eighth, %zero_${own} : ${from}, f32, i64) outs(%empty_${own} : ${to}) -> ${to}`;
}

/** Both steps of a value. */
const steps = (one: Step): string =>
  step('quantize', one) + step('dequantize', { ...one, value: `quantize_${one.value}` });

const listed = (length: number, of: (i: number) => string) =>
  `[${Array.from({ length }, (_, i) => of(i)).join(', ')}]`;

/** A convolution of a padded image, and one of single pixels, between steps. */
const quantizedProgram = (
  isUnsigned: boolean,
): string => `func.func @main(%x: tensor<1x4x9x8xf32>) -> tensor<1x6x5x4xf32> {
  %eighth = arith.constant 0.125 : f32
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<${listed(8, (f) => listed(4, (c) => `[[${f - 3}, 1, ${c}], [0, -2, ${c - f}], [5, ${f}, 1]]`))}> : tensor<8x4x3x3xi8>
  %v = arith.constant dense<${listed(6, (f) => listed(8, (c) => `[[${(f * c) % 5}]]`))}> : tensor<6x8x1x1xi8>
${step('dequantize', { value: 'w', shape: '8x4x3x3x' })}
${step('dequantize', { value: 'v', shape: '6x8x1x1x' })}
${steps({ value: 'x', shape: '1x4x9x8x', zero: isUnsigned ? 130 : 3, isUnsigned })}
  %p = tensor.pad %dequantize_quantize_x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x4x9x8xf32> to tensor<1x4x11x10xf32>
  %e = tensor.empty() : tensor<1x8x5x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x5x4xf32>) -> tensor<1x8x5x4xf32>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%p, %dequantize_w : tensor<1x4x11x10xf32>, tensor<8x4x3x3xf32>) outs(%f : tensor<1x8x5x4xf32>) -> tensor<1x8x5x4xf32>
${steps({ value: 'y', shape: '1x8x5x4x', zero: isUnsigned ? 100 : -9, isUnsigned })}
  %g = tensor.empty() : tensor<1x6x5x4xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<1x6x5x4xf32>) -> tensor<1x6x5x4xf32>
  %z = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%dequantize_quantize_y, %dequantize_v : tensor<1x8x5x4xf32>, tensor<6x8x1x1xf32>) outs(%h : tensor<1x6x5x4xf32>) -> tensor<1x6x5x4xf32>
  return %z : tensor<1x6x5x4xf32>
}
`;

/** A depthwise convolution, and one of single pixels, between steps. */
const depthwiseProgram = `func.func @main(%x: tensor<1x8x9x8xf32>) -> tensor<1x6x7x6xf32> {
  %eighth = arith.constant 0.125 : f32
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<${listed(8, (c) => `[[[${c - 3}, 1, ${c}], [0, -2, ${c - 1}], [5, ${c}, 1]]]`)}> : tensor<8x1x3x3xi8>
  %v = arith.constant dense<${listed(6, (f) => listed(8, (c) => `[[${(f * c) % 5}]]`))}> : tensor<6x8x1x1xi8>
${step('dequantize', { value: 'w', shape: '8x1x3x3x' })}
${step('dequantize', { value: 'v', shape: '6x8x1x1x' })}
${steps({ value: 'x', shape: '1x8x9x8x', zero: 3 })}
  %u = tensor.collapse_shape %dequantize_w [[0, 1], [2], [3]] : tensor<8x1x3x3xf32> into tensor<8x3x3xf32>
  %e = tensor.empty() : tensor<1x8x7x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x7x6xf32>) -> tensor<1x8x7x6xf32>
  %y = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%dequantize_quantize_x, %u : tensor<1x8x9x8xf32>, tensor<8x3x3xf32>) outs(%f : tensor<1x8x7x6xf32>) -> tensor<1x8x7x6xf32>
${steps({ value: 'y', shape: '1x8x7x6x', zero: -9 })}
  %g = tensor.empty() : tensor<1x6x7x6xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<1x6x7x6xf32>) -> tensor<1x6x7x6xf32>
  %z = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%dequantize_quantize_y, %dequantize_v : tensor<1x8x7x6xf32>, tensor<6x8x1x1xf32>) outs(%h : tensor<1x6x7x6xf32>) -> tensor<1x6x7x6xf32>
  return %z : tensor<1x6x7x6xf32>
}
`;

const convolutionsIn = (text: string): Convolution[] => {
  const bytes = Buffer.from(text);
  return parse(bytes).operations.flatMap((operation) => readConvolution(operation, bytes) ?? []);
};

const signs: [string, string][] = [
  ['unsigned', 'arith.extui'],
  ['signed', 'arith.extsi'],
];
test.each(casesOfTier(signs, 1))(
  'convolutions of %s images become products of integers with equal results',
  async (sign, widening) => {
    const text = quantizedProgram(sign === 'unsigned');
    const quantized = readQuantized(Buffer.from(text))!;
    const integers = await preprocessed(text, [{ operation: quantized, form: IN_INTEGERS.name }]);
    const convolutions = convolutionsIn(integers);
    const types = convolutions.map((one) => [one.image.elementType, one.result.elementType, one.widening]);
    expect(types).toEqual(Array(2).fill(['i8', 'i32', widening]));
    const all: readonly Rewritable[] = [quantized, ...convolutions];
    expect(all.every(isRewritable)).toBe(true);
    const choices = chooseForms(all);
    expect(choices.map(({ form }) => form)).toEqual([
      'in-integers',
      'windows-by-filters',
      'windows-by-filters',
    ]);
    // Notes and lock files have the names only.
    expect(choicesOf(all, namesOf(choices), null)).toEqual(choices);
    const left = await preprocessed(text, choices);
    expect(left.match(/linalg\.matmul [^\n]*xi8>[^\n]*xi32>/g)).toHaveLength(2);
    expect(left).not.toContain('nchw');
    const valueAt = (i: number) => ((i * 7) % 23) / 8 - 1;
    const { written, formed } = await resultsOf(text, choices, [[1, 4, 9, 8]], valueAt, HOST);
    expect(new Set(written).size).toBeGreaterThan(20);
    expect(formed).toEqual(written);
  },
);

test(
  'a depthwise convolution stays in floats, without transposes between it and products of integers',
  { tags: 'full' },
  async () => {
    const text = depthwiseProgram;
    const quantized = readQuantized(Buffer.from(text))!;
    const convolutions = convolutionsIn(
      await preprocessed(text, [{ operation: quantized, form: IN_INTEGERS.name }]),
    );
    expect(convolutions.map((one) => one.result.elementType)).toEqual(['f32', 'i32']);
    const all: readonly Rewritable[] = [quantized, ...convolutions];
    expect(all.every(isRewritable)).toBe(true);
    const choices = chooseForms(all);
    expect(choices.map(({ form }) => form)).toEqual(['in-integers', 'settled-slices', 'windows-by-filters']);
    expect(choicesOf(all, namesOf(choices), null)).toEqual(choices);
    const left = await preprocessed(text, choices);
    expect(left).not.toMatch(/nchw|quantize_affine/);
    // Only the image and the result are transposed.
    expect(left.match(/linalg\.transpose ins\([^\n]*tensor<1x[^\n]*outs/g)).toHaveLength(2);
    const valueAt = (i: number) => ((i * 7) % 23) / 8 - 1;
    const { written, formed } = await resultsOf(text, choices, [[1, 8, 9, 8]], valueAt, HOST);
    expect(new Set(written).size).toBeGreaterThan(20);
    expect(formed).toEqual(written);
  },
);

test(
  'convolutions with zero points, as those of TFLite, become products of integers',
  { tags: 'full' },
  async () => {
    const type = (shape: string, element: string) => `tensor<${shape}x${element}>`;
    const [image, filter, result] = ['1x9x8x4', '3x3x4x6', '1x4x3x6'] as const;
    const text = `func.func @main(%a: ${type(image, 'f32')}, %b: ${type(filter, 'f32')}, %c: ${type(result, 'f32')}) -> ${type(result, 'f32')} {
  %x = arith.fptosi %a : ${type(image, 'f32')} to ${type(image, 'i8')}
  %y = arith.fptosi %b : ${type(filter, 'f32')} to ${type(filter, 'i8')}
  %z = arith.fptosi %c : ${type(result, 'f32')} to ${type(result, 'i32')}
  %three = arith.constant 3 : i32
  %minus = arith.constant -5 : i32
  %r = linalg.conv_2d_nhwc_hwcf_q {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %y, %three, %minus : ${type(image, 'i8')}, ${type(filter, 'i8')}, i32, i32) outs(%z : ${type(result, 'i32')}) -> ${type(result, 'i32')}
  %s = arith.sitofp %r : ${type(result, 'i32')} to ${type(result, 'f32')}
  return %s : ${type(result, 'f32')}
}
`;
    const quantized = readQuantized(Buffer.from(text))!;
    const convolutions = convolutionsIn(
      await preprocessed(text, [{ operation: quantized, form: IN_INTEGERS.name }]),
    );
    const all: readonly Rewritable[] = [quantized, ...convolutions];
    expect(all.every(isRewritable)).toBe(true);
    const choices = chooseForms(all);
    expect(choices.map(({ form }) => form)).toEqual(['in-integers', 'windows-by-filters']);
    expect(await preprocessed(text, choices)).not.toContain('linalg.conv_2d');
    const shapes = [image, filter, result].map((shape) => shape.split('x').map(Number));
    const valueAt = (i: number, at: number) => ((i * 37 + at * 5) % 255) - 127;
    const { written, formed } = await resultsOf(text, choices, shapes, valueAt);
    expect(formed).toEqual(written);
  },
);

/** QLinearConv and a depthwise one as IREE imports them: the zero point of the image is an operand. */
const operatorsProgram = `func.func @main(%x: tensor<1x4x9x8xf32>) -> tensor<1x6x5x4xf32> {
  %eighth = arith.constant 0.125 : f32
  %three = arith.constant 3 : i32
  %no = arith.constant 0 : i32
  %bias = arith.constant dense<[5, -7, 11, 2, -3, 8]> : tensor<6xi32>
  %v = arith.constant dense<${listed(3, (y) => listed(3, (x) => listed(4, (c) => `${y - x * c}`)))}> : tensor<3x3x4xi8>
  %w = arith.constant dense<${listed(6, (f) => listed(4, (c) => `[[${f - 3}, 1, ${c}], [0, -2, ${c - f}], [5, ${f}, 1]]`))}> : tensor<6x4x3x3xi8>
${step('quantize', { value: 'x', shape: '1x4x9x8x', zero: 3 })}
  %l_e = tensor.empty() : tensor<1x9x8x4xi8>
  %last = linalg.transpose ins(%quantize_x : tensor<1x4x9x8xi8>) outs(%l_e : tensor<1x9x8x4xi8>) permutation = [0, 2, 3, 1]
  %d_e = tensor.empty() : tensor<1x7x6x4xi32>
  %d_f = linalg.fill ins(%no : i32) outs(%d_e : tensor<1x7x6x4xi32>) -> tensor<1x7x6x4xi32>
  %d = linalg.depthwise_conv_2d_nhwc_hwc_q {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%last, %v, %three, %no : tensor<1x9x8x4xi8>, tensor<3x3x4xi8>, i32, i32) outs(%d_f : tensor<1x7x6x4xi32>) -> tensor<1x7x6x4xi32>
  %n_e = tensor.empty() : tensor<1x7x6x4xi8>
  %n = linalg.generic {indexing_maps = [${SAME}, ${SAME}], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%d : tensor<1x7x6x4xi32>) outs(%n_e : tensor<1x7x6x4xi8>) {
  ^bb0(%in: i32, %out: i8):
    %1 = arith.trunci %in : i32 to i8
    linalg.yield %1 : i8
  } -> tensor<1x7x6x4xi8>
  %m_e = tensor.empty() : tensor<1x4x7x6xi8>
  %m = linalg.transpose ins(%n : tensor<1x7x6x4xi8>) outs(%m_e : tensor<1x4x7x6xi8>) permutation = [0, 3, 1, 2]
  %b_e = tensor.empty() : tensor<1x6x5x4xi32>
  %b = linalg.broadcast ins(%bias : tensor<6xi32>) outs(%b_e : tensor<1x6x5x4xi32>) dimensions = [0, 2, 3]
  %y = linalg.conv_2d_nchw_fchw_q {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%m, %w, %three, %no : tensor<1x4x7x6xi8>, tensor<6x4x3x3xi8>, i32, i32) outs(%b : tensor<1x6x5x4xi32>) -> tensor<1x6x5x4xi32>
  %r_e = tensor.empty() : tensor<1x6x5x4xf32>
  %r = linalg.generic {indexing_maps = [${SAME}, ${SAME}], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y : tensor<1x6x5x4xi32>) outs(%r_e : tensor<1x6x5x4xf32>) {
  ^bb0(%in: i32, %out: f32):
    %1 = arith.sitofp %in : i32 to f32
    linalg.yield %1 : f32
  } -> tensor<1x6x5x4xf32>
  return %r : tensor<1x6x5x4xf32>
}
`;

test('convolutions with zero points between steps become products of integers with equal results', async () => {
  const quantized = readQuantized(Buffer.from(operatorsProgram))!;
  const integers = await preprocessed(operatorsProgram, [{ operation: quantized, form: IN_INTEGERS.name }]);
  const convolutions = convolutionsIn(integers);
  expect(convolutions.map(({ name }) => name)).toEqual(['linalg.conv_2d_nchw_fchw_q']);
  const all: readonly Rewritable[] = [quantized, ...convolutions];
  expect(all.every(isRewritable)).toBe(true);
  const choices = chooseForms(all);
  expect(choices.map(({ form }) => form)).toEqual(['in-integers', 'windows-by-filters']);
  expect(choicesOf(all, namesOf(choices), null)).toEqual(choices);
  expect(await preprocessed(operatorsProgram, choices)).not.toMatch(/nchw|_q\b/);
  const { written, formed } = await resultsOf(
    operatorsProgram,
    choices,
    [[1, 4, 9, 8]],
    (i) => ((i * 7) % 23) / 8 - 1,
    HOST,
  );
  expect(new Set(written).size).toBeGreaterThan(20);
  expect(formed).toEqual(written);
  // A zero point of the filter, and other types.
  expect(
    convolutionsIn(integers.replace('%c0_i32 : tensor<1x4x7x6xi8>', '%c3_i32 : tensor<1x4x7x6xi8>')),
  ).toEqual([]);
  const [own] = convolutions as [Convolution];
  for (const change of [{ widening: 'arith.extsi' }, { result: { ...own.result, elementType: 'i8' } }])
    expect(isRewritable({ ...own, ...change })).toBe(false);
});

test('a convolution of integers is read with any locations', () => {
  const convolution = { strides: [2, 1], dilations: [1, 3], widening: 'arith.extui' } as const;
  const [image, filter, into] = [
    { name: '%a', shape: [1, 4, 9, 9], elementType: 'i8' },
    { name: '%b', shape: [8, 4, 3, 3], elementType: 'i8' },
    { name: '%c', shape: [1, 8, 4, 3], elementType: 'i32' },
  ];
  const text = genericConvolutionText(convolution, [image, filter, into]);
  expect(readGenericConvolution(text)).toEqual(convolution);
  const nested = ' loc("a.b"(callsite("f (x)"("in.mlir":1:2) at fused["in.mlir":3:4, unknown])))';
  expect(readGenericConvolution(text.replaceAll(/: i(?:8|32)(?=[,)\n])/g, `$&${nested}`))).toEqual(
    convolution,
  );
  expect(readGenericConvolution(text.replace('arith.extsi', 'arith.extui'))).toBeNull();
});

test('a program without steps is not quantized', () => {
  expect(readQuantized(Buffer.from('linalg.conv_2d_nchw_fchw'))).toBeNull();
  expect(isRewritable({ name: 'iree_linalg_ext.quantize' })).toBe(false);
});

const windows = [
  ['contiguous rows', 4, [3, 3], 1, 1, null],
  ['strides', 4, [3, 2], 2, 1, null],
  ['a dilation', 4, [3, 3], 1, 2, '16x16x2'],
  ['whole vectors', 16, [3, 3], 1, 1, null],
  ['whole vectors and tiles', 16, [3, 2], 1, 1, '8x8x2'],
  ['whole vectors and strides', 16, [3, 3], 2, 1, '8x8x1'],
  ['whole vectors and a dilation', 16, [2, 3], 1, 2, '16x16x2'],
] as const;
test.each(windows)(
  'windows of integers with %s are products',
  { tags: 'full' },
  async (_, channels, window, stride, dilation, tiles) => {
    const sizeOf = (size: number, i: number) =>
      Math.floor((size - (window[i]! - 1) * dilation - 1) / stride) + 1;
    const [image, filter] = [`1x${channels}x11x9`, `8x${channels}x${window.join('x')}`];
    const result = `1x8x${[11, 9].map(sizeOf).join('x')}`;
    const type = (shape: string, element: string) => `tensor<${shape}x${element}>`;
    const text = `func.func @main(%a: ${type(image, 'f32')}, %b: ${type(filter, 'f32')}, %c: ${type(result, 'f32')}) -> ${type(result, 'f32')} {
  %x = arith.fptosi %a : ${type(image, 'f32')} to ${type(image, 'i8')}
  %y = arith.fptosi %b : ${type(filter, 'f32')} to ${type(filter, 'i8')}
  %z = arith.fptosi %c : ${type(result, 'f32')} to ${type(result, 'i32')}
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<${dilation}> : vector<2xi64>, strides = dense<${stride}> : vector<2xi64>} ins(%x, %y : ${type(image, 'i8')}, ${type(filter, 'i8')}) outs(%z : ${type(result, 'i32')}) -> ${type(result, 'i32')}
  %s = arith.sitofp %r : ${type(result, 'i32')} to ${type(result, 'f32')}
  return %s : ${type(result, 'f32')}
}
`;
    const [operation] = convolutionsIn(text);
    const name = 'windows-by-filters';
    const choices = [{ operation: operation!, form: tiles === null ? name : packedName(name, tiles) }];
    expect(await preprocessed(text, choices)).not.toContain('nchw');
    const shapes = [image, filter, result].map((shape) => shape.split('x').map(Number));
    const { written, formed } = await resultsOf(
      text,
      choices,
      shapes,
      (i, at) => ((i * 37 + at * 5) % 255) - 127,
      // Code for any x86 has no microkernels, without which the compiler's sums in tiles are wrong.
      tiles === null ? TARGET : VMVX,
    );
    expect(formed).toEqual(written);
  },
);
