// Random tiles of whole dispatches compile, and compute the same result.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { substituteFlag } from '../../../src/inject/injection-flags.ts';
import {
  ATTENTION,
  DYNAMIC_ATTENTION,
  DYNAMIC_SOFTMAX,
  GATHER,
  HOST,
  lastConfigured,
  SOFTMAX,
  TRANSPOSE,
  withRandomTiles,
} from '../../support/dispatch-programs.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { runtimeTool } from '../../support/installed-tools.ts';
import { casesOfTier, isFull } from '../../support/needs.ts';
import { rememberingCompiler } from '../../support/remembering-compiler.ts';

/** Configurations of each dispatch. */
const POINTS = isFull ? 300 : 1;

describe.each(
  casesOfTier(
    [
      ['a softmax', 'DoubleTilingExpert', SOFTMAX, [4, 100, 190]],
      ['a gather', 'LinalgExtTileAndVectorize', GATHER, [301, 222]],
      ['a transpose', 'DoubleTilingExpert', TRANSPOSE, [301, 222]],
      ['an attention', 'LinalgExtTileAndVectorize', ATTENTION, [3, 60, 40]],
      ['a softmax of dynamic size and few elements', 'DoubleTilingExpert', DYNAMIC_SOFTMAX, [4, 1, 3]],
      ['a softmax of dynamic size', 'DoubleTilingExpert', DYNAMIC_SOFTMAX, [4, 53, 97]],
      ['an attention of dynamic size', 'LinalgExtTileAndVectorize', DYNAMIC_ATTENTION, [3, 61, 40]],
      ['an attention of dynamic size to one key', 'LinalgExtTileAndVectorize', DYNAMIC_ATTENTION, [3, 1, 40]],
    ],
    1,
  ),
)('%s', { timeout: isFull ? 3_600_000 : 120_000 }, (_, pipeline, text, shape) => {
  test('has tiles that compile to the same results', async () => {
    const folder = temporaryDirectory();
    const at = (name: string) => join(folder, name);
    const size = shape.reduce((product, one) => product * one, 1);
    writeFileSync(
      at('x.bin'),
      Float32Array.from({ length: size }, (_, i) => Math.sin(i)),
    );
    const compile = (flags: readonly string[]) =>
      execa(rememberingCompiler, [...HOST, ...flags, at('in.mlir')]);
    const outputOf = async (module: string): Promise<Float32Array> => {
      await execa(runtimeTool('iree-run-module'), [
        ...[`--module=${module}`, '--device=local-sync', '--function=main'],
        ...[`--input=${shape.join('x')}xf32=@${at('x.bin')}`, `--output=@${at('y.bin')}`],
      ]);
      const bytes = readFileSync(at('y.bin'));
      return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    };
    const executable = await lastConfigured(text, folder);
    expect(executable.work.pipeline).toBe(pipeline);
    await compile(['-o', at('stock.vmfb')]);
    const expected = await outputOf(at('stock.vmfb'));
    for (const [i, tiled] of withRandomTiles(executable, POINTS).entries()) {
      const path = at(`tried${i}.mlir`);
      writeFileSync(path, tiled.text, 'latin1');
      const flag = substituteFlag({ name: executable.name, path, phase: 'configuration' });
      await compile([flag, '-o', at('tuned.vmfb')]);
      const own = await outputOf(at('tuned.vmfb'));
      const furthest = own.reduce((most, one, j) => Math.max(most, Math.abs(one - expected[j]!)), 0);
      expect(furthest, JSON.stringify(tiled.configuration)).toBeLessThan(1e-5);
    }
  });
});
