// In full after a change of src/form.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'mlir-parser-ts';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  convolutionKey,
  isConvolution,
  isSpatial,
  layoutOf,
  readConvolution,
  type Convolution,
} from '../../src/form/convolution.ts';
import { isBroadcast, readBroadcasts } from '../../src/form/broadcast.ts';
import { isConcat, readConcats } from '../../src/form/concat.ts';
import { kindOf, rewritableKey } from '../../src/form/rewritable.ts';
import { chooseForms } from '../../src/form/choose.ts';
import { formsSpec, REWRITE } from '../../src/form/spec.ts';
import { tensorText } from '../../src/workload/tensor.ts';
import { pipelineFlags, rewritingPasses } from '../../src/spec/pipeline.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { runtimeTool } from '../support/installed-tools.ts';
import { isFull } from '../support/needs.ts';
import { rememberingCompiler } from '../support/remembering-compiler.ts';
import { neighboursIn } from './neighbours.ts';
import { HOST, outputOf, preprocessed, TARGET } from './support.ts';

/** Name, image, filter, strides, dilations, type of image and filter. */
type Row = readonly [
  name: string,
  image: readonly number[],
  filter: readonly number[],
  strides?: readonly number[],
  dilations?: readonly number[],
  factors?: 'bf16' | 'f16' | 'f32',
];

const ROWS: readonly Row[] = [
  ['conv_2d_nchw_fchw', [1, 6, 9, 11], [8, 6, 3, 3]],
  ['conv_2d_nchw_fchw', [1, 3, 15, 13], [5, 3, 7, 5], [2, 2]],
  ['conv_2d_nchw_fchw', [2, 4, 12, 12], [6, 4, 3, 3], [1, 2], [2, 2]],
  ['conv_2d_nchw_fchw', [1, 7, 10, 6], [9, 7, 1, 1]],
  ['conv_2d_nchw_fchw', [1, 4, 8, 10], [6, 4, 1, 1], [2, 2]],
  // The stride cuts the last row and column off.
  ['conv_2d_nchw_fchw', [1, 4, 9, 8], [6, 4, 1, 1], [2, 3]],
  ['conv_2d_nchw_fchw', [3, 4, 5, 7], [6, 4, 1, 1]],
  // One pixel.
  ['conv_2d_nchw_fchw', [1, 6, 1, 1], [24, 6, 1, 1]],
  ['conv_2d_nchw_fchw', [2, 24, 1, 1], [6, 24, 1, 1]],
  // Enough filters for blocks.
  ['conv_2d_nchw_fchw', [1, 5, 9, 7], [128, 5, 3, 3]],
  ['conv_2d_nchw_fchw', [2, 3, 12, 12], [144, 3, 3, 5], [2, 1], [1, 2]],
  ['conv_2d_nchw_fchw', [1, 6, 7, 7], [192, 6, 1, 1]],
  ['conv_2d_nchw_fchw', [2, 6, 9, 8], [160, 6, 1, 1], [2, 2]],
  // One channel.
  ['conv_2d_nchw_fchw', [1, 1, 12, 11], [16, 1, 5, 5]],
  ['conv_2d_nchw_fchw', [2, 1, 14, 13], [8, 1, 3, 3], [2, 1], [1, 2]],
  ['conv_1d_ncw_fcw', [1, 1, 60], [32, 1, 16], [8]],
  ['conv_2d_ngchw_gfchw', [1, 4, 6, 5, 7], [4, 3, 6, 1, 1]],
  ['conv_2d_ngchw_gfchw', [2, 3, 5, 6, 6], [3, 4, 5, 1, 1], [2, 2]],
  ['conv_2d_ngchw_gfchw', [1, 2, 6, 9, 9], [2, 8, 6, 3, 3]],
  ['conv_2d_ngchw_gfchw', [2, 2, 6, 9, 11], [2, 8, 6, 5, 3], [2, 1]],
  ['conv_2d_ngchw_gfchw', [1, 5, 2, 9, 9], [5, 3, 2, 3, 3]],
  ['conv_2d_ngchw_gfchw', [1, 5, 1, 9, 9], [5, 2, 1, 3, 3], [2, 2]],
  ['conv_2d_ngchw_gfchw', [1, 1, 5, 6, 6], [1, 4, 5, 1, 1]],
  ['conv_3d_ncdhw_fcdhw', [1, 3, 5, 9, 8], [6, 3, 3, 3, 3]],
  ['conv_3d_ncdhw_fcdhw', [2, 4, 9, 7, 8], [5, 4, 3, 1, 1], [2, 1, 1], [2, 1, 1]],
  ['conv_3d_ncdhw_fcdhw', [2, 4, 3, 9, 9], [5, 4, 1, 3, 3], [1, 2, 2]],
  ['conv_3d_ndhwc_dhwcf', [1, 5, 9, 8, 3], [3, 3, 3, 3, 6]],
  ['conv_3d_ndhwc_dhwcf', [2, 9, 7, 8, 4], [3, 1, 2, 4, 16], [2, 1, 1], [2, 1, 1]],
  ['conv_1d_ncw_fcw', [1, 6, 21], [8, 6, 3]],
  ['conv_1d_ncw_fcw', [2, 5, 30], [7, 5, 4], [2], [3]],
  ['conv_1d_ncw_fcw', [1, 5, 40], [128, 5, 3], [2]],
  ['conv_1d_ncw_fcw', [1, 6, 20], [9, 6, 1]],
  ['conv_1d_ncw_fcw', [2, 6, 21], [160, 6, 1], [2]],
  ['depthwise_conv_2d_nchw_chw', [1, 6, 9, 11], [6, 3, 3]],
  ['depthwise_conv_2d_nchw_chw', [2, 6, 12, 11], [6, 5, 5], [2, 2]],
  ['depthwise_conv_2d_nchw_chw', [1, 5, 16, 17], [5, 7, 7], [1, 2]],
  ['depthwise_conv_2d_nchw_chw', [1, 5, 16, 17], [5, 3, 3], [2, 1], [3, 2]],
  ['pooling_nchw_max', [1, 6, 9, 11], [3, 3]],
  ['pooling_nchw_max', [2, 5, 16, 17], [3, 2], [2, 2], [1, 2]],
  ['pooling_nchw_sum', [1, 6, 12, 11], [2, 3], [2, 1]],
  // Of the whole image.
  ['pooling_nchw_sum', [2, 6, 9, 7], [9, 7]],
  ['pooling_nchw_max', [1, 6, 8, 8], [8, 8]],
  ['pooling_ncw_max', [2, 5, 19], [4]],
  ['pooling_ndhwc_sum', [1, 9, 6, 12, 1], [5, 1, 1]],
  ['pooling_ndhwc_max', [1, 5, 6, 7, 8], [2, 2, 3], [1, 2, 1]],
  ['depthwise_conv_1d_ncw_cw', [1, 6, 25], [6, 5]],
  ['depthwise_conv_1d_ncw_cw', [1, 6, 25], [6, 3], [2]],
  ['depthwise_conv_3d_ncdhw_cdhw', [1, 4, 6, 7, 12], [4, 3, 2, 3]],
  // Factors that are widened.
  ['conv_2d_nchw_fchw', [1, 6, 9, 11], [8, 6, 3, 3], [1, 1], [1, 1], 'f16'],
  ['conv_2d_nchw_fchw', [1, 7, 10, 6], [9, 7, 1, 1], [1, 1], [1, 1], 'bf16'],
  ['conv_2d_nchw_fchw', [2, 24, 1, 1], [6, 24, 1, 1], [1, 1], [1, 1], 'f16'],
  ['conv_2d_nchw_fchw', [2, 6, 9, 8], [160, 6, 3, 1], [2, 2], [1, 1], 'bf16'],
  ['conv_2d_ngchw_gfchw', [1, 2, 6, 9, 9], [2, 8, 6, 3, 3], [1, 1], [1, 1], 'f16'],
  ['depthwise_conv_2d_nchw_chw', [1, 6, 9, 11], [6, 3, 3], [1, 1], [1, 1], 'f16'],
  ['depthwise_conv_2d_nchw_chw', [2, 6, 12, 11], [6, 5, 5], [2, 2], [1, 1], 'bf16'],
  ['pooling_nchw_sum', [2, 6, 9, 7], [9, 7], [1, 1], [1, 1], 'f16'],
];

function convolutionOf([name, image, filter, strides, dilations, factors = 'f32']: Row): Convolution {
  const own = { name: `linalg.${name}` };
  const [places, window, result] = layoutOf(own);
  const ones = Array.from(places)
    .filter(isSpatial)
    .map(() => 1);
  const moves = { strides: strides ?? ones, dilations: dilations ?? ones };
  let i = 0;
  const shape = Array.from(result, (one, at) => {
    if (one === 'f') return filter[window.indexOf('f')]!;
    if (!isSpatial(one)) return image[at]!;
    const reach = (filter[window.indexOf(one)]! - 1) * moves.dilations[i]! + 1;
    return Math.floor((image[at]! - reach) / moves.strides[i++]!) + 1;
  });
  const tensor = (sizes: readonly number[], elementType: string = factors) => ({ shape: sizes, elementType });
  return { ...own, image: tensor(image), filter: tensor(filter), result: tensor(shape, 'f32'), ...moves };
}

const convolutions = ROWS.map(convolutionOf);

const dense = (values: readonly number[]) =>
  new Set(values).size === 1 ? `dense<${values[0]!}>` : `dense<[${values.join(', ')}]>`;

/** A function that adds the convolution of its arguments to its last one. */
function functionOf({ name, image, filter, result, strides, dilations }: Convolution, i: number): string {
  const [a, b, c] = [image, filter, result].map(tensorText);
  const type = `vector<${strides.length}xi64>`;
  return `func.func @f${i}(%a: ${a!}, %b: ${b!}, %c: ${c!}) -> ${c!} {
  %r = ${name} {dilations = ${dense(dilations)} : ${type}, strides = ${dense(strides)} : ${type}} ins(%a, %b : ${a!}, ${b!}) outs(%c : ${c!}) -> ${c!}
  return %r : ${c!}
}
`;
}

const program = convolutions.map(functionOf).join('');

test('convolutions are read with all fields', () => {
  const bytes = Buffer.from(program);
  const read = parse(bytes).operations.map((operation) => readConvolution(operation, bytes));
  expect(read).toEqual(convolutions);
  expect(read.every(isConvolution)).toBe(true);
});

test('a convolution of dynamic shape or of another layout has no form', () => {
  const text = Buffer.from(`
%0 = linalg.conv_2d_nchw_fchw ins(%a, %b : tensor<1x?x9x9xf32>, tensor<4x?x3x3xf32>) outs(%c : tensor<1x4x7x7xf32>) -> tensor<1x4x7x7xf32>
%1 = linalg.conv_2d_nhwc_hwcf ins(%d, %e : tensor<1x9x9x3xf32>, tensor<3x3x3x4xf32>) outs(%f : tensor<1x7x7x4xf32>) -> tensor<1x7x7x4xf32>
%2 = linalg.conv_2d_nchw_fchw ins(%g, %h : tensor<1x3x2x2xf32>, tensor<4x3x3x3xf32>) outs(%i : tensor<1x4x7x7xf32>) -> tensor<1x4x7x7xf32>
`);
  const { operations } = parse(text);
  expect(operations).toHaveLength(3);
  expect(operations.map((operation) => readConvolution(operation, text))).toEqual([null, null, null]);
});

test('invalid convolutions are refused', () => {
  const [own] = convolutions;
  expect(isConvolution(own)).toBe(true);
  for (const change of [
    { name: 'linalg.matmul' },
    { strides: [1] },
    { strides: [0, 1] },
    { image: { shape: [1, 6, 2, 11], elementType: 'f32' } },
    { filter: { shape: [8, 6, 3, 3], elementType: 'f32> }' } },
    { result: undefined },
  ])
    expect(isConvolution({ ...own, ...change })).toBe(false);
  expect([null, 1, {}, []].map(isConvolution)).toEqual([false, false, false, false]);
});

test('a form that does not suit a convolution is refused by name', () => {
  const [convolution] = convolutions;
  expect(() => formsSpec([{ operation: convolution!, form: 'matmul' }])).toThrow(/has no form matmul/);
  expect(() => formsSpec([{ operation: convolution!, form: 'none' }])).toThrow(/has no form none/);
});

/** Small integers in a type of floats. */
function bytesOf(values: Float32Array, elementType: string): NodeJS.ArrayBufferView {
  if (elementType === 'f16') return Float16Array.from(values);
  if (elementType === 'f32') return values;
  const bits = new Uint16Array(values.buffer);
  return bits.filter((_, at) => at % 2 === 1);
}

/** Every eighth convolution, or all in the full tier. */
const compiled = [...convolutions.entries()].filter(([i]) => isFull || i % 8 === 0);
const functionsOf = (some: typeof compiled) => some.map(([i, one]) => functionOf(one, i)).join('');

const isWidened = ({ image }: Convolution) => image.elementType !== 'f32';
/** Forms without tiles of a processor. */
const plainFormsOf = (one: Convolution) =>
  kindOf(one)
    .formsOf(one, neighboursIn('chain'))
    .filter(({ tiles }) => tiles?.areNeeded !== true);

describe.each([
  ['with factors of 32 bits', TARGET, compiled.filter(([, one]) => !isWidened(one))],
  // The backend of TARGET does not widen.
  ['with factors of 16 bits', HOST, compiled.filter(([, one]) => isWidened(one))],
] as const)('the results of each form are those of the written operation %s', (_, target, compiled) => {
  const folder = temporaryDirectory();
  const at = (name: string) => join(folder, name);
  const written = at('written.vmfb');
  beforeAll(async () => {
    writeFileSync(at('written.mlir'), functionsOf([...compiled]));
    await outputOf(rememberingCompiler, [...target, at('written.mlir'), '-o', written]);
  });

  describe.each([...new Set(compiled.flatMap(([, one]) => plainFormsOf(one).map(({ name }) => name)))])(
    '%s',
    (name) => {
      const own = compiled.filter(([, one]) => plainFormsOf(one).some((form) => form.name === name));
      const formed = at(`${name}.vmfb`);

      beforeAll(async () => {
        const [input, spec] = [at(`${name}.mlir`), at(`${name}.spec.mlir`)];
        writeFileSync(input, functionsOf(own));
        writeFileSync(spec, formsSpec(own.map(([, operation]) => ({ operation, form: name }))));
        const argv = [...target, ...pipelineFlags([rewritingPasses(spec, REWRITE)]), input];
        await outputOf(rememberingCompiler, [...argv, '-o', formed]);
        const left = await outputOf(rememberingCompiler, [...argv, '--compile-to=preprocessing']);
        // Each convolution is rewritten, and the spec leaves no other traces.
        expect(left).not.toMatch(/ncw|nchw|ngchw|pooling|depthwise|iree_tuned_form/);
      });

      test.each(own.map(([i, one]) => [convolutionKey(one), one, i] as const))(
        '%s',
        async (_, { image, filter, result }, i) => {
          const inputs = [image, filter, result].map(({ shape, elementType }, seed) => {
            const path = at(`${i}-${seed}.bin`);
            const size = shape.reduce((product, one) => product * one, 1);
            // Sums of small integers are exact in any order.
            const values = Float32Array.from({ length: size }, (_, at) => ((at * 7 + seed * 3) % 11) - 5);
            writeFileSync(path, bytesOf(values, elementType));
            return `--input=${shape.join('x')}x${elementType}=@${path}`;
          });
          const options = [`--function=f${i}`, '--device=local-sync', '--output_max_element_count=9999999'];
          const run = (module: string) =>
            outputOf(runtimeTool('iree-run-module'), [`--module=${module}`, ...options, ...inputs]);
          expect(await run(formed)).toBe(await run(written));
        },
      );
    },
  );
});

test.each([
  ['{dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}', 2],
  ['{dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}', 2],
  ['', 1],
])('strides and dilations are matched as the program writes them: %s', async (moves, stride) => {
  const size = (21 - 3) / stride + 1;
  const [a, b, c] = ['1x16x21x21', '24x16x3x3', `1x24x${size}x${size}`].map(
    (shape) => `tensor<${shape}xf32>`,
  );
  const text = `func.func @main(%a: ${a!}, %b: ${b!}, %c: ${c!}) -> ${c!} {
  %r = linalg.conv_2d_nchw_fchw ${moves} ins(%a, %b : ${a!}, ${b!}) outs(%c : ${c!}) -> ${c!}
  return %r : ${c!}
}
`;
  const [operation] = parse(Buffer.from(text)).operations;
  const convolution = readConvolution(operation!, Buffer.from(text))!;
  expect([isConvolution(convolution), convolution.strides]).toEqual([true, [stride, stride]]);
  const left = await preprocessed(text, [{ operation: convolution, form: 'channels-last' }]);
  expect(left).toContain('nhwc');
  expect(left).not.toContain('nchw');
});

test('each operation of a form has a location, so that outputs lack the path of the module', () => {
  const tensor = (...shape: number[]) => ({ shape, elementType: 'f32' });
  const layer = { name: 'linalg.conv_2d_nchw_fchw', strides: [1, 1], dilations: [1, 1] };
  const chain = [
    { ...layer, image: tensor(1, 8, 9, 9), filter: tensor(16, 8, 3, 3), result: tensor(1, 16, 7, 7) },
    { ...layer, image: tensor(1, 16, 7, 7), filter: tensor(8, 16, 1, 1), result: tensor(1, 8, 7, 7) },
  ];
  const spec = formsSpec(chooseForms(chain));
  const operations = spec.split('\n').filter((line) => /^ {4}%v\d+ = /.test(line) && !line.endsWith('{'));
  expect(operations.length).toBeGreaterThan(20);
  expect(operations.filter((line) => !/ loc\(#place_\w+\)$/.test(line))).toEqual([]);
  for (const [, place] of spec.matchAll(/loc\((#place_\w+)\)/g)) expect(spec).toContain(`${place!} = loc("`);
});

test('depthwise convolutions between grouped ones keep their channels first', () => {
  const named = (...names: readonly string[]) =>
    convolutions.filter(({ name }) => names.includes(name.replace('linalg.', '')));
  const formsAmong = (operations: readonly Convolution[]) =>
    chooseForms(operations).flatMap(({ operation, form }) =>
      isConvolution(operation) && operation.name.includes('depthwise_conv_2d') ? [form] : [],
    );
  const [depthwise, grouped, dense] = [
    named('depthwise_conv_2d_nchw_chw'),
    named('conv_2d_ngchw_gfchw'),
    named('conv_2d_nchw_fchw'),
  ];
  expect(formsAmong([...depthwise, ...grouped, dense[0]!])).toContain('shifted-slices');
  expect(formsAmong([...depthwise, ...grouped, ...dense, ...dense])).not.toContain('shifted-slices');
});

test('joined channels of other dimensions, types or sizes have no form', () => {
  const text = Buffer.from(`
%0 = tensor.concat dim(2) %a, %b : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x16x8xf32>
%1 = tensor.concat dim(1) %c, %d : (tensor<1x?x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x?x8x8xf32>
%2 = tensor.concat dim(1) %e, %f : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
%3 = tensor.concat dim(1) %g, %h : (tensor<1x3x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x7x8x8xf32>
`);
  const [join, ...others] = readConcats(text);
  expect([join!.result.shape, others]).toEqual([[1, 7, 8, 8], []]);
  expect(isConcat({ ...join, result: { shape: [1, 8, 8, 8], elementType: 'f32' } })).toBe(false);
  expect(isConcat({ ...join, operands: [] })).toBe(false);
  // No convolution has an image or a result of these shapes.
  expect(chooseForms([...convolutions, join!]).map(({ operation }) => operation)).not.toContain(join);
});

test.each([
  ['one depthwise convolution of one dimension', ['depthwise_conv_1d_ncw_cw', [1, 64, 27], [64, 3], [2]]],
  ['one pooling', ['pooling_nchw_max', [1, 64, 20, 20], [3, 3], [2, 2]]],
] satisfies [string, Row][])('%s is rewritten alone', async (_, row) => {
  const operation = convolutionOf(row);
  const left = await preprocessed(functionOf(operation, 0), chooseForms([operation]));
  expect(left).not.toMatch(/depthwise|pooling/);
});

test('operands of lower rank that are read at constant indices are found', () => {
  const text = (one: string, map: string, body: string) =>
    Buffer.from(`
    %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> ${map}>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %b#1 : tensor<${one}>, tensor<4x6x8xf32>) outs(%c : tensor<4x6x8xf32>) {
    ^bb0(%in: f32 loc(unknown), %in_3: f32 loc(unknown), %out: f32 loc(unknown)):
      %2 = ${body} : f32 loc(unknown)
      linalg.yield %2 : f32 loc(unknown)
    } -> tensor<4x6x8xf32> loc(unknown)
`);
  const [scale] = readBroadcasts(text('6x1xf32', '(d1, 0)', 'arith.divf %in, %in_3'));
  expect(rewritableKey(scale!)).toBe('arith.divf 6x1xf32,4x6x8xf32->4x6x8xf32');
  expect(isBroadcast({ ...scale, name: 'arith.xori' })).toBe(false);
  expect(isBroadcast({ ...scale, operands: [scale!.result, scale!.result] })).toBe(false);
  for (const [one, map, body] of [
    ['6x1xf32', '(d1, 0)', 'arith.divf %in_3, %in'],
    ['6x1xf32', '(d1, 0)', 'arith.addf %in, %in'],
    ['6x1xf32', '(d1, 0)', 'math.powf %in, %in_3'],
    ['6x2xf32', '(d1, 0)', 'arith.divf %in, %in_3'],
    ['6x1xf16', '(d1, 0)', 'arith.divf %in, %in_3'],
    ['1x6x1xf32', '(0, d1, 0)', 'arith.divf %in, %in_3'],
    ['?x1xf32', '(d1, 0)', 'arith.divf %in, %in_3'],
  ] as const)
    expect(readBroadcasts(text(one, map, body)), one).toEqual([]);
  // No convolution has an image or a result of these shapes.
  expect(chooseForms([...convolutions, scale!]).map(({ operation }) => operation)).not.toContain(scale);
});
