import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { roundedInputs, scaledInputs, writeInputs } from '../../src/program/inputs.ts';
import type { ProgramFunction } from '../../src/input/signature.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { runtimeTool } from '../support/real-tools.ts';
import { compile } from './support.ts';

const tensor = (elementType: string): ProgramFunction => ({
  call: null,
  name: 'main',
  arguments: [{ shape: [4, 10], elementType }],
  results: [elementType],
  unsupported: null,
});

/** The elements of a printed buffer: `4x10xf32=[1 2...][...]`, i1 in hexadecimal digits. */
function elements(printed: string): number[] {
  const [, text = ''] = /^\d[\dx]*x[a-z]\w*=(.*)$/m.exec(printed) ?? [];
  return text
    .split(/[[\]\s]+/)
    .filter((word) => word !== '')
    .map(Number);
}

describe('the runtime reads back the written values', () => {
  const folder = temporaryDirectory();
  test.each<[string, number[]]>([
    ['f64', [-2, -1, 0, 1, 2]],
    ['f32', [-2, -1, 0, 1, 2]],
    ['f16', [-1, 0, 1]],
    ['bf16', [-1, 0, 1]],
    ['f8E4M3FN', [-1, 0, 1]],
    ['f8E4M3FNUZ', [-1, 0, 1]],
    ['f8E5M2', [-1, 0, 1]],
    ['f8E5M2FNUZ', [-1, 0, 1]],
    ['i1', [0, 1]],
    ['i8', [-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]],
    ['ui8', [0, 1, 2, 3, 4, 5, 6, 7]],
    ['i16', [0, 1]],
    ['i32', [0, 1]],
    ['si64', [0, 1]],
  ])('%s', async (elementType, expected) => {
    const type = `tensor<4x10x${elementType}>`;
    const text = `func.func @main(%a: ${type}) -> ${type} { return %a : ${type} }`;
    // The compiler demotes nothing in a function that only returns its argument.
    const module = await compile(text, folder, elementType);
    const own = join(folder, elementType);
    mkdirSync(own);
    const [input] = await writeInputs(tensor(elementType), own, 1);
    expect(input).toBe(`4x10x${elementType}=@${join(own, 'input0.bin')}`);
    const { stdout } = await execa(runtimeTool('iree-run-module'), [
      `--module=${module}`,
      '--function=main',
      '--device=local-sync',
      `--input=${input!}`,
    ]);
    const values = elements(stdout);
    expect(values).toHaveLength(40);
    for (const value of new Set(values)) expect(expected).toContain(value);
    // Constant inputs would hide mistakes.
    expect(new Set(values).size).toBeGreaterThan(Math.min(expected.length, 8) - 1);
  });
});

test('scalars, tensors of rank 0 and empty tensors', async () => {
  const folder = temporaryDirectory();
  const inputs = await writeInputs(
    {
      ...tensor('f32'),
      arguments: [
        { shape: null, elementType: 'index' },
        { shape: null, elementType: 'f32' },
        { shape: [], elementType: 'f32' },
        { shape: [0, 4], elementType: 'f32' },
      ],
    },
    folder,
    1,
  );
  expect(inputs).toEqual(['1', '0.5', `f32=@${folder}/input2.bin`, `0x4xf32=@${folder}/input3.bin`]);
  const type = 'tensor<0x4xf32>';
  const text = `func.func @main(%i: index, %s: f32, %r: tensor<f32>, %e: ${type}) -> (index, f32, tensor<f32>) {
    return %i, %s, %r : index, f32, tensor<f32>
  }`;
  const { stdout } = await execa(runtimeTool('iree-run-module'), [
    `--module=${await compile(text, folder, 'scalars')}`,
    '--function=main',
    '--device=local-sync',
    ...inputs.map((input) => `--input=${input}`),
  ]);
  expect(stdout).toMatch(/i64=1\n.*f32=0\.5\n.*\nf32=-?[012]$/);
});

test('the same seed gives the same values, another seed other values', async () => {
  const bytes = async (seed: number) => {
    const folder = temporaryDirectory();
    await writeInputs(tensor('f32'), folder, seed);
    return readFileSync(join(folder, 'input0.bin'));
  };
  expect(await bytes(1)).toEqual(await bytes(1));
  expect(await bytes(1)).not.toEqual(await bytes(2));
});

test('rounded inputs differ by the rounding of the narrowest type', async () => {
  const folder = temporaryDirectory();
  const rounded = join(folder, 'rounded');
  mkdirSync(rounded);
  /** Largest relative difference for f32; for other types 0 if all bytes are equal, else 1. */
  const differences = async (elementType: string, roundsTo: readonly string[]) => {
    const inputs = await writeInputs(tensor(elementType), folder, 3);
    const [input] = await roundedInputs(inputs, roundsTo, rounded);
    const [before, after] = [inputs[0]!, input!].map((one) => readFileSync(one.slice(one.indexOf('@') + 1)));
    const floats = (bytes: Buffer) => [...new Float32Array(new Uint8Array(bytes).buffer)];
    if (elementType !== 'f32') return before!.equals(after!) ? 0 : 1;
    const [was, is] = [floats(before!), floats(after!)];
    return Math.max(...was.map((value, i) => (value === 0 ? is[i]! : Math.abs(is[i]! / value - 1))));
  };
  expect(await differences('f32', [])).toBe(2 ** -21);
  expect(await differences('f32', ['f16', 'bf16'])).toBe(2 ** -8);
  expect(await differences('bf16', ['bf16'])).toBe(1);
  expect(await differences('i32', ['bf16'])).toBe(0);
});

test('scaled inputs have positive vectors, and weights whose sums of products stay small', async () => {
  const folder = temporaryDirectory();
  const types = [
    { shape: [50], elementType: 'f32' },
    { shape: [64, 10], elementType: 'f32' },
    { shape: [3, 3, 16, 40], elementType: 'f16' },
    { shape: [1, 200, 200, 3], elementType: 'bf16' },
    { shape: [20, 20], elementType: 'i32' },
    { shape: null, elementType: 'f32' },
  ];
  const inputs = await writeInputs({ ...tensor('f32'), arguments: types }, folder, 1);
  const bytesIn = (input: string) => new Uint8Array(readFileSync(input.slice(input.indexOf('@') + 1)));
  /** Distinct values of floats, or distinct halves. */
  const valuesIn = (input: string) =>
    [
      ...new Set(
        /f32/.test(input) ? new Float32Array(bytesIn(input).buffer) : new Uint16Array(bytesIn(input).buffer),
      ),
    ].sort((a, b) => a - b);
  const signed = await scaledInputs(inputs, false);
  expect(valuesIn(signed[0]!)).toEqual([1, 2]);
  // A sum has 10 products at most.
  expect(valuesIn(signed[1]!)).toEqual([-0.5, -0.25, 0, 0.25, 0.5]);
  // A sum has 144 products. 1/16 is 0x2c00 in f16.
  expect(valuesIn(signed[2]!)).toEqual([0, 0x2c00, 0xac00]);
  // Sums are too long for a weight, so nothing is scaled. 1 is 0x3f80 in bf16.
  expect(valuesIn(signed[3]!)).toEqual([0, 0x3f80, 0xbf80]);
  expect(signed.slice(4)).toEqual(inputs.slice(4));
  const positive = await scaledInputs(inputs, true);
  expect(valuesIn(positive[1]!)).toEqual([0, 0.25, 0.5]);
  expect(valuesIn(positive[2]!)).toEqual([0, 0x2c00]);
});
