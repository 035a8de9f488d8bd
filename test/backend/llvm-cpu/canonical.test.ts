// Configurations that one stands for: the real compiler makes the same code of all of them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { canonical } from '../../../src/backend/llvm-cpu/canonical.ts';
import type { TileConfiguration } from '../../../src/backend/llvm-cpu/configuration.ts';
import { runTool } from '../../../src/measure/toolchain.ts';
import { attributeOf } from '../../support/backend.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { toolchain } from '../../support/real-tools.ts';
import { matmul } from '../../support/workloads.ts';

const tiles = (change: Partial<TileConfiguration>): TileConfiguration => ({
  ...{ version: 1, kind: 'tile', distribution: [32, 64, 0] },
  ...{ vectorCommonParallel: [4, 16, 0], vectorReduction: [0, 0, 4], peeling: false },
  ...change,
});

/** Dividing 96 x 128 x 64, and dividing none of 50 x 70 x 33. */
const even = matmul(96, 128, 64);
const odd = matmul(50, 70, 33);

const SAME: readonly [string, typeof even, Partial<TileConfiguration>][] = [
  ['an inner level', even, { vectorInnerParallel: [0, 16, 0] }],
  ['peeling where nothing remains', even, { peeling: true }],
  ['blocks as large as the workgroup', even, { cacheParallel: [32, 64, 0] }],
  ['blocks that are larger', even, { cacheParallel: [64, 96, 0] }],
  ['one such block beside a smaller one', even, { cacheParallel: [64, 32, 0] }],
  ['workgroups larger than the result', even, { distribution: [128, 192, 0], peeling: true }],
  ['the same where vectors leave remainders', odd, { distribution: [64, 128, 0], peeling: true }],
  ['vectors longer than their block of k', even, { cacheReduction: [0, 0, 8], vectorReduction: [0, 0, 16] }],
  ['a block of all of k', even, { cacheReduction: [0, 0, 64] }],
];

test('one stands for all with the same code', async () => {
  const folder = temporaryDirectory();
  const tools = await toolchain(folder);
  const compiled = async (shape: typeof even, configuration: TileConfiguration): Promise<string> => {
    const [m, n, k] = shape.dimensions.map(({ size }) => size) as [number, number, number];
    const [a, b, c] = [`${m}x${k}`, `${k}x${n}`, `${m}x${n}`].map((one) => `tensor<${one}xf32>`);
    const [source, made] = [join(folder, 'one.mlir'), join(folder, 'one.vmfb')];
    writeFileSync(
      source,
      `func.func @f(%a: ${a!}, %b: ${b!}, %c: ${c!}) -> ${c!} {
  %r = linalg.matmul {${attributeOf(configuration, shape, tools.release)!}} ins(%a, %b : ${a!}, ${b!}) outs(%c : ${c!}) -> ${c!}
  return %r : ${c!}
}
`,
    );
    // Debug information holds the attribute's place.
    const argv = [...tools.flags, '--iree-llvmcpu-debug-symbols=false', source, '-o', made];
    expect(await runTool(tools.compiler, argv, 60, tools.signal)).toMatchObject({ ok: true });
    return readFileSync(made).toString('hex');
  };
  const distinct = new Set<string>();
  for (const [what, shape, change] of SAME) {
    const configuration = tiles(change);
    const one = canonical(shape, configuration);
    expect({ what, one }).not.toEqual({ what, one: configuration });
    const code = await compiled(shape, one);
    distinct.add(code);
    expect({ what, isSame: code === (await compiled(shape, configuration)) }).toEqual({ what, isSame: true });
  }
  expect(distinct.size).toBeGreaterThan(3);
});

describe('what makes a difference stays', () => {
  test.each([
    ['blocks within workgroups that leave a remainder', odd, { cacheParallel: [32, 64, 0] }],
    ['peeling of what vectors leave', odd, { peeling: true }],
    ['peeling of what blocks leave', even, { cacheParallel: [24, 0, 0], peeling: true }],
    ['vectors longer than a block that does not divide k', odd, { cacheReduction: [0, 0, 2] }],
    [
      'blocks of dynamic dimensions',
      {
        ...even,
        dimensions: [{ kind: 'm', size: 96, sizes: [96, 12] } as const, ...even.dimensions.slice(1)],
      },
      { cacheParallel: [64, 0, 0] },
    ],
  ] as const)('%s', (_, shape, change) => {
    expect(canonical(shape, tiles(change))).toEqual(tiles(change));
  });
});
