// Options of the search space of a workload in its program.
import { describe, expect, test } from 'vitest';
import { spaceOptionsOf } from '../../src/decision/space-options.ts';
import { tunables, type Input } from '../../src/input/input.ts';
import { inputOf, keyOfMatmul, matmulText, siteOf } from '../support/inspected.ts';

const key = keyOfMatmul(8, 16, 32);
const input = inputOf(matmulText(8, 16, 32));

function optionsOf({
  reading = {},
  site = siteOf(),
  inject = 'auto',
}: {
  reading?: Partial<Input['reading']>;
  site?: ReturnType<typeof siteOf>;
  inject?: Parameters<typeof spaceOptionsOf>[2]['inject'];
} = {}) {
  return spaceOptionsOf({ ...input, reading: { ...input.reading, ...reading } }, site, { inject })({ key });
}
const release = (...numbers: [number, number, number]) =>
  siteOf({ compiler: { ...siteOf().compiler, release: numbers } });

test('target and device give the sizes of vectors, registers and caches', () => {
  const device = { ...siteOf().device, threads: 8, cachesKiB: [48, 2048] };
  expect(optionsOf({ site: siteOf({ device }, { nativeVectorBytes: 32 }) })).toEqual({
    nativeVectorBytes: 32,
    vectorRegisters: 16,
    threads: 8,
    cachesKiB: [48, 2048],
    wholeProgram: true,
    following: true,
  });
  // A target of unknown vector size gets 16 bytes, which every CPU has.
  expect(optionsOf({ site: siteOf({}, { nativeVectorBytes: 0 }) }).nativeVectorBytes).toBe(16);
});

test.each([
  ['x86_64-unknown-linux-gnu', 64, 32],
  ['x86_64-unknown-linux-gnu', 32, 16],
  ['x86_64-unknown-linux-gnu', 16, 16],
  ['aarch64-unknown-linux-gnu', 16, 32],
  ['arm64-apple-macosx14', 16, 32],
  // Groups of two registers of 256 bits.
  ['riscv64-unknown-linux-gnu', 64, 16],
])('%s with vectors of %i bytes has %i registers of them', (triple, nativeVectorBytes, expected) => {
  expect(optionsOf({ site: siteOf({}, { triple, nativeVectorBytes }) }).vectorRegisters).toBe(expected);
});

test('a CPU with products of matrices of bytes has them on AArch64 only', () => {
  const of = (triple: string) => optionsOf({ site: siteOf({}, { triple, features: ['i8mm'] }) });
  expect(of('aarch64-unknown-linux-gnu').hasByteMatrices).toBe(true);
  expect(of('x86_64-unknown-linux-gnu').hasByteMatrices).toBeUndefined();
});

describe('the space has configurations that change the whole program', () => {
  test.each([
    ['auto', true],
    ['preprocess', true],
    ['spec', false],
    ['inline', false],
    ['substitute', false],
  ] as const)('with inject=%s: %s', (inject, expected) => {
    expect(optionsOf({ inject }).wholeProgram).toBe(expected);
  });
  test.each([
    ['data tiling of his own', { reading: { dataTiling: true } }],
    ['a preprocessing spec of his own', { reading: { ownPreprocessing: true } }],
    ['another backend', { site: siteOf({}, { backend: 'cuda' }) }],
    ['a compiler before 3.11', { site: release(3, 10, 0) }],
  ])('not with %s', (_, change) => {
    expect(optionsOf(change).wholeProgram).toBe(false);
  });
  test.each([
    ['3.11', release(3, 11, 0)],
    ['a version that it does not tell', release(0, 0, 0)],
  ])('with a compiler of %s', (_, site) => {
    expect(optionsOf({ site }).wholeProgram).toBe(true);
  });
  test('not for a workload with a generated operation', () => {
    const [written] = tunables(input);
    const other = keyOfMatmul(9, 16, 32);
    const operations = [
      ...input.operations,
      { ...written!, written: null },
      ...inputOf(matmulText(9, 16, 32)).operations,
    ];
    const of = spaceOptionsOf({ ...input, operations }, siteOf(), { inject: 'auto' });
    expect([of({ key }), of({ key: other })].map(({ wholeProgram }) => wholeProgram)).toEqual([false, true]);
  });
});

describe('generated operations are configured', () => {
  test.each([
    ['3.12', { site: release(3, 12, 0) }, true],
    ['3.11', { site: release(3, 11, 9) }, false],
    ["a pipeline of the user's", { reading: { ownPipeline: true } }, false],
    ["a preprocessing spec of the user's", { reading: { ownPreprocessing: true } }, true],
  ])('with %s: %s', (_, change, expected) => {
    expect(optionsOf(change).following).toBe(expected);
  });
});
