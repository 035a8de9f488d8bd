// Families of configurations with named knobs, their search spaces, and the union of two spaces.
import { legalPoints, nearestByRatio, type Knob, type Point, type SearchSpace } from '../search/space.ts';
import type { Configuration, OwnConfiguration } from './configuration.ts';

/** The value of each knob. */
export type Choice<Name extends string> = Readonly<Record<Name, number>>;

type OfKind<Kind> = Extract<OwnConfiguration, { readonly kind: Kind }>;

export interface NamedKnob<Kind> extends Omit<Knob, 'name'> {
  readonly of: (configuration: OfKind<Kind>) => number;
}

/** The configurations of one pipeline for one workload. */
export interface Family<Name extends string, Kind> {
  readonly kind: Kind;
  readonly knobs: Readonly<Record<Name, NamedKnob<Kind>>>;
  /** Promising choices, best guess first. Each knob takes the nearest value, or its first value without a preference. */
  readonly starts: readonly Partial<Choice<NoInfer<Name>>>[];
  /** The configuration of a choice, or the broken rule. */
  readonly at: (choice: Choice<Name>) => OfKind<Kind> | string;
}

export function spaceOfChoices<Name extends string, Kind extends OwnConfiguration['kind']>({
  kind,
  knobs: named,
  starts,
  at,
}: Family<Name, Kind>): SearchSpace<Configuration> {
  const all = Object.entries<NamedKnob<Kind>>(named) as [Name, NamedKnob<Kind>][];
  const knobs = all.map(([name, { values, isInner = false, whole }]): Knob => ({
    ...{ name, values, isInner },
    ...(whole !== undefined && { whole }),
  }));
  const configurationAt = (point: Point) => {
    const choice = Object.fromEntries(all.map(([name, { values }], i) => [name, values[point[i]!]!]));
    const found = at(choice as Choice<Name>);
    return typeof found === 'string' ? null : found;
  };
  const startAt = (wanted: Partial<Choice<Name>>): Point =>
    all.map(([name, { values }]) => {
      const value = wanted[name];
      const exact = value === undefined ? 0 : values.indexOf(value);
      return exact >= 0 ? exact : values.indexOf(nearestByRatio(values, value!));
    });
  return {
    knobs,
    starts: legalPoints(starts.map(startAt), configurationAt),
    alternatives: [],
    configurationAt,
    valuesOf: (configuration) =>
      configuration.kind === kind ? all.map(([, { of }]) => of(configuration as OfKind<Kind>)) : null,
  };
}

/** The union of two spaces. The first knob chooses a space; the knobs of the other space have no effect. */
export function eitherSpace<C>(first: SearchSpace<C>, second: SearchSpace<C>): SearchSpace<C> {
  const split = first.knobs.length + 1;
  // After a change of the first knob, the other space starts at its best guess.
  const rest = ({ knobs, starts }: SearchSpace<C>) => starts[0] ?? knobs.map(() => 0);
  const restOf = (space: SearchSpace<C>) => rest(space).map((at, i) => space.knobs[i]!.values[at]!);
  const turns = Math.max(first.starts.length, second.starts.length);
  return {
    knobs: [{ name: 'pipeline', values: [0, 1], isInner: true }, ...first.knobs, ...second.knobs],
    starts: Array.from({ length: turns }, (_, i) => [
      ...first.starts.slice(i, i + 1).map((point) => [0, ...point, ...rest(second)]),
      ...second.starts.slice(i, i + 1).map((point) => [1, ...rest(first), ...point]),
    ]).flat(),
    alternatives: [...first.alternatives, ...second.alternatives],
    configurationAt: (point) =>
      point[0] === 0
        ? first.configurationAt(point.slice(1, split))
        : second.configurationAt(point.slice(split)),
    valuesOf(configuration) {
      const [one, other] = [first.valuesOf(configuration), second.valuesOf(configuration)];
      return one === null ? other && [1, ...restOf(first), ...other] : [0, ...one, ...restOf(second)];
    },
  };
}
