import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { configurationKey } from '../../src/space/configuration.ts';
import { illegality } from '../../src/space/legality.ts';
import { llvmCpuSpace } from '../../src/space/llvm-cpu.ts';
import { spaceSize } from '../../src/space/space.ts';
import { loweringAttribute } from '../../src/inject/attribute.ts';
import { buildCandidates } from '../../src/measure/build.ts';
import { randomPoint, seededRandom } from '../../src/search/strategy.ts';
import { isConfiguration } from '../../src/store/validate.ts';
import { probeTargets, HOST_FLAGS } from '../../src/target/probe.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { compiler, toolchain } from '../support/real-tools.ts';
import { matmul, workload } from '../support/workloads.ts';

const options = { nativeVectorBytes: 64, threads: 1, dataTiling: true };
const size = fc.integer({ min: 1, max: 5000 });

describe('the llvm-cpu space', () => {
  test('yields only legal configurations', () => {
    fc.assert(
      fc.property(size, size, size, fc.nat(), (m, n, k, seed) => {
        const shape = matmul(m, n, k);
        const space = llvmCpuSpace(shape, options);
        const random = seededRandom(seed);
        for (let i = 0; i < 20; i++) {
          const configuration = space.configurationAt(randomPoint(space, random));
          if (configuration?.kind === 'tile') expect(illegality(shape, configuration, options)).toBeNull();
        }
      }),
    );
  });

  test('yields what can be kept and read again, however large the dimensions are', () => {
    const anySize = fc.oneof(size, fc.integer({ min: 1, max: 2 ** 31 }));
    fc.assert(
      fc.property(anySize, anySize, anySize, fc.nat(), (m, n, k, seed) => {
        const space = llvmCpuSpace(matmul(m, n, k), options);
        const random = seededRandom(seed);
        const points = [...space.starts, ...Array.from({ length: 20 }, () => randomPoint(space, random))];
        for (const configuration of points.map((point) => space.configurationAt(point)))
          if (configuration !== null) expect(isConfiguration(configuration, 3)).toBe(true);
      }),
    );
  });

  test('has a start for every shape', () => {
    fc.assert(
      fc.property(size, size, size, (m, n, k) => {
        const space = llvmCpuSpace(matmul(m, n, k), options);
        expect(space.starts.length).toBeGreaterThan(0);
        for (const start of space.starts) expect(space.configurationAt(start)).not.toBeNull();
      }),
    );
  });

  test('finds the point of each of its configurations again', () => {
    const space = llvmCpuSpace(matmul(512, 512, 512), options);
    const random = seededRandom(5);
    for (let i = 0; i < 200; i++) {
      const configuration = space.configurationAt(randomPoint(space, random));
      if (configuration === null) continue;
      const again = space.configurationAt(space.pointOf(configuration)!);
      expect(configurationKey(again!)).toBe(configurationKey(configuration));
    }
  });

  test('starts with at least one workgroup per thread where the shape allows it', () => {
    const space = llvmCpuSpace(matmul(512, 512, 512), { ...options, threads: 8 });
    for (const start of space.starts) {
      const configuration = space.configurationAt(start);
      if (configuration?.kind !== 'tile') throw new Error('a start is a tile configuration');
      const [m, n] = configuration.distribution;
      expect(Math.ceil(512 / m!) * Math.ceil(512 / n!)).toBeGreaterThanOrEqual(8);
    }
  });

  test.each([512, 997])(
    'peels in its starts exactly where a vector tile leaves a remainder of %i',
    (size) => {
      const space = llvmCpuSpace(matmul(size, size, size), options);
      for (const start of space.starts) {
        const configuration = space.configurationAt(start);
        if (configuration?.kind !== 'tile') throw new Error('a start is a tile configuration');
        const [m, n] = configuration.vectorCommonParallel;
        const tiles = [m!, n!, configuration.vectorReduction[2]!];
        expect(configuration.peeling).toBe(tiles.some((tile) => size % tile !== 0));
      }
    },
  );

  test('is large enough to need a search', () => {
    expect(spaceSize(llvmCpuSpace(matmul(512, 512, 512), options))).toBeGreaterThan(1e6);
  });
});

describe('everything the llvm-cpu space yields compiles', () => {
  test.each([
    ['a matmul', matmul(96, 160, 64)],
    ['a matmul of a prime size', matmul(97, 101, 103)],
    ['a batched matmul', workload({ batch: 3, m: 32, n: 48, k: 64 })],
    ['a matvec', workload({ m: 128, k: 256 })],
    ['a vecmat', workload({ n: 128, k: 256 })],
    ['an i8 matmul with i32 accumulators', matmul(64, 64, 64, ['i8', 'i8', 'i32'])],
    ['a bf16 matmul with f32 accumulators', matmul(64, 64, 64, ['bf16', 'bf16', 'f32'])],
  ])('for %s', async (_, shape) => {
    const folder = temporaryDirectory();
    const tools = await toolchain(folder);
    const { targets } = await probeTargets(compiler.executable, HOST_FLAGS, [], '', folder);
    const space = llvmCpuSpace(shape, {
      nativeVectorBytes: targets[0]!.target.nativeVectorBytes,
      threads: 1,
      dataTiling: true,
    });
    const random = seededRandom(11);
    const configurations = [
      ...space.starts.slice(0, 6),
      ...Array.from({ length: 60 }, () => randomPoint(space, random)),
    ]
      .map((point) => space.configurationAt(point))
      .filter((configuration) => configuration !== null)
      .slice(0, 14);
    const candidates = configurations.map((configuration, i) => ({
      name: `c${i}`,
      attribute: loweringAttribute(configuration, shape, tools.release),
    }));
    const { refused } = await buildCandidates(tools, shape, candidates, 'all');
    const explained = [...refused].map(
      ([name, why]) => `${configurationKey(configurations[Number(name.slice(1))]!)}: ${why}`,
    );
    expect(explained).toEqual([]);
  });
});
