// A search space: knobs with ordered values, and the rule that makes a configuration of a choice of values.
import type { Forest } from './forest.ts';
import type { Doubt } from './likeness.ts';

/** One tuning decision. Values are in an order in which neighbours perform alike. */
export interface Knob {
  readonly name: string;
  readonly values: readonly number[];
  /** Whether the knob decides the tiles in registers. Default: false. */
  readonly isInner?: boolean;
  /** The least tile that covers its whole dimension. Default: the last value. */
  readonly whole?: number;
}

/** A choice for every knob: indices into `Knob.values`, in the order of `SearchSpace.knobs`. */
export type Point = readonly number[];

/** A prior for the points of a space. */
export interface Guide {
  /** Predicts the base-2 logarithm of a point's time relative to the best point's. */
  readonly forest: Forest;
  readonly doubt: Doubt;
  /** Whether the prior has measurements of this processor in this element type. Elsewhere it errs more than its doubt says. */
  readonly isMeasured: boolean;
  /** The features of a point for the forest; null for a point that it cannot predict. */
  featuresAt(point: Point): readonly number[] | null;
}

/** The configurations that a search can try for one workload on one target. Pure. */
export interface SearchSpace<Configuration = unknown> {
  readonly knobs: readonly Knob[];
  /** Legal points to start with, best guess first. */
  readonly starts: readonly Point[];
  /** Number of first starts that are the best points of earlier searches. Default: 0. */
  readonly known?: number;
  /** The prior; absent without one. */
  readonly guide?: Guide;
  /** Configurations outside of the knobs, such as another lowering of the operation. Each is tried once. */
  readonly alternatives: readonly Configuration[];
  /** The configuration at a point; null for an illegal point. */
  configurationAt(point: Point): Configuration | null;
  /** The value of each knob for a configuration, which may be of another shape. Null if these knobs cannot express it. */
  valuesOf(configuration: Configuration): readonly number[] | null;
}

/** The space without configurations, for workloads that a backend does not tune. */
export const EMPTY_SPACE: SearchSpace<never> = {
  ...{ knobs: [], starts: [], alternatives: [] },
  configurationAt: () => null,
  valuesOf: () => null,
};

/** The space without some configurations: their points become illegal. */
export function without<Configuration>(
  space: SearchSpace<Configuration>,
  isExcluded: (configuration: Configuration) => boolean,
): SearchSpace<Configuration> {
  const configurationAt = (point: Point) => {
    const configuration = space.configurationAt(point);
    return configuration === null || isExcluded(configuration) ? null : configuration;
  };
  return {
    ...space,
    starts: space.starts.filter((point) => configurationAt(point) !== null),
    alternatives: space.alternatives.filter((configuration) => !isExcluded(configuration)),
    configurationAt,
    valuesOf: (configuration) => (isExcluded(configuration) ? null : space.valuesOf(configuration)),
  };
}

/** The legal points among some points, each once, in their order. */
export const legalPoints = (
  points: readonly Point[],
  configurationAt: SearchSpace['configurationAt'],
): Point[] => [
  ...new Map(
    points.filter((point) => configurationAt(point) !== null).map((point) => [point.join(), point]),
  ).values(),
];

/** The point of a configuration; null for a configuration outside of a space. */
export function pointOf<Configuration>(
  space: Pick<SearchSpace<Configuration>, 'knobs' | 'valuesOf'>,
  configuration: Configuration,
): Point | null {
  const values = space.valuesOf(configuration);
  const point = values && space.knobs.map((knob, i) => knob.values.indexOf(values[i]!));
  return point?.includes(-1) === false ? point : null;
}

/** The nearest value by ratio. 0, which leaves a tile out, has no neighbour. */
export const nearestByRatio = (values: readonly number[], wanted: number): number =>
  values.reduce((best, value) => (ratio(value, wanted) < ratio(best, wanted) ? value : best), values[0]!);

/** The natural logarithm of a ratio, without its sign. */
const ratio = (a: number, b: number): number => (Math.min(a, b) <= 0 ? Infinity : Math.abs(Math.log(a / b)));

export const neighbours = (point: Point, { knobs }: Pick<SearchSpace, 'knobs'>): Point[] =>
  knobs.flatMap(({ values }, knob) =>
    values.flatMap((_, value) => (value === point[knob] ? [] : [point.with(knob, value)])),
  );

export function spaceSize(space: SearchSpace): number {
  return space.knobs.reduce((product, knob) => product * knob.values.length, 1);
}
