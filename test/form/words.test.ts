// Products with weights in blocks read words of weights.
import { parse } from 'mlir-parser-ts';
import { expect, test } from 'vitest';
import type { StoredProduct } from '../../src/form/stored-product.ts';
import { chooseForms } from '../../src/form/choose.ts';
import {
  isReplaceable,
  isRewritable,
  kindOf,
  readRewritables,
  rewritableKey,
} from '../../src/form/rewritable.ts';
import { casesOfTier } from '../support/needs.ts';
import { HOST, preprocessed, resultsOf } from './support.ts';

interface Case {
  readonly rows?: number;
  /** Number of matrices of rows; 0 for no batch. */
  readonly batch?: number;
  readonly bits?: 4 | 8;
  readonly isUnsigned?: boolean;
  /** A further value of each block, beside its factor. */
  readonly more?: 'offset' | 'zero';
  /** The type of the factors and offsets, or of the zero points. */
  readonly of?: string;
  readonly columns?: number;
}

const [GROUPS, BLOCK, N] = [6, 32, 136];

/** A product of an argument and constant weights, as sharktank writes it. */
function program({
  rows = 1,
  batch = 0,
  bits = 4,
  isUnsigned = false,
  columns: n = N,
  ...own
}: Case = {}): string {
  const { more, of = 'f32' } = own;
  const stored = `tensor<${n}x${GROUPS}x${(BLOCK * bits) / 8}xi8>`;
  const weights = `tensor<${n}x${GROUPS}x${BLOCK}xi${bits}>`;
  const bytes = Buffer.from(
    Array.from({ length: (n * GROUPS * BLOCK * bits) / 8 }, (_, i) => (i * 37 + (i >> 7) * 11) % 251),
  );
  const isZero = more === 'zero';
  const factorType = isZero ? 'f32' : of;
  const valuesOf = (type: string, at: (i: number) => number) => {
    const all = Array.from({ length: n * GROUPS }, (_, i) =>
      type.startsWith('i') ? at(i) : at(i).toExponential(6),
    );
    return `dense<[${all.join(', ')}]> : tensor<${n * GROUPS}x${type}>`;
  };
  const blocks = (type: string) => `tensor<${n}x${GROUPS}x1x${type}>`;
  const expand = (name: string, type: string) =>
    `%${name} = tensor.expand_shape %${name}_flat [[0, 1, 2]] output_shape [${n}, ${GROUPS}, 1] : tensor<${n * GROUPS}x${type}> into ${blocks(type)}`;
  const floats = `tensor<${n}x${GROUPS}x${BLOCK}xf32>`;
  const [map, ofBlock] = ['(d0, d1, d2)', '(d0, d1, 0)'].map((to) => `affine_map<(d0, d1, d2) -> ${to}>`);
  const hasMore = more !== undefined;
  const wide = (name: string, type: string) =>
    type === 'f32'
      ? { name, lines: '' }
      : {
          name: `${name}_wide`,
          lines: `${name}_wide = arith.${type.startsWith('i') ? `${isUnsigned ? 'ui' : 'si'}tofp` : 'extf'} ${name} : ${type} to f32\n    `,
        };
  const [factor, other] = [wide('%d', factorType), wide('%m', of)];
  const convert = isUnsigned ? 'arith.uitofp' : 'arith.sitofp';
  const combined = {
    none: `%y = arith.mulf %f, ${factor.name} : f32`,
    offset: `%p = arith.mulf %f, ${factor.name} : f32
    %y = arith.addf %p, ${other.name} : f32`,
    zero: `%p = arith.subf %f, ${other.name} : f32
    %y = arith.mulf %p, ${factor.name} : f32`,
  }[more ?? 'none'];
  const b = batch === 0 ? '' : `${batch}x`;
  const [from, into] = [`tensor<${b}${rows}x${GROUPS * BLOCK}xf32>`, `tensor<${b}${rows}x${n}xf32>`];
  const grouped = `tensor<${b}${rows}x${GROUPS}x${BLOCK}xf32>`;
  const loops = batch === 0 ? ['d0', 'd1', 'd2', 'd3'] : ['d0', 'd1', 'd2', 'd3', 'd4'];
  const rank = loops.length;
  const mapOf = (...to: (string | undefined)[]) => `affine_map<(${loops.join(', ')}) -> (${to.join(', ')})>`;
  const outer = loops.slice(0, rank - 3);
  const [c, g, e] = loops.slice(rank - 3);
  return `func.func @main(%x: ${from}) -> ${into} {
  %w_flat = arith.constant dense<"0x${bytes.toString('hex')}"> : ${stored}
  %w = flow.tensor.bitcast %w_flat : ${stored} -> ${weights}
  %s_flat = arith.constant ${valuesOf(factorType, (i) => 2 ** (-3 - (i % 3)))}
  ${expand('s', factorType)}
  ${hasMore ? `%z_flat = arith.constant ${valuesOf(of, (i) => (i % 7) - (isZero && isUnsigned ? 0 : 3))}\n  ${expand('z', of)}` : ''}
  %d_e = tensor.empty() : ${floats}
  %floats = linalg.generic {indexing_maps = [${ofBlock}, ${hasMore ? `${ofBlock}, ` : ''}${map}, ${map}], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, ${hasMore ? '%z, ' : ''}%w : ${blocks(factorType)}, ${hasMore ? `${blocks(of)}, ` : ''}${weights}) outs(%d_e : ${floats}) {
  ^bb0(%d: ${factorType}, ${hasMore ? `%m: ${of}, ` : ''}%q: i${bits}, %out: f32):
    ${factor.lines}${hasMore ? other.lines : ''}%f = ${convert} %q : i${bits} to f32
    ${combined}
    linalg.yield %y : f32
  } -> ${floats}
  %g = tensor.expand_shape %x [${outer.map((_, d) => `[${d}]`).join(', ')}, [${rank - 3}, ${rank - 2}]] output_shape [${b.replace('x', ', ')}${rows}, ${GROUPS}, ${BLOCK}] : ${from} into ${grouped}
  %none = arith.constant 0.0 : f32
  %e = tensor.empty() : ${into}
  %o = linalg.fill ins(%none : f32) outs(%e : ${into}) -> ${into}
  %r = linalg.generic {indexing_maps = [${mapOf(...outer, g, e)}, ${mapOf(c, g, e)}, ${mapOf(...outer, c)}], iterator_types = [${loops.map((one) => (one === g || one === e ? '"reduction"' : '"parallel"')).join(', ')}]} ins(%g, %floats : ${grouped}, ${floats}) outs(%o : ${into}) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    %y = arith.addf %p, %out : f32
    linalg.yield %y : f32
  } -> ${into}
  return %r : ${into}
}
`;
}

const read = (text: string) => {
  const bytes = Buffer.from(text);
  return readRewritables(bytes, parse(bytes).operations, false);
};

const cases: Case[] = [
  { batch: 1, isUnsigned: true, more: 'offset' },
  { rows: 7 },
  { rows: 3, batch: 2, isUnsigned: true, more: 'zero', of: 'i8' },
  { bits: 8, rows: 2, of: 'f16' },
  { isUnsigned: true, of: 'f16', more: 'offset' },
  { bits: 8, isUnsigned: true, more: 'zero', of: 'i8', columns: 100 },
  { more: 'zero', columns: 88 },
];
/** The same as PyTorch's exporter writes it: one operation after the other, and halves of bytes. */
function exported(rows: number): string {
  const half = `tensor<${N}x${(GROUPS * BLOCK) / 2}xi8>`;
  const single = half.replace('xi8', 'x1xi8');
  const [k, flat] = [GROUPS * BLOCK, `tensor<${N}x${GROUPS * BLOCK}x`];
  const [integers, floats] = ['i8', 'f32'].map((type) => `tensor<${N}x${GROUPS}x${BLOCK}x${type}>`);
  const blocks = `tensor<${N}x${GROUPS}x1xf32>`;
  const [from, into] = [`tensor<1x${rows}x${k}xf32>`, `tensor<1x${rows}x${N}xf32>`];
  const bytes = Buffer.from(Array.from({ length: (N * k) / 2 }, (_, i) => (i * 37 + (i >> 7) * 11) % 251));
  const values = (at: (i: number) => number) =>
    `dense<[${Array.from({ length: N }, (_, i) => `[${Array.from({ length: GROUPS }, (_, g) => `[${at(i + g).toExponential(6)}]`).join(', ')}]`).join(', ')}]> : ${blocks}`;
  const generic = (maps: string, ins: string, out: string, body: string) =>
    `linalg.generic {indexing_maps = [${maps}], iterator_types = [${'"parallel", '.repeat(maps.includes('d2') ? 2 : 1)}"parallel"]} ins(${ins}) outs(${out}) {
    ${body}
  } -> ${out.split(' : ')[1]!}`;
  const [same, ofBlock] = ['d2', '0'].map((last) => `affine_map<(d0, d1, d2) -> (d0, d1, ${last})>`);
  const two = `affine_map<(d0, d1) -> (d0, d1)>`;
  const cut = (operation: string) =>
    generic(
      `${two}, ${two}`,
      `%packed : ${half}`,
      `%h_e : ${half}`,
      `^bb0(%in: i8, %out: i8):
    %1 = arith.${operation} : i8
    linalg.yield %1 : i8`,
    );
  const onFloats = (values: string, operation: string) =>
    generic(
      `${same}, ${ofBlock}, ${same}`,
      `${values} : ${floats}, ${blocks}`,
      `%f_e : ${floats}`,
      `^bb0(%in: f32, %in_0: f32, %out: f32):
    %1 = arith.${operation} %in, %in_0 : f32
    linalg.yield %1 : f32`,
    );
  return `func.func @main(%x: ${from}) -> ${into} {
  %packed = arith.constant dense<"0x${bytes.toString('hex')}"> : ${half}
  %scales = arith.constant ${values((i) => 2 ** (-3 - (i % 3)))}
  %zeros = arith.constant ${values((i) => i % 16)}
  %c15_i8 = arith.constant 15 : i8
  %c4_i8 = arith.constant 4 : i8
  %h_e = tensor.empty() : ${half}
  %low = ${cut('andi %in, %c15_i8')}
  %high = ${cut('shrui %in, %c4_i8')}
  %low_1 = tensor.expand_shape %low [[0], [1, 2]] output_shape [${N}, ${k / 2}, 1] : ${half} into ${single}
  %high_1 = tensor.expand_shape %high [[0], [1, 2]] output_shape [${N}, ${k / 2}, 1] : ${half} into ${single}
  %both = tensor.concat dim(2) %low_1, %high_1 : (${single}, ${single}) -> tensor<${N}x${k / 2}x2xi8>
  %row = tensor.collapse_shape %both [[0], [1, 2]] : tensor<${N}x${k / 2}x2xi8> into ${flat}i8>
  %q = tensor.expand_shape %row [[0], [1, 2]] output_shape [${N}, ${GROUPS}, ${BLOCK}] : ${flat}i8> into ${integers}
  %f_e = tensor.empty() : ${floats}
  %f = ${generic(
    `${same}, ${same}`,
    `%q : ${integers}`,
    `%f_e : ${floats}`,
    `^bb0(%in: i8, %out: f32):
    %1 = arith.uitofp %in : i8 to f32
    linalg.yield %1 : f32`,
  )}
  %moved = ${onFloats('%f, %zeros', 'subf')}
  %scaled = ${onFloats('%moved, %scales', 'mulf')}
  %w = tensor.collapse_shape %scaled [[0], [1, 2]] : ${floats} into ${flat}f32>
  %t_e = tensor.empty() : tensor<${k}x${N}xf32>
  %t = linalg.transpose ins(%w : ${flat}f32>) outs(%t_e : tensor<${k}x${N}xf32>) permutation = [1, 0]
  %b_e = tensor.empty() : tensor<1x${k}x${N}xf32>
  %b = ${generic(
    'affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>',
    `%t : tensor<${k}x${N}xf32>`,
    `%b_e : tensor<1x${k}x${N}xf32>`,
    `^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32`,
  )}
  %none = arith.constant 0.0 : f32
  %e = tensor.empty() : ${into}
  %o = linalg.fill ins(%none : f32) outs(%e : ${into}) -> ${into}
  %r = linalg.batch_matmul ins(%x, %b : ${from}, tensor<1x${k}x${N}xf32>) outs(%o : ${into}) -> ${into}
  return %r : ${into}
}
`;
}

test.each(casesOfTier(['uitofp', 'sitofp'], 1))(
  'halves of bytes that a program cuts out have 4 bits (%s)',
  async (conversion) => {
    const text = exported(2).replace('uitofp', conversion);
    const products = read(text);
    expect(products.map(rewritableKey)).toEqual([
      expect.stringMatching(/^stored product 1x2x192xf32,136x6x32xi8.* of 4 bits->1x2x136xf32$/),
    ]);
    const choices = chooseForms(products, { stored: '6x64' });
    const { written, formed } = await resultsOf(
      text,
      choices,
      [[1, 2, GROUPS * BLOCK]],
      (i) => ((i * 7) % 11) - 5,
      HOST,
    );
    expect(new Set(written).size).toBeGreaterThan(20);
    expect(formed).toEqual(written);
    // Whole bytes before others that are cut, which are no weights.
    const whole = text.replace('arith.andi', 'arith.xori').replace('arith.shrui', 'arith.xori');
    const later = /%low = [^]*?xi8>\n/.exec(text)![0].replace('%low', '%other');
    expect(read(whole.replace('  %f_e = ', `  ${later}  %f_e = `)).map(rewritableKey)).toEqual([
      expect.stringContaining(' of 8 bits->'),
    ]);
    // Other bits of the bytes, and values that are not made of constants.
    expect(
      read(text.replace('%c15_i8 = arith.constant 15', '%c15_i8 = arith.constant 31')).map(rewritableKey),
    ).toEqual([expect.stringContaining(' of 8 bits->')]);
  },
);

test('files of values give integers of 4 bits only', () => {
  const aloneOf = (text: string) =>
    read(text)
      .filter(isReplaceable)
      .map((one) => kindOf(one).writtenOf(one).alone?.body ?? '');
  expect(aloneOf(exported(2))).toEqual([expect.stringMatching(/dense<15>.*\n *%input0 = arith.andi %bytes/)]);
  expect(aloneOf(program())).toEqual([
    expect.stringMatching(/^%input1 = flow.tensor.bitcast %bytes : .*xi8> /),
  ]);
});

test('other products stay as written', () => {
  const text = program({ isUnsigned: true, more: 'offset' });
  // Without tiles, another order of the operations, values of other blocks, and weights that are no constants.
  expect(chooseForms(read(text), { f32: '6x16', i8: 'vpdpbusd' })).toEqual([]);
  expect(read(text.replace('arith.mulf %f, %d', 'arith.divf %f, %d'))).toEqual([]);
  expect(read(text.replace('%y = arith.addf %p, %m', '%y = arith.addf %m, %m'))).toEqual([]);
  expect(read(text.replace('-> (d0, d1, 0)', '-> (d0, 0, d2)'))).toEqual([]);
  expect(read(text.replace('%w = flow.tensor.bitcast %w_flat', '%w = util.call @weights'))).toEqual([]);
});

test('every field is checked, because all are written into MLIR', () => {
  const [own] = read(program({ isUnsigned: true, more: 'offset' })) as [StoredProduct];
  const [stage] = own.stages as [StoredProduct['stages'][number]];
  const tensor = (shape: readonly number[], elementType = 'f32') => ({ shape, elementType });
  const [first, ...steps] = stage.steps as Exclude<typeof stage.steps, string>;
  for (const change of [
    { name: 'product' },
    { bits: 2 },
    { bits: 8 },
    { lhs: tensor([1, GROUPS, BLOCK + 1]) },
    { lhs: tensor([1, GROUPS, BLOCK], 'i8') },
    { result: tensor([2, N]) },
    { result: tensor([1, N], 'f16') },
    { sum: null },
    { sum: [] },
    { sum: [{ name: 'arith.mulf', of: [0, 2], type: 'f32' }] },
    { stages: [] },
    { stages: [stage, stage] },
    { stages: [{ ...stage, inputs: stage.inputs.slice(1) }] },
    { stages: [{ ...stage, maps: stage.maps.map(() => 'd0, d1, d2') }] },
    { stages: [{ ...stage, inputs: stage.inputs.map(() => tensor([N, GROUPS, 1])) }] },
    { stages: [{ ...stage, steps: 'signed' }] },
    { stages: [{ ...stage, steps: [{ ...first, name: 'arith.uitofp"' }, ...steps] }] },
    { stages: [{ ...stage, steps: [{ ...first, of: [9] }, ...steps] }] },
    { stages: [{ ...stage, steps: [{ ...first, type: 'f32)' }, ...steps] }] },
    { stages: [{ ...stage, steps: [{ ...first, type: 'f16' }, ...steps] }] },
  ])
    expect(isRewritable({ ...own, ...change }), JSON.stringify(change)).toBe(false);
});

test.each(casesOfTier(cases, 2))('a product with weights in blocks %o has equal results', async (own) => {
  const text = program(own);
  const products = read(text);
  expect(products.map(rewritableKey).join()).toMatch(/^stored product /);
  expect(products.every(isRewritable)).toBe(true);
  for (const packing of ['6x16', '6x64'] as const) {
    const choices = chooseForms(products, { stored: packing });
    expect(choices.map(({ form }) => form)).toEqual([`in-words-${packing}`]);
    expect(await preprocessed(text, choices)).not.toMatch(/d3, d4\) -> \(d2, d3, d4/);
    const shape = [...(own.batch === undefined ? [] : [own.batch]), own.rows ?? 1, GROUPS * BLOCK];
    // Sums of small integers and of powers of two are exact in any order.
    const { written, formed } = await resultsOf(text, choices, [shape], (i) => ((i * 7) % 11) - 5, HOST);
    expect(new Set(written).size).toBeGreaterThan(20);
    expect(formed, packing).toEqual(written);
  }
});
