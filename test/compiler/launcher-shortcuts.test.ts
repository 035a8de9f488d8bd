// @module-tag slow
// Calls for which the launcher starts no Node, and pip's script.
import { renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { temporaryDirectory } from '../support/folders.ts';
import { said, underEachShell, userSettings, wrapper } from './launcher.ts';
import { fakePackage, fakeVenv, pipScript } from './support.ts';
import { program, write } from '../support/scripts.ts';

underEachShell((run, tools) => {
  const ready = fakePackage({ built: true, node: true });
  describe('nothing to tune', () => {
    const real = temporaryDirectory();
    program(join(real, 'iree-compile'), 'echo original "$@"');
    const env = { PATH: `${real}:${tools}` };

    test.each([
      '--version',
      '--help',
      '--help-hidden',
      '-h',
      '--iree-hal-list-target-backends',
      '--iree-list-plugins',
    ])('%s does not start Node', (flag) => {
      expect(run(wrapper(ready), [flag], env)).toEqual(said(`original ${flag}\n`));
    });
    it('is detected for a single argument only', () => {
      expect(run(wrapper(ready), ['m', '--version'], env)).toEqual(said('iree-compile-tuned m --version\n'));
      expect(run(wrapper(ready), [], env)).toEqual(said('iree-compile-tuned\n'));
    });
    test.each([
      ['1', 'original'],
      ['yes', 'original'],
      ['0', 'iree-compile-tuned'],
      ['false', 'iree-compile-tuned'],
      ['No', 'iree-compile-tuned'],
      ['OFF', 'iree-compile-tuned'],
      ['', 'iree-compile-tuned'],
    ])('IREE_TUNED_DISABLE=%s runs %s', (value, name) => {
      expect(run(wrapper(ready), ['m'], { ...env, IREE_TUNED_DISABLE: value })).toEqual(said(`${name} m\n`));
    });
    it("is decided by Node if there are the wrapper's flags, which win", () => {
      const argv = ['--iree-tuned-disable=0', 'm'];
      expect(run(wrapper(ready), argv, { ...env, IREE_TUNED_DISABLE: '1' })).toEqual(
        said(`iree-compile-tuned ${argv.join(' ')}\n`),
      );
    });
    describe('with a settings file', () => {
      const disabled = { ...env, IREE_TUNED_DISABLE: '1' };
      const named = { IREE_TUNED_COMPILER: join(real, 'iree-compile') };
      const tuned = 'iree-compile-tuned';
      test.each<[string, string, string, Record<string, string>, string]>([
        ['a compiler in the file', '{\n"compiler": "/cc"}', 'm', disabled, tuned],
        ['trusted projects in the file', '{"trusted-projects": ["/p"]}\n', 'm', disabled, tuned],
        ['a compiler in the file', '{\n"compiler": "/cc"}', '--version', env, tuned],
        ['trusted projects in the file', '{"trusted-projects": ["/p"]}\n', '--version', env, tuned],
        ['another setting', '{"budget": 5}', 'm', disabled, 'original'],
        ['a variable that wins', '{"compiler": "/cc"}', 'm', { ...disabled, ...named }, 'original'],
      ])('%s decides who runs (%s %s)', (_, text, argument, more, name) => {
        const given = { ...more, ...userSettings(text) };
        expect(run(wrapper(ready), [argument], given)).toEqual(said(`${name} ${argument}\n`));
      });
    });
  });

  describe("pip's script", () => {
    const compile = (more: Record<string, string>) =>
      run(wrapper(ready), ['m'], { IREE_TUNED_DISABLE: '1', ...more });
    it('is bypassed', () => {
      const { script } = fakeVenv(temporaryDirectory(), 'elf');
      expect(compile({ IREE_TUNED_COMPILER: script })).toEqual(said('elf m\n'));
    });
    it('is bypassed behind links, and in lib64', () => {
      const directory = temporaryDirectory();
      fakeVenv(join(directory, 'venv'), 'elf');
      renameSync(join(directory, 'venv/lib'), join(directory, 'venv/lib64'));
      symlinkSync('venv/bin/iree-compile', join(directory, 'iree-compile'));
      expect(compile({ PATH: `${directory}:${tools}` })).toEqual(said('elf m\n'));
    });
    it('is run itself if the folders are not conclusive', () => {
      const directory = temporaryDirectory();
      const python = program(join(directory, 'python3'), 'echo python; shift; echo "$@"');
      const script = write(join(directory, 'bin/iree-compile'), pipScript(python), 0o755);
      expect(compile({ IREE_TUNED_COMPILER: script })).toEqual(said('python\nm\n'));
    });
    it('is run itself with several Pythons', () => {
      const directory = temporaryDirectory();
      const { script } = fakeVenv(directory, 'elf', 'python3.11');
      fakeVenv(directory, 'elf', 'python3.12');
      program(join(directory, 'bin/python3'), 'echo python');
      expect(compile({ IREE_TUNED_COMPILER: script })).toEqual(said('python\n'));
    });
  });
});
