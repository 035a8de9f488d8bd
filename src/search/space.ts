// A search space: knobs with ordered values, and the rule that turns a choice of values into a configuration.

/** One tuning decision. Values are ordered so that neighbours behave alike. */
export interface Knob {
  readonly name: string;
  readonly values: readonly number[];
  /** Decides what registers hold, which the others are built around; where none does, all are of one sort. */
  readonly isInner?: boolean;
}

/** A choice for every knob: indices into `Knob.values`, in the order of `SearchSpace.knobs`. */
export type Point = readonly number[];

/** What a search may try for one workload on one target. Pure: the same workload and target give the same space. */
export interface SearchSpace<Configuration = unknown> {
  readonly knobs: readonly Knob[];
  /** Promising points to begin with, best guess first; every one is legal. */
  readonly starts: readonly Point[];
  /** Configurations that no knob leads to, such as another way to lower the operation; each is tried once. */
  readonly alternatives: readonly Configuration[];
  /** The configuration at a point; null where the target's legality rules forbid it. */
  configurationAt(point: Point): Configuration | null;
  /** The point of a configuration found earlier; null when it is not in this space. */
  pointOf(configuration: Configuration): Point | null;
}

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
    knobs: space.knobs,
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
  const moved = (point: Point): Point => order.map((i) => point[i]!);
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
  };
}
