// Code for AArch64 computes the default's results in an emulator.
import { describe, expect, test } from 'vitest';
import type { Configuration, OwnConfiguration } from '../../../src/backend/configuration.ts';
import { DATA_TILE_CONFIGURATION } from '../../../src/backend/llvm-cpu/configuration.ts';
import { llvmCpu } from '../../../src/backend/llvm-cpu/index.ts';
import { illegality } from '../../../src/backend/llvm-cpu/legality.ts';
import { findPackedForm, packedConfigurations } from '../../../src/backend/llvm-cpu/packed.ts';
import { buildCandidates, textAfter } from '../../../src/measure/build.ts';
import { candidateOf, stockCandidate } from '../../../src/measure/candidate-module.ts';
import type { SearchSpace } from '../../../src/search/space.ts';
import { seededRandom } from '../../../src/search/strategy.ts';
import type { OperationWork } from '../../../src/workload/workload.ts';
import { emulatedRunModule, whyNoAarch64 } from '../../support/aarch64.ts';
import { tiles } from '../../support/backend.ts';
import { convolution2d, convolutionWorkloads } from '../../support/convolutions.ts';
import { isFull, isWithout } from '../../support/needs.ts';
import { outputOf } from '../../support/real-tools.ts';
import { matmul } from '../../support/workloads.ts';
import { startsAndRandom, toolchainFor } from '../compile-all.ts';
import { cpuTarget, hardwareFor } from './targets.ts';

/** Points of each space: the first start, then random ones. */
const POINTS = 2;

const SMALL = { image: 10, channels: 8, filters: 24 };

/**
 * CPUs with few features, and one with products of matrices. For CPUs with scalable vectors, IREE 3.13.0 takes minutes for its own default of
 * sizes that its tiles do not divide.
 */
const CASES: readonly [name: string, cpu: string, workload: OperationWork | null][] = [
  ['f32', 'cortex-a55', matmul(61, 67, 37)],
  ['f16', 'neoverse-n1', matmul(48, 40, 33, ['f16', 'f16', 'f32'])],
  ['i8', 'neoverse-n1', matmul(33, 40, 64, ['i8', 'i8', 'i32'])],
  ['bf16', 'neoverse-v1', matmul(32, 40, 64, ['bf16', 'bf16', 'f32'])],
  ['i8 with products of matrices', 'neoverse-v1', matmul(32, 40, 64, ['i8', 'i8', 'i32'])],
  ['a convolution', 'neoverse-n1', null],
];

// Other tiers do not look for the emulator.
describe.skipIf(!isFull || isWithout(whyNoAarch64()))('in the emulator', { tags: ['full'] }, () => {
  test.each(CASES)('%s for %s: every configuration computes the default’s results', async (_, cpu, work) => {
    const target = cpuTarget(cpu);
    const [workload] =
      work === null ? convolutionWorkloads(target.flags, [convolution2d('nhwc', SMALL)]) : [work];
    const tools = { ...(await toolchainFor(target)), runModule: emulatedRunModule() };
    const options = { ...(await hardwareFor(target)), wholeProgram: true, following: true };
    const space = llvmCpu.tuning(workload!).space(options) as SearchSpace<OwnConfiguration>;
    const form =
      work === null ? null : await findPackedForm(work, (one, phase) => textAfter(tools, work, one, phase));
    const tried: Configuration[] = [
      ...startsAndRandom(space, POINTS, seededRandom(7)),
      ...(form === null ? [] : [DATA_TILE_CONFIGURATION, packedConfigurations(work!, form, 1).at(-1)!]),
    ];
    const candidates = [
      stockCandidate('stock'),
      ...tried.map((one, i) => candidateOf(`c${i}`, one, workload!, tools.release)),
    ];
    const { module, refused } = await buildCandidates(tools, workload!, candidates, 'all');
    expect(refused).toEqual(new Map());
    const expected = await outputOf(tools, workload!, module!, 'stock');
    expect(new Set(expected).size).toBeGreaterThan(10);
    for (const [i, one] of tried.entries())
      expect(await outputOf(tools, workload!, module!, `c${i}`), JSON.stringify(one)).toEqual(expected);
  });

  test('the compiler computes wrong sums in square vectors of bytes, which the rules forbid', async () => {
    const workload = matmul(32, 40, 64, ['i8', 'i8', 'i32']);
    const target = cpuTarget('neoverse-v1');
    const square = tiles([32, 40, 0], [8, 8, 0], [0, 0, 8]);
    expect(illegality(workload, square, await hardwareFor(target))).toMatch('wrong sums');
    const tools = { ...(await toolchainFor(target)), runModule: emulatedRunModule() };
    const candidates = [stockCandidate('stock'), candidateOf('c0', square, workload, tools.release)];
    const { module } = await buildCandidates(tools, workload, candidates, 'all');
    const [expected, own] = [
      await outputOf(tools, workload, module!, 'stock'),
      await outputOf(tools, workload, module!, 'c0'),
    ];
    expect(expected).not.toBeNull();
    expect(own).not.toEqual(expected);
  });
});
