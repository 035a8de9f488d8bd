// The real runtime reads the random parameters.
import { execa } from 'execa';
import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isBytecode } from 'mlir-parser-ts';
import { findTool } from '../../src/compiler/find.ts';
import { parametersOf, type Parameter } from '../../src/input/parameters.ts';
import {
  archiveHead,
  isWritable,
  parameterBytes,
  parameterFileBytes,
  writeParameters,
} from '../../src/program/parameters.ts';
import { root, temporaryDirectory } from '../support/folders.ts';
import { compiler, runtimeTool } from '../support/real-tools.ts';
import { buffersIn, compile, runMain } from './support.ts';

const parameter = (scope: string | null, key: string, elementType: string, shape = [3, 4]): Parameter => ({
  ...{ scope, key, shape, elementType },
});

test('the runtime loads small, varied parameters of all scopes', async () => {
  const folder = temporaryDirectory();
  const all = [
    parameter('model', 'w/0', 'f32'),
    parameter('model', 'w.1', 'bf16', [5]),
    parameter('other', 'w/0', 'i8', [3, 4]),
    parameter('other', 'odd', 'f16', [3]),
  ];
  expect(all.every(isWritable)).toBe(true);
  expect(parameterBytes(all)).toBe(48 + 10 + 12 + 6);
  const { flags } = writeParameters(all, folder);
  expect(flags).toHaveLength(2);
  const globals = all.map(({ scope, key, shape, elementType }, i) => {
    const type = `tensor<${[...shape, elementType].join('x')}>`;
    return {
      type,
      text: `util.global private @p${i} = #flow.parameter.named<"${scope!}"::"${key}"> : ${type}`,
    };
  });
  const loads = globals.map(({ type }, i) => `  %${i} = util.global.load @p${i} : ${type}`);
  const types = globals.map(({ type }) => type).join(', ');
  const program = `${globals.map(({ text }) => text).join('\n')}
func.func @main() -> (${types}) {
${loads.join('\n')}
  return ${globals.map((_, i) => `%${i}`).join(', ')} : ${types}
}`;
  const module = await compile(program, folder, 'program');
  const values = buffersIn(await runMain(module, flags));
  expect(values.map(({ type }) => type)).toEqual(['3x4xf32', '5xbf16', '3x4xi8', '3xf16']);
  for (const { type, values: own } of values) {
    expect(own.every((value) => Math.abs(value) <= (type.endsWith('i8') ? 8 : 1 / 16))).toBe(true);
    if (type.startsWith('3x4')) expect(new Set(own).size).toBeGreaterThan(2);
  }
});

test('they are found in bytecode of the compiler', async () => {
  const folder = temporaryDirectory();
  const [source, bytecode] = [join(folder, 'in.mlir'), join(folder, 'in.mlirbc')];
  writeFileSync(source, 'util.global private @w = #flow.parameter.named<"model"::"w"> : tensor<4x8xf32>');
  const printer = findTool('iree-opt', compiler, process.env, { root });
  await execa(printer!, [source, '--emit-bytecode', '-o', bytecode]);
  const bytes = readFileSync(bytecode);
  expect(isBytecode(bytes)).toBe(true);
  expect(parametersOf(bytes)).toEqual([parameter('model', 'w', 'f32', [4, 8])]);
});

test('a type whose elements cannot be written is not writable', () => {
  expect(isWritable(parameter('model', 'w', 'i4'))).toBe(false);
});

describe('parameters', () => {
  const all = [
    // The others begin behind the place where the elements repeat.
    parameter('model', 'large', 'f32', [1500, 1000]),
    parameter('model', 'first', 'f32', [5, 7]),
    parameter('model', 'second', 'f32', [5, 7]),
    parameter('model', 'token', 'i32', [9]),
  ];
  const pathIn = ([flag]: readonly string[]) => flag!.slice('--parameters=model='.length);

  /** The elements of each parameter, by the places that the runtime's tool prints. */
  const elementsIn = async (flags: readonly string[]) => {
    const { stdout } = await execa(runtimeTool('iree-dump-parameters'), flags);
    const bytes = readFileSync(pathIn(flags));
    return new Map(
      [...stdout.matchAll(/^ *(\d+) \| +(\d+) \| +\d+ \| `(\w+)`$/gm)].map(([, begin, end, key]) => [
        key!,
        bytes.subarray(Number(begin), Number(end)),
      ]),
    );
  };
  const floatsIn = (bytes: Uint8Array | undefined) => [...new Float32Array(new Uint8Array(bytes!).buffer)];

  test('have values of their own, which a move changes in the last bits', async () => {
    const folder = temporaryDirectory();
    const { flags, moved } = writeParameters(all, folder);
    const before = await elementsIn(flags);
    const after = await elementsIn(moved(temporaryDirectory(), 1));
    expect([...before.keys()].sort()).toEqual(['first', 'large', 'second', 'token']);
    expect(floatsIn(before.get('first'))).not.toEqual(floatsIn(before.get('second')));
    for (const key of ['first', 'second']) {
      const [own, other] = [before, after].map((of) => floatsIn(of.get(key)));
      for (const [i, value] of own!.entries())
        expect(Math.abs(other![i]! / value - 1)).toBeCloseTo(2 ** -21, 6);
    }
    expect(after.get('token')).toEqual(before.get('token'));
  });

  test('may share bytes', async () => {
    const folder = temporaryDirectory();
    const path = join(folder, 'shared.irpa');
    const entries = [
      { key: 'one', begin: 0, bytes: 128 },
      { key: 'two', begin: 64, bytes: 128 },
    ];
    const elements = Float32Array.from({ length: 48 }, (_, i) => i);
    writeFileSync(path, Buffer.concat([archiveHead(entries, 192), Buffer.from(elements.buffer)]));
    const shared = await elementsIn([`--parameters=model=${path}`]);
    expect(floatsIn(shared.get('one'))).toEqual([...elements.subarray(0, 32)]);
    expect(floatsIn(shared.get('two'))).toEqual([...elements.subarray(16)]);
  });

  test('are written once', () => {
    const folder = temporaryDirectory();
    const { flags } = writeParameters(all, folder);
    utimesSync(pathIn(flags), 1, 1);
    expect(writeParameters(all, folder).flags).toEqual(flags);
    expect(statSync(pathIn(flags)).mtimeMs).toBe(1000);
    expect(readdirSync(folder)).toHaveLength(1);
  });
});

test('the files of large programs take 1 GiB, or little more than their largest parameter', () => {
  const layers = Array.from({ length: 100 }, (_, i) =>
    parameter('model', `w${i}`, 'bf16', [2 ** 13, 2 ** 13]),
  );
  expect(parameterBytes(layers)).toBe(100 * 2 ** 27);
  expect(parameterFileBytes(layers) / 2 ** 30).toBeCloseTo(1);
  const table = parameter('model', 'table', 'f32', [2 ** 15, 2 ** 14]);
  const more = parameterFileBytes([...layers, table]) - 2 ** 31;
  expect(more).toBeGreaterThan(0);
  expect(more).toBeLessThan(2 ** 30);
});
