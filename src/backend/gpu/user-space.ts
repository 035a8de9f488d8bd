// A user's search space of a matmul on a GPU: tiles of a workgroup, its threads along each dimension, and prefetch stages. Pure.
import type { SearchSpace } from '../../search/space.ts';
import type { IllegalValue, KnobValues, UserKnob } from '../backend.ts';
import { spaceOfChoices, type Choice } from './choices.ts';

const NAMES = ['workgroup_m', 'workgroup_n', 'summed_k', 'threads_m', 'threads_n'] as const;

/** With matrix instructions, `threads_m` counts subgroups. */
export type UserName = (typeof NAMES)[number];

/** The user's knobs of every GPU backend. */
export const USER_KNOBS: readonly UserKnob[] = NAMES.map((name) => ({ name, type: 'tile', least: 1 }));

/** The configurations of a pipeline by a user's knobs and knobs of its own. */
export interface UserFamily<Own extends string, C> {
  /** Values of each knob that the user leaves free. */
  readonly values: Readonly<Record<UserName | Own, readonly number[]>>;
  /** The configuration of a choice, or the broken rule. */
  at(choice: Choice<UserName | Own>): C | string;
  choiceOf(configuration: C): Choice<UserName | Own> | null;
}

/** Choices that a restriction is checked for. A larger space has a sample of them. */
const MOST_CHECKED = 4096;
const STARTS = 8;

/** @param only the user's values */
export const userSpace = <Own extends string, C extends object>(
  family: UserFamily<Own, C>,
  only: KnobValues,
): SearchSpace<C> => {
  const values = { ...family.values, ...only };
  const at = (choice: Choice<UserName | Own>) => {
    const found = family.at(choice);
    return typeof found === 'string' ? null : found;
  };
  const legal = choicesOf(values).filter((choice) => at(choice) !== null);
  return spaceOfChoices({
    ...{ values, at, choiceOf: (configuration: C) => family.choiceOf(configuration) },
    isInner: (name) => name.startsWith('threads'),
    starts: legal.filter((_, i) => i % Math.ceil(legal.length / STARTS) === 0),
  });
};

/** The user's values that no configuration can have, with the broken rule. */
export const illegalValues = <Own extends string, C extends object>(
  family: UserFamily<Own, C>,
  only: KnobValues,
): IllegalValue[] =>
  Object.entries(only).flatMap(([knob, own]) =>
    own.flatMap((value) => {
      const some = choicesOf({ ...family.values, ...only, [knob]: [value] });
      const found = some.map((choice) => family.at(choice));
      const [rule] = found;
      return typeof rule === 'string' && found.every((one) => typeof one === 'string')
        ? [{ knob, value, rule }]
        : [];
    }),
  );

/** All choices of some values; of many, every nth. */
function choicesOf<Name extends string>(values: Readonly<Record<Name, readonly number[]>>): Choice<Name>[] {
  const names = Object.keys(values) as Name[];
  const size = names.reduce((all, name) => all * values[name].length, 1);
  return Array.from({ length: Math.min(size, MOST_CHECKED) }, (_, i) => {
    let rest = Math.floor((i * size) / Math.min(size, MOST_CHECKED));
    const choice: Partial<Record<Name, number>> = {};
    for (const name of names) {
      choice[name] = values[name][rest % values[name].length]!;
      rest = Math.floor(rest / values[name].length);
    }
    return choice as Choice<Name>;
  });
}

export const NOT_WHOLE = 'a workgroup is no whole number of tiles';
