import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { movedInputs, scaledInputs, writeInputs } from '../../src/program/inputs.ts';
import type { ProgramFunction } from '../../src/input/signature.ts';
import { decodeElements } from '../../src/measure/elements.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { npy } from './npy.ts';
import { buffersIn, compile, pathIn, runMain } from './support.ts';

const tensor = (elementType: string): ProgramFunction => ({
  call: null,
  name: 'main',
  arguments: [{ shape: [4, 10], elementType }],
  results: [{ elementType, shape: [4, 10] }],
  unsupported: null,
});

const bytesIn = (input: string) => new Uint8Array(readFileSync(pathIn(input)));
const floatsIn = (input: string) => new Float32Array(bytesIn(input).buffer);

describe('the runtime reads back the written values', () => {
  const floats = [
    ['f64', 2],
    ['f32', 2],
    ['f16', 1],
    ['bf16', 1],
    ['f8E4M3FN', 1],
    ['f8E4M3FNUZ', 1],
    ['f8E5M2', 1],
    ['f8E5M2FNUZ', 1],
  ] as const;
  const integers = [
    ['i1', [0, 1]],
    ['i8', [-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]],
    ['ui8', [0, 1, 2, 3, 4, 5, 6, 7]],
    ['i16', [0, 1]],
    ['i32', [0, 1]],
    ['si64', [0, 1]],
  ] as const;
  const names = [...floats, ...integers].map(([name]) => name);
  /** The elements of a tensor of each type, as the runtime reads them. */
  const valuesOf = new Map<string, readonly number[]>();

  beforeAll(async () => {
    const folder = temporaryDirectory();
    const types = names.map((name) => `tensor<4x10x${name}>`);
    const values = types.map((_, i) => `%a${i}`);
    const parameters = types.map((type, i) => `%a${i}: ${type}`);
    // The compiler demotes nothing in a function that only returns its arguments.
    const text = `func.func @main(${parameters.join(', ')}) -> (${types.join(', ')}) { return ${values.join(', ')} : ${types.join(', ')} }`;
    const module = await compile(text, folder, 'types');
    const all = names.map((elementType) => ({ shape: [4, 10], elementType }));
    const inputs = writeInputs({ ...tensor('f32'), arguments: all }, folder, 1);
    expect(inputs).toEqual(names.map((name, i) => `4x10x${name}=@${join(folder, `input${i}.bin`)}`));
    const printed = await runMain(
      module,
      inputs.map((input) => `--input=${input}`),
    );
    for (const [i, { values }] of buffersIn(printed).entries()) valuesOf.set(names[i]!, values);
    expect([...valuesOf.values()].map(({ length }) => length)).toEqual(names.map(() => 40));
  });

  test.each(floats)('%s', (name, largest) => {
    const values = valuesOf.get(name)!;
    expect(Math.max(...values.map(Math.abs))).toBeLessThanOrEqual(largest);
    // Few values would hide arithmetic of lower precision.
    expect(new Set(values).size).toBeGreaterThan(15);
  });

  test.each(integers)('%s', (name, expected) => {
    const values = new Set(valuesOf.get(name));
    for (const value of values) expect(expected).toContain(value);
    // Constant inputs would hide mistakes.
    expect(values.size).toBeGreaterThan(Math.min(expected.length, 8) - 1);
  });
});

test('scalars, tensors of rank 0 and empty tensors', async () => {
  const folder = temporaryDirectory();
  const inputs = writeInputs(
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
  const printed = await runMain(
    await compile(text, folder, 'scalars'),
    inputs.map((input) => `--input=${input}`),
  );
  expect(printed).toMatch(/i64=1\n.*f32=0\.5\n.*\nf32=-?[012](\.\d+)?$/);
});

test('the same seed gives the same values, another seed other values', () => {
  const bytes = (seed: number) => {
    const folder = temporaryDirectory();
    writeInputs(tensor('f32'), folder, seed);
    return readFileSync(join(folder, 'input0.bin'));
  };
  expect(bytes(1)).toEqual(bytes(1));
  expect(bytes(1)).not.toEqual(bytes(2));
});

describe('moved inputs', () => {
  const folder = temporaryDirectory();
  const moved = join(folder, 'moved');
  mkdirSync(moved);

  test('differ in the last bits of each float', () => {
    const inputs = writeInputs(tensor('f32'), folder, 3);
    const [input] = movedInputs(inputs, moved, 1);
    const after = floatsIn(input!);
    for (const [i, value] of floatsIn(inputs[0]!).entries())
      expect(Math.abs(after[i]! / value - 1)).toBeCloseTo(2 ** -21, 6);
    expect(pathIn(input!)).not.toBe(pathIn(inputs[0]!));
  });

  test.each([
    ['bf16', false],
    ['i32', true],
  ])('of type %s', (elementType, isEqual) => {
    const inputs = writeInputs(tensor(elementType), folder, 3);
    const [input] = movedInputs(inputs, moved, 1);
    expect(Buffer.compare(bytesIn(inputs[0]!), bytesIn(input!)) === 0).toBe(isEqual);
  });

  test('that share a file move alone, and the others stay', () => {
    const file = join(folder, 'shared.bin');
    const [first, tokens, last] = [
      new Float32Array([1, 2]),
      new Int32Array([7, 8, 9]),
      new Float32Array([3, 4, 5]),
    ];
    writeFileSync(file, Buffer.concat([first, tokens, last].map((one) => Buffer.from(one.buffer))));
    const inputs = movedInputs([`2xf32=@${file}`, `3xi32=+${file}`, `3xf32=+${file}`], moved, 1);
    const [a, b, c] = inputs.map((input) => bytesIn(input).buffer);
    expect([...new Float32Array(a!)].map(Math.round)).toEqual([1, 2]);
    expect([...new Int32Array(b!)]).toEqual([7, 8, 9]);
    expect([...new Float32Array(c!)].map(Math.round)).toEqual([3, 4, 5]);
    expect(new Set(inputs.map(pathIn)).size).toBe(3);
  });

  test("in NumPy's format keep their header", () => {
    const file = join(folder, 'given.npy');
    const given = npy('<f4', [2], new Float32Array([1, -3]));
    writeFileSync(file, given);
    const [input] = movedInputs([`@${file}`], moved, 1);
    const bytes = bytesIn(input!);
    const head = given.length - 8;
    expect(Buffer.compare(bytes.subarray(0, head), given.subarray(0, head))).toBe(0);
    const values = [...new Float32Array(bytes.slice(head).buffer)];
    expect(values.map(Math.round)).toEqual([1, -3]);
    expect(values).not.toEqual([1, -3]);
  });
});

test('tensors of several pieces repeat their elements, and so do moved ones', () => {
  const folder = temporaryDirectory();
  const moved = temporaryDirectory();
  const period = 65_521;
  const shape = [33, period];
  const large = { ...tensor('f32'), arguments: [{ shape, elementType: 'f32' }] };
  const inputs = writeInputs(large, folder, 1);
  for (const [input] of [inputs, movedInputs(inputs, moved, 1)]) {
    const values = floatsIn(input!);
    expect(values).toHaveLength(33 * period);
    for (const row of [1, 16, 32])
      expect(values.subarray(row * period, row * period + 3)).toEqual(values.subarray(0, 3));
    expect(values[1]).not.toBe(values[0]);
  }
});

test('each piece of a tensor that does not repeat moves by itself', () => {
  const folder = temporaryDirectory();
  const moved = temporaryDirectory();
  const values = Float32Array.from({ length: 150_000 }, (_, i) => i + 1);
  writeFileSync(join(folder, 'own.bin'), values);
  const [input] = movedInputs([`150000xf32=@${folder}/own.bin`], moved, 1);
  const after = floatsIn(input!);
  expect(after).toHaveLength(values.length);
  for (const at of [0, 70_000, 149_999]) {
    expect(after[at]! / values[at]!).toBeCloseTo(1, 5);
    expect(after[at]).not.toBe(values[at]);
  }
});

test("the user's values stay as they are", () => {
  const folder = temporaryDirectory();
  const arguments_ = [
    { shape: [4], elementType: 'f32' },
    { shape: [3], elementType: 'i32' },
  ];
  const given = new Map([[0, '4xf32=1e+5 2 3 4']]);
  const inputs = writeInputs({ ...tensor('f32'), arguments: arguments_ }, folder, 1, given);
  expect(inputs).toEqual(['4xf32=1e+5 2 3 4', `3xi32=@${folder}/input1.bin`]);
  expect(movedInputs(inputs, folder, 1)).toEqual(inputs);
  const own = new Map([[0, `4xf32=@${folder}/own.bin`]]);
  writeFileSync(join(folder, 'own.bin'), new Float32Array([-1, 2, 3, 4]));
  const all = [`4xf32=@${folder}/own.bin`, '4xf32=@' + join(folder, 'own.bin')];
  const [kept, scaled] = scaledInputs(all, true, own);
  expect(kept).toBe(all[0]);
  expect(scaled).not.toBe(all[1]);
});

test('scaled inputs have positive vectors, and weights whose sums of products stay small', () => {
  const folder = temporaryDirectory();
  const types = [
    { shape: [50], elementType: 'f32' },
    { shape: [64, 10], elementType: 'f32' },
    { shape: [3, 3, 16, 40], elementType: 'f16' },
    { shape: [1, 200, 200, 3], elementType: 'bf16' },
    { shape: [20, 20], elementType: 'i32' },
    { shape: null, elementType: 'f32' },
  ];
  const inputs = writeInputs({ ...tensor('f32'), arguments: types }, folder, 1);
  const valuesIn = (input: string, elementType: string) => [
    ...(decodeElements(bytesIn(input), elementType) as Float32Array),
  ];
  const range = (values: readonly number[]) => [Math.min(...values), Math.max(...values)] as const;
  const signed = scaledInputs(inputs, false);
  const [least, most] = range(valuesIn(signed[0]!, 'f32'));
  expect(least).toBeGreaterThanOrEqual(1);
  expect(most).toBeLessThanOrEqual(2);
  const largestOf = (i: number, elementType: string, from = signed) =>
    Math.max(...valuesIn(from[i]!, elementType).map(Math.abs));
  // A sum has 10 products at most.
  expect(largestOf(1, 'f32')).toBeGreaterThan(0.4);
  expect(largestOf(1, 'f32')).toBeLessThanOrEqual(0.5);
  // A sum has 144 products.
  expect(largestOf(2, 'f16')).toBeGreaterThan(0.06);
  expect(largestOf(2, 'f16')).toBeLessThanOrEqual(1 / 16);
  // Sums are too long for a weight, so nothing is scaled.
  expect(largestOf(3, 'bf16')).toBeGreaterThan(0.9);
  expect(signed.slice(4)).toEqual(inputs.slice(4));
  expect(range(valuesIn(signed[1]!, 'f32'))[0]).toBeLessThan(0);
  const positive = scaledInputs(inputs, true);
  expect(range(valuesIn(positive[1]!, 'f32'))[0]).toBeGreaterThanOrEqual(0);
});
