// Products and convolutions of narrow floats with sums of 32 bits.
import { parse } from 'mlir-parser-ts';
import { expect, test } from 'vitest';
import { chooseForms } from '../../src/form/choose.ts';
import { isRewritable, readRewritables, rewritableKey, type Rewritable } from '../../src/form/rewritable.ts';
import { narrowSums, widestSums } from '../../src/form/wide-sums.ts';
import { tensorFromText } from '../../src/workload/tensor.ts';
import { neighboursIn } from './neighbours.ts';
import { HOST, preprocessed, resultsOf } from './support.ts';

interface Case {
  /** Before the operands. */
  readonly operation: string;
  /** Of both factors and of the result. */
  readonly shapes: readonly [string, string, string];
}

const CASES: Readonly<Record<string, Case>> = {
  'a product': { operation: 'linalg.matmul', shapes: ['8x64', '64x16', '8x16'] },
  'a batch of products': { operation: 'linalg.batch_matmul', shapes: ['2x8x64', '2x64x16', '2x8x16'] },
  'a row': { operation: 'linalg.vecmat', shapes: ['64', '64x16', '16'] },
  'a convolution': {
    operation:
      'linalg.conv_2d_nhwc_hwcf {dilations = dense<[2, 1]> : tensor<2xi64>, strides = dense<[1, 2]> : tensor<2xi64>}',
    shapes: ['1x9x9x16', '3x3x16x32', '1x5x4x32'],
  },
  'a depthwise convolution': {
    operation:
      'linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}',
    shapes: ['1x6x6x16', '3x3x16', '1x4x4x16'],
  },
};

/** A program with an operation, whose operands are given as floats of 32 bits. */
function programOf({ operation, shapes }: Case, type: string, sums = type): string {
  const [a, b, c] = shapes.map((shape, i) => `tensor<${shape}x${i === 2 ? sums : type}>`);
  const wide = shapes.map((shape) => `tensor<${shape}xf32>`);
  return `func.func @main(%a: ${wide[0]!}, %b: ${wide[1]!}, %c: ${wide[2]!}) -> ${wide[2]!} {
  %x = arith.truncf %a : ${wide[0]!} to ${a!}
  %y = arith.truncf %b : ${wide[1]!} to ${b!}
  %z = arith.truncf %c : ${wide[2]!} to ${c!}
  %r = ${operation} ins(%x, %y : ${a!}, ${b!}) outs(%z : ${c!}) -> ${c!}
  %s = arith.extf %r : ${c!} to ${wide[2]!}
  return %s : ${wide[2]!}
}
`;
}

function read(text: string): readonly Rewritable[] {
  const bytes = Buffer.from(text);
  return readRewritables(bytes, parse(bytes).operations, false);
}

const sizesOf = (one: Case) => one.shapes.map((shape) => tensorFromText(`tensor<${shape}xf32>`)!.shape);

test.each(Object.entries(CASES))('sums of %s are rounded once', async (_, one) => {
  const program = programOf(one, 'bf16');
  const choices = widestSums(read(program));
  expect(choices).toHaveLength(1);
  // In bf16, a sum of ones beside 256 stays 256. The products of each case add up to 9 or more.
  const valueAt = (_: number, argument: number) => (argument === 2 ? 255 : 1);
  // The interpreted backend has no bf16.
  const { formed } = await resultsOf(program, choices, sizesOf(one), valueAt, HOST);
  const terms = formed[0]! - 255;
  expect(formed.every((value) => value === formed[0])).toBe(true);
  expect(terms).toBeGreaterThanOrEqual(8);
});

test('other forms apply to an operation with wide sums', async () => {
  const program = programOf(CASES['a product']!, 'f16');
  const found = read(program);
  expect(found.map(rewritableKey)).toEqual(['narrow sums of matmul 8x64xf16,64x16xf16->8x16xf16']);
  const convolution = programOf(CASES['a convolution']!, 'bf16');
  const choices = chooseForms(read(convolution), { bf16: 'vdpbf16ps' });
  expect(choices.map(({ form }) => form)).toEqual(['sums-of-32-bits', 'windows-by-filters-vdpbf16ps']);
  const text = await preprocessed(convolution, choices);
  expect(text).toContain('iree_codegen.inner_tiled');
  expect(text).not.toContain('linalg.conv_2d');
});

test('sums of other types and other maps stay', () => {
  const product = CASES['a product']!;
  for (const text of [
    programOf(product, 'f32'),
    programOf(product, 'bf16', 'f32'),
    programOf(
      {
        ...product,
        operation:
          'linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]',
      },
      'bf16',
    ),
  ])
    expect(widestSums(read(text))).toEqual([]);
});

test('GPUs keep them', () => {
  const [operation] = read(programOf(CASES['a product']!, 'f16'));
  expect(narrowSums.formsOf(operation as never, neighboursIn('alone'))).toEqual([]);
});

test('values from files are checked', () => {
  const [one] = read(programOf(CASES['a convolution']!, 'bf16'));
  expect(isRewritable(JSON.parse(JSON.stringify(one)))).toBe(true);
  for (const wrong of [
    { name: 'linalg.matmul' },
    { name: 'toString' },
    { strides: [1] },
    { strides: [1, '2'] },
    { steps: 'x' },
    { result: { shape: [1, 5, 4, 32], elementType: 'f32' } },
    { result: { shape: [1, 5, 4], elementType: 'bf16' } },
    { factors: [] },
  ])
    expect(isRewritable({ ...one, ...wrong }), JSON.stringify(wrong)).toBe(false);
});
