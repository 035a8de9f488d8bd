// Search spaces of named values, and the union of two spaces.
import { nearestByRatio } from '../../search/nearest.ts';
import { legalPoints, pointWith, type Knob, type Point, type SearchSpace } from '../../search/space.ts';

/** The value of each knob. */
export type Choice<Name extends string> = Readonly<Record<Name, number>>;

/** A search space of choices. */
export interface ChoiceSpace<Name extends string, C> {
  /** Values of each knob. */
  readonly values: Readonly<Record<Name, readonly number[]>>;
  /** Whether a knob decides about registers. */
  isInner(name: Name): boolean;
  /** Promising choices, best guess first. Each knob takes the nearest value, or its first value without a preference. */
  readonly starts: readonly Partial<Choice<Name>>[];
  /** The configuration of a choice; null for an illegal choice. */
  at(choice: Choice<Name>): C | null;
  /** The choice of a configuration; null for another pipeline. */
  choiceOf(configuration: C): Choice<Name> | null;
}

/** The space of all choices. Pure. */
export function spaceOfChoices<Name extends string, C>(own: ChoiceSpace<Name, C>): SearchSpace<C> {
  const names = Object.keys(own.values) as Name[];
  const knobs = names.map((name): Knob => ({ name, values: own.values[name], isInner: own.isInner(name) }));
  const configurationAt = (point: Point) =>
    own.at(
      Object.fromEntries(knobs.map(({ name, values }, i) => [name, values[point[i]!]!])) as Choice<Name>,
    );
  const startAt = (wanted: Partial<Choice<Name>>): Point =>
    names.map((name, i) => {
      const value = wanted[name];
      const { values } = knobs[i]!;
      const exact = value === undefined ? 0 : values.indexOf(value);
      return exact >= 0 ? exact : nearestByRatio(values, value!);
    });
  const valuesOf = (configuration: C) => {
    const choice = own.choiceOf(configuration);
    return choice && names.map((name) => choice[name]);
  };
  return {
    knobs,
    starts: legalPoints(own.starts.map(startAt), configurationAt),
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
