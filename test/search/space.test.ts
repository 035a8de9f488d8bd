import { describe, expect, test } from 'vitest';
import { coordinateDescent } from '../../src/search/descent.ts';
import { gridSearch } from '../../src/search/grid.ts';
import { randomSearch } from '../../src/search/random.ts';
import { seededRandom } from '../../src/search/strategy.ts';
import { configurationKey, configurationText } from '../../src/backend/index.ts';
import { DATA_TILE_CONFIGURATION } from '../../src/backend/llvm-cpu/configuration.ts';
import { type Configuration } from '../../src/backend/configuration.ts';
import { llvmCpu } from '../../src/backend/llvm-cpu/index.ts';
import { lacksFamily } from '../../src/store/choose.ts';
import { llvmCpuSpace } from '../../src/backend/llvm-cpu/tile-space.ts';
import { pointOf, without } from '../../src/search/space.ts';
import { WIDE } from '../support/backend.ts';
import { matmul, workload } from '../support/workloads.ts';

const options = { ...WIDE, wholeProgram: true };
const shape = matmul(8, 16, 4);

describe('a space without some configurations', () => {
  const whole = llvmCpuSpace(shape, options);
  const first = whole.configurationAt(whole.starts[0]!)!;
  const isExcluded = (configuration: Configuration) =>
    [first, DATA_TILE_CONFIGURATION].some((one) => configurationKey(one) === configurationKey(configuration));
  const space = without(whole, isExcluded);

  test('lacks them in its starts, its alternatives and its points', () => {
    expect(space.starts).toEqual(whole.starts.slice(1));
    expect(space.alternatives).toEqual([]);
    expect(space.configurationAt(whole.starts[0]!)).toBeNull();
    expect(pointOf(space, first)).toBeNull();
    const second = whole.configurationAt(whole.starts[1]!)!;
    expect(space.configurationAt(pointOf(space, second)!)).toEqual(second);
  });

  test.each([
    ['descent', coordinateDescent],
    ['random', randomSearch],
    ['grid', gridSearch],
  ])('is searched by %s without them', (_, strategy) => {
    const proposed = (of: typeof space) => {
      const search = strategy(of, seededRandom(3));
      const found: Configuration[] = [];
      for (let points = search.propose(64); points.length > 0; points = search.propose(64)) {
        found.push(...points.map((point) => of.configurationAt(point)!));
        // The excluded configuration would be the best.
        search.observe(
          points.map((point) => ({ point, cost: isExcluded(whole.configurationAt(point)!) ? 1 : 2 })),
        );
        if (found.length > 5000) break;
      }
      return found;
    };
    expect(proposed(space).filter(isExcluded)).toEqual([]);
    expect(proposed(space).length).toBeGreaterThan(10);
  });
});

test('the text of a configuration does not depend on the order of its keys, and keeps all of them', () => {
  const packed = { inner: [16, 16, 1], swapped: true, distribution: [4, 8], packing: [16, 64] } as const;
  const all: Configuration[] = [
    { version: 1, kind: 'default' },
    { version: 1, kind: 'data-tile', packed },
    {
      ...{ version: 1, kind: 'tile', distribution: [1, 2, 0], cacheParallel: [3, 4, 0] },
      ...{ cacheReduction: [0, 0, 5], vectorCommonParallel: [6, 7, 0], vectorReduction: [0, 0, 8] },
      ...{ vectorInnerParallel: [0, 9, 0], peeling: true },
    },
  ];
  for (const configuration of all) {
    const reversed = Object.fromEntries(Object.entries(configuration).reverse()) as unknown as Configuration;
    expect(configurationText(reversed)).toBe(configurationText(configuration));
    expect(JSON.parse(configurationText(configuration))).toEqual(configuration);
    // The spelling of the first version.
    expect(configurationText(configuration)).toBe(JSON.stringify(configuration));
  }
});

describe('families', () => {
  test.each([
    ['a matmul', shape, ['data-tile', 'tile']],
    ['a dot product, which is not data-tiled', workload({ k: 64 }), ['tile']],
    ['two rows', { ...shape, dimensions: [...shape.dimensions.slice(0, 1), ...shape.dimensions] }, ['tile']],
  ])('of %s are those of its space', (_, of, families) => {
    const tuning = llvmCpu.tuning(of);
    expect(tuning.families({ wholeProgram: true })).toEqual(families);
    expect(tuning.families({ wholeProgram: false })).toEqual(['tile']);
    for (const wholeProgram of [true, false]) {
      const { alternatives } = llvmCpuSpace(of, { ...options, wholeProgram });
      const kinds = new Set(['tile', ...alternatives.map(({ kind }) => kind)]);
      expect([...kinds].sort()).toEqual(tuning.families({ wholeProgram }));
    }
  });

  test('are lacking where one that is wanted is not there', () => {
    expect(lacksFamily({ families: ['tile'] }, ['data-tile', 'tile'])).toBe(true);
    expect(lacksFamily({ families: ['data-tile', 'tile'] }, ['tile'])).toBe(false);
  });
});
