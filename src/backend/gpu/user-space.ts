// A user's search space of a matmul on a GPU: tiles of a workgroup, its threads along each dimension, and prefetch stages. Pure.
import type { SearchSpace } from '../../search/space.ts';
import type { IllegalValue, KnobValues, UserKnob } from '../backend.ts';
import { spaceOfChoices, type Choice, type OfKind, type Pipeline } from '../choices.ts';
import type { Configuration, OwnConfiguration } from '../configuration.ts';

/** The user's knobs of every GPU backend. With matrix instructions, `threads_m` counts subgroups. */
export const USER_KNOBS: readonly UserKnob[] = [
  ...['workgroup_m', 'workgroup_n', 'summed_k', 'threads_m', 'threads_n'],
].map((name) => ({ name, type: 'tile', least: 1 }));

/** The user's spaces of one workload. */
export interface UserFamily {
  /** @param only the user's values */
  space(only: KnobValues): SearchSpace<Configuration>;
  /** The user's values that no configuration can have, with the broken rule. */
  illegalValues(only: KnobValues): IllegalValue[];
}

/** A pipeline with the user's knobs. The user may give other values of the knobs. */
interface UserPipeline<Name extends string, Kind> extends Pipeline<Name, Kind> {
  /** The configuration of a choice, or the broken rule. */
  readonly at: (choice: Choice<Name>) => OfKind<Kind> | string;
}

/** Choices that a restriction is checked for. A larger space has a sample of them. */
const MOST_CHECKED = 4096;
const STARTS = 8;

export function familyOf<Name extends string, Kind extends OwnConfiguration['kind']>({
  kind,
  knobs,
  at,
}: UserPipeline<Name, Kind>): UserFamily {
  const names = Object.keys(knobs) as Name[];
  const valuesWith = (only: KnobValues) =>
    Object.fromEntries(names.map((name) => [name, only[name] ?? knobs[name].values])) as Values<Name>;
  return {
    space(only) {
      const values = valuesWith(only);
      const legalAt = (choice: Choice<Name>) => {
        const found = at(choice);
        return typeof found === 'string' ? null : found;
      };
      const legal = choicesOf(values).filter((choice) => legalAt(choice) !== null);
      const own = names.map((name) => [name, { ...knobs[name], values: values[name] }]);
      return spaceOfChoices({
        kind,
        knobs: Object.fromEntries(own) as typeof knobs,
        starts: legal.filter((_, i) => i % Math.ceil(legal.length / STARTS) === 0),
        at: legalAt,
      });
    },
    illegalValues: (only) =>
      Object.entries(only).flatMap(([knob, own]) =>
        own.flatMap((value) => {
          const found = choicesOf(valuesWith({ ...only, [knob]: [value] })).map((choice) => at(choice));
          const [rule] = found;
          return typeof rule === 'string' && found.every((one) => typeof one === 'string')
            ? [{ knob, value, rule }]
            : [];
        }),
      ),
  };
}

type Values<Name extends string> = Readonly<Record<Name, readonly number[]>>;

/** All choices of some values; of many, every nth. */
function choicesOf<Name extends string>(values: Values<Name>): Choice<Name>[] {
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
