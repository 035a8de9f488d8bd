// Illegal values of a user's restriction.
import { combinations } from '../../workload/sizes.ts';
import type { OperationWork } from '../../workload/workload.ts';
import type { IllegalValue, SpaceOptions } from '../backend.ts';
import { illegality } from './legality.ts';
import { configurationOf, knobsOf, type TileKnob } from './tile-knobs.ts';

/** The values of a restriction that no configuration of a workload can have, with the broken rule. */
export function illegalValues(workload: OperationWork, options: SpaceOptions): readonly IllegalValue[] {
  const { only } = options;
  // With data tiling alone there are no plain tiles.
  if (only === undefined || only['data_tiling']?.includes(0) === false) return [];
  const knobs = knobsOf(workload, options);
  const named = knobs.filter(({ userName }) => Object.hasOwn(only, userName));
  const found = named.flatMap((knob) =>
    knob.values.flatMap((value): IllegalValue[] => {
      const rule = brokenRule(workload, knobs, knob, value, options);
      return rule === null ? [] : [{ knob: knob.userName, value, rule }];
    }),
  );
  return [...new Map(found.map((one) => [`${one.knob}=${one.value}`, one])).values()];
}

/** The rule that a value breaks for all values of the other knobs; null for a possible value. */
function brokenRule(
  workload: OperationWork,
  knobs: readonly TileKnob[],
  knob: TileKnob,
  value: number,
  options: SpaceOptions,
): string | null {
  const { kind, size } = workload.dimensions[knob.dimension]!;
  if (value > knob.most) return `the tile is larger than the dimension (${kind}=${size})`;
  let broken: string | null = null;
  for (const values of combinations(knobs.map((one) => (one === knob ? [value] : mildest(workload, one))))) {
    const choice = Object.fromEntries(knobs.map(({ name }, i) => [name, values[i]!]));
    const rule = illegality(workload, configurationOf(workload.dimensions, choice), options);
    if (rule === null) return null;
    broken ??= rule;
  }
  return broken;
}

/** The values of a knob that break the fewest rules. The rules limit vectors and blocks from above only. */
function mildest(workload: OperationWork, { level, dimension, values }: TileKnob): number[] {
  const { size } = workload.dimensions[dimension]!;
  const least = values[0];
  const some = {
    vector: [least],
    inner: [least],
    // A distribution tile without remainder bounds the block in a cache.
    distribution: [least, values.find((tile) => size % tile === 0)],
    cache: [least, values.find((tile) => tile > 0)],
  }[level];
  return [...new Set(some.filter((tile) => tile !== undefined))];
}
