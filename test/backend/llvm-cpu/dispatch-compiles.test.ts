// Random tiles of whole dispatches compile, and compute the same.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { dispatchSpace } from '../../../src/backend/llvm-cpu/dispatch-space.ts';
import { reconfigured } from '../../../src/backend/llvm-cpu/dispatch-tiles.ts';
import { substituteFlag } from '../../../src/inject/substitute-flags.ts';
import { seededRandom } from '../../../src/search/strategy.ts';
import type { DispatchWork } from '../../../src/workload/dispatch/dispatch-work.ts';
import { dispatchWork } from '../../../src/workload/dispatch/from-configured.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { runtimeTool } from '../../support/installed-tools.ts';
import { isFull } from '../../support/needs.ts';
import { rememberingCompiler } from '../../support/remembering-compiler.ts';

const HOST = ['--iree-hal-target-device=local', '--iree-hal-local-target-device-backends=llvm-cpu'];

/** What such a target has where nobody says more of it. */
const NATIVE_VECTOR_BYTES = 16;

/** Of each; the full tier tries as many as make sure. */
const POINTS = isFull ? 300 : 5;

const SOFTMAX = `func.func @main(%x: tensor<4x100x190xf32>) -> tensor<4x100x190xf32> {
  %e = tensor.empty() : tensor<4x100x190xf32>
  %r = linalg.softmax dimension(2) ins(%x : tensor<4x100x190xf32>) outs(%e : tensor<4x100x190xf32>) -> tensor<4x100x190xf32>
  return %r : tensor<4x100x190xf32>
}
`;

const TRANSPOSE = `func.func @main(%x: tensor<301x222xf32>) -> tensor<222x301xf32> {
  %e = tensor.empty() : tensor<222x301xf32>
  %r = linalg.transpose ins(%x : tensor<301x222xf32>) outs(%e : tensor<222x301xf32>) permutation = [1, 0]
  return %r : tensor<222x301xf32>
}
`;

const attentionMap = (results: string) => `affine_map<(d0, d1, d2, d3, d4) -> (${results})>`;
const HEADS = 'tensor<3x60x40xf32>';
const ATTENTION = `func.func @main(%x: ${HEADS}) -> ${HEADS} {
  %s = arith.constant 0.125 : f32
  %e = tensor.empty() : ${HEADS}
  %r = iree_linalg_ext.attention <{indexing_maps = [${['d0, d1, d4', 'd0, d3, d4', 'd0, d3, d2', '', 'd0, d1, d2'].map(attentionMap).join(', ')}]}> ins(%x, %x, %x, %s : ${HEADS}, ${HEADS}, ${HEADS}, f32) outs(%e : ${HEADS}) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> ${HEADS}
  return %r : ${HEADS}
}
`;

/** Rows by an index that comes of what is gathered. */
const GATHER = `func.func @main(%x: tensor<301x222xf32>) -> tensor<256x222xf32> {
  %e = tensor.empty() : tensor<256xi32>
  %rows = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<256xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %seven = arith.constant 7 : index
    %p = arith.muli %i, %seven : index
    %most = arith.constant 301 : index
    %row = arith.remui %p, %most : index
    %r = arith.index_cast %row : index to i32
    linalg.yield %r : i32
  } -> tensor<256xi32>
  %rows_in_memory = util.optimization_barrier %rows : tensor<256xi32>
  %empty = tensor.empty() : tensor<256x222xf32>
  %r = iree_linalg_ext.gather dimension_map = [0] ins(%x, %rows_in_memory : tensor<301x222xf32>, tensor<256xi32>) outs(%empty : tensor<256x222xf32>) -> tensor<256x222xf32>
  return %r : tensor<256x222xf32>
}
`;

describe.each([
  ['a softmax', 'DoubleTilingExpert', SOFTMAX, [4, 100, 190]],
  ['a transpose', 'DoubleTilingExpert', TRANSPOSE, [301, 222]],
  ['a gather', 'LinalgExtTileAndVectorize', GATHER, [301, 222]],
  ['an attention', 'LinalgExtTileAndVectorize', ATTENTION, [3, 60, 40]],
])('%s', { timeout: isFull ? 3_600_000 : 120_000 }, (_, pipeline, text, shape) => {
  test('has tiles that compile to the same results', async () => {
    const folder = temporaryDirectory();
    const at = (name: string) => join(folder, name);
    writeFileSync(at('in.mlir'), text);
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
    await compile(['--compile-to=executable-configurations', '-o', at('configured.mlir')]);
    const executables = readFileSync(at('configured.mlir'), 'latin1').matchAll(
      /^ {2}hal\.executable \w+ @(\S+) [^]*?^ {2}\}$/gm,
    );
    // The last one is what the test is about.
    const [source, executable] = [...executables].at(-1) as unknown as [string, string];
    const work = dispatchWork(source, { executable, digest: '0123456789abcdef', bytes: 1 }) as DispatchWork;
    expect(work.pipeline).toBe(pipeline);
    await compile(['-o', at('stock.vmfb')]);
    const expected = await outputOf(at('stock.vmfb'));
    const space = dispatchSpace(work, { nativeVectorBytes: NATIVE_VECTOR_BYTES, threads: 1 });
    const random = seededRandom(1);
    for (let tried = 0; tried < POINTS;) {
      const point = space.knobs.map(({ values }) => Math.floor(random() * values.length));
      const configuration = space.configurationAt(point);
      if (configuration === null || configuration.kind === 'default') continue;
      const path = at(`tried${tried++}.mlir`);
      writeFileSync(path, reconfigured(source, work, configuration)!, 'latin1');
      const flag = substituteFlag({ name: executable, path, phase: 'configuration' });
      await compile([flag, '-o', at('tuned.vmfb')]);
      const own = await outputOf(at('tuned.vmfb'));
      const furthest = own.reduce((most, one, i) => Math.max(most, Math.abs(one - expected[i]!)), 0);
      expect(furthest, JSON.stringify(configuration)).toBeLessThan(1e-5);
    }
  });
});
