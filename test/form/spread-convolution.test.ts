import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'mlir-parser-ts';
import { expect, test } from 'vitest';
import { readConvolution } from '../../src/form/convolution.ts';
import { chooseForms } from '../../src/form/choose.ts';
import { isRewritable, rewritableKey } from '../../src/form/rewritable.ts';
import { formsSpec, REWRITE } from '../../src/form/spec.ts';
import { isSpread, readSpread, type SpreadConvolution } from '../../src/form/spread-convolution.ts';
import { pipelineFlags, rewritingPasses } from '../../src/spec/pipeline.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { runtimeTool } from '../support/installed-tools.ts';
import { rememberingCompiler } from '../support/remembering-compiler.ts';
import { outputOf, TARGET } from './support.ts';

/** A function that adds the transposed convolution of its arguments to its last one, as front ends write it. */
interface Written {
  readonly name: string;
  readonly image: readonly number[];
  /** The image with zeros. */
  readonly whole: readonly number[];
  readonly filter: readonly number[];
  readonly result: readonly number[];
  readonly offsets: readonly number[];
  readonly strides: readonly number[];
  readonly zero?: string;
  readonly dilation?: number;
  /** Whether the zeros are padding. */
  readonly isPadded?: boolean;
}

const typeOf = (shape: readonly number[]) => `tensor<${shape.join('x')}xf32>`;

function textOf(
  {
    name,
    image,
    whole,
    filter,
    result,
    offsets,
    strides,
    zero = '0.000000e+00',
    dilation = 1,
    isPadded = false,
  }: Written,
  i = 0,
): string {
  const [a, b, c, d] = [image, filter, result, whole].map(typeOf);
  const steps = (step: number) => `dense<${step}> : vector<${name.includes('1d') ? 1 : 2}xi64>`;
  const high = whole.map((size, d) => size - image[d]! - offsets[d]!);
  const spread = isPadded
    ? `%spread${i} = tensor.pad %a low[${offsets.join(', ')}] high[${high.join(', ')}] {
  ^bb0(${image.map((_, d) => `%i${d}: index`).join(', ')}):
    tensor.yield %zero${i} : f32
  } : ${a!} to ${d!}`
    : `%none${i} = tensor.empty() : ${d!}
  %zeros${i} = linalg.fill ins(%zero${i} : f32) outs(%none${i} : ${d!}) -> ${d!}
  %spread${i} = tensor.insert_slice %a into %zeros${i}[${offsets.join(', ')}] [${image.join(', ')}] [${strides.join(', ')}] : ${a!} into ${d!}`;
  return `func.func @f${i}(%a: ${a!}, %b: ${b!}, %c: ${c!}) -> ${c!} {
  %zero${i} = arith.constant ${zero} : f32
  ${spread}
  %r${i} = linalg.${name} {dilations = ${steps(dilation)}, strides = ${steps(1)}} ins(%spread${i}, %b : ${d!}, ${b!}) outs(%c : ${c!}) -> ${c!}
  return %r${i} : ${c!}
}
`;
}

/** A square kernel over a square image. */
function square(
  [n, c, f]: readonly [number, number, number],
  size: number,
  kernel: number,
  stride: number,
  offset: number,
  more = 0,
): Written {
  const whole = (size - 1) * stride + 1 + 2 * offset + more;
  return {
    name: 'conv_2d_nchw_fchw',
    image: [n, c, size, size],
    whole: [n, c, whole, whole],
    filter: [f, c, kernel, kernel],
    result: [n, f, whole - kernel + 1, whole - kernel + 1],
    offsets: [0, 0, offset, offset],
    strides: [1, 1, stride, stride],
  };
}

/** A 3x3 kernel with a large dilation over a padded square image. */
function dilated([n, c, f]: readonly [number, number, number], size: number, dilation: number): Written {
  const whole = size + 2 * dilation;
  return {
    name: 'conv_2d_nchw_fchw',
    ...{ image: [n, c, size, size], whole: [n, c, whole, whole], filter: [f, c, 3, 3] },
    ...{ result: [n, f, size, size], offsets: [0, 0, dilation, dilation], strides: [1, 1, 1, 1] },
    ...{ dilation, isPadded: true },
  };
}

const CASES: readonly (readonly [string, Written])[] = [
  ['one element of the filter for each pixel', square([1, 5, 7], 6, 2, 2, 1)],
  ['one filter', square([1, 24, 1], 10, 2, 2, 1)],
  ['windows that overlap', square([2, 5, 6], 7, 4, 2, 2)],
  ['an odd size', square([1, 4, 8], 7, 3, 2, 1, 1)],
  ['fewer elements than the stride', square([1, 3, 4], 5, 2, 3, 1)],
  ['a border without zeros', square([1, 3, 4], 9, 5, 2, 0)],
  ['a single element', square([2, 5, 6], 1, 4, 1, 3)],
  ['many filters of windows that overlap', square([2, 3, 16], 5, 4, 2, 2)],
  ['many filters of an odd size', square([1, 4, 20], 7, 3, 2, 1, 1)],
  ['many filters, and pixels that stay zero', square([1, 3, 16], 5, 2, 3, 1)],
  ['the middle of the filter alone meets the image', dilated([1, 6, 5], 5, 7)],
  ['some products meet the image', dilated([2, 6, 8], 9, 6)],
  ['a dilated filter over one element', dilated([2, 6, 5], 1, 3)],
  ['padding as an insertion', { ...dilated([1, 3, 4], 6, 5), isPadded: false }],
  [
    'one dimension',
    {
      name: 'conv_1d_ncw_fcw',
      ...{ image: [1, 6, 9], whole: [1, 6, 47], filter: [4, 6, 8], result: [1, 4, 40] },
      ...{ offsets: [0, 0, 3], strides: [1, 1, 5] },
    },
  ],
  [
    'many filters in one dimension',
    {
      name: 'conv_1d_ncw_fcw',
      ...{ image: [1, 6, 9], whole: [1, 6, 47], filter: [16, 6, 7], result: [1, 16, 41] },
      ...{ offsets: [0, 0, 3], strides: [1, 1, 5] },
    },
  ],
  [
    'many filters with the channels innermost',
    {
      name: 'conv_2d_nhwc_hwcf',
      ...{ image: [2, 5, 6, 4], whole: [2, 13, 15, 4], filter: [4, 4, 4, 16], result: [2, 10, 12, 16] },
      ...{ offsets: [0, 2, 2, 0], strides: [1, 2, 2, 1] },
    },
  ],
  [
    'one dimension with padding',
    {
      name: 'conv_1d_ncw_fcw',
      ...{ image: [1, 6, 9], whole: [1, 6, 41], filter: [4, 6, 3], result: [1, 4, 9] },
      ...{ offsets: [0, 0, 16], strides: [1, 1, 1], dilation: 16, isPadded: true },
    },
  ],
];

const read = (text: string): (SpreadConvolution | null)[] => {
  const bytes = Buffer.from(text);
  return parse(bytes).operations.flatMap((operation) =>
    operation.name.includes('conv_') ? [readSpread(operation, bytes)] : [],
  );
};

test(
  'convolutions among zeros are found, and give the results of the written operations',
  { tags: 'full' },
  async () => {
    const folder = temporaryDirectory();
    const text = CASES.map(([, one], i) => textOf(one, i)).join('');
    const found = read(text);
    expect(found.every(isSpread) && found.every(isRewritable)).toBe(true);
    const choices = chooseForms(found as SpreadConvolution[]);
    expect(choices.map(({ form }) => form)).toEqual(
      CASES.map(([name, { dilation }]) => {
        if (dilation !== undefined) return 'element-by-element';
        return name.startsWith('many filters') ? 'pixel-by-pixel' : 'filters-to-pixels';
      }),
    );
    const [input, spec] = [join(folder, 'input.mlir'), join(folder, 'spec.mlir')];
    writeFileSync(input, text);
    writeFileSync(spec, formsSpec(choices));
    const passes = pipelineFlags([rewritingPasses(spec, REWRITE)]);
    const compiled = async (name: string, flags: readonly string[]) => {
      const module = join(folder, name);
      await outputOf(rememberingCompiler, [...TARGET, ...flags, input, '-o', module]);
      return module;
    };
    const modules = [await compiled('written.vmfb', []), await compiled('formed.vmfb', passes)];
    const left = await outputOf(rememberingCompiler, [
      ...TARGET,
      ...passes,
      input,
      '--compile-to=preprocessing',
    ]);
    expect(left).not.toMatch(/nchw|ncw|iree_tuned_form/);
    for (const [i, [name, { image, filter, result }]] of CASES.entries()) {
      const inputs = [image, filter, result].map((shape, seed) => {
        const path = join(folder, `${i}-${seed}.bin`);
        const size = shape.reduce((product, one) => product * one, 1);
        // Sums of small integers are exact in any order.
        writeFileSync(
          path,
          Float32Array.from({ length: size }, (_, at) => ((at * 7 + seed * 3) % 11) - 5),
        );
        return `--input=${shape.join('x')}xf32=@${path}`;
      });
      const options = [`--function=f${i}`, '--device=local-sync', '--output_max_element_count=9999999'];
      const [written, formed] = await Promise.all(
        modules.map((module) =>
          outputOf(runtimeTool('iree-run-module'), [`--module=${module}`, ...options, ...inputs]),
        ),
      );
      expect(formed, name).toBe(written);
    }
  },
);

test('values besides zeros, other steps and usual padding are no such convolution', () => {
  const [, own] = CASES[0]!;
  expect(read(textOf(own))).not.toEqual([null]);
  expect(read(textOf({ ...own, zero: '1.000000e+00' }))).toEqual([null]);
  const padding = { whole: [1, 5, 8, 8], result: [1, 7, 7, 7], strides: [1, 1, 1, 1] };
  expect(read(textOf({ ...own, ...padding }))).toEqual([null]);
  expect(read(textOf(own).replace('dilations = dense<1>', 'dilations = dense<2>'))).toEqual([null]);
  const plain = textOf(own).replace('ins(%spread0', 'ins(%zeros0');
  expect(read(plain)).toEqual([null]);
  const bytes = Buffer.from(plain);
  expect(parse(bytes).operations.some((one) => readConvolution(one, bytes) !== null)).toBe(true);
});

test('every field is checked, because all are written into MLIR', () => {
  const [own] = read(textOf(CASES[0]![1])) as [SpreadConvolution];
  expect(rewritableKey(own)).toContain('from=1x5x6x6xf32 at=1,1 every=2,2');
  for (const change of [
    { offsets: [1] },
    { offsets: ['1', 1] },
    { strides: [9, 9] },
    { image: { shape: [1, 5, 6, 7], elementType: 'f32' } },
    { image: { shape: [1, 5, 6, 6], elementType: 'f16' } },
    { convolution: { ...own.convolution, name: 'linalg.matmul' } },
    { convolution: undefined },
  ])
    expect(isSpread({ ...own, ...change }), JSON.stringify(change)).toBe(false);
});
