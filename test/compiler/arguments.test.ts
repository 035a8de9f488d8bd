import { describe, expect, it, test } from 'vitest';
import { flagIsOn, hasFlag, lastValue, readArguments } from '../../src/compiler/arguments.ts';
import { loadOptionTable, tableOf } from '../../src/compiler/options.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { compile, matmul, realCompiler } from './support.ts';
import { write } from '../support/scripts.ts';
import { join } from 'node:path';

const table = tableOf(
  ['split-input-file', 'iree-opt-data-tiling', 'version', 'help', 'h', 'iree-hal-list-target-backends'],
  ['o', 'compile-to', 'iree-hal-target-backends'],
);
const read = (...argv: string[]) => readArguments(argv, table);

describe('the input', () => {
  test.each([
    ['alone', ['m.mlir'], 'm.mlir', 0],
    ['after a boolean', ['--split-input-file', 'm.mlir'], 'm.mlir', 1],
    ['after a flag that takes a value', ['--compile-to', 'input', 'm.mlir'], 'm.mlir', 2],
    ['after the same flag with one dash', ['-compile-to', 'input', 'm.mlir'], 'm.mlir', 2],
    ['after a value given by =', ['--compile-to=input', 'm.mlir'], 'm.mlir', 1],
    ['before its flags', ['m.mlir', '-o', 'x'], 'm.mlir', 0],
    ['after --', ['-o', 'x', '--', 'm.mlir'], 'm.mlir', 3],
    ['named like a flag, after --', ['--', '--version'], '--version', 1],
    ['after a value that looks like a flag', ['--compile-to', '--version', 'm.mlir'], 'm.mlir', 2],
    ['after a value that is --', ['--compile-to', '--', 'm.mlir'], 'm.mlir', 2],
    ['after an unknown flag with =', ['--plugin-flag=1', 'm.mlir'], 'm.mlir', 1],
    ['before an unknown flag at the end', ['m.mlir', '--plugin-flag'], 'm.mlir', 0],
  ])('%s', (_, argv, path, index) => {
    expect(readArguments(argv, table)).toMatchObject({ input: { kind: 'file', path, index }, unclear: null });
  });

  it('is stdin for a dash', () => {
    expect(read('-o', 'x', '-')).toMatchObject({ input: { kind: 'stdin', index: 2 }, unclear: null });
    expect(read('--', '-')).toMatchObject({ input: { kind: 'stdin', index: 1 }, unclear: null });
  });
});

test.each([
  ['nothing at all', [], /no input/],
  ['no input', ['-o', 'x'], /no input/],
  ['an input that a flag has taken', ['--compile-to', 'm.mlir'], /no input/],
  ['two inputs', ['a.mlir', 'b.mlir'], /more than one input file: a.mlir, b.mlir/],
  ['two inputs around --', ['a.mlir', '--', '-'], /more than one input/],
  ['a second --', ['--', 'a.mlir', '--'], /more than one input/],
  ['a boolean followed by its value', ['--split-input-file', 'true', 'm.mlir'], /more than one input/],
  ['an unknown flag before something', ['--plugin-flag', 'm.mlir'], /--plugin-flag is unknown/],
  ['a grouped -ofile', ['m.mlir', '-ofile', '--version=x'], /-ofile is unknown/],
  ['a flag without its value', ['m.mlir', '-o'], /-o has no value/],
  ['an input without a name', [''], /has no name/],
  ['an output without a name', ['m.mlir', '-o='], /has no name/],
])('is unclear with %s', (_, argv, reason) => {
  expect(readArguments(argv, table).unclear).toMatch(reason);
});

describe('the output', () => {
  test.each([
    ['stdout without -o', ['m'], { kind: 'stdout' }],
    ['stdout for a dash', ['m', '-o', '-'], { kind: 'stdout' }],
    ['-o f', ['m', '-o', 'f'], { kind: 'file', path: 'f' }],
    ['-o=f', ['m', '-o=f'], { kind: 'file', path: 'f' }],
    ['--o f', ['m', '--o', 'f'], { kind: 'file', path: 'f' }],
    ['the last of two', ['m', '-o', 'f', '-o', 'g'], { kind: 'file', path: 'g' }],
    ['stdout again when a dash comes last', ['m', '-o', 'f', '-o', '-'], { kind: 'stdout' }],
    ['a path with = in it', ['m', '-o=a=b'], { kind: 'file', path: 'a=b' }],
  ])('is %s', (_, argv, output) => {
    expect(readArguments(argv, table).output).toEqual(output);
  });
});

describe('flags', () => {
  it('have their index in the arguments', () => {
    expect(read('--compile-to', 'input', 'm', '--split-input-file', '-o=f').flags).toEqual([
      { name: 'compile-to', value: 'input', kind: 'value', index: 0, end: 2 },
      { name: 'split-input-file', value: null, kind: 'flag', index: 3, end: 4 },
      { name: 'o', value: 'f', kind: 'value', index: 4, end: 5 },
    ]);
  });

  it('have their last value', () => {
    const args = read('m', '--iree-hal-target-backends=a', '--iree-hal-target-backends', 'b');
    expect(lastValue(args, 'iree-hal-target-backends')).toBe('b');
    expect(lastValue(args, 'compile-to')).toBeNull();
  });

  test.each([
    [[], false],
    [['--iree-opt-data-tiling'], true],
    [['-iree-opt-data-tiling'], true],
    [['--iree-opt-data-tiling=true'], true],
    [['--iree-opt-data-tiling=1'], true],
    [['--iree-opt-data-tiling=false'], false],
    [['--iree-opt-data-tiling=0'], false],
    [['--iree-opt-data-tiling', '--iree-opt-data-tiling=false'], false],
    [['--iree-opt-data-tiling=false', '--iree-opt-data-tiling'], true],
  ])('%j turns a boolean on: %s', (flags, on) => {
    expect(flagIsOn(read('m', ...flags), 'iree-opt-data-tiling')).toBe(on);
  });

  it("have the compiler's default when absent", () => {
    expect(flagIsOn(read('m'), 'iree-opt-data-tiling', true)).toBe(true);
    expect(hasFlag(read('m'), 'iree-opt-data-tiling')).toBe(false);
  });
});

test.each([
  [['--version'], true],
  [['-version'], true],
  [['-h'], true],
  [['m.mlir', '--help'], true],
  [['--iree-hal-list-target-backends'], true],
  [['--iree-hal-list-target-backends=false', 'm'], false],
  [['--compile-to', '--version', 'm'], false],
  [['--', '--version'], false],
])('%j is informational: %s', (argv, informational) => {
  expect(readArguments(argv, table)).toMatchObject({ informational, unclear: null });
});

// The real compiler accepts or rejects these commands as predicted.
describe.skipIf(realCompiler === null)('the real compiler agrees', { tags: ['compiler'] }, async () => {
  if (realCompiler === null) return;
  const directory = temporaryDirectory();
  write(join(directory, 'm.mlir'), matmul);
  const real = await loadOptionTable(realCompiler.executable, temporaryDirectory());
  const clear = [
    ['m.mlir', '--compile-to', 'input'],
    ['-compile-to', 'input', 'm.mlir'],
    ['--compile-to=input', '--', 'm.mlir'],
    ['--split-input-file', 'm.mlir', '--compile-to=input'],
    ['--iree-cuda-target', '--', 'm.mlir', '--compile-to=input'],
    ['--iree-cuda-target', '--version', 'm.mlir', '--compile-to=input'],
    ['--emit-mlir-bytecode-version', '5', '--compile-to=input', 'm.mlir'],
    ['--print-changed', 'm.mlir', '--compile-to=input'],
    ['m.mlir', '--compile-to=input', '--compile-to=input', '-o=-'],
    ['m.mlir', '--compile-to=input', '--o', '-'],
  ];
  test.each(clear)('%s %s %s %s is one input', (...argv) => {
    expect(readArguments(argv, real)).toMatchObject({ input: { path: 'm.mlir' }, unclear: null });
    expect(compile(argv, directory)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('tensor<8x8xf32>') as string,
    });
  });
  const refused = [
    ['m.mlir', '--compile-to=input', '-ooo', '--split-input-file'],
    ['m.mlir', '--compile-to=input', '-o'],
    ['m.mlir', '--compile-to=input', '-o='],
    ['m.mlir', 'm.mlir', '--compile-to=input'],
    ['m.mlir', '--', '--compile-to=input'],
    ['--split-input-file', 'true', 'm.mlir', '--compile-to=input'],
    ['--print-changed', 'quiet', 'm.mlir', '--compile-to=input'],
    ['--compile-to=input'],
    ['m.mlir', '--compile-to=input', ''],
  ];
  test.each(refused)('%s %s %s %s is refused', (...argv) => {
    expect(readArguments(argv, real).unclear).not.toBeNull();
    expect(compile(argv, directory).code).toBe(1);
  });

  it('uses the last of two outputs', () => {
    expect(compile(['m.mlir', '--compile-to=input', '-o', 'first', '-o', '-'], directory).stdout).toContain(
      'tensor',
    );
  });

  it('lets the last of repeated flags win, so that ours can come first', () => {
    const run = compile(
      ['--iree-cuda-target=a', '--compile-to=flow', 'm.mlir', '--compile-to=input'],
      directory,
    );
    expect(run).toMatchObject({ code: 0 });
    expect(run.stdout).toContain('linalg.matmul');
  });
});
