// @module-tag slow
// The commands in a pip environment: they find the package in every layout of pip, and without it the compiler.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { environmentScripts, toolScript } from '../../scripts/packages/environment-scripts.ts';
import { launcherMarker } from '../../src/system/recursion.ts';
import { program, write } from '../support/scripts.ts';
import { temporaryDirectory } from '../support/folders.ts';

const COMMANDS = [...environmentScripts.keys()];
const shells = ['dash', 'bash'].filter((name) => spawnSync(name, ['-c', ':']).status === 0);

/** A prefix with the commands in `bin`. */
function environment(folder = temporaryDirectory()): string {
  for (const [name, text] of environmentScripts) write(join(folder, 'bin', name), text, 0o755);
  return folder;
}

/** A package below `packages` with launchers that print their names. */
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
        // As pipx makes them.
        link(join(place, 'bin', name), 'bin/command'),
        link('../bin/command', 'more/command'),
        join(link(place, 'environment'), 'bin', name),
        join(link(join(place, 'bin'), 'commands'), name),
      ])
        expect(run(file, argv), file).toEqual(says('found'));
    });
    test('of several Pythons chooses the latest installation', () => {
      const place = environment();
      const packages = ['3.9', '3.10', '3.13'].map((version) =>
        installed(join(place, `lib/python${version}/site-packages`), version),
      );
      for (const [i, folder] of packages.entries())
        utimesSync(join(folder, 'iree_compile_tuned/bin', name), i % 2, i % 2);
      expect(run(join(place, 'bin', name), argv)).toEqual(says('3.10'));
    });
    test('ignores the working directory', () => {
      const [place, other] = [environment(), environment()];
      installed(join(place, 'lib/python3.11/site-packages'), 'found');
      installed(join(other, 'lib/python3.12/site-packages'), 'other');
      expect(run(join(place, 'bin', name), argv, { cwd: other })).toEqual(says('found'));
    });
  });

  describe('without the package', () => {
    const settings = ['--iree-tuned-budget', '3', '-o', 'x', '--iree-tuned-readonly', '--', '--iree-tuned-a'];
    const compiled = 'real -o x -- --iree-tuned-a\n';

    test("runs the environment's compiler, without the wrapper's flags", () => {
      const place = environment();
      program(join(place, 'bin/iree-compile'), 'echo real "$@"');
      expect(run(join(place, 'bin/iree-compile-tuned'), settings)).toEqual(said(compiled));
    });
    test('runs the compiler of PATH, and never a launcher', () => {
      const place = environment();
      symlinkSync('iree-compile-tuned', join(place, 'bin/iree-compile'));
      const folder = dirname(program(join(temporaryDirectory(), 'iree-compile'), 'echo real "$@"'));
      const command = join(place, 'bin/iree-compile-tuned');
      expect(run(command, settings, { PATH: `${folder}:/usr/bin:/bin` })).toEqual(said(compiled));
      rmSync(join(folder, 'iree-compile'));
      const none = run(command, settings, { PATH: `${join(place, 'bin')}:/usr/bin:/bin` });
      expect(none).toMatchObject({ status: 127, stdout: '' });
      expect(none.stderr).toContain("pip install --force-reinstall 'FILE[iree]'");
    });
    test('iree-tuned names the way out', () => {
      const got = run(join(environment(), 'bin/iree-tuned'), ['stats']);
      expect(got).toMatchObject({ status: 1, stdout: '' });
      expect(got.stderr).toContain("pip install --force-reinstall 'FILE[iree]'");
    });
  });
});

test('the iree-compile for IREE_TOOL_PATH starts the launcher of its own package', () => {
  const packages = installed(temporaryDirectory(), 'found');
  const tool = write(join(packages, 'iree_compile_tuned/tools/iree-compile'), toolScript, 0o755);
  expect(spawnSync(tool, ['a b'], { encoding: 'utf8' }).stdout).toBe('iree-compile-tuned found a b\n');
});
