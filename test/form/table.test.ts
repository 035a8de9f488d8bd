// Chains between two integers of 8 bits as tables.
import { expect, test } from 'vitest';
import { chooseForms } from '../../src/form/choose.ts';
import { rewritableKey } from '../../src/form/rewritable.ts';
import { tableOf } from '../../src/form/scalar-chain.ts';
import { isTable, readTables, tables } from '../../src/form/table.ts';
import { HOST, preprocessed, resultsOf } from './support.ts';

const COUNT = 256;

/** A step that quantizes `%x`, an activation of it with a quantized result of its own, and their product, quantized. */
const programOf = (activation: string, names = (text: string) => text) =>
  names(`func.func @main(%a: tensor<${COUNT}xf32>) -> tensor<${COUNT}xi8> {
  %one = arith.constant 1.000000e+00 : f32
  %half = arith.constant 5.000000e-01 : f32
  %low = arith.constant 0.000000e+00 : f32
  %high = arith.constant 2.550000e+02 : f32
  %step = arith.constant 0.0371093750 : f32
  %fine = arith.constant 0.00391088247 : f32
  %zero = arith.constant 1.190000e+02 : f32
  %c-119_i16 = arith.constant -119 : i16
  %e = tensor.empty() : tensor<${COUNT}xi8>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<${COUNT}xf32>) outs(%e : tensor<${COUNT}xi8>) {
  ^bb0(%x: f32, %out: i8):
    %a0 = math.roundeven %x : f32
    %a1 = arith.maxnumf %a0, %low : f32
    %a2 = arith.minnumf %a1, %high : f32
    %a3 = arith.fptoui %a2 : f32 to i8
    %b0 = arith.extui %a3 : i8 to i16
    %b1 = arith.addi %b0, %c-119_i16 : i16
    %b2 = arith.sitofp %b1 : i16 to f32
    %b3 = arith.mulf %b2, %step : f32
    ${activation}
    %d0 = arith.divf %c, %fine : f32
    %d1 = math.roundeven %d0 : f32
    %d2 = arith.maxnumf %d1, %low : f32
    %d3 = arith.minnumf %d2, %high : f32
    %d4 = arith.fptoui %d3 : f32 to i8
    %f0 = arith.uitofp %d4 : i8 to f32
    %f1 = arith.mulf %f0, %fine : f32
    %f2 = arith.mulf %b3, %f1 : f32
    %g0 = arith.divf %f2, %step : f32
    %g1 = math.roundeven %g0 : f32
    %g2 = arith.addf %g1, %zero : f32
    %g3 = arith.maxnumf %g2, %low : f32
    %g4 = arith.minnumf %g3, %high : f32
    %g5 = arith.fptoui %g4 : f32 to i8
    linalg.yield %g5 : i8
  } -> tensor<${COUNT}xi8>
  return %0 : tensor<${COUNT}xi8>
}
`);

const SIGMOID = `%c0 = arith.negf %b3 : f32
    %c1 = math.exp %c0 : f32
    %c2 = arith.addf %c1, %one : f32
    %c = arith.divf %one, %c2 : f32`;

const ACTIVATIONS = {
  sigmoid: SIGMOID,
  'error function': `%c0 = math.erf %b3 : f32
    %c1 = arith.addf %c0, %one : f32
    %c = arith.mulf %c1, %half : f32`,
  'hyperbolic tangent of what is positive': `%c0 = math.tanh %b3 : f32
    %c1 = arith.cmpf ugt, %c0, %low : f32
    %c = arith.select %c1, %c0, %low : f32`,
};

test.each(Object.entries(ACTIVATIONS))('gives what the compiler computes: %s', async (_, activation) => {
  const program = programOf(activation);
  const found = readTables(Buffer.from(program));
  // The chain between has a result of 8 bits, too, and is part of the whole one.
  expect(found).toHaveLength(1);
  expect(isTable(structuredClone(found[0]))).toBe(true);
  const choices = chooseForms(found, {});
  expect(choices.map(({ form }) => form)).toEqual(['looked-up']);
  const text = await preprocessed(program, choices);
  expect(text.match(/tensor\.extract/g)).toHaveLength(1);
  expect(text.match(/math\.\w+/g)).toEqual(['math.roundeven']);
  const { written, formed } = await resultsOf(program, choices, [[COUNT]], (i) => i, HOST);
  const integers = Array.from(new Int8Array(written.buffer));
  expect(new Set(integers).size).toBeGreaterThan(30);
  expect(Array.from(new Int8Array(formed.buffer))).toEqual(integers);
  expect(tableOf(found[0]!.steps)).toEqual(integers);
});

test('names and locations mean nothing', () => {
  const keyOf = (text: string) => readTables(Buffer.from(text)).map(rewritableKey);
  const renamed = programOf(SIGMOID, (text) =>
    text.replaceAll(/%([a-g]\d)/g, '%in_$1').replaceAll(/(= arith.*)$/gm, '$1 loc("a":1:2)'),
  );
  expect(keyOf(renamed)).toEqual(keyOf(programOf(SIGMOID)));
  expect(keyOf(renamed)[0]).toContain('table i8->i8 instead of');
});

test.each([
  ['what is no number', '%c = math.log %b3 : f32'],
  ['fast operations', '%c = arith.addf %b3, %one : f32'],
  ['another input', SIGMOID.replace('%b3', '%x')],
  ['unknown operations', '%c0 = math.atan %b3 : f32\n%c = math.exp %c0 : f32'],
])('leaves %s', (_, activation) => {
  expect(readTables(Buffer.from(programOf(activation)))).toEqual([]);
});

test('a GPU computes them', () => {
  expect(chooseForms(readTables(Buffer.from(programOf(SIGMOID))))).toEqual([]);
});

test('a value that is no chain is none', () => {
  const steps: readonly object[] = readTables(Buffer.from(programOf(SIGMOID))).flatMap((one) => one.steps);
  const changed = (i: number, change: object) => ({
    name: 'table',
    steps: steps.map((one, at) => (at === i ? { ...one, ...change } : one)),
  });
  expect(isTable(changed(0, {}))).toBe(true);
  const constant = steps.findIndex((one) => 'text' in one);
  for (const [i, change] of [
    [constant, { text: '1 : f32) { evil }' }],
    [constant, { name: 'llvm.inline_asm' }],
    [steps.length - 1, { of: [steps.length] }],
    [steps.length - 1, { type: 'i16' }],
    [1, { of: [0] }],
    [1, { name: 'constructor' }],
  ] as const)
    expect(isTable(changed(i, change))).toBe(false);
  expect(isTable({ name: 'table', steps: [] })).toBe(false);
  expect(tables.is(null)).toBe(false);
});
