import { describe, expect, test } from 'vitest';
import { buildCandidates } from '../../src/measure/build.ts';
import { loweringAttribute } from '../../src/inject/attribute.ts';
import type { TileConfiguration } from '../../src/space/configuration.ts';
import { illegality } from '../../src/space/legality.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { compiler, toolchain } from '../support/real-tools.ts';
import { matmul } from '../support/workloads.ts';
import { probeTargets, HOST_FLAGS } from '../../src/target/probe.ts';

const base: TileConfiguration = {
  version: 1,
  kind: 'tile',
  distribution: [64, 64, 0],
  vectorCommonParallel: [8, 32, 0],
  vectorReduction: [0, 0, 4],
  peeling: false,
};
const shape = matmul(512, 512, 512);
const avx512 = { nativeVectorBytes: 64 };

describe('the legality rules', () => {
  test('accept an ordinary configuration', () => {
    expect(illegality(shape, base, avx512)).toBeNull();
  });

  test.each<[string, Partial<TileConfiguration>]>([
    ['too few tiles', { distribution: [64, 64] }],
    ['a negative tile', { distribution: [-1, 64, 0] }],
    ['a distributed reduction', { distribution: [64, 64, 4] }],
    ['a reduction tile on a parallel dimension', { vectorReduction: [4, 0, 4] }],
    ['a parallel dimension without a vector tile', { vectorCommonParallel: [0, 32, 0] }],
  ])('refuse %s', (_, change) => {
    expect(illegality(shape, { ...base, ...change }, avx512)).not.toBeNull();
  });

  test('depend on the width of the vector registers', () => {
    const wide = { ...base, vectorCommonParallel: [8, 64, 0], vectorReduction: [0, 0, 8] };
    expect(illegality(shape, wide, avx512)).toBeNull();
    expect(illegality(shape, wide, { nativeVectorBytes: 32 })).not.toBeNull();
  });
});

/** Each limit from both sides, as the rule states it for this machine's vector width and as the compiler acts. */
describe('the legality rules agree with the real compiler', () => {
  const around = (unit: number): [string, TileConfiguration][] => {
    // The vector limit is 512 registers: with 8 x 32 x 4 bytes each step of k takes 1024 bytes.
    const steps = (512 * unit) / 1024;
    // The live tile across cache_reduction: 64 rows take 256 bytes a column.
    const columns = (512 * unit) / 256;
    const cached = { cacheReduction: [0, 0, 128] };
    return [
      ['the largest vector', { ...base, vectorReduction: [0, 0, steps - 1] }],
      ['one step more than the largest vector', { ...base, vectorReduction: [0, 0, steps] }],
      ['the largest live tile', { ...base, ...cached, distribution: [64, columns - 8, 0] }],
      [
        'one column block more than the largest live tile',
        { ...base, ...cached, distribution: [64, columns, 0] },
      ],
      [
        'a live tile bounded by cache_parallel',
        { ...base, ...cached, distribution: [0, 0, 0], cacheParallel: [32, 64, 0] },
      ],
      [
        'a workgroup tile that bounds the live tile because it divides',
        { ...base, ...cached, distribution: [512, 16, 0], cacheParallel: [0, 512, 0] },
      ],
      [
        'a workgroup tile that does not divide and so bounds nothing',
        { ...base, ...cached, distribution: [512, 24, 0], cacheParallel: [0, 512, 0] },
      ],
      [
        'a live tile left open in one dimension',
        { ...base, ...cached, distribution: [0, 0, 0], cacheParallel: [0, 64, 0] },
      ],
      ['an inner parallel level', { ...base, vectorInnerParallel: [0, 16, 0] }],
      ['peeling', { ...base, peeling: true }],
    ];
  };

  test('on both sides of every limit', async () => {
    const folder = temporaryDirectory();
    const tools = await toolchain(folder);
    const probe = await probeTargets(compiler.executable, HOST_FLAGS, [], '', folder);
    const unit = probe.targets[0]!.target.nativeVectorBytes;
    for (const [what, configuration] of around(unit)) {
      const attribute = loweringAttribute(configuration, shape, tools.release);
      const { built } = await buildCandidates(tools, shape, [{ name: 'c0', attribute }], 'one');
      const verdict = illegality(shape, configuration, { nativeVectorBytes: unit }) === null;
      expect({ what, legal: verdict }).toEqual({ what, legal: built.length === 1 });
    }
  });
});
