// A search space of one knob, for tests.
import type { Configuration } from '../../src/backend/configuration.ts';
import type { SearchSpace } from '../../src/search/space.ts';

/** Configurations with a tile of 1, 2, ... `count`, in the order of the starts. */
export function line(count: number): SearchSpace<Configuration> {
  const values = Array.from({ length: count }, (_, i) => i + 1);
  return {
    knobs: [{ name: 'tile', values }],
    starts: values.map((_, i) => [i]),
    alternatives: [],
    configurationAt: ([i]) => configurationOf(values[i!]!),
    valuesOf: (configuration) => [tileOf(configuration)],
  };
}

const configurationOf = (tile: number): Configuration => ({
  ...{ version: 1, kind: 'tile', distribution: [tile, 16, 0] },
  ...{ vectorCommonParallel: [1, 8, 0], vectorReduction: [0, 0, 1], peeling: false },
});

/** The tile of a configuration of `line`. */
export function tileOf(configuration: Configuration): number {
  if (configuration.kind !== 'tile') throw new Error('not a configuration of the line');
  return configuration.distribution[0]!;
}
