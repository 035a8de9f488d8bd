// A search space: knobs with ordered values, and the rule that turns a choice of values into a configuration.
import type { Forest } from './forest.ts';
import type { Doubt } from './likeness.ts';

/** One tuning decision. Values are ordered so that neighbours behave alike. */
export interface Knob {
  readonly name: string;
  readonly values: readonly number[];
  /** Decides what registers hold, which the others are built around; where none does, all are of one sort. */
  readonly isInner?: boolean;
  /** From here on a tile is the whole of its dimension; the last value when left out. */
  readonly whole?: number;
}

/** A choice for every knob: indices into `Knob.values`, in the order of `SearchSpace.knobs`. */
export type Point = readonly number[];

/** What is known of the points of a space before any is measured. */
export interface Guide {
  /** Predicts how many times as long a point takes as the best one, as a logarithm to base 2. */
  readonly forest: Forest;
  readonly doubt: Doubt;
  /** The numbers that the forest asks about; null for a point of which it knows nothing. */
  featuresAt(point: Point): readonly number[] | null;
}

/** What a search may try for one workload on one target. Pure: the same workload and target give the same space. */
export interface SearchSpace<Configuration = unknown> {
  readonly knobs: readonly Knob[];
  /** Promising points to begin with, best guess first; every one is legal. */
  readonly starts: readonly Point[];
  /** How many of the starts were the best of earlier searches; 0 when left out. */
  readonly known?: number;
  /** What a prior says of the points; absent where there is none. */
  readonly guide?: Guide;
  /** Configurations that no knob leads to, such as another way to lower the operation; each is tried once. */
  readonly alternatives: readonly Configuration[];
  /** The configuration at a point; null where the target's legality rules forbid it. */
  configurationAt(point: Point): Configuration | null;
  /** The point of a configuration found earlier; null when it is not in this space. */
  pointOf(configuration: Configuration): Point | null;
  /** What each knob would have to be for a configuration, of another shape perhaps; null where other knobs make it. */
  valuesOf(configuration: Configuration): readonly number[] | null;
}

/** The space of a workload that is not tuned. */
export const EMPTY_SPACE: SearchSpace<never> = {
  ...{ knobs: [], starts: [], alternatives: [] },
  configurationAt: () => null,
  pointOf: () => null,
  valuesOf: () => null,
};

/** The same space without some configurations: nothing in it leads to them. */
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
    pointOf: (configuration) => (isExcluded(configuration) ? null : space.pointOf(configuration)),
  };
}

/** Those of some points that stand for a configuration, each once, in their order. */
export const legalPoints = (
  points: readonly Point[],
  configurationAt: SearchSpace['configurationAt'],
): Point[] => [
  ...new Map(
    points.filter((point) => configurationAt(point) !== null).map((point) => [point.join(), point]),
  ).values(),
];

/** The point with these values; null where a knob has not such a one. */
export function pointWith(
  knobs: readonly Pick<Knob, 'values'>[],
  values: readonly number[] | null,
): Point | null {
  const point = values && knobs.map((knob, i) => knob.values.indexOf(values[i]!));
  return point?.includes(-1) === false ? point : null;
}

/** Number of points, illegal ones included. */
export function spaceSize(space: SearchSpace): number {
  return space.knobs.reduce((product, knob) => product * knob.values.length, 1);
}

/** The same space with some of its knobs, by index, behind all others: a grid varies the last ones first. */
export function withKnobsLast<Configuration>(
  space: SearchSpace<Configuration>,
  isLast: (knob: number) => boolean,
): SearchSpace<Configuration> {
  const order = space.knobs.map((_, i) => i).sort((a, b) => Number(isLast(a)) - Number(isLast(b)));
  const moved = (point: readonly number[]) => order.map((i) => point[i]!);
  const back = (point: Point): Point => space.knobs.map((_, i) => point[order.indexOf(i)]!);
  return {
    knobs: order.map((i) => space.knobs[i]!),
    starts: space.starts.map(moved),
    alternatives: space.alternatives,
    configurationAt: (point) => space.configurationAt(back(point)),
    pointOf(configuration) {
      const point = space.pointOf(configuration);
      return point && moved(point);
    },
    valuesOf(configuration) {
      const values = space.valuesOf(configuration);
      return values && moved(values);
    },
  };
}
