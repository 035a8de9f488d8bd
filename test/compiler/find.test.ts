import { chmodSync, copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { CompilerNotFoundError, findCompiler, findRuntimeTool } from '../../src/compiler/find.ts';
import { interpreterOf, isPipScript } from '../../src/compiler/pip.ts';
import { launcherMarker, RecursionError } from '../../src/system/recursion.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { fakeVenv, pipScript, realCompiler, root } from './support.ts';
import { program, write } from '../support/scripts.ts';

/** A folder for each place of a compiler, each with a compiler that prints its place. */
function places() {
  const directory = temporaryDirectory();
  const place = (name: string): string =>
    dirname(program(join(directory, name, 'iree-compile'), `echo ${name}`));
  return {
    directory,
    tools: place('tools'),
    first: place('first'),
    second: place('second'),
    root: join(directory, 'root'),
  };
}

describe('the order', () => {
  const at = places();
  const inFolder = (folder: string) => join(folder, 'iree-compile');
  const setting = program(join(at.directory, 'anything'), '');
  const shimmed = program(join(at.directory, 'installed/iree-compile'), '');
  const local = program(join(at.root, '.venv/bin/iree-compile'), '');
  const env = {
    IREE_TUNED_SHIM_FOR: shimmed,
    IREE_TOOL_PATH: `/nowhere:${at.tools}`,
    PATH: `/nowhere:${at.first}:${at.second}`,
  };
  const wrong = temporaryDirectory();
  mkdirSync(join(wrong, 'a/iree-compile'), { recursive: true });
  write(join(wrong, 'b/iree-compile'), '');

  test.each([
    ['the setting', setting, env, 'IREE_TUNED_COMPILER', setting],
    ["the shim's compiler", '', env, 'shim', shimmed],
    [
      'IREE_TOOL_PATH',
      '',
      { ...env, IREE_TUNED_SHIM_FOR: '/nowhere/x' },
      'IREE_TOOL_PATH',
      inFolder(at.tools),
    ],
    ['PATH', '', { PATH: env.PATH }, 'PATH', inFolder(at.first)],
    ['programs only', '', { PATH: `${wrong}/a:${wrong}/b:${at.second}` }, 'PATH', inFolder(at.second)],
    ["the package's own environment", '', { PATH: '/nowhere' }, 'local', local],
    ['the same without PATH', '', {}, 'local', local],
  ])('has %s', (_, compiler, env, origin, executable) => {
    const expected = { executable, invokedAs: executable, origin };
    expect(findCompiler(env, { root: at.root, compiler })).toEqual(expected);
  });
  it('has the Python environment of the package before PATH', () => {
    const venv = join(at.directory, 'venv');
    const packages = join(venv, 'lib/python3.11/site-packages');
    const executable = program(join(packages, 'iree/compiler/_mlir_libs/iree-compile'), '');
    const installed = { root: join(packages, 'iree_compile_tuned') };
    const origin = 'environment';
    const path = { PATH: env.PATH };
    // Not beside a clone.
    expect(findCompiler(path, installed).origin).toBe('PATH');
    write(join(installed.root, '__init__.py'), '');
    expect(findCompiler(path, installed)).toEqual({ executable, invokedAs: executable, origin });
    const script = program(join(venv, 'bin/iree-compile'), '');
    expect(findCompiler(path, installed)).toEqual({ executable, invokedAs: script, origin });
    expect(findCompiler({ ...path, IREE_TOOL_PATH: at.tools }, installed).origin).toBe('IREE_TOOL_PATH');
  });
});

describe('the wrapper', () => {
  const at = places();
  const own = join(at.directory, 'package');
  const launcher = program(join(own, 'bin/iree-compile-tuned'), '');
  copyFileSync(launcher, join(own, 'bin/iree-compile'));
  const expected = join(at.first, 'iree-compile');
  const us = (name: string) => join(at.directory, name, 'iree-compile');
  for (const name of ['link', 'copy']) mkdirSync(join(at.directory, name));
  symlinkSync(launcher, us('link'));
  copyFileSync(join(root, 'bin/iree-compile-tuned'), us('copy'));
  symlinkSync(join(own, 'bin'), join(at.directory, 'linked'));
  program(us('shim'), `# ${launcherMarker}\nexec something`);

  test.each([
    ['by a link into its folder', us('link')],
    ['in its folder', join(own, 'bin/iree-compile')],
    ['in its folder behind a link', us('linked')],
    ['as a copy of the launcher', us('copy')],
    ['as any other shim', us('shim')],
  ])('is not found %s', (_, path) => {
    const found = findCompiler({ PATH: `${dirname(path)}:${at.first}` }, { root: own });
    expect(found.executable).toBe(expected);
  });
  it('is refused as the setting', () => {
    expect(() => findCompiler({}, { root: own, compiler: launcher })).toThrow(/iree-compile-tuned itself/);
  });
  it('is detected when it starts itself', () => {
    const find = (depth: string) =>
      findCompiler({ PATH: at.first, IREE_TUNED_DEPTH: depth }, { root: own }).executable;
    expect([find('1'), find('x')]).toEqual([expected, expected]);
    expect(() => find('2')).toThrow(RecursionError);
  });
});

describe('the message without a compiler', () => {
  it('names every place and the way out', () => {
    const directory = temporaryDirectory();
    program(join(directory, 'shim/iree-compile'), `# ${launcherMarker}`);
    const env = { IREE_TOOL_PATH: `${directory}/shim`, PATH: '/nowhere:/neither' };
    const find = () => findCompiler(env, { root: directory });
    expect(find).toThrow(CompilerNotFoundError);
    for (const part of [
      'IREE_TUNED_COMPILER: not set',
      `IREE_TOOL_PATH: ${directory}/shim/iree-compile is iree-compile-tuned itself`,
      'PATH: not in /nowhere, /neither',
      `${directory}/.venv/bin/iree-compile does not exist`,
      'pip install iree-base-compiler',
    ]) {
      expect(find).toThrow(part);
    }
  });
  it("names the shim's compiler", () => {
    const find = () => findCompiler({ IREE_TUNED_SHIM_FOR: '/no/such' }, { root: '/nowhere' });
    expect(find).toThrow('the shim was installed for /no/such, which does not exist');
  });
  it('names the setting only, if there is one', () => {
    const at = places();
    const find = () => findCompiler({ PATH: at.first }, { root: at.root, compiler: '/no/such' });
    expect(find).toThrow('the setting compiler: /no/such does not exist');
    const folder = () => findCompiler({}, { root: at.root, compiler: import.meta.dirname });
    expect(folder).toThrow(`the setting compiler: ${import.meta.dirname} is not an executable file`);
  });
});

describe("pip's script", () => {
  const find = (script: string, env = {}) => findCompiler(env, { root: '/nowhere', compiler: script });

  it('leads to the executable of its environment', () => {
    const { script, elf } = fakeVenv(temporaryDirectory(), 'x');
    expect(find(script)).toEqual({ executable: elf, invokedAs: script, origin: 'IREE_TUNED_COMPILER' });
  });
  it('is followed through links', () => {
    const directory = temporaryDirectory();
    const { script, elf } = fakeVenv(join(directory, 'venv'), 'x');
    symlinkSync(script, join(directory, 'iree-compile'));
    expect(find(join(directory, 'iree-compile')).executable).toBe(elf);
  });
  it('finds lib64, and counts a link to lib once', () => {
    const directory = temporaryDirectory();
    const { script, elf } = fakeVenv(directory, 'x');
    symlinkSync('lib', join(directory, 'lib64'));
    expect(find(script).executable).toBe(elf);
    rmSync(join(directory, 'lib64'));
    renameSync(join(directory, 'lib'), join(directory, 'lib64'));
    expect(find(script).executable).toBe(elf.replace('/lib/', '/lib64/'));
  });
  it('finds the packages of its Python outside the prefix', () => {
    const directory = temporaryDirectory();
    const { script, elf } = fakeVenv(join(directory, 'venv'), 'x');
    mkdirSync(join(directory, 'local/bin'), { recursive: true });
    const copy = join(directory, 'local/bin/iree-compile');
    copyFileSync(script, copy);
    chmodSync(copy, 0o755);
    expect(find(copy).executable).toBe(elf);
  });
  it('chooses the packages of its own Python among several', () => {
    const directory = temporaryDirectory();
    const { script } = fakeVenv(directory, 'x', 'python3.11');
    const { elf } = fakeVenv(directory, 'x', 'python3.12');
    program(join(directory, 'bin/python3.12'), '');
    symlinkSync('python3.12', join(directory, 'bin/python3'));
    expect(find(script).executable).toBe(elf);
  });
  it('asks Python once if the folders are not conclusive', () => {
    const directory = temporaryDirectory();
    const elf = program(join(directory, 'odd/iree-compile'), '');
    const python = program(
      join(directory, 'py/bin/python3'),
      `echo x >>${directory}/count; echo ${directory}/odd`,
    );
    const script = write(join(directory, 'bin/iree-compile'), pipScript(python), 0o755);
    const options = { root: '/nowhere', compiler: script, cacheDirectory: join(directory, 'cache') };
    expect(findCompiler({}, options).executable).toBe(elf);
    expect(findCompiler({}, options).executable).toBe(elf);
    expect(readFileSync(`${directory}/count`, 'utf8')).toBe('x\n');
  });
  it('is run itself if nothing leads to the executable', () => {
    const script = write(join(temporaryDirectory(), 'bin/iree-compile'), pipScript('/no/python3'), 0o755);
    expect(find(script)).toMatchObject({ executable: script, invokedAs: script });
  });
  it("differs from a user's own Python wrapper", () => {
    const directory = temporaryDirectory();
    fakeVenv(directory, 'x');
    const own = write(join(directory, 'bin/iree-compile'), '#!/usr/bin/python3\nimport subprocess\n', 0o755);
    expect(find(own).executable).toBe(own);
  });

  test.each([
    ['#!/opt/venv/bin/python3\n', '/opt/venv/bin/python3'],
    ['#! /usr/bin/env python3\n', 'python3'],
    ["#!/bin/sh\n'''exec' \"/a b/bin/python\" \"$0\" \"$@\"\n' '''\n", '/a b/bin/python'],
    ["#!/bin/sh\n'''exec' /long/bin/python \"$0\" \"$@\"\n' '''\n", '/long/bin/python'],
    ['\x7fELF', null],
  ])('%j is run by %s', (head, python) => {
    expect(interpreterOf(head)).toBe(python);
  });
  test.each([
    [pipScript('/x'), true],
    ['#!/x\nfrom iree._runtime.scripts.iree_run_module.__main__ import main\n', true],
    ['#!/x\nimport os # from iree.compiler.tools import main\n', false],
    ['\x7fELF from iree.compiler.tools import main', false],
  ])('%j is a pip script: %s', (head, yes) => {
    expect(isPipScript(head)).toBe(yes);
  });
});

describe('a tool of the runtime', () => {
  const directory = temporaryDirectory();
  const { script } = fakeVenv(directory, 'x');
  const compiler = findCompiler({}, { root: '/nowhere', compiler: script });
  const options = { root: join(directory, 'root') };
  const name = 'iree-benchmark-module';

  it('is undefined without any', () => {
    expect(findRuntimeTool(name, compiler, { PATH: '/nowhere' }, options)).toBeUndefined();
  });
  it("is found last in the package's own environment", () => {
    const path = program(join(options.root, '.venv/bin', name), '');
    expect(findRuntimeTool(name, compiler, {}, options)).toBe(path);
  });
  it('is found in PATH before that', () => {
    const path = program(join(directory, 'path', name), '');
    expect(findRuntimeTool(name, compiler, { PATH: dirname(path) }, options)).toBe(path);
  });
  it('is found beside the compiler first', () => {
    const beside = program(join(directory, 'bin', name), '');
    expect(findRuntimeTool(name, compiler, { PATH: join(directory, 'path') }, options)).toBe(beside);
    const elf = program(join(directory, 'lib/python3.11/site-packages/iree/_runtime_libs', name), '');
    expect(findRuntimeTool(name, compiler, { PATH: join(directory, 'path') }, options)).toBe(elf);
  });
  it("is the executable behind pip's script in PATH", () => {
    const other = temporaryDirectory();
    const text = pipScript('/x/bin/python3').replace('iree.compiler.tools', 'iree._runtime');
    write(join(other, 'bin/iree-run-module'), text, 0o755);
    const elf = program(join(other, 'lib/python3.12/site-packages/iree/_runtime_libs/iree-run-module'), '');
    expect(findRuntimeTool('iree-run-module', compiler, { PATH: join(other, 'bin') }, options)).toBe(elf);
  });
});

describe.skipIf(realCompiler === null)('the real installation', { tags: ['compiler'] }, () => {
  it('is run without Python and beside its linker', () => {
    const { executable } = realCompiler!;
    const run = spawnSync(executable, ['--version'], { encoding: 'utf8' });
    expect(run.stdout).toContain('IREE compiler version');
    expect(isPipScript(executable)).toBe(false);
  });
  it('has a benchmark tool that runs', () => {
    const tool = findRuntimeTool('iree-benchmark-module', realCompiler!, process.env, { root });
    expect(spawnSync(tool!, ['--help'], { encoding: 'utf8' }).status).toBe(0);
  });
});
