// Checks a dispatch from JSON, every key of it, because anybody can write a database.
import {
  hasOnly,
  isBoolean,
  isIntegerWithin,
  isText,
  listOf,
  matches,
  optional,
  orNull,
} from '../../system/data.ts';
import { isSimpleType } from '../element-type.ts';
import { areIndices, areSizes, isFew, isSize } from '../sizes.ts';
import type { DispatchDimension, DispatchPart, DispatchWork, MatrixInstructions } from './dispatch-work.ts';
import { MOST_DIMENSIONS, MOST_PARTS } from './from-configured.ts';

/** Most elements of a matrix instruction along a dimension. */
const MOST_UNIT = 256;

export function isDispatchWork(value: object): value is DispatchWork {
  const { dimensions } = value as { readonly dimensions?: unknown };
  const rank = Array.isArray(dimensions) ? dimensions.length : 0;
  const isUnit = listOf((one) => isIntegerWithin(one, 1, MOST_UNIT));
  return hasOnly<DispatchWork>({
    ...{ kind: isText, digest: matches(/^[0-9a-f]{16}$/), elementType: isSimpleType },
    name: matches(/^[\w.-]{1,120}$/),
    pipeline: matches(/^\w{1,64}$/),
    dimensions: (all) => isFew(all, MOST_DIMENSIONS) && all.every(isDimension),
    parts: (parts) => isFew(parts, MOST_PARTS) && parts.every((part) => isPart(part, rank)),
    lane: orNull((lane) => isIntegerWithin(lane, 0, rank - 1)),
    matrix: optional(
      hasOnly<MatrixInstructions>({
        ...{ elementType: isSimpleType, chained: isBoolean },
        unit: (unit) => isUnit(unit) && (unit as number[]).length === rank,
      }),
    ),
    bytes: (bytes) => isIntegerWithin(bytes, 0, Number.MAX_SAFE_INTEGER),
  })(value);
}

const hasDimensionFields = hasOnly<DispatchDimension>({
  kind: (kind) => kind === 'm' || kind === 'k',
  size: isSize,
  sizes: optional(areSizes),
});

const isDimension = (value: unknown): boolean =>
  hasDimensionFields(value) && (value.sizes === undefined || value.size === value.sizes.at(-1));

const isPart = (value: unknown, rank: number): boolean =>
  hasOnly<DispatchPart>({
    name: matches(/^[a-z_]+\.[\w.]{1,64}$/),
    loops: (loops) => isFew(loops, rank) && areIndices(loops, rank),
    reduced: (loops) => areIndices(loops, rank),
  })(value) && value.reduced.every((loop) => loop < value.loops.length);
