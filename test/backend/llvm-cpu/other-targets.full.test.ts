// The spaces of llvm-cpu for other architectures: every configuration compiles to machine code and lands. Nothing runs.
// In full after a change of src/backend/llvm-cpu/tile-knobs.ts, src/backend/llvm-cpu/legality.ts.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, describe, expect, test } from 'vitest';
import type { OwnConfiguration } from '../../../src/backend/configuration.ts';
import { DATA_TILE_CONFIGURATION } from '../../../src/backend/llvm-cpu/configuration.ts';
import { llvmCpu } from '../../../src/backend/llvm-cpu/index.ts';
import { substituteFlag } from '../../../src/inject/injection-flags.ts';
import { textAfter } from '../../../src/measure/build.ts';
import type { SearchSpace } from '../../../src/search/space.ts';
import { seededRandom } from '../../../src/search/strategy.ts';
import type { OperationWork } from '../../../src/workload/workload.ts';
import { convolution2d, convolutionWorkloads, type ConvolutionText } from '../../support/convolutions.ts';
import {
  ATTENTION,
  GATHER,
  lastConfigured,
  SOFTMAX,
  TRANSPOSE,
  withRandomTiles,
} from '../../support/dispatch-programs.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { compiler } from '../../support/installed-tools.ts';
import { failuresOf, startsAndRandom, toolchainFor } from '../compile-all.ts';
import { SHAPES } from '../gpu/shapes.ts';
import { CPU_NAMES, cpuTarget, hardwareFor } from './targets.ts';

/** Points of each family of each target, over all its workloads; 0 for a few points of each workload. */
const POINTS = Number(process.env['CPU_POINTS'] ?? 0);

/** Points of one of `count` workloads of a family. */
const pointsFor = (count: number): number => (POINTS > 0 ? Math.ceil(POINTS / count) : 4);

/** The first workloads of a family, one of each type. With `POINTS` all of them. */
const ofTier = <T>(all: Readonly<Record<string, T>>): [string, T][] =>
  Object.entries(all).slice(0, POINTS > 0 ? undefined : 3);

const CONTRACTIONS = Object.fromEntries(
  [
    ...['matmul f32 odd', 'matmul f16', 'matmul i8', 'matmul f32', 'matmul f16 f16'],
    ...['batch matmul f16', 'matvec f32', 'vecmat f32'],
  ].map((name) => [name, SHAPES[name]!]),
);

const SMALL = { image: 18, channels: 24, filters: 48 };
const CONVOLUTIONS: Readonly<Record<string, ConvolutionText>> = {
  f32: convolution2d('nhwc', SMALL),
  f16: convolution2d('nhwc', SMALL, { types: ['f16', 'f32'] }),
  i8: convolution2d('nhwc', SMALL, { types: ['i8', 'i32'] }),
  'f32, odd': convolution2d('nhwc', { image: 15, channels: 3, filters: 20 }),
};

/** Operations that the compiler packs: one m, one n and one k. */
const PACKED = Object.fromEntries(
  ['matmul f32 odd', 'matmul f16', 'matmul i8', 'matmul f32', 'matmul bf16'].map((name) => [
    name,
    SHAPES[name]!,
  ]),
);

const inHalves = (text: string) => text.replaceAll('f32', 'f16');
const DISPATCHES: Readonly<Record<string, string>> = {
  'softmax f32': SOFTMAX,
  'attention f16': inHalves(ATTENTION),
  'transpose i8': TRANSPOSE.replaceAll('f32', 'i8'),
  'softmax f16': inHalves(SOFTMAX),
  'attention f32': ATTENTION,
  'gather f32': GATHER,
};

/** 300 points of a family take minutes. */
const MOST_SECONDS = 3600;

describe.each(CPU_NAMES)('for %s', { timeout: MOST_SECONDS * 1000 }, (name) => {
  const target = cpuTarget(name);
  const counts: Record<string, number> = {};
  const count = (family: string, more: number) => (counts[family] = (counts[family] ?? 0) + more);
  afterAll(() => {
    if (POINTS > 0) process.stdout.write(`Compiled for ${name}: ${JSON.stringify(counts)}\n`);
  });
  const options = async () => ({ ...(await hardwareFor(target)), wholeProgram: true, following: true });
  const spaceOf = async (workload: OperationWork) =>
    llvmCpu.tuning(workload).space(await options()) as SearchSpace<OwnConfiguration>;
  const randomFailures = async (family: string, workload: OperationWork, points: number) => {
    const drawn = startsAndRandom(await spaceOf(workload), points, seededRandom(63));
    count(family, drawn.length);
    return failuresOf(target, workload, drawn);
  };

  test.each(ofTier(CONTRACTIONS))('tiles of %s', async (_, workload) => {
    const points = pointsFor(Object.keys(CONTRACTIONS).length);
    expect(await randomFailures('tile', workload, points)).toEqual({});
  });

  test.each(ofTier(CONVOLUTIONS))('tiles of a convolution in %s', async (_, text) => {
    const [workload] = convolutionWorkloads(target.flags, [text]) as [OperationWork];
    const points = pointsFor(Object.keys(CONVOLUTIONS).length);
    expect(await randomFailures('window-tile', workload, points)).toEqual({});
  });

  test.each(ofTier(PACKED))('data tiling of %s', async (_, workload) => {
    const tools = await toolchainFor(target);
    const measured = [{ configuration: DATA_TILE_CONFIGURATION, seconds: 1 }];
    const more = await llvmCpu.wholeProgram!.followUps(
      workload,
      measured,
      await options(),
      (configuration, phase) => textAfter(tools, workload, configuration, phase),
    );
    const all = [DATA_TILE_CONFIGURATION, ...(more as OwnConfiguration[])];
    // The last one has tiles of both parts.
    const some = POINTS > 0 ? all : [all[0]!, all.at(-1)!];
    count('data-tile', some.length);
    const failed: Record<string, string> = {};
    // Each in a module of its own: candidates with the same packing share its dispatch, which has the name of the first candidate.
    for (const one of some) Object.assign(failed, await failuresOf(target, workload, [one]));
    expect(failed).toEqual({});
  });

  test.each(ofTier(DISPATCHES))('tiles of the dispatch of a %s', async (_, program) => {
    const folder = temporaryDirectory();
    const [source, tried, module] = ['in.mlir', 'tried.mlir', 'out.vmfb'].map((file) => join(folder, file));
    const executable = await lastConfigured(program, folder, target.flags);
    const points = pointsFor(Object.keys(DISPATCHES).length);
    const { nativeVectorBytes } = await hardwareFor(target);
    const failed: Record<string, string> = {};
    for (const { configuration, text } of withRandomTiles(executable, points, nativeVectorBytes)) {
      writeFileSync(tried!, text, 'latin1');
      const flag = substituteFlag({ name: executable.name, path: tried!, phase: 'configuration' });
      const argv = [...target.flags, flag, source!, '-o', module!];
      const { failed: isRefused, stderr } = await execa(compiler.executable, argv, { reject: false });
      if (isRefused) failed[JSON.stringify(configuration)] = stderr.slice(0, 500);
      count('dispatch-tile', 1);
    }
    expect(failed).toEqual({});
  });
});
