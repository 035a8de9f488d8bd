// The real compiler generates the same code for all configurations with one canonical configuration.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { canonical } from '../../../src/backend/llvm-cpu/legality.ts';
import type { TileConfiguration } from '../../../src/backend/llvm-cpu/configuration.ts';
import { runTool } from '../../../src/measure/toolchain.ts';
import { attributeOf, tiles } from '../../support/backend.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { toolchain } from '../../support/real-tools.ts';
import { matmul } from '../../support/workloads.ts';

const tilesWith = (change: Partial<TileConfiguration>): TileConfiguration => ({
  ...tiles([32, 64, 0], [4, 16, 0], [0, 0, 4]),
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

/**
 * The function of an executable in the LLVM dialect, without its name, the numbers of values and the places of constants. Equal
 * texts become equal machine code.
 */
function codeOf(executable: string): string {
  const [name] = /^\w+/.exec(executable)!;
  const constants = new Map(
    [...executable.matchAll(/^ *(%\d+) = llvm\.mlir\.constant(\(.*)$/gm)].map(([, one, value]) => [
      one!,
      value!,
    ]),
  );
  const numbers = new Map<string, string>();
  const numberOf = (one: string) => {
    if (!numbers.has(one)) numbers.set(one, `%${numbers.size}`);
    return numbers.get(one)!;
  };
  return executable
    .slice(executable.indexOf('llvm.func @'), executable.indexOf('\n  }\n'))
    .replaceAll(name, '')
    .replaceAll(/^ *%\d+ = llvm\.mlir\.constant.*\n/gm, '')
    .replaceAll(/%\d+/g, (one) => constants.get(one) ?? numberOf(one));
}

test('one stands for all with the same code', async () => {
  const tools = await toolchain(temporaryDirectory());
  // The compiler merges equal executables, so each configuration is compiled once.
  const texts = new Map<string, string>();
  const nameOf = (shape: typeof even, configuration: TileConfiguration): string => {
    const [m, n, k] = shape.dimensions.map(({ size }) => size) as [number, number, number];
    const [a, b, c] = [`${m}x${k}`, `${k}x${n}`, `${m}x${n}`].map((one) => `tensor<${one}xf32>`);
    const text = `(%a: ${a!}, %b: ${b!}, %c: ${c!}) -> ${c!} {
  %r = linalg.matmul {${attributeOf(configuration, shape, tools.release)!}} ins(%a, %b : ${a!}, ${b!}) outs(%c : ${c!}) -> ${c!}
  return %r : ${c!}
}
`;
    const name = texts.get(text) ?? `f${texts.size}`;
    texts.set(text, name);
    return name;
  };
  const named = SAME.map(([what, shape, change]) => {
    const configuration = tilesWith(change);
    const one = canonical(shape, configuration);
    expect({ what, one }).not.toEqual({ what, one: configuration });
    return { what, one: nameOf(shape, one), other: nameOf(shape, configuration) };
  });
  const [source, made] = ['same.mlir', 'same.out'].map((name) => join(tools.workDirectory, name));
  writeFileSync(source!, [...texts].map(([text, name]) => `func.func @${name}${text}`).join(''));
  const argv = [...tools.flags, '--compile-to=executable-targets', source!, '-o', made!];
  expect(await runTool(tools.compiler, argv, 120, tools.signal)).toMatchObject({ ok: true });
  const codes = new Map(
    readFileSync(made!, 'utf8')
      .split('\n  hal.executable private @')
      .slice(1)
      .map((executable) => [/^f\d+/.exec(executable)![0], codeOf(executable)]),
  );
  expect(codes.size).toBe(texts.size);
  for (const { what, one, other } of named) {
    expect(codes.get(one)).toMatch(/llvm\.load[^]*llvm\.store[^]*llvm\.return/);
    expect({ what, isSame: codes.get(one) === codes.get(other) }).toEqual({ what, isSame: true });
  }
  expect(new Set(named.map(({ one }) => codes.get(one))).size).toBeGreaterThan(3);
});

describe('a difference in the code stays', () => {
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
    expect(canonical(shape, tilesWith(change))).toEqual(tilesWith(change));
  });
});
