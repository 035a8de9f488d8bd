// Tiles of attentions on CUDA and HIP against the real compiler, which needs no GPU.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OwnConfiguration } from '../../../src/backend/configuration.ts';
import type { SearchSpace } from '../../../src/search/space.ts';
import { seededRandom } from '../../../src/search/strategy.ts';
import type { DispatchWork } from '../../../src/workload/dispatch/dispatch-work.ts';
import { dispatchWork } from '../../../src/workload/dispatch/from-configured.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { compiler } from '../../support/installed-tools.ts';
import { isFull } from '../../support/needs.ts';
import { startsAndRandom } from '../compile-all.ts';
import { attentionProgram } from './attention-texts.ts';
import { backendOf, TARGET_FLAGS } from './candidates.ts';
import { gpuOptions } from './targets.ts';

/** Random configurations of each attention: with `npm run check:gpu -- --points N`, N for each target. */
const POINTS = Number(process.env['GPU_POINTS'] ?? 0);
const SHAPES = [
  [12, 128, 64, 'f16'],
  [4, 512, 128, 'f16'],
  [2, 1024, 64, 'f16'],
  [12, 128, 64, 'f32'],
] as const;
const COUNT = POINTS > 0 ? Math.ceil(POINTS / SHAPES.length) : isFull ? 8 : 1;

const MOST_SECONDS = 3600;

/** Each target has all shapes in the full tier, and else one target has one of them. Without matrix instructions for f32 there is nothing to tune. */
const CASES = Object.keys(TARGET_FLAGS)
  .filter((target) => backendOf(target).rendering.reconfigured !== undefined)
  .flatMap((target, i) => {
    const shapes = SHAPES.filter(([, , , type]) => type === 'f16' || target.startsWith('gfx9'));
    const isAll = isFull || POINTS > 0;
    return (isAll ? shapes : [shapes[i % shapes.length]!]).map((shape) => ({ target, shape }));
  })
  // Without the full tier one target.
  .filter(({ target }) => isFull || POINTS > 0 || target === 'gfx950');

test.each(CASES)(
  '$target: tiles of an attention of $shape compile to machine code',
  { tags: ['slow'], timeout: MOST_SECONDS * 1000 },
  ({ target, shape }) => {
    const folder = temporaryDirectory();
    const at = (name: string) => join(folder, name);
    const compile = (...argv: string[]) =>
      spawnSync(compiler.executable, [...TARGET_FLAGS[target]!, ...argv], { encoding: 'utf8' });
    const [heads, queries, depth, type] = shape;
    writeFileSync(at('in.mlir'), attentionProgram(heads, queries, depth, type));
    const phase = 'executable-configurations';
    expect(compile(at('in.mlir'), `--compile-to=${phase}`, '-o', at('configured.mlir')).stderr).toBe('');
    const text = readFileSync(at('configured.mlir'), 'latin1');
    const work = dispatchWork(text, { executable: 'main_dispatch_0', digest: '0'.repeat(16), bytes: 1 });
    expect(work).toMatchObject({ kind: 'dispatch', pipeline: 'VectorDistribute' });
    const backend = backendOf(target);
    const space = backend.tuning(work as DispatchWork).space(gpuOptions(target));
    const drawn = startsAndRandom(space as SearchSpace<OwnConfiguration>, COUNT, seededRandom(35));
    expect(drawn).not.toEqual([]);
    const failed: Record<string, string> = {};
    for (const one of drawn) {
      const own = backend.rendering.reconfigured!(text, work as DispatchWork, one);
      writeFileSync(at('own.mlir'), own!, 'latin1');
      const { status, stderr } = compile(at('own.mlir'), `--compile-from=${phase}`, '-o', at('own.vmfb'));
      if (status !== 0) failed[JSON.stringify(one)] = stderr;
    }
    if (POINTS > 0) process.stdout.write(`Attentions of ${shape.join('x')} for ${target}: ${drawn.length}\n`);
    expect(failed).toEqual({});
  },
);
