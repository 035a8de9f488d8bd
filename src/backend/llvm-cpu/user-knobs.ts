// The knobs of llvm-cpu by their names in settings and tables, and illegal values of a user's restriction.
import { combinations, type DimensionKind } from '../../workload/sizes.ts';
import type { OperationWork } from '../../workload/workload.ts';
import type { IllegalValue, KnobColumns, SpaceOptions, UserKnob } from '../backend.ts';
import type { OwnConfiguration } from '../configuration.ts';
import { illegality } from './legality.ts';
import { tileOf, type LevelName } from './configuration.ts';
import { configurationOf, knobsOf, type Knobs, type TileKnob } from './tile-knobs.ts';

const LEVELS: readonly {
  readonly level: Exclude<LevelName, 'inner'>;
  readonly kinds: readonly DimensionKind[];
  readonly least: number;
}[] = [
  { level: 'distribution', kinds: ['batch', 'm', 'n'], least: 1 },
  { level: 'cache', kinds: ['m', 'n', 'k'], least: 0 },
  { level: 'vector', kinds: ['batch', 'm', 'n', 'k'], least: 1 },
];

export const USER_KNOBS: readonly UserKnob[] = [
  ...LEVELS.flatMap(({ level, kinds, least }) =>
    kinds.map((kind): UserKnob => ({ name: `${level}_${kind}`, type: 'tile', least })),
  ),
  { name: 'inner', type: 'tile', least: 0 },
  { name: 'peeling', type: 'boolean', least: 0 },
  { name: 'data_tiling', type: 'boolean', least: 0 },
];

/** The values of a restriction that no configuration of a workload can have, with the broken rule. */
export function illegalValues(workload: OperationWork, options: SpaceOptions): readonly IllegalValue[] {
  const { only } = options;
  // With data tiling alone there are no plain tiles.
  if (only === undefined || only['data_tiling']?.includes(0) === false) return [];
  const knobs = knobsOf(workload, options);
  const named = knobs.tiles.filter(({ userName }) => Object.hasOwn(only, userName));
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
  knobs: Knobs,
  knob: TileKnob,
  value: number,
  options: SpaceOptions,
): string | null {
  const { kind, size } = workload.dimensions[knob.dimension]!;
  if (value > knob.most) return `the tile is larger than the dimension (${kind}=${size})`;
  let broken: string | null = null;
  for (const values of combinations(
    knobs.tiles.map((one) => (one === knob ? [value] : mildest(workload, one))),
  )) {
    const point = knobs.tiles.map((one, i) => one.values.indexOf(values[i]!));
    const rule = illegality(workload, configurationOf(workload.dimensions, knobs, [...point, 0]), options);
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

/** The knobs of a configuration; names have numbers if a kind has several dimensions. */
export function knobValues(workload: OperationWork, configuration: OwnConfiguration): KnobColumns {
  const { dimensions } = workload;
  const isTiled = configuration.kind === 'tile' || configuration.kind === 'window-tile';
  const tile = isTiled ? configuration : null;
  const packed = configuration.kind === 'data-tile' ? configuration.packed : undefined;
  const columns: Record<string, number | boolean | null> = {};
  for (const { level, kinds } of LEVELS)
    for (const kind of kinds) {
      const own = dimensions.flatMap((one, d) => (one.kind === kind ? [d] : []));
      for (const [i, d] of own.entries())
        columns[`${level}_${kind}${own.length > 1 ? i : ''}`] = tile && tileOf(tile, level, d);
    }
  columns['inner'] = tile && Math.max(0, ...dimensions.map((_, d) => tileOf(tile, 'inner', d)));
  columns['peeling'] = configuration.kind === 'tile' ? configuration.peeling : null;
  columns['data_tiling'] = tile === null;
  columns['packed_first'] = packed?.distribution?.[0] ?? null;
  columns['packed_second'] = packed?.distribution?.[1] ?? null;
  columns['packing_rows'] = packed?.packing?.[0] ?? null;
  columns['packing_depth'] = packed?.packing?.[1] ?? null;
  return columns;
}
