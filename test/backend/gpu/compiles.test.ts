// What is said of the spaces, held against the real compiler: it needs no GPU to compile for one.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configuredOperations } from '../../../src/backend/dumps.ts';
import { cuda } from '../../../src/backend/cuda/index.ts';
import { keyOf, threadsOf, type GpuConfiguration } from '../../../src/backend/gpu/configuration.ts';
import { rocm } from '../../../src/backend/rocm/index.ts';
import { randomPoint, seededRandom } from '../../../src/search/strategy.ts';
import { candidateLoops, matchKey } from '../../../src/workload/workload.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { compiler } from '../../support/installed-tools.ts';
import { isFull } from '../../support/needs.ts';
import { compileAll, functionOf, TARGET_FLAGS, type Candidate } from './candidates.ts';
import { constraintsOf } from './constraints.ts';
import { SHAPES } from './shapes.ts';
import { gpuTargetText } from './targets.ts';

const backendOf = (target: string) => (target.startsWith('sm_') ? cuda : rocm);

const optionsOf = (target: string) => ({
  ...{ nativeVectorBytes: 0, vectorRegisters: 0, threads: 1, gpu: gpuTargetText(target) },
  ...{ wholeProgram: false, following: false },
});

/** How many candidates are drawn for each target. */
const DRAWN = isFull ? 500 : 20;
/** Compiled together: where one fails, its message says which. */
const TOGETHER = 25;

/** Random candidates, as many of each shape; the first one of each is a start. */
function drawn(target: string, count: number, shapes = Object.values(SHAPES)): Candidate[] {
  const random = seededRandom(36);
  const seen = new Set<string>();
  const found: Candidate[] = [];
  const spaces = shapes.map((workload) => backendOf(target).spaceOf(workload, optionsOf(target)));
  for (let turn = 0; found.length < count; turn++) {
    const i = turn % shapes.length;
    const space = spaces[i]!;
    const point = space.starts[Math.floor(turn / shapes.length)] ?? randomPoint(space, random);
    const configuration = space.configurationAt(point) as GpuConfiguration | null;
    const key = configuration && `${i} ${keyOf(configuration)}`;
    if (key === null || seen.has(key)) continue;
    seen.add(key);
    found.push({ workload: shapes[i]!, configuration });
  }
  return found;
}

describe.each(Object.keys(TARGET_FLAGS))('for %s', { tags: ['slow'] }, (target) => {
  test('every configuration compiles to machine code and lands', () => {
    const all = drawn(target, DRAWN);
    for (let from = 0; from < all.length; from += TOGETHER) {
      const part = all.slice(from, from + TOGETHER);
      const { problem, dumps } = compileAll(target, part);
      expect(problem).toBe('');
      const lost = part.filter(({ workload, configuration }, i) => {
        const loops = candidateLoops(workload);
        const form = { workload, loops };
        const expected = new Set([matchKey(form)]);
        return (
          backendOf(target).landedOn(configuredOperations(dumps[i]!), form, configuration!, loops, expected)
            .length !== 1
        );
      });
      expect(lost.map(({ configuration }) => keyOf(configuration!))).toEqual([]);
    }
  });
});

/** Rules that are preferences: other stages and more subgroups compute the right result. */
const PREFERENCES = /^prefetch_num_stages == 2|^sg_num <= 10$/;

test.each(['sm_80', 'sm_89', 'gfx942', 'gfx950', 'gfx1100'])(
  "no configuration with matrix instructions breaks the compiler's own rules for %s",
  (target) => {
    const workload = SHAPES['matmul f16']!;
    const folder = temporaryDirectory();
    const [source, dump] = [join(folder, 'matmul.mlir'), join(folder, 'configured.mlir')];
    writeFileSync(source, functionOf('main', { workload, configuration: null }));
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
    for (const { configuration: c } of drawn(target, 300, [workload])) {
      if (c!.kind !== 'mma-tile') throw new Error(c!.kind);
      const [m, n] = [0, 1] as const;
      const knobs = {
        ...{ wg_0: c!.workgroup[m]!, wg_1: c!.workgroup[n]!, red_2: c!.reduction[2]! },
        ...{
          sg_0: c!.subgroup[m]!,
          sg_1: c!.subgroup[n]!,
          sg_m_cnt: c!.subgroups[m]!,
          sg_n_cnt: c!.subgroups[n]!,
        },
        ...{ sg_size: c!.subgroupSize, wg_size_x: threadsOf(c!), wg_size_y: 1, wg_size_z: 1 },
        ...{ mma_idx: constraints.mmas.indexOf(c!.mma), prefetch_num_stages: c!.prefetch ?? 2 },
      };
      for (const rule of constraints.broken(knobs, [512, 512, 512]))
        if (!PREFERENCES.test(rule)) rules.set(rule, keyOf(c!));
      expect(constraints.broken({ ...knobs, wg_size_x: 2048 }, [512, 512, 512])).toContain(
        'wg_size_x == total_threads',
      );
    }
    expect(Object.fromEntries(rules)).toEqual({});
  },
);

test('the compiler accepts remainders and a foreign subgroup size: the rules are ours', () => {
  const { problem } = compileAll('sm_80', [
    {
      workload: SHAPES['matmul f32']!,
      configuration: {
        ...{ version: 1, kind: 'simt-tile', subgroupSize: 64, padded: false, igemm: false, promoted: true },
        ...{ workgroup: [48, 96, 0], thread: [3, 4, 0], reduction: [0, 0, 24] },
      },
    },
  ]);
  expect(problem).toBe('');
});
