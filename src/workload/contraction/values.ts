// The values of candidates' operands. There are two sets of them, and one module of candidates has both: which one it is
// filled with is decided when it is loaded, so that the very code that is timed on one set is verified on both.
import { elementBits, isFloat, isNarrowFloat } from '../element-type.ts';
import type { Contraction } from './contraction.ts';

/**
 * - `exact`: small integers. They and their sums are exact in every element type, so that no order of summation makes a
 *   difference; but neither does a kernel that computes in fewer bits than it should.
 * - `full`: values that take all bits of their type. Floats are between -1 and 1, integers anywhere in their range.
 */
export type Values = 'exact' | 'full';

/** A module that makes all operands `full` when it is loaded before a module of candidates; it needs no device. */
export const FULL_VALUES = `module @operands {
util.func public @full() -> i32 {
  %one = arith.constant 1 : i32
  util.return %one : i32
}
}
`;

/** What `CHOICE` calls. The compiler would make a constant of the fallback, and then miss it, if it saw through it. */
export const CHOICE_DECLARATION = `util.func private @operands.full() -> i32 attributes {vm.fallback = @exact}
util.func private @exact() -> i32 attributes {inlining_policy = #util.inline.never} {
  %zero = arith.constant 0 : i32
  %opaque = util.optimization_barrier %zero : i32
  util.return %opaque : i32
}`;

/** Text that makes `%full`, an i32: 0 for exact values. The fallback is called by itself too, or it would be removed. */
export const CHOICE = `  %choice = util.call @operands.full() : () -> i32
  %exact = util.call @exact() : () -> i32
  %full = arith.addi %choice, %exact : i32`;

/** Bits of exact values. Narrow accumulators take fewer, and over a long k they round all the same. */
const exactBits = (workload: Contraction, elementType: string): number =>
  isNarrowFloat(workload.accumulator.elementType) ? 2 : Math.min(4, elementBits(elementType));

/** Both operands may run over the same hashes: factors make values of them that have nothing to do with each other. */
export const FACTORS = { lhs: -1028477387, rhs: 668265263 } as const;

/**
 * Lines of a region that yields an element of an operand, made of `%hash`, an i32, and of `%full`.
 * @param factor one of `FACTORS`
 */
export function valueLines(workload: Contraction, elementType: string, factor: number): string {
  return `    %unused = arith.constant ${32 - exactBits(workload, elementType)} : i32
    %few = arith.shrsi %hash, %unused : i32
${isFloat(elementType) ? `    %few_value = arith.sitofp %few : i32 to ${elementType}` : resized('few', 'i32', 'few_value', elementType)}
    %factor = arith.constant ${factor} : i32
    %all = arith.muli %hash, %factor : i32
${allBits(elementType)}
    %none = arith.constant 0 : i32
    %is_full = arith.cmpi ne, %full, %none : i32
    %value = arith.select %is_full, %all_value, %few_value : ${elementType}
    linalg.yield %value : ${elementType}`;
}

/** Lines that make `%all_value` of `%all`, an i32 whose bits are all random. */
function allBits(elementType: string): string {
  const bits = elementBits(elementType);
  const [integer, float] = bits > 32 ? (['i64', 'f64'] as const) : (['i32', 'f32'] as const);
  const wide =
    bits > 32
      ? `    %extended = arith.extsi %all : i32 to i64
    %wide_factor = arith.constant -7046029254386353131 : i64
    %wide = arith.muli %extended, %wide_factor : i64`
      : resized('all', 'i32', 'wide', 'i32');
  if (!isFloat(elementType)) return `${wide}\n${resized('wide', integer, 'all_value', elementType)}`;
  // What is rounded up comes to 1 at most.
  return `${wide}
    %whole = arith.sitofp %wide : ${integer} to ${float}
    %scale = arith.constant ${(bits > 32 ? 2 ** -63 : 2 ** -31).toExponential()} : ${float}
    %fraction = arith.mulf %whole, %scale : ${float}
    %all_value = arith.${elementType === float ? 'bitcast' : bits > 64 ? 'extf' : 'truncf'} %fraction : ${float} to ${elementType}`;
}

/** A line that makes `%to` of `%from`, integers of any width. */
function resized(from: string, fromType: string, to: string, toType: string): string {
  const [before, after] = [elementBits(fromType), elementBits(toType)];
  const operation = before === after ? 'bitcast' : before > after ? 'trunci' : 'extsi';
  return `    %${to} = arith.${operation} %${from} : ${fromType} to ${toType}`;
}
