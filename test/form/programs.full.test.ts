// Whole programs as written and in their preferred forms: the results are the same, and transposes between operations cancel.
// In full after a change of src/form.
import { parse } from 'mlir-parser-ts';
import { describe, expect, test } from 'vitest';
import { readConvolution } from '../../src/form/convolution.ts';
import { readBroadcasts } from '../../src/form/broadcast.ts';
import { readConcats } from '../../src/form/concat.ts';
import { isRewritable } from '../../src/form/rewritable.ts';
import { chooseForms } from '../../src/form/choose.ts';
import { preprocessed, resultsOf } from './support.ts';

test('transposes between convolutions cancel, whatever lies between them', async () => {
  // A depthwise convolution, x * sigmoid(x), the mean of each channel as a scale, a sum of two values, joined channels, pads.
  const text = `
func.func @main(%image: tensor<1x16x12x12xf32>) -> tensor<1x24x6x6xf32> {
${(
  [
    ['a', '32x16x1x1'],
    ['b', '32x3x3'],
    ['c', '32x32x1x1'],
    ['d', '16x32x1x1'],
    ['e', '24x32x3x3'],
    ['f', '16x16x1x1'],
    ['wide', '1x32x12x12'],
    ['one', '1x32x1x1'],
    ['narrow', '1x16x12x12'],
    ['last', '1x24x6x6'],
  ] as const
)
  .map(([name, shape]) => `  %${name} = arith.constant dense<0.0625> : tensor<${shape}xf32>`)
  .join('\n')}
  %x = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%image, %f : tensor<1x16x12x12xf32>, tensor<16x16x1x1xf32>) outs(%narrow : tensor<1x16x12x12xf32>) -> tensor<1x16x12x12xf32>
  %zero = arith.constant 0.0 : f32
  %unit = arith.constant 1.0 : f32
  %0 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %a : tensor<1x16x12x12xf32>, tensor<32x16x1x1xf32>) outs(%wide : tensor<1x32x12x12xf32>) -> tensor<1x32x12x12xf32>
  %1 = tensor.pad %0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x32x12x12xf32> to tensor<1x32x14x14xf32>
  %2 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%1, %b : tensor<1x32x14x14xf32>, tensor<32x3x3xf32>) outs(%wide : tensor<1x32x12x12xf32>) -> tensor<1x32x12x12xf32>
  %empty = tensor.empty() : tensor<1x32x12x12xf32>
  %few = tensor.empty() : tensor<1x16x12x12xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2 : tensor<1x32x12x12xf32>) outs(%empty : tensor<1x32x12x12xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    %p = math.exp %n : f32
    %s = arith.addf %p, %unit : f32
    %q = arith.divf %unit, %s : f32
    linalg.yield %q : f32
  } -> tensor<1x32x12x12xf32>
  %4 = arith.mulf %2, %3 : tensor<1x32x12x12xf32>
  %window = tensor.empty() : tensor<12x12xf32>
  %5 = linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%4, %window : tensor<1x32x12x12xf32>, tensor<12x12xf32>) outs(%one : tensor<1x32x1x1xf32>) -> tensor<1x32x1x1xf32>
  %6 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%5, %c : tensor<1x32x1x1xf32>, tensor<32x32x1x1xf32>) outs(%one : tensor<1x32x1x1xf32>) -> tensor<1x32x1x1xf32>
  %7 = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, 0, 0)>, affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%4, %6 : tensor<1x32x12x12xf32>, tensor<1x32x1x1xf32>) outs(%empty : tensor<1x32x12x12xf32>) {
  ^bb0(%in: f32, %scale: f32, %out: f32):
    %m = arith.mulf %in, %scale : f32
    linalg.yield %m : f32
  } -> tensor<1x32x12x12xf32>
  %8 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%7, %d : tensor<1x32x12x12xf32>, tensor<16x32x1x1xf32>) outs(%narrow : tensor<1x16x12x12xf32>) -> tensor<1x16x12x12xf32>
  %weights = arith.constant dense<0.5> : tensor<16x1x1xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d1, 0, 0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%weights, %8 : tensor<16x1x1xf32>, tensor<1x16x12x12xf32>) outs(%few : tensor<1x16x12x12xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %m = arith.mulf %in, %in_0 : f32
    linalg.yield %m : f32
  } -> tensor<1x16x12x12xf32>
  %9 = arith.addf %y, %x : tensor<1x16x12x12xf32>
  %joined = tensor.concat dim(1) %9, %x : (tensor<1x16x12x12xf32>, tensor<1x16x12x12xf32>) -> tensor<1x32x12x12xf32>
  %10 = tensor.pad %joined low[0, 0, 1, 1] high[0, 0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x32x12x12xf32> to tensor<1x32x13x13xf32>
  %11 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%10, %e : tensor<1x32x13x13xf32>, tensor<24x32x3x3xf32>) outs(%last : tensor<1x24x6x6xf32>) -> tensor<1x24x6x6xf32>
  return %11 : tensor<1x24x6x6xf32>
}
`;
  const { found, choices, written, formed } = await inForms(text, [1, 16, 12, 12]);
  expect(found).toHaveLength(9);
  expect(found.every(isRewritable)).toBe(true);
  const left = await preprocessed(text, choices);
  expect(left).not.toMatch(/nchw/);
  const moved = left.split('\n').filter((line) => line.includes('linalg.transpose'));
  // The image of the program, and its result.
  expect(moved.map((line) => /tensor<[^>]+>/.exec(line)![0])).toEqual([
    'tensor<1x16x12x12xf32>',
    'tensor<1x6x6x24xf32>',
  ]);
  expect(written).toHaveLength(24 * 36);
  expect(largestError(written, formed)).toBeLessThan(1e-3);
});

/** A program as written and in its preferred forms: its rewritable operations, and both results. */
async function inForms(text: string, shape: readonly number[]) {
  const bytes = Buffer.from(text);
  const found = [
    ...parse(bytes).operations.flatMap((operation) => readConvolution(operation, bytes) ?? []),
    ...readConcats(bytes),
    ...readBroadcasts(bytes),
  ];
  const choices = chooseForms(found);
  return { found, choices, ...(await resultsOf(text, choices, [shape], (i) => ((i * 7) % 11) / 8 - 0.5)) };
}

const largestError = (written: Float32Array, formed: Float32Array): number =>
  Math.max(...written.map((value, i) => Math.abs(value / formed[i]! - 1)));

test('a pooling between transposes keeps the value that it begins with', async () => {
  // A pooling over channels, as in a local response normalisation, between two convolutions.
  const convolution = (
    name: string,
    [image, of]: readonly [string, string],
    [filter, into, end]: readonly [string, string, string],
  ) => `
  %filter${name} = arith.constant dense<0.0625> : tensor<${filter}xf32>
  %into${name} = arith.constant dense<0.5> : tensor<${into}xf32>
  %${end} = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%${image}, %filter${name} : tensor<${of}xf32>, tensor<${filter}xf32>) outs(%into${name} : tensor<${into}xf32>) -> tensor<${into}xf32>`;
  const { written, formed } = await inForms(
    `
func.func @main(%image: tensor<1x8x12x12xf32>) -> tensor<1x24x12x12xf32> {${convolution('0', ['image', '1x8x12x12'], ['16x8x1x1', '1x16x12x12', 'a'])}
  %zero = arith.constant 1.0 : f32
  %expanded = tensor.expand_shape %a [[0], [1, 2], [3], [4]] output_shape [1, 1, 16, 12, 12] : tensor<1x16x12x12xf32> into tensor<1x1x16x12x12xf32>
  %padded = tensor.pad %expanded low[0, 0, 2, 0, 0] high[0, 0, 2, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index, %m: index):
    tensor.yield %zero : f32
  } : tensor<1x1x16x12x12xf32> to tensor<1x1x20x12x12xf32>
  %window = tensor.empty() : tensor<5x1x1xf32>
  %1 = tensor.empty() : tensor<1x20x12x12x1xf32>
  %2 = linalg.transpose ins(%padded : tensor<1x1x20x12x12xf32>) outs(%1 : tensor<1x20x12x12x1xf32>) permutation = [0, 2, 3, 4, 1]
  %3 = tensor.empty() : tensor<1x16x12x12x1xf32>
  %4 = linalg.fill ins(%zero : f32) outs(%3 : tensor<1x16x12x12x1xf32>) -> tensor<1x16x12x12x1xf32>
  %5 = linalg.pooling_ndhwc_sum {dilations = dense<1> : vector<3xi64>, strides = dense<1> : vector<3xi64>} ins(%2, %window : tensor<1x20x12x12x1xf32>, tensor<5x1x1xf32>) outs(%4 : tensor<1x16x12x12x1xf32>) -> tensor<1x16x12x12x1xf32>
  %6 = tensor.empty() : tensor<1x1x16x12x12xf32>
  %7 = linalg.transpose ins(%5 : tensor<1x16x12x12x1xf32>) outs(%6 : tensor<1x1x16x12x12xf32>) permutation = [0, 4, 1, 2, 3]
  %8 = tensor.collapse_shape %7 [[0, 1], [2], [3], [4]] : tensor<1x1x16x12x12xf32> into tensor<1x16x12x12xf32>
  %9 = arith.divf %a, %8 : tensor<1x16x12x12xf32>${convolution('1', ['9', '1x16x12x12'], ['24x16x1x1', '1x24x12x12', 'b'])}
  return %b : tensor<1x24x12x12xf32>
}
`,
    [1, 8, 12, 12],
  );
  expect(written).toHaveLength(24 * 144);
  expect(largestError(written, formed)).toBeLessThan(1e-3);
});

describe('convolutions of StableHLO, with the channels innermost between transposes', () => {
  const transpose = (
    name: string,
    [value, of]: readonly [string, string],
    into: string,
    maps: readonly [string, string],
  ) => `
  %into_${name} = tensor.empty() : tensor<${into}xf32>
  %${name} = linalg.generic {indexing_maps = [${maps.map((one) => `affine_map<(d0, d1, d2, d3) -> (${one})>`).join(', ')}], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%${value} : tensor<${of}xf32>) outs(%into_${name} : tensor<${into}xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<${into}xf32>`;
  const last = ['d0, d3, d1, d2', 'd0, d1, d2, d3'] as const;
  const first = ['d0, d2, d3, d1', 'd0, d1, d2, d3'] as const;
  const filter = ['d3, d2, d0, d1', 'd0, d1, d2, d3'] as const;
  const convolve = (name: string, image: string, of: string, into: string) => `
  %${name} = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%${image}, %filter_${name} : tensor<${of.split(' ')[0]!}xf32>, tensor<${of.split(' ')[1]!}xf32>) outs(%zeros_${name} : tensor<${into}xf32>) -> tensor<${into}xf32>`;
  const weights = (count: number) =>
    Buffer.from(Float32Array.from({ length: count }, (_, i) => ((i * 5) % 13) / 8 - 0.7).buffer).toString(
      'hex',
    );
  const text = `
func.func @main(%image: tensor<1x6x12x12xf32>) -> tensor<1x24x12x12xf32> {
  %a = arith.constant dense<"0x${weights(160 * 6 * 9)}"> : tensor<160x6x3x3xf32>
  %b = arith.constant dense<"0x${weights(24 * 160)}"> : tensor<24x160x1x1xf32>
  %zeros_c = arith.constant dense<0.0> : tensor<1x10x10x160xf32>
  %zeros_d = arith.constant dense<0.0> : tensor<1x12x12x24xf32>
  %zero = arith.constant 0.0 : f32${transpose('x', ['image', '1x6x12x12'], '1x12x12x6', last)}${transpose('filter_c', ['a', '160x6x3x3'], '3x3x6x160', filter)}${transpose('filter_d', ['b', '24x160x1x1'], '1x1x160x24', filter)}${convolve('c', 'x', '1x12x12x6 3x3x6x160', '1x10x10x160')}${transpose('y', ['c', '1x10x10x160'], '1x160x10x10', first)}
  %tanh = math.tanh %y : tensor<1x160x10x10xf32>
  %padded = tensor.pad %tanh low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x160x10x10xf32> to tensor<1x160x12x12xf32>${transpose('z', ['padded', '1x160x12x12'], '1x12x12x160', last)}${convolve('d', 'z', '1x12x12x160 1x1x160x24', '1x12x12x24')}${transpose('r', ['d', '1x12x12x24'], '1x24x12x12', first)}
  return %r : tensor<1x24x12x12xf32>
}
`;

  test('have the forms and the results of those with the channels first', async () => {
    const { choices, written, formed } = await inForms(text, [1, 6, 12, 12]);
    expect(choices.map(({ form }) => form)).toEqual(['blocks-of-filters', 'pixels-by-filters']);
    expect(written).toHaveLength(24 * 144);
    expect(written.every((value, i) => Math.abs(value - formed[i]!) < 1e-3)).toBe(true);
  });

  test('are as written if the program has the filter in their layout', () => {
    const own = text.replace(
      /%filter_d = linalg\.generic [^]*?\} -> tensor<1x1x160x24xf32>/,
      '%filter_d = math.tanh %w : tensor<1x1x160x24xf32>',
    );
    const bytes = Buffer.from(own);
    const read = parse(bytes).operations.flatMap((operation) => readConvolution(operation, bytes) ?? []);
    expect(read.map(({ filter: { shape } }) => shape)).toEqual([[3, 3, 6, 160]]);
  });
});
