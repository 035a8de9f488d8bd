import { expect, test } from 'vitest';
import { chooseForms } from '../../src/form/choose.ts';
import { isRepeat, readRepeats } from '../../src/form/repeat.ts';
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
const places = (d: number, divide = 'arith.divf %g, %two') => `
    %i${d} = linalg.index ${d} : index
    %j${d} = arith.index_cast %i${d} : index to i64
    %f${d} = arith.sitofp %j${d} : i64 to f32
    %g${d} = ${divide.replace('%g', `%f${d}`)} : f32
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

const read = (text: string) => readRepeats(Buffer.from(text));

test('images with repeated pixels are found, however their places are computed', () => {
  for (const text of [program({ body: FLOATS }), program(INTEGERS)]) {
    expect(read(text)).toHaveLength(1);
    expect(read(text).every(isRewritable)).toBe(true);
    expect(read(text.replaceAll('%', '%other_'))).toEqual(read(text));
  }
});

test('other places, and elements that are read for something else, stay as written', () => {
  const wrong = [
    FLOATS.replace(places(3), places(3, 'arith.mulf %g, %two')),
    FLOATS.replace('%none : f32', '%two : f32'),
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
  expect(read(program({ body: FLOATS, result: '1x3x10x15xf32' }))).toEqual([]);
});

test('every field is checked, because all are written into MLIR', () => {
  const [own] = read(program({ body: FLOATS }));
  const steps = own!.places[2]!;
  for (const change of [
    { name: 'x' },
    { image: { shape: [1, 3, 5, 7], elementType: 'f16' } },
    { result: { shape: [1, 3, 10, 7], elementType: 'f32' } },
    { result: { shape: [1, 3, 5, 7], elementType: 'f32' } },
    { places: own!.places.slice(1) },
    { places: [[], [], [], own!.places[3]] },
    { places: [[], [], [...steps, { name: 'arith.addi', of: [0, 0], type: 'index' }], own!.places[3]] },
    { places: [[], [], [{ ...steps[0], name: 'x\n' }, ...steps.slice(1)], own!.places[3]] },
  ])
    expect(isRepeat({ ...own, ...change }), JSON.stringify(change)).toBe(false);
});

const bodies: [name: string, of: Body][] = [
  ['of ONNX', { body: FLOATS }],
  ['of TOSA', INTEGERS],
];
test.each(casesOfTier(bodies, 2))('a repeated image has the same pixels in its form: %s', async (_, of) => {
  const text = program(of);
  const choices = chooseForms(read(text));
  expect(choices.map(({ form }) => form)).toEqual(['repeated']);
  expect(await preprocessed(text, choices)).not.toContain('tensor.extract ');
  const shape = (of.image ?? '1x3x5x7xf32').split('x').slice(0, -1).map(Number);
  const { written, formed } = await resultsOf(text, choices, [shape], (i) => i);
  expect(formed).toEqual(written);
});

test('between convolutions with channels first, the channels become innermost', () => {
  const convolution = `
func.func @conv(%i: tensor<1x3x10x14xf32>, %f: tensor<3x3x1x1xf32>, %o: tensor<1x3x10x14xf32>, %p: tensor<1x3x5x7xf32>) {
  %a = linalg.conv_2d_nchw_fchw ins(%i, %f : tensor<1x3x10x14xf32>, tensor<3x3x1x1xf32>) outs(%o : tensor<1x3x10x14xf32>) -> tensor<1x3x10x14xf32>
  %b = linalg.conv_2d_nchw_fchw ins(%p, %f : tensor<1x3x5x7xf32>, tensor<3x3x1x1xf32>) outs(%p : tensor<1x3x5x7xf32>) -> tensor<1x3x5x7xf32>
  return
}
`;
  const bytes = Buffer.from(program({ body: FLOATS }) + convolution);
  const forms = chooseForms(readRewritables(bytes, parse(bytes).operations, false));
  expect(forms.map(({ form }) => form)).toContain('repeated-channels-last');
});
