// The spaces of CUDA, HIP and Vulkan against the real compiler, which needs no GPU.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { OwnConfiguration } from '../../../src/backend/configuration.ts';
import { threadsOf } from '../../../src/backend/gpu/configuration.ts';
import { configurationKey as keyOf } from '../../../src/backend/index.ts';
import type { SearchSpace } from '../../../src/search/space.ts';
import { randomPoint, seededRandom } from '../../../src/search/strategy.ts';
import type { OperationWork } from '../../../src/workload/workload.ts';
import { convolution2d, convolutionWorkloads, type ConvolutionText } from '../../support/convolutions.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { compiler } from '../../support/installed-tools.ts';
import { casesOfTier, isFull } from '../../support/needs.ts';
import { compileAll, failuresOf, MOST_TURNS, startsAndRandom } from '../compile-all.ts';
import { backendOf, compiledFor, TARGET_FLAGS } from './candidates.ts';
import { constraintsOf } from './constraints.ts';
import { SHAPES } from './shapes.ts';
import { gpuOptions } from './targets.ts';

/** Random points of each space of each target, over all its workloads; 0 without `npm run check:gpu -- --points`. */
const POINTS = Number(process.env['GPU_POINTS'] ?? 0);

/** Configurations of each workload without `POINTS`. */
const DRAWN = isFull ? 21 : 2;

/** 500 points of a space take minutes for each workload. */
const MOST_SECONDS = 3600;

const F16 = ['f16', 'f32'] as const;

/** Two images of 34 x 34 with 64 channels, filtered to 128. */
const LARGE = { images: 2, image: 34, channels: 64, filters: 128 };
const ONE_IMAGE = { ...LARGE, images: 1 };

const CONVOLUTIONS: Readonly<Record<string, ConvolutionText>> = {
  'nhwc f32': convolution2d('nhwc', LARGE),
  'nhwc f16': convolution2d('nhwc', LARGE, { types: F16 }),
  'nhwc f16, one image, odd': convolution2d(
    'nhwc',
    { image: 16, channels: 64, filters: 200 },
    { types: F16 },
  ),
  'nhwc f32, one image with a bias': convolution2d('nhwc', ONE_IMAGE, { user: 'bias' }),
  'nhwc f16, one image in a padded result': convolution2d('nhwc', ONE_IMAGE, { user: 'pad', types: F16 }),
  'nhwc f32, three channels': convolution2d('nhwc', { images: 2, image: 16, channels: 3, filters: 256 }),
  'nchw f32': convolution2d('nchw', LARGE),
  'nchw f32, one image, odd': convolution2d('nchw', { image: 16, channels: 256, filters: 256 }),
  'nchw f32, one image and a transpose': convolution2d('nchw', ONE_IMAGE, { user: 'transpose' }),
  'nchw f16': convolution2d('nchw', { ...LARGE, image: 30 }, { types: F16 }),
  'nchw f16, steps of two': convolution2d('nchw', { ...LARGE, image: 29 }, { stride: 2, types: F16 }),
};

/** Names of all workloads. Convolutions are the compiler's dispatches; other workloads have no context. */
const NAMES = [
  ...Object.keys(SHAPES).filter((name) => SHAPES[name]!.windows === undefined),
  ...Object.keys(CONVOLUTIONS),
];

/** Without the full tier each target compiles one workload of its own. */
const namesFor = (target: string): string[] => {
  const first = 3 * Object.keys(TARGET_FLAGS).indexOf(target);
  const isTuned = (name: string) =>
    SHAPES[name] === undefined || backendOf(target).tuning(SHAPES[name]).unsupported === null;
  const names = NAMES.map((_, i) => NAMES[(first + i) % NAMES.length]!).filter(isTuned);
  return isFull || POINTS > 0 ? names : names.slice(0, 1);
};

const workloadOf = (target: string, name: string): OperationWork =>
  SHAPES[name]?.windows === undefined && SHAPES[name] !== undefined
    ? SHAPES[name]
    : convolutionWorkloads(TARGET_FLAGS[target]!, [CONVOLUTIONS[name]!])[0]!;

const spaceOf = (target: string, workload: OperationWork) =>
  backendOf(target).tuning(workload).space(gpuOptions(target)) as SearchSpace<OwnConfiguration>;

const drawn = (space: SearchSpace<OwnConfiguration>, count: number): OwnConfiguration[] =>
  startsAndRandom(space, count, seededRandom(36));

/** Kinds of the configurations in a workload's space. */
const kindsOf = (target: string, name: string): ReadonlySet<string> =>
  new Set(drawn(spaceOf(target, workloadOf(target, name)), 200).map(({ kind }) => kind));

/** Random configurations of a workload: its share of `POINTS` for each kind. */
function drawnOfKinds(target: string, name: string): OwnConfiguration[] {
  const space = spaceOf(target, workloadOf(target, name));
  const kindsOfAll = namesFor(target).map((one) => kindsOf(target, one));
  const left = new Map(
    [...kindsOf(target, name)].map((kind) => [
      kind,
      Math.ceil(POINTS / kindsOfAll.filter((kinds) => kinds.has(kind)).length),
    ]),
  );
  const random = seededRandom(NAMES.indexOf(name));
  const found = new Map<string, OwnConfiguration>();
  for (let turn = 0; turn < 10 * MOST_TURNS && [...left.values()].some((count) => count > 0); turn++) {
    const one = space.configurationAt(randomPoint(space, random));
    if (one === null || found.has(keyOf(one)) || left.get(one.kind)! <= 0) continue;
    found.set(keyOf(one), one);
    left.set(one.kind, left.get(one.kind)! - 1);
  }
  return [...found.values()];
}

/** Without the full tier one target of HIP, and one of Vulkan. */
const TARGETS = isFull || POINTS > 0 ? Object.keys(TARGET_FLAGS) : ['gfx942', 'ampere'];

describe.each(TARGETS)('for %s', { tags: ['slow'] }, (target) => {
  const counts: Record<string, number> = {};
  afterAll(() => {
    if (POINTS > 0) process.stdout.write(`Compiled for ${target}: ${JSON.stringify(counts)}\n`);
  });

  test.each(namesFor(target))(
    '%s: every configuration compiles to machine code and lands',
    async (name) => {
      const workload = workloadOf(target, name);
      const configurations =
        POINTS > 0 ? drawnOfKinds(target, name) : drawn(spaceOf(target, workload), DRAWN);
      for (const { kind } of configurations) counts[kind] = (counts[kind] ?? 0) + 1;
      expect(await failuresOf(compiledFor(target), workload, configurations)).toEqual({});
    },
    MOST_SECONDS * 1000,
  );
});

/** The compiler's preferences: other stages and more subgroups compute the right result, too. */
const PREFERENCES = /^prefetch_num_stages == 2|^sg_num <= 10$/;

test.each(casesOfTier(['sm_89', 'gfx1100', 'sm_80', 'gfx942', 'gfx950'], 2))(
  "no configuration with matrix instructions breaks the compiler's own rules for %s",
  (target) => {
    const workload = SHAPES['matmul f16']!;
    const folder = temporaryDirectory();
    const [source, dump] = [join(folder, 'matmul.mlir'), join(folder, 'configured.mlir')];
    writeFileSync(
      source,
      `func.func @main(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}
`,
    );
    const { stderr } = spawnSync(
      compiler.executable,
      [
        ...[source, ...TARGET_FLAGS[target]!, '--compile-to=executable-configurations'],
        ...['--iree-codegen-emit-pipeline-constraints', '-o', dump],
      ],
      { encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    const constraints = constraintsOf(readFileSync(dump, 'utf8'), 'TileAndFuse');
    const rules = new Map<string, string>();
    for (const c of drawn(spaceOf(target, workload), 300)) {
      if (c.kind !== 'mma-tile') throw new Error(c.kind);
      const [m, n] = [0, 1] as const;
      const knobs = {
        ...{ wg_0: c.workgroup[m]!, wg_1: c.workgroup[n]!, red_2: c.reduction[2]! },
        ...{ sg_0: c.subgroup[m]!, sg_1: c.subgroup[n]! },
        ...{ sg_m_cnt: c.subgroups[m]!, sg_n_cnt: c.subgroups[n]! },
        ...{ sg_size: c.subgroupSize, wg_size_x: threadsOf(c), wg_size_y: 1, wg_size_z: 1 },
        ...{ mma_idx: constraints.mmas.indexOf(c.mma), prefetch_num_stages: c.prefetch ?? 2 },
      };
      for (const rule of constraints.broken(knobs, [512, 512, 512]))
        if (!PREFERENCES.test(rule)) rules.set(rule, keyOf(c));
      expect(constraints.broken({ ...knobs, wg_size_x: 2048 }, [512, 512, 512])).toContain(
        'wg_size_x == total_threads',
      );
    }
    expect(Object.fromEntries(rules)).toEqual({});
  },
);

test('the compiler accepts remainders and a foreign subgroup size: the rules are ours', async () => {
  const { refused } = await compileAll(compiledFor('sm_80'), SHAPES['matmul f32']!, [
    {
      ...{ version: 1, kind: 'simt-tile', subgroupSize: 64, padded: false, igemm: false, promoted: true },
      ...{ workgroup: [48, 96, 0], thread: [3, 4, 0], reduction: [0, 0, 24] },
    },
  ]);
  expect(refused).toEqual(new Map());
});
