// A contraction as JSON, checked down to the last key: a database is written by anybody.
import { hasKeys, isIntegerWithin, isObject } from '../../system/data.ts';
import { isSimpleType } from '../element-type.ts';
import { areSizes } from '../sizes.ts';
import type { Contraction, DimensionKind } from './contraction.ts';

const MOST_DIMENSIONS = 32;
const KIND_ORDER: readonly unknown[] = ['batch', 'm', 'n', 'k'] satisfies DimensionKind[];

/** Element types are single words, since they are written into MLIR. */
export function isContraction(value: object): value is Contraction {
  if (!isObject(value)) return false;
  if (
    !hasKeys(
      value,
      ['kind', 'dimensions', 'lhs', 'rhs', 'accumulator', 'constantRhs'],
      ['windows', 'context'],
    )
  )
    return false;
  const { dimensions, lhs, rhs, accumulator, constantRhs, windows, context } = value;
  return (
    areDimensions(dimensions) &&
    [lhs, rhs, accumulator].every((operand) => isOperand(operand, dimensions.length)) &&
    typeof constantRhs === 'boolean' &&
    (windows === undefined || (areWindows(windows, dimensions.length) && context !== undefined)) &&
    (context === undefined || isContext(context))
  );
}

const areWindows = (value: unknown, rank: number): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every(
    (window: unknown) =>
      Array.isArray(window) &&
      window.length === 2 &&
      window.every((index) => isIntegerWithin(index, 0, rank - 1)),
  ) &&
  new Set(value.flat()).size === 2 * value.length;

/** The dispatch itself is never taken from there: its text would go to a compiler. */
const isContext = (value: unknown): boolean =>
  isObject(value) &&
  hasKeys(value, ['digest']) &&
  typeof value['digest'] === 'string' &&
  /^[0-9a-f]{16}$/.test(value['digest']);

function areDimensions(value: unknown): value is unknown[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_DIMENSIONS) return false;
  let previous = 0;
  return value.every((dimension: unknown) => {
    if (!isObject(dimension) || !hasKeys(dimension, ['kind', 'size'], ['sizes'])) return false;
    const order = KIND_ORDER.indexOf(dimension['kind']);
    const inOrder = order >= previous;
    previous = order;
    const { size, sizes } = dimension;
    if (!inOrder) return false;
    return sizes === undefined
      ? isIntegerWithin(size, 1, Number.MAX_SAFE_INTEGER)
      : areSizes(sizes) && size === (sizes.at(-1) ?? 0);
  });
}

function isOperand(value: unknown, rank: number): boolean {
  if (!isObject(value) || !hasKeys(value, ['elementType', 'dimensions'])) return false;
  const { elementType, dimensions } = value;
  return (
    typeof elementType === 'string' &&
    isSimpleType(elementType) &&
    Array.isArray(dimensions) &&
    dimensions.every((index) => isIntegerWithin(index, 0, rank - 1)) &&
    new Set(dimensions).size === dimensions.length
  );
}
