import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findCompiler } from '../../../src/compiler/find.ts';
import { isLauncher } from '../../../src/system/recursion.ts';
import { installShim, siblingsOf } from '../../../src/cli/shim/shim.ts';
import { said, start, wrapper } from '../../compiler/launcher.ts';
import { fakePackage, fakeVenv, pipScript } from '../../compiler/support.ts';
import { program, write } from '../../support/scripts.ts';
import { temporaryDirectory } from '../../support/folders.ts';

/** The files of pip's packages, in a folder whose name needs quotes. */
function installation() {
  const venv = join(temporaryDirectory(), "it's a $(venv)");
  const { script, elf } = fakeVenv(venv, 'elf');
  const iree = join(venv, 'lib/python3.11/site-packages/iree');
  const python = join(venv, 'bin/python3');
  program(join(dirname(elf), 'iree-opt'), 'echo opt "$@"; exit 3');
  program(join(dirname(elf), 'iree-lld'), 'echo lld "$@"');
  write(join(dirname(elf), 'libIREECompiler.so'), '', 0o755);
  program(join(iree, '_runtime_libs/iree-run-module'), 'echo run "$@"');
  const scripts: Record<string, string> = {
    'iree-opt': pipScript(python).replace('iree_compile', 'iree_opt'),
    'iree-link': pipScript(python).replace('iree_compile', 'iree_link'),
    'iree-run-module': pipScript(python).replace('iree.compiler.tools', 'iree._runtime'),
    'iree-import-onnx': '#!/bin/sh\necho onnx "$@"\n',
  };
  for (const [name, text] of Object.entries(scripts)) write(join(venv, 'bin', name), text, 0o755);
  for (const name of ['clang', 'python3', 'pip']) program(join(venv, 'bin', name), '');
  write(join(venv, 'bin/iree-notes.txt'), 'not a program');
  return { venv, elf, compiler: findCompiler({}, { root: '/nowhere', compiler: script }) };
}

const names = ['iree-compile', 'iree-import-onnx', 'iree-lld', 'iree-opt', 'iree-run-module'];

describe('the other tools', () => {
  it("are pip's executables, then its scripts, without those that search IREE_TOOL_PATH", () => {
    const { venv, elf, compiler } = installation();
    expect(Object.fromEntries(siblingsOf(compiler))).toEqual({
      'iree-opt': join(dirname(elf), 'iree-opt'),
      'iree-lld': join(dirname(elf), 'iree-lld'),
      'iree-run-module': join(dirname(elf), '../../_runtime_libs/iree-run-module'),
      'iree-import-onnx': join(venv, 'bin/iree-import-onnx'),
    });
  });
  it('are those of a build of IREE, tools of LLVM included', () => {
    const bin = join(temporaryDirectory(), 'install/bin');
    for (const name of ['iree-compile', 'iree-tblgen', 'lld', 'clang', 'FileCheck', 'other'])
      program(join(bin, name), '');
    const compiler = findCompiler({}, { root: '/nowhere', compiler: join(bin, 'iree-compile') });
    expect([...siblingsOf(compiler).keys()]).toEqual(['FileCheck', 'clang', 'iree-tblgen', 'lld']);
  });
});

describe('a folder', () => {
  const { compiler, elf } = installation();
  const launcher = wrapper(fakePackage({ built: true, node: true }));
  const install = (directory: string, force = false, by = compiler) =>
    installShim(directory, launcher, by, force);
  const nothing = { written: [], unchanged: names, removed: [] };

  it('gets executable files with the mark', () => {
    const directory = join(temporaryDirectory(), 'new/shims');
    expect(install(directory).written.toSorted()).toEqual(names);
    expect(readdirSync(directory).sort()).toEqual(names);
    for (const name of names) {
      expect(lstatSync(join(directory, name)).isFile()).toBe(true);
      expect(lstatSync(join(directory, name)).mode & 0o777).toBe(0o755);
      expect(isLauncher(join(directory, name))).toBe(true);
    }
  });
  it('is left unchanged if it is right, and repaired otherwise', () => {
    const directory = temporaryDirectory();
    install(directory);
    const again = install(directory);
    expect({ ...again, unchanged: again.unchanged.toSorted() }).toEqual(nothing);
    const text = readFileSync(join(directory, 'iree-opt'), 'utf8');
    write(join(directory, 'iree-opt'), `${text}# edited`, 0o644);
    expect(install(directory).written).toEqual(['iree-opt']);
    expect(readFileSync(join(directory, 'iree-opt'), 'utf8')).toBe(text);
  });
  it('loses shims of missing tools only', () => {
    const directory = temporaryDirectory();
    install(directory);
    program(join(directory, 'mine'), '');
    const other = program(join(temporaryDirectory(), 'bin/iree-compile'), '');
    const { written, removed } = install(
      directory,
      false,
      findCompiler({}, { root: '/nowhere', compiler: other }),
    );
    expect(written).toEqual(['iree-compile']);
    expect(removed).toEqual(names.slice(1));
    expect(readdirSync(directory)).toEqual(['iree-compile', 'mine']);
  });
  it('with files of other programs is refused without --force', () => {
    const directory = temporaryDirectory();
    const target = program(join(temporaryDirectory(), 'target'), 'echo mine');
    symlinkSync(target, join(directory, 'iree-compile'));
    program(join(directory, 'iree-opt'), 'echo mine');
    expect(() => install(directory)).toThrow(/has iree-compile, iree-opt already.*--force/);
    expect(readdirSync(directory)).toEqual(['iree-compile', 'iree-opt']);
    install(directory, true);
    expect(readdirSync(directory).sort()).toEqual(names);
    // The link is replaced, not its target.
    expect(isLauncher(join(directory, 'iree-compile'))).toBe(true);
    expect(readFileSync(target, 'utf8')).toContain('echo mine');
  });
  it('with a folder of the name of a shim is refused', () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'iree-opt'));
    expect(() => install(directory, true)).toThrow(/has iree-opt already, .* choose another folder$/);
    expect(readdirSync(directory)).toEqual(['iree-opt']);
  });
  it("that is the compiler's own is refused, also through links", () => {
    const link = join(temporaryDirectory(), 'link');
    symlinkSync(dirname(compiler.invokedAs), link);
    for (const directory of [dirname(elf), dirname(compiler.invokedAs), link])
      expect(() => install(directory, true)).toThrow(/is the folder of the real iree-compile/);
  });
  it('that cannot be created or read fails with a message', () => {
    const file = write(join(temporaryDirectory(), 'file'), '');
    for (const directory of [file, join(file, 'below')])
      expect(() => install(directory)).toThrow(/ cannot be (?:read|written): /);
  });
  it('is not written for a script of pip without its executable', () => {
    const script = write(join(temporaryDirectory(), 'bin/iree-compile'), pipScript('/no/python3'), 0o755);
    const unknown = findCompiler({}, { root: '/nowhere', compiler: script });
    expect(() => install(temporaryDirectory(), false, unknown)).toThrow(/set IREE_TUNED_COMPILER/);
  });
});

describe('a shim', () => {
  const shell = { PATH: '/usr/bin:/bin' };
  const run = (file: string, argv: string[] = [], env: Record<string, string> = {}) =>
    start(file, argv, { ...shell, ...env });
  const make = () => {
    const { venv, compiler } = installation();
    const checkout = fakePackage({ built: false, node: false });
    const directory = join(temporaryDirectory(), "sh'im $HOME");
    installShim(directory, wrapper(checkout), compiler, false);
    return { venv, checkout, shim: (name: string) => join(directory, name) };
  };
  const argv = ['a b', '', "it's", '$x', '*'];

  it('of another tool runs the tool', () => {
    const { shim } = make();
    expect(run(shim('iree-opt'), argv)).toEqual({ status: 3, stdout: "opt a b  it's $x *\n", stderr: '' });
    expect(run(shim('iree-import-onnx'), ['x'])).toEqual(said('onnx x\n'));
  });
  it('of the compiler starts the launcher with its compiler', () => {
    const { shim } = make();
    expect(run(shim('iree-compile'), argv)).toEqual(said("elf a b  it's $x *\n"));
    // The folder belongs to one installation.
    const other = dirname(program(join(temporaryDirectory(), 'iree-compile'), 'echo other'));
    expect(
      run(shim('iree-compile'), ['m'], { PATH: `${other}:${shell.PATH}`, IREE_TOOL_PATH: other }),
    ).toEqual(said('elf m\n'));
    const setting = { IREE_TUNED_COMPILER: join(other, 'iree-compile') };
    expect(run(shim('iree-compile'), ['m'], setting)).toEqual(said('other\n'));
  });
  it('of the compiler runs the compiler if the launcher is gone', () => {
    const { shim, checkout } = make();
    rmSync(checkout, { recursive: true });
    const settings = ['--iree-tuned-budget=3', '-iree-tuned-db', 'x.db', '--iree-tuned-readonly'];
    const got = run(shim('iree-compile'), [...argv, ...settings, '--', '--iree-tuned-budget=3']);
    expect(got).toEqual(said("elf a b  it's $x * -- --iree-tuned-budget=3\n"));
  });
  it('names the missing programs if it can run none', () => {
    const { shim, checkout, venv } = make();
    rmSync(venv, { recursive: true });
    const opt = run(shim('iree-opt'));
    expect(opt).toMatchObject({ status: 127, stdout: '' });
    expect(opt.stderr).toMatch(/iree-opt is gone\.\nRun `iree-tuned shim /);
    // The launcher searches for another compiler first.
    const other = dirname(program(join(temporaryDirectory(), 'iree-compile'), 'echo other'));
    expect(run(shim('iree-compile'), [], { PATH: `${other}:${shell.PATH}` })).toEqual(said('other\n'));
    rmSync(checkout, { recursive: true });
    const compile = run(shim('iree-compile'));
    expect(compile).toMatchObject({ status: 127, stdout: '' });
    expect(compile.stderr).toMatch(/iree-compile-tuned and .*iree-compile are gone\.\nRun `iree-tuned/);
  });
});
