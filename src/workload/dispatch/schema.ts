// Checks a dispatch from JSON, every key of it, because anybody can write a database.
import { hasKeys, isBoolean, isIntegerWithin, isObject } from '../../system/data.ts';
import { isSimpleType } from '../element-type.ts';
import { areSizes } from '../sizes.ts';
import type { DispatchWork } from './dispatch-work.ts';
import { MOST_DIMENSIONS, MOST_PARTS } from './from-configured.ts';

const KEYS = ['kind', 'digest', 'name', 'pipeline', 'dimensions', 'parts', 'elementType', 'lane', 'bytes'];

export function isDispatchWork(value: object): value is DispatchWork {
  if (!isObject(value) || !hasKeys(value, KEYS, ['matrix'])) return false;
  const { digest, name, pipeline, dimensions, parts, elementType, lane, matrix, bytes } = value;
  return (
    matches(digest, /^[0-9a-f]{16}$/) &&
    matches(name, /^[\w.-]{1,120}$/) &&
    matches(pipeline, /^\w{1,64}$/) &&
    isFew(dimensions, MOST_DIMENSIONS) &&
    dimensions.every(isDimension) &&
    isFew(parts, MOST_PARTS) &&
    parts.every((part) => isPart(part, dimensions.length)) &&
    typeof elementType === 'string' &&
    isSimpleType(elementType) &&
    (lane === null || isIntegerWithin(lane, 0, dimensions.length - 1)) &&
    (matrix === undefined || areInstructions(matrix, dimensions.length)) &&
    isIntegerWithin(bytes, 0, Number.MAX_SAFE_INTEGER)
  );
}

const matches = (value: unknown, pattern: RegExp): boolean =>
  typeof value === 'string' && pattern.test(value);

const isFew = (value: unknown, most: number): value is unknown[] =>
  Array.isArray(value) && value.length > 0 && value.length <= most;

/** Most elements of a matrix instruction along a dimension. */
const MOST_UNIT = 256;

const areInstructions = (value: unknown, rank: number): boolean =>
  isObject(value) &&
  hasKeys(value, ['unit', 'elementType', 'chained']) &&
  isBoolean(value['chained']) &&
  typeof value['elementType'] === 'string' &&
  isSimpleType(value['elementType']) &&
  Array.isArray(value['unit']) &&
  value['unit'].length === rank &&
  value['unit'].every((one) => isIntegerWithin(one, 1, MOST_UNIT));

function isDimension(value: unknown): boolean {
  if (!isObject(value) || !hasKeys(value, ['kind', 'size'], ['sizes'])) return false;
  const { kind, size, sizes } = value;
  return (
    (kind === 'm' || kind === 'k') &&
    isIntegerWithin(size, 1, Number.MAX_SAFE_INTEGER) &&
    (sizes === undefined || (areSizes(sizes) && size === sizes.at(-1)))
  );
}

function isPart(value: unknown, rank: number): boolean {
  if (!isObject(value) || !hasKeys(value, ['name', 'loops', 'reduced'])) return false;
  const { name, loops, reduced } = value;
  return (
    matches(name, /^[a-z_]+\.[\w.]{1,64}$/) &&
    isFew(loops, rank) &&
    loops.every((d) => isIntegerWithin(d, 0, rank - 1)) &&
    new Set(loops).size === loops.length &&
    Array.isArray(reduced) &&
    reduced.every((loop) => isIntegerWithin(loop, 0, loops.length - 1))
  );
}
