// A user's search space of a matmul on a GPU: tiles of a workgroup, its threads along each dimension, and prefetch stages. Pure.
import type { SearchSpace } from '../../search/space.ts';
import type { IllegalValue, KnobValues, UserKnob } from '../backend.ts';
import { spaceOfChoices, type Choice, type Family } from '../choices.ts';
import type { Configuration, OwnConfiguration } from '../configuration.ts';
import { isOfSchema, type Schema } from '../schema.ts';
import { powers } from '../tiles.ts';
import { SCHEMA, stepOf, type MmaTileConfiguration, type SimtTileConfiguration } from './configuration.ts';
import { legal, usableMmas, type Problem } from './legality.ts';
import { matmulLevel, stepsOf, type Shaped } from './roles.ts';
import type { Traits } from './space.ts';
import type { Mma } from './target.ts';

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

/** Choices that a restriction is checked for. A larger space has a sample of them. */
const MOST_CHECKED = 4096;
const STARTS = 8;

/** A family with the user's knobs. The user may give other values of the knobs. */
export function userFamilyOf<Name extends string, Kind extends OwnConfiguration['kind']>({
  kind,
  knobs,
  at,
}: Omit<Family<Name, Kind>, 'starts'>): UserFamily {
  const names = Object.keys(knobs) as Name[];
  const valuesWith = (only: KnobValues) =>
    Object.fromEntries(names.map((name) => [name, only[name] ?? knobs[name].values])) as Values<Name>;
  return {
    space(only) {
      const values = valuesWith(only);
      const legalOnes = choicesOf(values).filter((choice) => typeof at(choice) !== 'string');
      const own = names.map((name) => [name, { ...knobs[name], values: values[name] }]);
      return spaceOfChoices({
        kind,
        knobs: Object.fromEntries(own) as typeof knobs,
        starts: legalOnes.filter((_, i) => i % Math.ceil(legalOnes.length / STARTS) === 0),
        at,
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

/** A configuration of the right schema, or the broken rule. Values of a user need not make whole tiles. */
export const ofSchema = <C extends Configuration>(schema: Schema, found: C | string): C | string =>
  typeof found === 'string' || isOfSchema(schema, found) ? found : 'a workgroup is no whole number of tiles';

/** A configuration with tiles of a workgroup, and steps. */
interface Tiled {
  readonly workgroup: readonly number[];
  readonly reduction: readonly number[];
}

/**
 * The knobs of `USER_KNOBS`.
 * @param threadsOf the user's number of threads of a configuration along a dimension
 * @param stepOf elements of one step of `reduction`
 */
export function tileKnobs<C extends Tiled>(
  { roles: { row, column, depth } }: Shaped,
  values: Values<'workgroup_m' | 'workgroup_n' | 'summed_k' | 'threads_m' | 'threads_n'>,
  threadsOf: (c: C, d: number) => number,
  stepOf: (c: C) => number,
) {
  return {
    workgroup_m: { values: values.workgroup_m, of: ({ workgroup }: C) => workgroup[row]! },
    workgroup_n: { values: values.workgroup_n, of: ({ workgroup }: C) => workgroup[column]! },
    summed_k: { values: values.summed_k, of: (c: C) => c.reduction[depth]! * stepOf(c) },
    threads_m: { values: values.threads_m, of: (c: C) => threadsOf(c, row), isInner: true },
    threads_n: { values: values.threads_n, of: (c: C) => threadsOf(c, column), isInner: true },
  };
}

/** Tiles of a workgroup in `TileAndFuse`. */
const TILES = {
  workgroup_m: powers(256).slice(4),
  workgroup_n: powers(256).slice(4),
  summed_k: powers(256).slice(2),
};

/** The family of `TileAndFuse`: with matrix instructions if the GPU has some for the types. */
export function fusedFamily(problem: Problem, traits: Traits): UserFamily {
  const mmas = usableMmas(problem.workload, problem.target);
  return mmas.length > 0 ? mmaFamily(problem, traits, mmas) : simtFamily(problem);
}

function mmaFamily(problem: Problem, traits: Traits, mmas: readonly Mma[]): UserFamily {
  const { column, igemm } = problem.roles;
  const subgroupSize = problem.target.subgroupSizes[0]!;
  const threads = { threads_m: powers(8), threads_n: powers(8).map((count) => count * subgroupSize) };
  return userFamilyOf({
    kind: 'mma-tile',
    knobs: {
      ...tileKnobs(
        problem,
        { ...TILES, ...threads },
        (c: MmaTileConfiguration, d) => c.subgroups[d]! * (d === column ? subgroupSize : 1),
        stepOf,
      ),
      pipeline: {
        values: [...mmas.keys()],
        of: ({ mma }) => mmas.findIndex(({ name }) => name === mma),
      },
      prefetch: { values: traits.prefetch, of: ({ prefetch }) => prefetch ?? traits.prefetch[0]! },
    },
    at({ workgroup_m, workgroup_n, summed_k, threads_m, threads_n, pipeline, prefetch }) {
      const { name, m, n, k } = mmas[pipeline]!;
      const columns = threads_n / subgroupSize;
      if (!traits.prefetch.includes(prefetch)) return `prefetch is none of ${traits.prefetch.join(', ')}`;
      const c: MmaTileConfiguration = {
        ...{ version: 1, kind: 'mma-tile', mma: name, subgroupSize, igemm, padded: false },
        workgroup: matmulLevel(problem, workgroup_m, workgroup_n),
        subgroup: matmulLevel(problem, workgroup_m / threads_m / m, workgroup_n / columns / n),
        subgroups: matmulLevel(problem, threads_m, columns),
        reduction: stepsOf(problem, summed_k / k),
        bankPadding: traits.bankPadding.includes(1),
        ...(traits.hasStages && { prefetch }),
      };
      return ofSchema(SCHEMA, legal(problem, c));
    },
  });
}

function simtFamily(problem: Problem): UserFamily {
  const { igemm } = problem.roles;
  const subgroupSize = problem.target.subgroupSizes[0]!;
  return userFamilyOf({
    kind: 'simt-tile',
    knobs: {
      ...tileKnobs(
        problem,
        { ...TILES, threads_m: powers(64), threads_n: powers(256) },
        ({ workgroup, thread }: SimtTileConfiguration, d) => workgroup[d]! / thread[d]!,
        stepOf,
      ),
      // Whether operands go through shared memory.
      pipeline: { values: [0, 1], of: ({ promoted }) => Number(promoted) },
      prefetch: { values: [0], of: () => 0 },
    },
    at({ workgroup_m, workgroup_n, summed_k, threads_m, threads_n, pipeline }) {
      const c: SimtTileConfiguration = {
        ...{ version: 1, kind: 'simt-tile', subgroupSize, igemm, padded: false, promoted: pipeline === 1 },
        workgroup: matmulLevel(problem, workgroup_m, workgroup_n),
        thread: matmulLevel(problem, workgroup_m / threads_m, workgroup_n / threads_n),
        reduction: stepsOf(problem, summed_k),
      };
      return ofSchema(SCHEMA, legal(problem, c));
    },
  });
}
