// Search spaces of named knobs, and the union of two spaces.
import { nearestByRatio } from '../search/nearest.ts';
import { legalPoints, pointWith, type Knob, type Point, type SearchSpace } from '../search/space.ts';
import type { Configuration, OwnConfiguration } from './configuration.ts';

/** The value of each knob. */
export type Choice<Name extends string> = Readonly<Record<Name, number>>;

/** The configurations of a kind. */
export type OfKind<Kind> = Extract<OwnConfiguration, { readonly kind: Kind }>;

/** A knob of a pipeline. */
export interface NamedKnob<Kind> extends Pick<Knob, 'values' | 'isInner'> {
  /** The value of a configuration. */
  readonly of: (configuration: OfKind<Kind>) => number;
}

/** The configurations of one pipeline. */
export interface Pipeline<Name extends string, Kind> {
  readonly kind: Kind;
  readonly knobs: Readonly<Record<Name, NamedKnob<Kind>>>;
}

/** A search space of choices. */
export interface ChoiceSpace<Name extends string, Kind> extends Pipeline<Name, Kind> {
  /** Promising choices, best guess first. Each knob takes the nearest value, or its first value without a preference. */
  readonly starts: readonly Partial<Choice<NoInfer<Name>>>[];
  /** The configuration of a choice; null for an illegal choice. */
  readonly at: (choice: Choice<Name>) => OfKind<Kind> | null;
}

/** The space of all choices. Pure. */
export function spaceOfChoices<Name extends string, Kind extends OwnConfiguration['kind']>({
  kind,
  knobs: named,
  starts,
  at,
}: ChoiceSpace<Name, Kind>): SearchSpace<Configuration> {
  const all = Object.entries<NamedKnob<Kind>>(named) as [Name, NamedKnob<Kind>][];
  const knobs = all.map(([name, { values, isInner = false }]): Knob => ({ name, values, isInner }));
  const configurationAt = (point: Point) =>
    at(Object.fromEntries(knobs.map(({ name, values }, i) => [name, values[point[i]!]!])) as Choice<Name>);
  const startAt = (wanted: Partial<Choice<Name>>): Point =>
    all.map(([name, { values }]) => {
      const value = wanted[name];
      const exact = value === undefined ? 0 : values.indexOf(value);
      return exact >= 0 ? exact : nearestByRatio(values, value!);
    });
  const valuesOf = (configuration: Configuration) =>
    configuration.kind === kind ? all.map(([, { of }]) => of(configuration as OfKind<Kind>)) : null;
  return {
    knobs,
    starts: legalPoints(starts.map(startAt), configurationAt),
    alternatives: [],
    configurationAt,
    pointOf: (configuration) => pointWith(knobs, valuesOf(configuration)),
    valuesOf,
  };
}

/** The union of two spaces. The first knob chooses a space; the knobs of the other space have no effect. */
export function eitherSpace<C>(first: SearchSpace<C>, second: SearchSpace<C>): SearchSpace<C> {
  const split = first.knobs.length + 1;
  // After a change of the first knob, the other space starts at its best guess.
  const rest = ({ knobs, starts }: SearchSpace<C>) => starts[0] ?? knobs.map(() => 0);
  const inFirst = (point: Point): Point => [0, ...point, ...rest(second)];
  const inSecond = (point: Point): Point => [1, ...rest(first), ...point];
  const turns = Math.max(first.starts.length, second.starts.length);
  return {
    knobs: [{ name: 'pipeline', values: [0, 1], isInner: true }, ...first.knobs, ...second.knobs],
    starts: Array.from({ length: turns }, (_, i) => [
      ...first.starts.slice(i, i + 1).map(inFirst),
      ...second.starts.slice(i, i + 1).map(inSecond),
    ]).flat(),
    alternatives: [...first.alternatives, ...second.alternatives],
    configurationAt: (point) =>
      point[0] === 0
        ? first.configurationAt(point.slice(1, split))
        : second.configurationAt(point.slice(split)),
    pointOf(configuration) {
      const [one, other] = [first.pointOf(configuration), second.pointOf(configuration)];
      return one === null ? other && inSecond(other) : inFirst(one);
    },
    valuesOf(configuration) {
      const [one, other] = [first.valuesOf(configuration), second.valuesOf(configuration)];
      const restOf = (space: SearchSpace<C>) => rest(space).map((at, i) => space.knobs[i]!.values[at]!);
      return one === null ? other && [1, ...restOf(first), ...other] : [0, ...one, ...restOf(second)];
    },
  };
}
