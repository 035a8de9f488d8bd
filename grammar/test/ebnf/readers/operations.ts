import { parse } from '../../../src/main.ts';
import { Scanner } from '../../../src/scanner.ts';
import { rows } from '../../../src/table.ts';
import { customForm, quotedForm } from '../../fixtures.ts';
import type { Tree } from '../derive.ts';
import type { Choices } from '../generate.ts';
import { bytesOf, type Reader, Refused, textOf } from '../reader.ts';
import { BEFORE, ITERATORS, MAPS, meaningOf, type Read } from './operation-meaning.ts';

/** The only operation of a text, if it is all of it. */
function read(sentence: string): Read | null {
  const text = BEFORE + sentence;
  const { operations, problems } = parse(bytesOf(text));
  const [operation] = operations;
  if (operation === undefined || operations.length > 1 || problems.length > 0) return null;
  const scanner = new Scanner(bytesOf(text));
  if (operation.start !== scanner.skipTrivia(BEFORE.length)) return null;
  if (scanner.skipTrivia(operation.end) !== text.length) return null;
  const { name, form, operands, results, indexingMaps, iteratorTypes, body, attributes } = operation;
  return {
    ...{ name, form, results, indexingMaps, iteratorTypes, body },
    values: operands.map(({ value }) => value),
    types: operands.map(({ type }) => type),
    attributes: attributes.map((attribute) => textOf(text, attribute)),
  };
}

const REGION =
  '{ ^bb0(%x: f32, %y: f32, %z: f32): %p = arith.mulf %x, %y : f32 %s = arith.addf %z, %p : f32 linalg.yield %s : f32 }';
const LISTS = 'ins(%a, %b : memref<4x8xf32>, tensor<8x4xf32>) outs(%c : memref<4x4xf32>)';
const T = 'tensor<2x3xf32>';

const examples = {
  'named-operation': [
    `linalg.matmul ${LISTS}`,
    `linalg.matmul indexing_maps = ${MAPS} <{a}> {b = 1} ${LISTS} {c} -> ${T}`,
    `linalg.conv_2d {cast = #cast} ${LISTS} -> (${T}, f32)`,
  ],
  'generic-operation': [
    `linalg.generic {indexing_maps = ${MAPS}, ${ITERATORS}} <{a}> {b} ${LISTS} attrs = {c} ${REGION} -> ${T}`,
    `linalg.generic #trait ${LISTS} {}`,
  ],
  'front-end-operation': [
    `stablehlo.dot %a, %b, c = [0] x 1, d(e), f = {g} -> "h" #i (j) <k>, l = {d} {m, n} : (${T}, i8) -> ${T}, f32, i1`,
    `torch.aten.mm(%a, %b) pad([0]) acc(f32) : ${T}, i8 -> !torch.vtensor<[2,?],f32>`,
    `torch.aten.addmm %a, %b, %c, %d, %e f = g : ${T}, f32, i8, !h, !i -> (f32, i32)`,
  ],
  'operator-operation': [`torch.operator "onnx.MatMul"(%a, %b) : (${T}, i8) -> ${T}`],
  'quoted-operation': [
    `"torch.operator"(%a, %b)[^b, ^c] <{name = "onnx.Gemm"}> ({}, {}) {d} : (${T}, f32) -> (${T})`,
    `"linalg.matmul"(%a, %b, %c) <{operandSegmentSizes = array<i32: 2, 1>}> (${REGION}) : (f32, f32, f32) -> ()`,
    `"linalg.generic"(%a, %b, %c) (${REGION}) {indexing_maps = ${MAPS}, ${ITERATORS}} : (f32, f32, f32) -> ()`,
  ],
};

const inQuotes = (...names: readonly string[]): string[][] => [names.map((name) => `"${name}"`)];

/** Operands and names that fit each other. */
const choices: Choices = {
  'named-operation/name of a row with "before-ins"': [['linalg.matmul', 'linalg.conv_2d', 'linalg.matvec']],
  'named-operation/name of such a row that takes maps': [['linalg.matmul', 'linalg.contract']],
  'named-operation/map-list': [[MAPS]],
  'generic-operation/attribute-id': [['#trait']],
  'generic-operation/dictionary': [[`{indexing_maps = ${MAPS}, ${ITERATORS}}`], ['{}', '{a, b = 1}']],
  'generic-operation/region': [[REGION, '{}', '{ foo }']],
  'operand-lists/value-list': [['%a, %b'], ['%c']],
  'operand-lists/type-list': [['tensor<4xf32>, !a.b', '!c, f32'], ['memref<4xf32, (a)>']],
  'front-end-operation/name of a row with "before-types"': [
    ['stablehlo.dot', 'torch.aten.mm', 'tosa.matmul'],
  ],
  'front-end-operation/value-list': [['%a, %b']],
  'front-end-operation/type-list': [['tensor<4xf32>, f32']],
  'quoted-operation/quoted name of any other row': inQuotes('linalg.matvec', 'tosa.matmul', 'linalg.conv_2d'),
  'operator-operation/quoted name of a row with "operator"': inQuotes(
    'onnx.Gemm',
    'onnx.Conv',
    'onnx.Einsum',
  ),
  'operation-rest/value-list': [['%a, %b, %c']],
  'operation-rest/type-list': [['tensor<4xf32>, f32, () -> ()']],
  'attribute/string': [['"onnx.Gemm"', '"onnx.Conv"']],
};

export const operationReaders: readonly Reader[] = Object.entries(examples).map(([production, list]) => ({
  ...{ production, examples: list, choices, read, says: meaningOf },
}));

/** An example of each row, in both forms. */
export const rowReader: Reader = {
  production: 'operation',
  examples: rows.flatMap(({ name }) =>
    [customForm(name), quotedForm(name)].map((text) => {
      const { start, end } = parse(bytesOf(text)).operations[0]!;
      return text.slice(start, end);
    }),
  ),
  choices,
  // These are many, and their tokens are those of the examples above.
  expendable: /[^]/,
  read,
  says: (text, tree) => meaningOf(text, tree.children[0]!),
};

/** The names of those operations that fit their row. */
export function namesOf(text: string, operations: readonly Tree[]): string[] {
  return operations.flatMap(({ children }) => {
    try {
      return meaningOf(text, children[0]!).name;
    } catch (error) {
      if (error instanceof Refused) return [];
      throw error;
    }
  });
}
