// @module-tag slow
// The commands that pip puts into an environment: they find the package in every layout that pip has, and the compiler where
// there is none.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { environmentScripts, toolScript } from '../../scripts/packages/environment-scripts.ts';
import { launcherMarker } from '../../src/system/recursion.ts';
import { program, write } from '../compiler/support.ts';
import { temporaryDirectory } from '../support/folders.ts';

const COMMANDS = [...environmentScripts.keys()];
const shells = ['dash', 'bash'].filter((name) => spawnSync(name, ['-c', ':']).status === 0);

/** A prefix with the commands in `bin`. */
function environment(folder = temporaryDirectory()): string {
  for (const [name, text] of environmentScripts) write(join(folder, 'bin', name), text, 0o755);
  return folder;
}

/** Launchers of a package below `packages` that say who they are. */
function installed(packages: string, says: string): string {
  for (const name of COMMANDS)
    program(join(packages, 'iree_compile_tuned/bin', name), `echo ${name} ${says} "$@"`);
  return packages;
}

test.each([...environmentScripts, ['tools/iree-compile', toolScript]])('%s carries the mark', (_, text) => {
  expect(Buffer.from(text).subarray(0, 512).toString()).toContain(launcherMarker);
});

describe.each(shells)('under %s', (shell) => {
  const run = (file: string, argv: string[] = [], { PATH = '/usr/bin:/bin', cwd = '/' } = {}) => {
    const { status, stdout, stderr } = spawnSync(shell, [file, ...argv], {
      encoding: 'utf8',
      env: { PATH },
      cwd,
    });
    return { status, stdout, stderr };
  };
  const said = (stdout: string) => ({ status: 0, stdout, stderr: '' });
  const argv = ['a b', '', '$x', '*'];

  describe.each(COMMANDS)('%s', (name) => {
    const says = (what: string) => said(`${name} ${what} ${argv.join(' ')}\n`);

    test.each([
      ['a virtual environment', 'lib/python3.11/site-packages'],
      ["Debian's Python", 'lib/python3.11/dist-packages'],
      ['libraries of 64 bits apart', 'lib64/python3.12/site-packages'],
      ['a Python without the global lock', 'lib/python3.13t/site-packages'],
      ["a user's packages on macOS", 'lib/python/site-packages'],
      ['pip install --target', '.'],
    ])('finds the package in %s', (_, packages) => {
      const place = environment(join(temporaryDirectory(), 'with a space'));
      installed(join(place, packages), 'found');
      expect(run(join(place, 'bin', name), argv)).toEqual(says('found'));
      expect(run(`./${name}`, argv, { cwd: join(place, 'bin') })).toEqual(says('found'));
      expect(run(name, argv, { cwd: join(place, 'bin') })).toEqual(says('found'));
    });
    test('finds it through links', () => {
      const place = environment();
      installed(join(place, 'lib/python3.11/site-packages'), 'found');
      const links = temporaryDirectory();
      const link = (target: string, path: string) => {
        mkdirSync(dirname(join(links, path)), { recursive: true });
        symlinkSync(target, join(links, path));
        return join(links, path);
      };
      for (const file of [
        // As pipx does.
        link(join(place, 'bin', name), 'bin/command'),
        link('../bin/command', 'more/command'),
        join(link(place, 'environment'), 'bin', name),
        join(link(join(place, 'bin'), 'commands'), name),
      ])
        expect(run(file, argv), file).toEqual(says('found'));
    });
    test('of several Pythons it is the one that was installed last, whose commands these are', () => {
      const place = environment();
      const packages = ['3.9', '3.10', '3.13'].map((version) =>
        installed(join(place, `lib/python${version}/site-packages`), version),
      );
      for (const [i, folder] of packages.entries())
        utimesSync(join(folder, 'iree_compile_tuned/bin', name), i % 2, i % 2);
      expect(run(join(place, 'bin', name), argv)).toEqual(says('3.10'));
    });
    test('the working directory is none of its business', () => {
      const [place, other] = [environment(), environment()];
      installed(join(place, 'lib/python3.11/site-packages'), 'found');
      installed(join(other, 'lib/python3.12/site-packages'), 'other');
      expect(run(join(place, 'bin', name), argv, { cwd: other })).toEqual(says('found'));
    });
  });

  describe('without the package', () => {
    const settings = ['--iree-tuned-budget', '3', '-o', 'x', '--iree-tuned-readonly', '--', '--iree-tuned-a'];
    const compiled = 'real -o x -- --iree-tuned-a\n';

    test("it is the environment's own compiler, with its own flags", () => {
      const place = environment();
      program(join(place, 'bin/iree-compile'), 'echo real "$@"');
      expect(run(join(place, 'bin/iree-compile-tuned'), settings)).toEqual(said(compiled));
    });
    test('or that of PATH, but none that would come back', () => {
      const place = environment();
      symlinkSync('iree-compile-tuned', join(place, 'bin/iree-compile'));
      const folder = dirname(program(join(temporaryDirectory(), 'iree-compile'), 'echo real "$@"'));
      const command = join(place, 'bin/iree-compile-tuned');
      expect(run(command, settings, { PATH: `${folder}:/usr/bin:/bin` })).toEqual(said(compiled));
      rmSync(join(folder, 'iree-compile'));
      const none = run(command, settings, { PATH: `${join(place, 'bin')}:/usr/bin:/bin` });
      expect(none).toMatchObject({ status: 127, stdout: '' });
      expect(none.stderr).toContain("pip install 'iree-compile-tuned[iree]'");
    });
    test('iree-tuned says what to do', () => {
      const got = run(join(environment(), 'bin/iree-tuned'), ['stats']);
      expect(got).toMatchObject({ status: 1, stdout: '' });
      expect(got.stderr).toContain("pip install 'iree-compile-tuned[iree]'");
    });
  });
});

test('for IREE_TOOL_PATH it is the launcher of the package that it lies in', () => {
  const packages = installed(temporaryDirectory(), 'found');
  const tool = write(join(packages, 'iree_compile_tuned/tools/iree-compile'), toolScript, 0o755);
  expect(spawnSync(tool, ['a b'], { encoding: 'utf8' }).stdout).toBe('iree-compile-tuned found a b\n');
});
