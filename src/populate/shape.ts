// A requested shape, independent of a program: an operation by name, its sizes and its element types.
import { UserError } from '../system/user-error.ts';
import type { Contraction, Dimension } from '../workload/contraction/contraction.ts';
import { elementBits, isFloat, isSimpleType } from '../workload/element-type.ts';

/** For each operation, the dimensions of its operands in the order of their layout. */
const OPERANDS = {
  matmul: ['mk', 'kn'],
  matmul_transpose_a: ['km', 'kn'],
  matmul_transpose_b: ['mk', 'nk'],
  batch_matmul: ['bmk', 'bkn'],
  batch_matmul_transpose_a: ['bkm', 'bkn'],
  batch_matmul_transpose_b: ['bmk', 'bnk'],
} as const;

export type Op = keyof typeof OPERANDS;

export const OPS = Object.keys(OPERANDS) as Op[];

export const isOp = (text: string): text is Op => Object.hasOwn(OPERANDS, text);

export const isBatched = (op: Op): boolean => op.startsWith('batch_');

/** One operation `acc[m, n] += lhs[m, k] * rhs[k, n]`, for each of a batch. */
export interface Shape extends ElementTypes {
  readonly op: Op;
  /** 1 for operations without a batch. */
  readonly batch: number;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Whether the right-hand side is a weight of the program, which may be packed beforehand. Part of the workload. */
  readonly rhsConstant: boolean;
  /** Number of such operations in programs. Decides the order. */
  readonly count: number;
}

/** For each choice of a user, the values of `rhsConstant`. */
export const CONSTANTS: ReadonlyMap<string, readonly boolean[]> = new Map([
  ['yes', [true]],
  ['no', [false]],
  ['both', [false, true]],
]);

/** In MLIR's spelling. */
interface ElementTypes {
  readonly lhs: string;
  readonly rhs: string;
  readonly acc: string;
}

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
 * Element types with defaults: `rhs` like `lhs`, and the wider default type of sums.
 * @throws UserError naming the type
 */
export function elementTypesOf(given: {
  readonly lhs: string;
  readonly rhs?: string | undefined;
  readonly acc?: string | undefined;
}): ElementTypes {
  const { lhs, rhs = lhs } = given;
  for (const type of [lhs, rhs, given.acc ?? lhs])
    if (!isSimpleType(type) || !Object.hasOwn(ACCUMULATORS, type))
      throw new UserError(`the element type ${type} is not one of ${Object.keys(ACCUMULATORS).join(', ')}`);
  const usual = [lhs, rhs].map((type) => ACCUMULATORS[type]!);
  const acc = given.acc ?? usual.reduce((a, b) => (elementBits(b) > elementBits(a) ? b : a));
  if (new Set([lhs, rhs, acc].map(numberKind)).size > 1)
    throw new UserError(`${lhs}, ${rhs} and ${acc} mix floats and integers`);
  const least = Math.max(elementBits(lhs), elementBits(rhs));
  if (elementBits(acc) < least)
    throw new UserError(`the sum type ${acc} is too narrow for products of ${least} bits`);
  return { lhs, rhs, acc };
}

/**
 * Parses an element type of a sweep: `f16` for both operands, or all three types as `i8xi8xi32`.
 * @throws UserError
 */
export function parseElementTypes(text: string): ElementTypes {
  const [lhs = '', rhs, acc, ...more] = text.trim().split('x');
  if (more.length > 0 || (rhs !== undefined && acc === undefined))
    throw new UserError(
      `${text}: write a type such as f16, or three such as i8xi8xi32 for lhs, rhs and sums`,
    );
  return elementTypesOf({ lhs, rhs, acc });
}

/** The contraction of a shape, as written. */
export function contractionOf({ op, batch, m, n, k, lhs, rhs, acc, rhsConstant }: Shape): Contraction {
  const [lhsLetters, rhsLetters] = OPERANDS[op];
  const all: Dimension[] = [
    { kind: 'batch', size: batch },
    { kind: 'm', size: m },
    { kind: 'n', size: n },
    { kind: 'k', size: k },
  ];
  const dimensions = isBatched(op) ? all : all.slice(1);
  const along = (letters: string) =>
    Array.from(letters, (letter) => dimensions.findIndex(({ kind }) => kind.startsWith(letter)));
  return {
    kind: 'contraction',
    dimensions,
    lhs: { elementType: lhs, dimensions: along(lhsLetters) },
    rhs: { elementType: rhs, dimensions: along(rhsLetters) },
    accumulator: { elementType: acc, dimensions: along(isBatched(op) ? 'bmn' : 'mn') },
    constantRhs: rhsConstant,
  };
}
