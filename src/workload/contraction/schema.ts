// Checks a contraction from JSON, every key of it, because anybody can write a database.
import { hasOnly, isBoolean, isIntegerWithin, isText, listOf, matches, optional } from '../../system/data.ts';
import { isSimpleType } from '../element-type.ts';
import { areIndices, areSizes, isFew, isSize, KIND_ORDER } from '../sizes.ts';
import type { Contraction, Dimension, OperandForm } from './contraction.ts';
import type { Context } from './dispatch.ts';

const MOST_DIMENSIONS = 32;

/** Element types must be single words, because they are written into MLIR. */
export function isContraction(value: object): value is Contraction {
  const { dimensions, context } = value as Partial<Record<keyof Contraction, unknown>>;
  const rank = Array.isArray(dimensions) ? dimensions.length : 0;
  const isOperand = hasOnly<OperandForm>({
    elementType: isSimpleType,
    dimensions: (all) => areIndices(all, rank),
  });
  return hasOnly<Contraction>({
    ...{ kind: isText, dimensions: areDimensions, constantRhs: isBoolean },
    ...{ lhs: isOperand, rhs: isOperand, accumulator: isOperand },
    windows: optional((windows) => areWindows(windows, rank) && context !== undefined),
    context: optional(isContext),
  })(value);
}

const areWindows = (value: unknown, rank: number): boolean =>
  isFew(value, rank) &&
  value.every((window) => Array.isArray(window) && window.length === 2) &&
  areIndices(value.flat(), rank);

/** Only the digest is accepted: the text of a dispatch would reach the compiler. */
const isContext = hasOnly<Omit<Context, 'dispatch'>>({ digest: matches(/^[0-9a-f]{16}$/) });

const isDimension = hasOnly<Dimension>({
  kind: (kind) => (KIND_ORDER as readonly unknown[]).includes(kind),
  size: (size) => isIntegerWithin(size, 0, Number.MAX_SAFE_INTEGER),
  sizes: optional(areSizes),
});

const areDimensions = (value: unknown): boolean =>
  isFew(value, MOST_DIMENSIONS) &&
  listOf(isDimension)(value) &&
  (value as Dimension[]).every(({ kind, size, sizes }, d, all) => {
    const before = all[d - 1]?.kind ?? kind;
    return (
      KIND_ORDER.indexOf(before) <= KIND_ORDER.indexOf(kind) &&
      (sizes === undefined ? isSize(size) : size === (sizes.at(-1) ?? 0))
    );
  });
