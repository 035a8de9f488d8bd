// Checks a contraction from JSON, every key of it, because anybody can write a database.
import { hasKeys, isIntegerWithin, isObject } from '../../system/data.ts';
import { isSimpleType } from '../element-type.ts';
import { areSizes } from '../sizes.ts';
import { KIND_ORDER, type Contraction } from './contraction.ts';

const MOST_DIMENSIONS = 32;

/** Element types must be single words, because they are written into MLIR. */
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

/** Only the digest is accepted: the text of a dispatch would reach the compiler. */
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
    const order = (KIND_ORDER as readonly unknown[]).indexOf(dimension['kind']);
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
