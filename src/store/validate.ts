// Database content is data: what these functions do not recognise down to the last key is not used.
// Hand-written, because a validation library would cost every build more than the look-up itself.
import { LARGEST_TILE, type Configuration } from '../space/configuration.ts';
import type { DimensionKind, Workload } from '../workload/workload.ts';
import type { Evidence } from './store.ts';

const MOST_DIMENSIONS = 32;
const MOST_SIZES = 64;
const REQUIRED_LEVELS = ['distribution', 'vectorCommonParallel', 'vectorReduction'];
const OPTIONAL_LEVELS = ['cacheParallel', 'cacheReduction', 'vectorInnerParallel'];
const KIND_ORDER: readonly unknown[] = ['batch', 'm', 'n', 'k'] satisfies DimensionKind[];

/** The value of a JSON text; undefined when it is none. */
export function parseJson(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `rank` is the workload's number of dimensions, where it is known: every tile level must have that many entries. */
export function isConfiguration(value: unknown, rank?: number): value is Configuration {
  if (!isObject(value) || value['version'] !== 1) return false;
  switch (value['kind']) {
    case 'default':
      return hasKeys(value, ['version', 'kind']);
    case 'data-tile':
      return (
        hasKeys(value, ['version', 'kind'], ['packed']) &&
        (!('packed' in value) || arePackedTiles(value['packed'], rank))
      );
    case 'tile':
      return (
        hasKeys(value, ['version', 'kind', 'peeling', ...REQUIRED_LEVELS], OPTIONAL_LEVELS) &&
        typeof value['peeling'] === 'boolean' &&
        areLevels(value, rank)
      );
    default:
      return false;
  }
}

function areLevels(tile: Record<string, unknown>, rank: number | undefined): boolean {
  const levels = [...REQUIRED_LEVELS, ...OPTIONAL_LEVELS.filter((name) => name in tile)].map(
    (name) => tile[name],
  );
  const first = levels[0];
  const length = rank ?? (Array.isArray(first) ? first.length : 0);
  return levels.every(
    (level) =>
      Array.isArray(level) &&
      level.length === length &&
      level.length > 0 &&
      level.every((size) => isIntegerWithin(size, 0, LARGEST_TILE)),
  );
}

/** Only workloads of one m, one n and one k have packed tiles. */
function arePackedTiles(value: unknown, rank: number | undefined): boolean {
  if (!isObject(value) || !hasKeys(value, ['inner', 'swapped'], ['distribution', 'packing'])) return false;
  const areTiles = (tiles: unknown, length: number) =>
    Array.isArray(tiles) &&
    tiles.length === length &&
    tiles.every((size) => isIntegerWithin(size, 1, LARGEST_TILE));
  return (
    (rank ?? 3) === 3 &&
    typeof value['swapped'] === 'boolean' &&
    areTiles(value['inner'], 3) &&
    ['distribution', 'packing'].every((level) => !(level in value) || areTiles(value[level], 2))
  );
}

/** A workload as `Workload` describes it; element types are single words, since they are written into MLIR. */
export function isWorkload(value: unknown): value is Workload {
  if (!isObject(value)) return false;
  if (!hasKeys(value, ['dimensions', 'lhs', 'rhs', 'accumulator', 'constantRhs'])) return false;
  const { dimensions, lhs, rhs, accumulator, constantRhs } = value;
  return (
    areDimensions(dimensions) &&
    [lhs, rhs, accumulator].every((operand) => isOperand(operand, dimensions.length)) &&
    typeof constantRhs === 'boolean'
  );
}

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
      ? isIntegerWithin(size, 1, LARGEST_TILE)
      : areSizes(sizes) && size === (sizes.at(-1) ?? 0);
  });
}

/** Sizes of a dynamic dimension, smallest first. */
const areSizes = (value: unknown): value is number[] =>
  Array.isArray(value) &&
  value.length <= MOST_SIZES &&
  value.every((size, i) =>
    isIntegerWithin(size, ((value[i - 1] as number | undefined) ?? 0) + 1, Number.MAX_SAFE_INTEGER),
  );

function isOperand(value: unknown, rank: number): boolean {
  if (!isObject(value) || !hasKeys(value, ['elementType', 'dimensions'])) return false;
  const { elementType, dimensions } = value;
  return (
    typeof elementType === 'string' &&
    /^[A-Za-z][A-Za-z0-9]{0,31}$/.test(elementType) &&
    Array.isArray(dimensions) &&
    dimensions.every((index) => isIntegerWithin(index, 0, rank - 1)) &&
    new Set(dimensions).size === dimensions.length
  );
}

/** The same conditions as the CHECK constraints of table `record`, for files that were written around them. */
export function isSoundEvidence(evidence: Evidence): boolean {
  const { ratio, low, high, defaultSeconds, seconds, noiseFloor, maxError, tuningSeconds } = evidence;
  const { processes, repetitions, trials } = evidence;
  return (
    [ratio, low, high, defaultSeconds, seconds].every((value) => Number.isFinite(value) && value > 0) &&
    [noiseFloor, maxError, tuningSeconds].every((value) => Number.isFinite(value) && value >= 0) &&
    [processes, repetitions].every((value) => isIntegerWithin(value, 1, Number.MAX_SAFE_INTEGER)) &&
    isIntegerWithin(trials, 0, Number.MAX_SAFE_INTEGER) &&
    low <= ratio &&
    ratio <= high
  );
}

/** An ISO 8601 instant in UTC, such as `2026-01-31T08:00:00.000Z`. */
export function isInstant(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value) &&
    !Number.isNaN(Date.parse(value))
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** All required keys and no others than the optional ones. */
function hasKeys(
  value: Record<string, unknown>,
  required: readonly string[],
  optional: readonly string[] = [],
) {
  return (
    required.every((key) => Object.hasOwn(value, key)) &&
    Object.keys(value).every((key) => required.includes(key) || optional.includes(key))
  );
}

function isIntegerWithin(value: unknown, low: number, high: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= low && (value as number) <= high;
}
