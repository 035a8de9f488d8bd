import { expect, test } from 'vitest';
import { chooseForms } from '../../src/form/choose.ts';
import { isResize, readResizes } from '../../src/form/resize.ts';
import { isRewritable, readRewritables } from '../../src/form/rewritable.ts';
import { parse } from 'mlir-parser-ts';
import { preprocessed, resultsOf } from './support.ts';
import { casesOfTier } from '../support/needs.ts';

interface Body {
  readonly image?: string;
  readonly result?: string;
  readonly body: string;
  readonly given?: string;
}

const program = ({ image = '1x3x5x7xf32', result = '1x3x10x14xf32', body, given = '%e' }: Body) => `
func.func @main(%x: tensor<${image}>) -> tensor<${result}> {
  %two = arith.constant 2.000000e+00 : f32
  %one = arith.constant 1.000000e+00 : f32
  %half = arith.constant 5.000000e-01 : f32
  %none = arith.constant 0.000000e+00 : f32
  %four = arith.constant 4.000000e+00 : f32
  %six = arith.constant 6.000000e+00 : f32
  %c2_i32 = arith.constant 2 : i32
  %c4_i32 = arith.constant 4 : i32
  %c6_i32 = arith.constant 6 : i32
  %c0_i32 = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %into = tensor.empty() : tensor<${result}>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%into : tensor<${result}>) {
  ^bb0(%out: f32):
    ${body.trim()}
    linalg.yield ${given} : f32
  } -> tensor<${result}>
  return %r : tensor<${result}>
}
`;

/** As of ONNX: the places are floats. */
const places = (d: number, divide = 'arith.divf') => `
    %i${d} = linalg.index ${d} : index
    %j${d} = arith.index_cast %i${d} : index to i64
    %f${d} = arith.sitofp %j${d} : i64 to f32
    %g${d} = ${divide} %f${d}, %two : f32
    %h${d} = math.floor %g${d} : f32
    %k${d} = arith.maximumf %h${d}, %none : f32
    %l${d} = arith.minimumf %k${d}, ${d === 2 ? '%four' : '%six'} : f32
    %m${d} = arith.fptosi %l${d} : f32 to i64
    %n${d} = arith.index_cast %m${d} : i64 to index`;
const FLOATS = `
    %c = linalg.index 1 : index${places(2)}${places(3)}
    %e = tensor.extract %x[%c0, %c, %n2, %n3] : tensor<1x3x5x7xf32>`;

/** As of TOSA: the places are integers, channels last. */
const integers = (d: number) => `
    %i${d} = linalg.index ${d} : index
    %j${d} = arith.index_cast %i${d} : index to i32
    %f${d} = arith.muli %j${d}, %c2_i32 : i32
    %g${d} = arith.floordivsi %f${d}, %c4_i32 : i32
    %h${d} = arith.muli %g${d}, %c4_i32 : i32
    %k${d} = arith.subi %f${d}, %h${d} : i32
    %l${d} = arith.sitofp %k${d} : i32 to f32
    %m${d} = arith.divf %l${d}, %four : f32
    %n${d} = arith.cmpf oge, %m${d}, %two : f32
    %o${d} = arith.extui %n${d} : i1 to i32
    %p${d} = arith.addi %g${d}, %o${d} : i32
    %q${d} = arith.maxsi %p${d}, %c0_i32 : i32
    %r${d} = arith.minsi %q${d}, ${d === 1 ? '%c4_i32' : '%c6_i32'} : i32
    %s${d} = arith.index_cast %r${d} : i32 to index`;
const INTEGERS: Body = {
  ...{ image: '1x5x7x8xf32', result: '1x10x14x8xf32' },
  body: `
    %c = linalg.index 3 : index${integers(1)}${integers(2)}
    %e = tensor.extract %x[%c0, %s1, %s2, %c] : tensor<1x5x7x8xf32>`,
};

const read = (text: string) => readResizes(Buffer.from(text));

test('resized images are found, however their places are computed', () => {
  for (const text of [program({ body: FLOATS }), program({ body: WEIGHED }), program(INTEGERS)]) {
    expect(read(text)).toHaveLength(1);
    expect(read(text).every(isRewritable)).toBe(true);
    expect(read(text.replaceAll('%', '%other_'))).toEqual(read(text));
  }
});

test('other places, and elements that are read for something else, stay as written', () => {
  const wrong = [
    FLOATS.replace('[%c0, %c, %n2, %n3]', '[%c0, %c, %n3, %n2]'),
    FLOATS.replace('linalg.index 3', 'linalg.index 2'),
    FLOATS.replace('math.floor', 'math.cbrt'),
  ];
  for (const body of wrong) {
    expect(body).not.toBe(FLOATS);
    expect(read(program({ body })), body).toEqual([]);
  }
  const doubled = { body: `${FLOATS}\n    %d = arith.addf %e, %e : f32`, given: '%d' };
  expect(read(program(doubled))).toEqual([]);
  expect(read(program({ body: FLOATS }) + program(doubled))).toEqual([]);
  const outside = FLOATS.replaceAll('1x3x5x7xf32', '1x3x5x6xf32');
  expect(read(program({ body: outside, image: '1x3x5x6xf32' }))).toEqual([]);
});

/** As of ONNX, between the middles of pixels: the pixels before and behind a place, and their weights. */
const between = (d: number) => `
    %i${d} = linalg.index ${d} : index
    %j${d} = arith.index_cast %i${d} : index to i64
    %f${d} = arith.sitofp %j${d} : i64 to f32
    %g${d} = arith.addf %f${d}, %half : f32
    %h${d} = arith.divf %g${d}, %two : f32
    %k${d} = arith.subf %h${d}, %half : f32
    %l${d} = arith.maximumf %k${d}, %none : f32
    %m${d} = arith.minimumf %l${d}, ${d === 2 ? '%four' : '%six'} : f32
    %n${d} = math.floor %m${d} : f32
    %o${d} = arith.addf %n${d}, %one : f32
    %p${d} = arith.minimumf %o${d}, ${d === 2 ? '%four' : '%six'} : f32
    %q${d} = arith.fptosi %n${d} : f32 to i64
    %r${d} = arith.index_cast %q${d} : i64 to index
    %s${d} = arith.fptosi %p${d} : f32 to i64
    %t${d} = arith.index_cast %s${d} : i64 to index
    %u${d} = arith.subf %m${d}, %n${d} : f32
    %v${d} = arith.subf %one, %u${d} : f32`;
const WEIGHED = `
    %c = linalg.index 1 : index${between(2)}${between(3)}
    %a0 = tensor.extract %x[%c0, %c, %r2, %r3] : tensor<1x3x5x7xf32>
    %a1 = tensor.extract %x[%c0, %c, %r2, %t3] : tensor<1x3x5x7xf32>
    %a2 = tensor.extract %x[%c0, %c, %t2, %r3] : tensor<1x3x5x7xf32>
    %a3 = tensor.extract %x[%c0, %c, %t2, %t3] : tensor<1x3x5x7xf32>
    %b0 = arith.mulf %v3, %a0 : f32
    %b1 = arith.mulf %u3, %a1 : f32
    %b2 = arith.addf %b0, %b1 : f32
    %b3 = arith.mulf %v2, %b2 : f32
    %b4 = arith.mulf %v3, %a2 : f32
    %b5 = arith.mulf %u3, %a3 : f32
    %b6 = arith.addf %b4, %b5 : f32
    %b7 = arith.mulf %u2, %b6 : f32
    %e = arith.addf %b3, %b7 : f32`;

test('sums of pixels that are no products of rows and columns stay as written', () => {
  expect(read(program({ body: WEIGHED }))).toHaveLength(1);
  for (const [from, to] of [
    ['%b7 = arith.mulf %u2, %b6', '%b7 = arith.mulf %b3, %b6'],
    ['%b7 = arith.mulf %u2, %b6', '%b7 = arith.mulf %u2, %b4'],
    ['%b5 = arith.mulf %u3, %a3', '%b5 = arith.mulf %v2, %a3'],
    ['%e = arith.addf %b3, %b7', '%e = arith.maximumf %b3, %b7'],
    ['[%c0, %c, %t2, %t3]', '[%c0, %c, %t3, %t2]'],
  ] as const)
    expect(read(program({ body: WEIGHED.replace(from, to) })), to).toEqual([]);
});

test('weights that are rounded leave other dimensions as they are', async () => {
  const third = WEIGHED.replaceAll('%two', '%third');
  const text = program({ body: third, result: '1x3x12x18xf32' }).replace(
    '%one =',
    '%third = arith.constant 3.000000e+00 : f32\n  %one =',
  );
  const choices = chooseForms(read(text));
  const products = (await preprocessed(text, choices)).match(/arith\.mulf|linalg\.matmul/g);
  expect(products).toHaveLength(2);
});

test('every field is checked, because all are written into MLIR', () => {
  const [own] = read(program({ body: WEIGHED }));
  const { before, reads, after } = own!;
  const cases = [
    { name: 'x' },
    { image: { shape: [1, 3, 5, 7], elementType: 'f16' } },
    { result: { shape: [1, 4, 10, 14], elementType: 'f32' } },
    { result: { shape: [3, 10, 14], elementType: 'f32' } },
    { before: before.slice(1) },
    { before: [{ ...before[0]!, name: 'x\n' }, ...before.slice(1)] },
    { reads: [] },
    { reads: reads.slice(1) },
    { reads: [[0, 1, 2], ...reads.slice(1)] },
    { reads: [[0, 1, 2, 1000], ...reads.slice(1)] },
    { after: [] },
    { after: after.slice(0, -1) },
    { after: [...after, { name: 'arith.addf', of: [0, 0], type: 'f32' }] },
  ];
  expect(isResize({ ...own })).toBe(true);
  for (const change of cases) expect(isResize({ ...own, ...change }), JSON.stringify(change)).toBe(false);
});

const bodies: [name: string, form: string, of: Body][] = [
  ['of ONNX, nearest', 'repeated', { body: FLOATS }],
  ['of ONNX, other pixels', 'rows-and-columns', { body: FLOATS.replace(places(3), places(3, 'arith.mulf')) }],
  ['of ONNX, linear', 'rows-and-columns', { body: WEIGHED }],
  [
    'the same with weights behind pixels',
    'rows-and-columns',
    { body: WEIGHED.replaceAll(/mulf (%[uv]\d), (%\w+)/g, 'mulf $2, $1') },
  ],
  ['of TOSA, nearest', 'repeated', INTEGERS],
];
test.each(casesOfTier(bodies, 2))(
  'a resized image has the same pixels in its form: %s',
  async (_, form, of) => {
    const text = program(of);
    const choices = chooseForms(read(text));
    expect(choices.map((one) => one.form)).toEqual([form]);
    expect(await preprocessed(text, choices)).not.toContain('tensor.extract ');
    const shape = (of.image ?? '1x3x5x7xf32').split('x').slice(0, -1).map(Number);
    // All sums are exact.
    const { written, formed } = await resultsOf(text, choices, [shape], (i) => (i * 7) % 64);
    expect(formed).toEqual(written);
  },
);

/** Two convolutions, of the image before and after its size changes. */
const convolutions = `
func.func @convolve(%small: tensor<1x3x5x7xf32>, %large: tensor<1x3x10x14xf32>, %filter: tensor<3x3x1x1xf32>, %to: tensor<1x3x5x7xf32>, %wide: tensor<1x3x10x14xf32>) -> (tensor<1x3x5x7xf32>, tensor<1x3x10x14xf32>) {
  %a = linalg.conv_2d_nchw_fchw ins(%small, %filter : tensor<1x3x5x7xf32>, tensor<3x3x1x1xf32>) outs(%to : tensor<1x3x5x7xf32>) -> tensor<1x3x5x7xf32>
  %b = linalg.conv_2d_nchw_fchw ins(%large, %filter : tensor<1x3x10x14xf32>, tensor<3x3x1x1xf32>) outs(%wide : tensor<1x3x10x14xf32>) -> tensor<1x3x10x14xf32>
  return %a, %b : tensor<1x3x5x7xf32>, tensor<1x3x10x14xf32>
}
`;

test('between convolutions with channels first, the channels become innermost', async () => {
  const large = '1x3x10x14xf32';
  // The passes between turns fuse the addition into the body of the resize. The pixels have to be replaced before.
  const text = program({ body: FLOATS })
    .replace('%x: tensor<1x3x5x7xf32>', `%x: tensor<1x3x5x7xf32>, %other: tensor<${large}>`)
    .replace('return %r', `%s = arith.addf %r, %other : tensor<${large}>\n  return %s`);
  const bytes = Buffer.from(text + convolutions);
  const choices = chooseForms(readRewritables(bytes, parse(bytes).operations, false));
  expect(choices.map(({ form }) => form)).toContain('repeated-channels-last');
  const shapes = [
    [1, 3, 5, 7],
    [1, 3, 10, 14],
  ];
  const { written, formed } = await resultsOf(
    bytes.toString(),
    choices,
    shapes,
    (i, at) => ((i * 7 + at) % 11) - 5,
  );
  expect(formed).toEqual(written);
});
