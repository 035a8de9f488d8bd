// Whole dispatches as a kind of work, for all work but contractions. They are measured only in their program. Every key of one from JSON is
// checked, because anybody can write a database.
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
import type { KindOfWork } from '../kind.ts';
import { areIndices, areSizes, isFew, isSize } from '../sizes.ts';
import {
  dispatchAtSizes,
  dispatchIterations,
  dispatchKey,
  type DispatchDimension,
  type DispatchPart,
  type DispatchWork,
  type MatrixInstructions,
} from './dispatch-work.ts';
import { MOST_DIMENSIONS, MOST_PARTS } from './from-configured.ts';

export const dispatches: KindOfWork<DispatchWork> = {
  needsProgram: true,
  hasRoot: false,
  // The program is run at all sizes.
  joinsRounds: () => true,
  withoutDispatch: () => null,
  hasStrides: () => false,
  key: dispatchKey,
  isWorkload: isDispatchWork,
  atSizes: dispatchAtSizes,
  staticForms: (workload) => [workload],
  flops: dispatchIterations,
  amount: ({ bytes }) => ({ multiplications: null, type: null, bytes: bytes === 0 ? null : bytes }),
  likelyCost: dispatchIterations,
  isBoundByMemory: () => false,
  dispatch: ({ digest }) => digest,
  kin: ({ pipeline, dimensions, parts, elementType, matrix }) =>
    JSON.stringify([pipeline, dimensions, parts, elementType, ...(matrix ? [matrix] : [])]),
  structure: ({ pipeline, dimensions, parts, elementType, lane, matrix }) =>
    JSON.stringify([
      pipeline,
      dimensions.map(({ kind }) => kind),
      parts,
      elementType,
      lane,
      ...(matrix ? [matrix] : []),
    ]),
  matchKey: dispatchKey,
  inputType: ({ elementType }) => elementType,
  resultType: ({ elementType }) => elementType,
  tensorSizes: () => null,
  hasConstants: () => false,
  stored: (workload) => workload,
};

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
