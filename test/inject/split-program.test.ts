import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'mlir-parser-ts';
import { expect, test } from 'vitest';
import { configuredSource, readTexts, sameExecutables } from '../../src/inject/executable-sources.ts';
import { blamedFor, configuredWith, splitProgram } from '../../src/inject/split-program.ts';
import { tiles } from '../support/backend.ts';
import { matmul } from '../support/workloads.ts';
import { executable, operation } from './executables.ts';

const configuration = tiles([4, 8, 0], [4, 8, 0], [0, 0, 2]);
const own = { workload: matmul(4, 8, 2), configuration };
const RELEASE = [3, 13, 0] as const;

test('the root of an executable gets a configuration', () => {
  const source = configuredSource(executable(operation()), own, RELEASE);
  const [found] = parse(source!).operations;
  expect(found?.attributes.map(({ name }) => name)).toEqual(['compilation_info']);
});

test.each([
  ['two roots', operation() + operation().replace('%r', '%s'), own],
  ['none', '', own],
  ['one of other sizes', operation(), { ...own, workload: matmul(8, 4, 2) }],
])('an executable with %s is left alone', (_, operations, configured) => {
  expect(configuredSource(executable(operations), configured, RELEASE)).toBeNull();
});

test('each executable of a round that has one gets its configuration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'split-'));
  const program = {
    sources: new Map([['f$async_dispatch_0', executable(operation())]]),
    configured: new Map<string, Uint8Array>(),
  };
  const wanted = ['f$async_dispatch_0', 'f$async_dispatch_9'].map((one) => ({ ...own, executable: one }));
  const { flags, texts } = configuredWith(program, wanted, RELEASE, folder);
  expect([...texts.keys()]).toEqual(['f$async_dispatch_0']);
  const [path = ''] = flags.map((flag) => flag.split('=').at(-1)!);
  expect(flags).toEqual([`--iree-hal-substitute-executable-source=f$async_dispatch_0=${path}`]);
  expect(readFileSync(path, 'utf8')).toContain('compilation_info');
});

test('executables with constants that the dumps lack get no configuration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'split-'));
  const constant = (name: string) => `%w = arith.constant dense_resource<${name}> : tensor<4xf32>\n`;
  const bodies = {
    whole: operation(),
    elided: constant('__elided__') + operation(),
    lacking: constant('torch_tensor_4_torch.float32') + operation(),
    given: `${constant('own')}${operation()}`,
  };
  const resources = '\n{-# dialect_resources: { builtin: { own: "0x00" } } #-}\n';
  for (const part of ['sources', 'configured']) {
    mkdirSync(join(folder, part));
    for (const [name, body] of Object.entries(bodies))
      writeFileSync(
        join(folder, part, `${name}.mlir`),
        executable(body, undefined, name).toString() + (name === 'given' ? resources : ''),
      );
  }
  const { sources, configured } = readTexts(folder);
  expect([...sources.keys()].toSorted()).toEqual(['given', 'whole']);
  expect([...configured.keys()].toSorted()).toEqual(['given', 'whole']);
});

test('an error is about the executables that come from its place', () => {
  const from = (place: string) => Buffer.from(`#loc1 = loc("model.mlir":${place})`);
  const sources = new Map([
    ['a', from('12:3')],
    ['b', from('12:30')],
    ['c', from('4:3')],
  ]);
  const messages = 'model.mlir:4:3: warning: slow\nmodel.mlir:12:3: error: no such tile\n';
  expect([...blamedFor(messages, sources)]).toEqual(['a']);
  expect(blamedFor('error: out of memory\n', sources).size).toBe(0);
});

test('a program that is not split says what the compiler said', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'split-'));
  const compile = { argv: [], stdin: undefined };
  const resumed = (path: string) => [path];
  const refuse = (argv: readonly string[]) =>
    Promise.resolve(argv.includes('--compile-to=flow') ? null : 'error: no such phase');
  await expect(splitProgram(refuse, compile, resumed, folder)).resolves.toBe('error: no such phase');
  const broken = () => Promise.resolve('error: no such flag');
  await expect(splitProgram(broken, compile, resumed, folder)).resolves.toBe('error: no such flag');
});

test('an executable is found again in a program that counts in another way', () => {
  const placed = (name: string, place: string) =>
    Buffer.from(`#loc1 = loc("m.mlir":${place})\n${executable(operation(), ['llvm-cpu'], name).toString()}`);
  const other = operation().replaceAll('4x', '6x');
  const first = new Map([
    ['f$async_dispatch_0', placed('f$async_dispatch_0', '1:1')],
    ['f$async_dispatch_1', executable(other, ['llvm-cpu'], 'f$async_dispatch_1')],
  ]);
  const second = new Map([
    ['f$async_dispatch_3', placed('f$async_dispatch_3', '7:5')],
    ['f$async_dispatch_4', executable('', ['llvm-cpu'], 'f$async_dispatch_4')],
  ]);
  expect([...sameExecutables(first, second)]).toEqual([['f$async_dispatch_0', 'f$async_dispatch_3']]);
});

test('executables that do the same are told by their order, where there are as many', () => {
  const named = (...numbers: readonly number[]) =>
    new Map(
      numbers.map((number) => {
        const name = `f$async_dispatch_${number}`;
        return [name, executable(operation(), ['llvm-cpu'], name)];
      }),
    );
  expect([...sameExecutables(named(10, 2), named(11, 5))]).toEqual([
    ['f$async_dispatch_2', 'f$async_dispatch_5'],
    ['f$async_dispatch_10', 'f$async_dispatch_11'],
  ]);
  expect(sameExecutables(named(1, 2), named(3)).size).toBe(0);
});
