// Convolutions as generics: their form, and the rewritten text of their dispatch.
import { parse } from 'mlir-parser-ts';
import { describe, expect, test } from 'vitest';
import { rewrittenRoot } from '../../../src/workload/contraction/strides.ts';
import { isWorkload, rootFormOf, workloadFlops, workloadKey } from '../../../src/workload/workload.ts';

interface Text {
  readonly loops: readonly ('p' | 'r')[];
  readonly maps: readonly [image: string, filter: string, result: string];
  readonly types: readonly [image: string, filter: string, result: string];
  readonly attributes?: string;
}

const dense: Text = {
  loops: ['p', 'p', 'p', 'r', 'r', 'r'],
  maps: ['d0 * 2 + d3, d1 * 2 + d4, d5', 'd3, d4, d5, d2', 'd0, d1, d2'],
  types: ['37x35x8xf32', '3x3x8x16xf32', '18x17x16xf32'],
};

const batched: Text = {
  loops: ['p', 'p', 'p', 'p', 'r', 'r', 'r'],
  maps: ['d0, d1 + d4, d2 + d5, d6', 'd4, d5, d6, d3', 'd0, d1, d2, d3'],
  types: ['2x20x19x8xf32', '3x3x8x16xf32', '2x18x17x16xf32'],
};

const depthwise: Text = {
  loops: ['p', 'p', 'p', 'r', 'r'],
  maps: ['d0 + d3, d1 + d4, d2', 'd3, d4, d2', 'd0, d1, d2'],
  types: ['22x21x16xf32', '5x5x16xf32', '18x17x16xf32'],
};

/** A convolution as the compiler prints it after `flow`. */
function generic({ loops, maps, types, attributes = '' }: Text): string {
  const names = loops.map((_, i) => `d${i}`).join(', ');
  const [image, filter, result] = types;
  const iterators = loops.map((one) => (one === 'p' ? '"parallel"' : '"reduction"')).join(', ');
  return `        %5 = linalg.generic {indexing_maps = [${maps.map((map) => `affine_map<(${names}) -> (${map})>`).join(', ')}], iterator_types = [${iterators}]} ins(%0, %1 : tensor<${image}>, tensor<${filter}>) outs(%4 : tensor<${result}>)${attributes} {
        ^bb0(%in: f32, %in_0: f32, %out: f32):
          %7 = arith.mulf %in, %in_0 : f32
          %8 = arith.addf %out, %7 : f32
          linalg.yield %8 : f32
        } -> tensor<${result}>
`;
}

/** A filter of one row. The compiler drops dimensions of one element. */
const row: Text = {
  loops: ['p', 'p', 'p', 'r', 'r'],
  maps: ['d0, d1 + d3, d4', 'd3, d4, d2', 'd0, d1, d2'],
  types: ['18x23x8xf32', '7x8x16xf32', '18x17x16xf32'],
};

/** A filter of one column with a dilation of 2, over several images. */
const column: Text = {
  loops: ['p', 'p', 'p', 'p', 'r', 'r'],
  maps: ['d0, d1 + d4, d2 * 2, d5', 'd4, d5, d3', 'd0, d1, d2, d3'],
  types: ['2x24x33x8xf32', '7x8x16xf32', '2x18x17x16xf32'],
};

/** With the channels first. */
const first: Text = {
  loops: ['p', 'p', 'p', 'r', 'r', 'r'],
  maps: ['d3, d1 + d4, d2 * 2 + d5', 'd0, d3, d4, d5', 'd0, d1, d2'],
  types: ['8x20x35xf32', '16x8x3x3xf32', '16x18x17xf32'],
};

const firstColumn: Text = {
  loops: ['p', 'p', 'p', 'p', 'r', 'r'],
  maps: ['d0, d4, d2 + d5, d3', 'd1, d4, d5', 'd0, d1, d2, d3'],
  types: ['2x8x24x17xf32', '16x8x7xf32', '2x16x18x17xf32'],
};

const only = (text: string) => parse(Buffer.from(text)).operations[0]!;
const keyOf = (text: Text) => {
  const form = rootFormOf(only(generic(text)));
  return form && workloadKey(form.workload);
};

describe('the form of a convolution', () => {
  const LAST = 'm0(m1+k0)(m2+k1)k2,k0k1k2n->m0m1m2n';
  const FIRST = 'm0k2(m1+k0)(m2+k1),nk2k0k1->m0nm1m2';
  test.each([
    ['dense, in steps', dense, 'm0=1 m1=18 m2=17 n=16 k0=3 k1=3 k2=8', LAST],
    ['of several images', batched, 'm0=2 m1=18 m2=17 n=16 k0=3 k1=3 k2=8', LAST],
    ['of one row', row, 'm0=1 m1=18 m2=17 n=16 k0=1 k1=7 k2=8', LAST],
    ['of one column, in steps', column, 'm0=2 m1=18 m2=17 n=16 k0=7 k1=1 k2=8', LAST],
    [
      'each channel by itself',
      depthwise,
      'b=16 m0=1 m1=18 m2=17 k0=5 k1=5',
      'm0(m1+k0)(m2+k1)b,k0k1b->m0m1m2b',
    ],
    ['with the channels first', first, 'm0=1 m1=18 m2=17 n=16 k0=3 k1=3 k2=8', FIRST],
    ['with the channels first, of one column', firstColumn, 'm0=2 m1=18 m2=17 n=16 k0=7 k1=1 k2=8', FIRST],
  ])('%s', (_, text, sizes, maps) => {
    expect(keyOf(text)).toBe(`contraction ${sizes} f32,f32->f32 ${maps}`);
  });

  test('has a batch dimension, and loops in the order of the pipeline', () => {
    const { workload, loops } = rootFormOf(only(generic(depthwise)))!;
    expect(workload.dimensions.map(({ size }) => size)).toEqual([16, 1, 18, 17, 5, 5]);
    expect(loops).toEqual([1, 2, 3, 0, 4, 5]);
    expect(workloadFlops(workload)).toBe(2 * 18 * 17 * 16 * 25);
    const stored = { ...workload, context: { digest: '0123456789abcdef' } };
    expect(isWorkload(stored)).toBe(true);
    expect(isWorkload(workload)).toBe(false);
    expect(isWorkload({ ...stored, windows: [[2, 2]] })).toBe(false);
    expect(isWorkload({ ...stored, windows: [] })).toBe(false);
    expect(isWorkload({ ...stored, windows: [[2, 9]] })).toBe(false);
  });

  const [imageMap, filterMap, resultMap] = dense.maps;
  test.each<[string, Text]>([
    [
      'with the channels of the image alone outermost',
      { ...dense, maps: ['d5, d0 + d3, d1 + d4', filterMap, resultMap] },
    ],
    ['with the filter transposed', { ...dense, maps: [imageMap, 'd3, d4, d2, d5', resultMap] }],
    ['of dynamic size', { ...dense, types: ['?x35x8xf32', dense.types[1], '?x17x16xf32'] }],
  ])('there is none %s', (_, text) => {
    expect(keyOf(text)).toBe(null);
  });
});

describe('the rewritten text', () => {
  const rewrite = (text: string) => rewrittenRoot(text, only(text), 'a = 1');

  test('a root gets a batch dimension before it gets the attribute', () => {
    const inner = generic({
      loops: ['p', ...dense.loops],
      maps: ['d0, d1 * 2 + d4, d2 * 2 + d5, d6', 'd4, d5, d6, d3', 'd0, d1, d2, d3'],
      types: ['1x37x35x8xf32', dense.types[1], '1x18x17x16xf32'],
      attributes: ' attrs = {a = 1}',
    })
      .replace('%5 =', '%windowed =')
      .replace('ins(%0,', 'ins(%image,')
      .replace('outs(%4', 'outs(%accumulator');
    expect(rewrite(`before\n${generic(dense)}        after %5\n`)).toBe(
      `before
        %image = tensor.expand_shape %0 [[0, 1], [2], [3]] output_shape [1, 37, 35, 8] : tensor<37x35x8xf32> into tensor<1x37x35x8xf32>
        %accumulator = tensor.expand_shape %4 [[0, 1], [2], [3]] output_shape [1, 18, 17, 16] : tensor<18x17x16xf32> into tensor<1x18x17x16xf32>
${inner}        %5 = tensor.collapse_shape %windowed [[0, 1], [2], [3]] : tensor<1x18x17x16xf32> into tensor<18x17x16xf32>
        after %5
`,
    );
  });

  test('element-wise users of the root get the batch dimension, too', () => {
    const used = `        %6 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d2, d0, d1)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5, %2 : tensor<18x17x16xf32>, tensor<16xf32>) outs(%3 : tensor<16x18x17xf32>) {
        ^bb0(%in: f32, %in_0: f32, %out: f32):
          %7 = arith.addf %in, %in_0 : f32
          linalg.yield %7 : f32
        } -> tensor<16x18x17xf32> loc(#loc1)
        store %6
      }
      func.func @other(%6)
`;
    expect(rewrite(generic(dense) + used)?.split('loc(')[0]).toContain(
      `        %wide0 = tensor.expand_shape %3 [[0, 1], [2], [3]] output_shape [1, 16, 18, 17] : tensor<16x18x17xf32> into tensor<1x16x18x17xf32>
        %wide1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%windowed, %2 : tensor<1x18x17x16xf32>, tensor<16xf32>) outs(%wide0 : tensor<1x16x18x17xf32>) {
        ^bb0(%in: f32, %in_0: f32, %out: f32):
          %7 = arith.addf %in, %in_0 : f32
          linalg.yield %7 : f32
        } -> tensor<1x16x18x17xf32> `,
    );
    expect(rewrite(generic(dense) + used)?.split('loc(')[1]).toBe(
      `#loc1)
        %6 = tensor.collapse_shape %wide1 [[0, 1], [2], [3]] : tensor<1x16x18x17xf32> into tensor<16x18x17xf32>
        store %6
      }
      func.func @other(%6)
`,
    );
  });

  test.each([
    ['an argument', 'func.func @dispatch(%arg2: ', ') {'],
    ['a binding', '        %arg2 = hal.interface.binding.subspan binding(2) : ', ' loc(#loc2)'],
  ])('%s that the root is written to gets the batch dimension, too', (_, before, after) => {
    const type = (shape: string) => `!iree_tensor_ext.dispatch.tensor<readwrite:tensor<${shape}xf32>>`;
    const text = `module
${before}${type('20x20x16')}${after}
${generic(dense)}        iree_tensor_ext.dispatch.tensor.store %5, %arg2, offsets = [1, 1, 0], sizes = [18, 17, 16], strides = [1, 1, 1] : tensor<18x17x16xf32> -> ${type('20x20x16')} loc(#loc3)
      }
`;
    const lines = rewrite(text)!.split('\n');
    expect(lines[1]).toBe(`${before}${type('1x20x20x16')}${after}`);
    expect(lines.at(-3)).toBe(
      `        iree_tensor_ext.dispatch.tensor.store %windowed, %arg2, offsets = [0, 1, 1, 0], sizes = [1, 18, 17, 16], strides = [1, 1, 1, 1] : tensor<1x18x17x16xf32> -> ${type('1x20x20x16')} loc(#loc3)`,
    );
  });

  test('a filter of one column gets its other dimension', () => {
    const inner = generic({
      loops: batched.loops,
      maps: ['d0, d1 + d4, d2 * 2 + d5, d6', 'd4, d5, d6, d3', 'd0, d1, d2, d3'],
      types: [column.types[0], '7x1x8x16xf32', column.types[2]],
      attributes: ' attrs = {a = 1}',
    }).replace(', %1 :', ', %filter :');
    expect(rewrite(generic(column))).toBe(
      `        %filter = tensor.expand_shape %1 [[0, 1], [2], [3]] output_shape [7, 1, 8, 16] : tensor<7x8x16xf32> into tensor<7x1x8x16xf32>\n${inner}`,
    );
  });

  test('with the channels first the filter gets its column behind its rows', () => {
    const inner = generic({
      loops: batched.loops,
      maps: ['d0, d4, d2 + d5, d3 + d6', 'd1, d4, d5, d6', 'd0, d1, d2, d3'],
      types: [firstColumn.types[0], '16x8x7x1xf32', firstColumn.types[2]],
      attributes: ' attrs = {a = 1}',
    }).replace(', %1 :', ', %filter :');
    expect(rewrite(generic(firstColumn))).toBe(
      `        %filter = tensor.expand_shape %1 [[0], [1], [2, 3]] output_shape [16, 8, 7, 1] : tensor<16x8x7xf32> into tensor<16x8x7x1xf32>\n${inner}`,
    );
  });

  test('a convolution with a batch dimension only gets the attribute', () => {
    expect(rewrite(generic(batched))).toBe(generic({ ...batched, attributes: ' attrs = {a = 1}' }));
  });

  test('text in another layout is refused', () => {
    expect(rewrite(generic(dense).replace('} -> tensor', '}\n -> tensor'))).toBe(null);
  });
});
