// A shape to tune, independent of a program: an operation by name, its sizes, its element types, and its text.
import { UserError } from '../system/user-error.ts';
import type { Contraction, Dimension } from '../workload/contraction/contraction.ts';
import { operationText, tensorType } from '../workload/contraction/text.ts';
import { elementBits, isFloat, isSimpleType } from '../workload/element-type.ts';

/** For each contraction, the dimensions of its operands in the order of their layout. */
const OPERANDS = {
  matmul: ['mk', 'kn'],
  matmul_transpose_a: ['km', 'kn'],
  matmul_transpose_b: ['mk', 'nk'],
  batch_matmul: ['bmk', 'bkn'],
  batch_matmul_transpose_a: ['bkm', 'bkn'],
  batch_matmul_transpose_b: ['bmk', 'bnk'],
} as const;

export type ContractionOp = keyof typeof OPERANDS;

/** Operations that become whole dispatches, which are tuned in a program. */
export type ProgramOp = 'softmax' | 'attention';

export type Op = ContractionOp | ProgramOp;

export const CONTRACTIONS = Object.keys(OPERANDS) as ContractionOp[];

export const OPS: readonly Op[] = [...CONTRACTIONS, 'softmax', 'attention'];

export const isProgramOp = (op: Op): op is ProgramOp => op === 'softmax' || op === 'attention';

/** In MLIR's spelling. */
export interface ElementTypes {
  readonly lhs: string;
  readonly rhs: string;
  readonly acc: string;
}

/**
 * A contraction `acc[m, n] += lhs[m, k] * rhs[k, n]`, a softmax over `m` rows of `n` elements, or an attention of `m` queries over `n` keys
 * of `k` elements; for each of a batch.
 */
export interface Shape extends ElementTypes {
  readonly op: Op;
  /** Leading dimensions; 1 for operations without a batch. The compiler keeps them separate for a softmax. */
  readonly batch: readonly number[];
  readonly m: number;
  readonly n: number;
  /** 0 for a softmax. */
  readonly k: number;
  /** Whether the right-hand side is a weight of the program, which may be packed beforehand. Part of the workload. */
  readonly rhsConstant: boolean;
  /** Number of such operations in programs. Decides the order. */
  readonly count: number;
  /** `sweep`, or the place in a list as `file:line`. */
  readonly source: string;
}

/** Such as `softmax_12x200x200_f32`. */
export const shapeName = ({ op, batch, m, n, k, lhs }: Shape): string =>
  `${op}_${[...batch, m, n, ...(k === 0 ? [] : [k])].join('x')}_${lhs}`;

/** Equal for shapes with the same work. */
export const shapeKey = (shape: Shape): string => JSON.stringify({ ...shape, count: 0, source: '' });

/** Default type of sums for each element type. */
const ACCUMULATORS: Readonly<Record<string, string>> = {
  f64: 'f64',
  f32: 'f32',
  f16: 'f32',
  bf16: 'f32',
  f8E4M3FN: 'f32',
  f8E5M2: 'f32',
  i64: 'i64',
  i32: 'i32',
  i16: 'i32',
  i8: 'i32',
  i4: 'i32',
};

const numberKind = (type: string) => (isFloat(type) ? 'floats' : 'integers');

/**
 * Parses element types: `f16` for both operands, or all three types as `i8xi8xi32`. The default of `rhs` is `lhs`, and that of `acc` the
 * wider default type of sums.
 * @throws UserError naming the type
 */
export function parseElementTypes(text: string): ElementTypes {
  const [lhs = '', rhs = lhs, given, ...more] = text.trim().split('x');
  if (more.length > 0)
    throw new UserError(
      `${text}: write a type such as f16, or three such as i8xi8xi32 for lhs, rhs and sums`,
    );
  for (const type of [lhs, rhs, given ?? lhs])
    if (!isSimpleType(type) || !Object.hasOwn(ACCUMULATORS, type))
      throw new UserError(`the element type ${type} is not one of ${Object.keys(ACCUMULATORS).join(', ')}`);
  const usual = [lhs, rhs].map((type) => ACCUMULATORS[type]!);
  const acc = given ?? usual.reduce((a, b) => (elementBits(b) > elementBits(a) ? b : a));
  if (new Set([lhs, rhs, acc].map(numberKind)).size > 1)
    throw new UserError(`${lhs}, ${rhs} and ${acc} mix floats and integers`);
  const least = Math.max(elementBits(lhs), elementBits(rhs));
  if (elementBits(acc) < least)
    throw new UserError(`the sum type ${acc} is too narrow for products of ${least} bits`);
  return { lhs, rhs, acc };
}

export function contractionOf({ op, batch, m, n, k, lhs, rhs, acc, rhsConstant }: Shape): Contraction {
  const [lhsLetters, rhsLetters] = OPERANDS[op as ContractionOp];
  const isBatched = lhsLetters.startsWith('b');
  const all: Dimension[] = [
    { kind: 'batch', size: batch[0]! },
    { kind: 'm', size: m },
    { kind: 'n', size: n },
    { kind: 'k', size: k },
  ];
  const dimensions = isBatched ? all : all.slice(1);
  const along = (letters: string) =>
    Array.from(letters, (letter) => dimensions.findIndex(({ kind }) => kind.startsWith(letter)));
  return {
    kind: 'contraction',
    dimensions,
    lhs: { elementType: lhs, dimensions: along(lhsLetters) },
    rhs: { elementType: rhs, dimensions: along(rhsLetters) },
    accumulator: { elementType: acc, dimensions: along(isBatched ? 'bmn' : 'mn') },
    constantRhs: rhsConstant,
  };
}

/**
 * A module with a function for each contraction, in order, with one operation each. A constant right-hand side is a parameter: a constant
 * without data in the text. The parameter file need not exist.
 */
export const shapeModule = (shapes: readonly Shape[]): string =>
  `module {\n${shapes.map((shape, i) => functionText(contractionOf(shape), i)).join('\n')}\n}\n`;

function functionText(workload: Contraction, i: number): string {
  const { lhs, rhs, accumulator, constantRhs } = workload;
  const [lhsType, rhsType, type] = [lhs, rhs, accumulator].map((one) => tensorType(workload, one));
  const { elementType } = accumulator;
  const parameter = `#flow.parameter.named<"shapes"::"weight_${i}"> : ${rhsType!}`;
  return [
    ...(constantRhs ? [`util.global private @weight_${i} = ${parameter}`] : []),
    `func.func @shape_${i}(%lhs: ${lhsType!}${constantRhs ? '' : `, %rhs: ${rhsType!}`}) -> ${type!} {`,
    ...(constantRhs ? [`  %rhs = util.global.load @weight_${i} : ${rhsType!}`] : []),
    `  %zero = arith.constant ${isFloat(elementType) ? '0.0' : '0'} : ${elementType}`,
    `  %empty = tensor.empty() : ${type!}`,
    `  %init = linalg.fill ins(%zero : ${elementType}) outs(%empty : ${type!}) -> ${type!}`,
    operationText(workload, null),
    `  return %result : ${type!}`,
    '}',
  ].join('\n');
}

/** MLIR of a program with one softmax or attention. */
export const programText = (shape: Shape): string =>
  shape.op === 'softmax' ? softmaxText(shape) : attentionText(shape);

function softmaxText({ batch, m, n, lhs }: Shape): string {
  const type = `tensor<${[...batch, m, n, lhs].join('x')}>`;
  return `func.func @softmax(%x: ${type}) -> ${type} {
  %empty = tensor.empty() : ${type}
  %y = linalg.softmax dimension(${batch.length + 1}) ins(%x : ${type}) outs(%empty : ${type}) -> ${type}
  return %y : ${type}
}
`;
}

/** Queries `[batch, m, k]`, keys and values `[batch, n, k]`. Scores are divided by the square root of `k`. */
function attentionText({ batch, m, n, k, lhs }: Shape): string {
  const tensor = (rows: number) => `tensor<${[...batch, rows, k, lhs].join('x')}>`;
  const [queries, keys] = [tensor(m), tensor(n)];
  // Loops over batch, queries, elements of a key, keys, and elements of a value.
  const outer = batch.map((_, i) => `d${i}`);
  const [query, depth, key, width] = [0, 1, 2, 3].map((i) => `d${batch.length + i}`);
  const map = (...results: readonly (string | undefined)[]) =>
    `affine_map<(${[...outer, query, depth, key, width].join(', ')}) -> (${results.join(', ')})>`;
  const maps = [
    map(...outer, query, depth),
    map(...outer, key, depth),
    map(...outer, key, width),
    map(),
    map(...outer, query, width),
  ];
  return `func.func @attention(%q: ${queries}, %k: ${keys}, %v: ${keys}) -> ${queries} {
  %scale = arith.constant ${(1 / Math.sqrt(k)).toExponential(8)} : ${lhs}
  %empty = tensor.empty() : ${queries}
  %y = iree_linalg_ext.attention <indexing_maps = [${maps.join(', ')}]> ins(%q, %k, %v, %scale : ${queries}, ${keys}, ${keys}, ${lhs}) outs(%empty : ${queries}) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> ${queries}
  return %y : ${queries}
}
`;
}
