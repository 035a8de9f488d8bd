// @module-tag slow
// Without Node or a bundle the launcher runs the original compiler.
import { copyFileSync, cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { readSettings } from '../../src/settings/index.ts';
import { DEFINITIONS, NAMES } from '../../src/settings/settings.ts';
import { launcherMarker } from '../../src/system/recursion.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { said, shimFor, underEachShell, userSettings, wrapper } from './launcher.ts';
import { fakePackage, fakeVenv, pipScript } from './support.ts';
import { program, write } from '../support/scripts.ts';

underEachShell((run, tools) => {
  const ready = fakePackage({ built: true, node: true });
  describe('without Node or without a bundle', () => {
    const packages = {
      'no Node': fakePackage({ built: true, node: false }),
      'no bundle': fakePackage({ built: false, node: true }),
    };
    const original = (directory: string, name: string) =>
      program(join(directory, 'iree-compile'), `echo ${name} "$@"; echo note >&2; exit 3`);
    const at = temporaryDirectory();
    for (const name of ['setting', 'tools', 'first', 'second']) original(join(at, name), name);
    const path = `${at}/nowhere:${at}/first:${at}/second:${tools}`;

    test.each(Object.entries(packages))(
      '(%s) the original runs, in silence, in the order of places',
      (_, directory) => {
        const expectOriginal = (name: string, env: Record<string, string>) => {
          expect(run(wrapper(directory), ['a b', '-o', 'x'], env)).toEqual({
            status: 3,
            stdout: `${name} a b -o x\n`,
            stderr: 'note\n',
          });
        };
        expectOriginal('first', { PATH: path });
        expectOriginal('tools', { PATH: path, IREE_TOOL_PATH: `/nowhere:${at}/tools` });
        expectOriginal('setting', {
          PATH: path,
          IREE_TOOL_PATH: `${at}/tools`,
          IREE_TUNED_COMPILER: `${at}/setting/iree-compile`,
        });
      },
    );

    const directory = packages['no bundle'];
    const compile = (argv: string[], env: Record<string, string> = {}) =>
      run(wrapper(directory), argv, { PATH: path, ...env });
    it('the Python environment of the package comes before PATH', () => {
      const venv = temporaryDirectory();
      fakeVenv(venv, 'environment');
      const directory = join(venv, 'lib/python3.11/site-packages/iree_compile_tuned');
      cpSync(packages['no Node'], directory, { recursive: true });
      const original = {
        PATH: `${dirname(program(join(venv, 'other/iree-compile'), 'echo other'))}:${tools}`,
      };
      expect(run(wrapper(directory), ['x'], original)).toEqual(said('other\n'));
      write(join(directory, '__init__.py'), '');
      expect(run(wrapper(directory), ['x'], original)).toEqual(said('environment x\n'));
    });
    it("the package's own environment is the last place", () => {
      const own = fakePackage({ built: false, node: false });
      program(join(own, '.venv/bin/iree-compile'), 'echo local');
      expect(run(wrapper(own), ['x'])).toEqual(said('local\n'));
    });
    it('the environment reaches the compiler unchanged', () => {
      const real = program(
        join(temporaryDirectory(), 'iree-compile'),
        'echo "$real $line $rest $argument $directory"',
      );
      const env = {
        real: 'a',
        line: 'b',
        rest: 'c',
        argument: 'd',
        directory: 'e',
        PATH: `${dirname(real)}:${tools}`,
      };
      expect(compile(['m'], env)).toEqual(said('a b c d e\n'));
    });
    it("the wrapper's flags are not passed to the compiler", () => {
      const { stdout } = compile(['--iree-tuned-budget=3', 'm', '-iree-tuned-x', '-o', '']);
      expect(stdout).toBe('first m -o \n');
    });
    test.each(NAMES)('nor is the value of %s in the next argument', (name) => {
      const flag = `--iree-tuned-${name}`;
      const ours = DEFINITIONS[name].type === 'boolean' ? [flag] : [flag, `${at}/setting/iree-compile`];
      expect(compile(['m', ...ours, '-o', 'x']).stdout).toBe(
        `${name === 'compiler' ? 'setting' : 'first'} m -o x\n`,
      );
    });
    it('nor are their values, and their compiler is run', () => {
      const settings = ['--iree-tuned-budget', '3', '-iree-tuned-disable', '--iree-tuned-compiler'];
      const rest = ['m', '--', '--iree-tuned-log', ''];
      const named = `${at}/setting/iree-compile`;
      const said = 'setting m -- --iree-tuned-log \n';
      expect(compile([...settings, named, ...rest]).stdout).toBe(said);
      const joined = [...settings.slice(0, -1), `--iree-tuned-compiler=${named}`, ...rest];
      expect(compile(joined).stdout).toBe(said);
    });
    it('thousands of arguments take little time', () => {
      // A slow loop would take a minute.
      const many = Array.from({ length: 5000 }, (_, i) => `--flag-with-a-name=${i}`);
      expect(compile(many).stdout).toBe(`first ${many.join(' ')}\n`);
    });
    it('the compiler is never the wrapper, by link, copy or shim', () => {
      const us = temporaryDirectory();
      for (const name of ['link', 'copy', 'shim']) mkdirSync(join(us, name));
      symlinkSync(wrapper(directory), join(us, 'link/iree-compile'));
      copyFileSync(wrapper(directory), join(us, 'copy/iree-compile'));
      shimFor(directory, join(us, 'shim/iree-compile'));
      const all = `${us}/link:${us}/copy:${us}/shim`;
      expect(compile(['m'], { PATH: `${all}:${path}`, IREE_TOOL_PATH: all }).stdout).toBe('first m\n');
    });
    it('directories and files that are not executable are skipped', () => {
      const wrong = temporaryDirectory();
      mkdirSync(join(wrong, 'a/iree-compile'), { recursive: true });
      write(join(wrong, 'b/iree-compile'), '');
      expect(compile(['m'], { PATH: `${wrong}/a:${wrong}/b:${path}` }).stdout).toBe('first m\n');
    });
    it('an empty entry of PATH is the working directory', () => {
      expect(run(wrapper(directory), ['m'], { PATH: `:${tools}` }, join(at, 'second')).stdout).toBe(
        'second m\n',
      );
    });
    it('without a compiler it prints a message and ends with 127', () => {
      const none = run(wrapper(directory), ['m']);
      expect(none).toMatchObject({ status: 127, stdout: '' });
      expect(none.stderr).toMatch(/cannot find the real iree-compile[^]*pip install iree-base-compiler/);
    });
    it('an invalid setting is an error', () => {
      for (const setting of ['/no/such', wrapper(directory)]) {
        const none = compile(['m'], { IREE_TUNED_COMPILER: setting });
        expect(none).toMatchObject({ status: 127, stdout: '' });
        expect(none.stderr).toContain(`IREE_TUNED_COMPILER=${setting}`);
      }
    });
    it("a shim's compiler comes before the search, and a setting before that", () => {
      const got = (env: Record<string, string>) =>
        compile(['m'], { IREE_TUNED_SHIM_FOR: `${at}/tools/iree-compile`, ...env }).stdout;
      expect(got({})).toBe('tools m\n');
      expect(got({ IREE_TUNED_COMPILER: `${at}/setting/iree-compile` })).toBe('setting m\n');
      expect(got({ IREE_TUNED_SHIM_FOR: `${at}/gone/iree-compile` })).toBe('first m\n');
    });
    describe('with a settings file', () => {
      const compiler = `${at}/setting/iree-compile`;
      /** An environment with a text in the user's file, and without programs in PATH. */
      const config = (text: string) => ({ PATH: `${at}/first`, HOME: at, ...userSettings(text) });
      const setting = { status: 3, stdout: 'setting m\n', stderr: 'note\n' };
      const first = { ...setting, stdout: 'first m\n' };

      test.each([
        ['alone', `{"compiler": "${compiler}"}`],
        ['among others', `{"db": "postgres://h/d", "compiler":"${compiler}" , "budget": 5}`],
        ['on a line of its own', `{\n  "budget": 5, // seconds\n  "compiler": "${compiler}"\n}\n`],
        ['with the value on another line', `{"compiler" // which\n\n:\n  // this\n"${compiler}"}`],
        ['with lines that end as on Windows', `{\r\n\t"compiler"\t:\r\n"${compiler}",\r\n}\r\n`],
        ['below the home directory', '{"compiler": "~/setting/iree-compile"}'],
        ['twice', `{"compiler": "/no/such", "compiler": "${compiler}"}`],
        ['beside text with escapes', `{\n"log": "a\\"b",\n"compiler": "${compiler}"}`],
        [
          'beside what only looks like it',
          `{"db": "compiler", "log": "compiler:",\n"compiler": "${compiler}", // "compiler": "/no"\n"cache": "x//y"}`,
        ],
      ])('the compiler is found in it, %s', (_, text) => {
        const env = config(text);
        expect(readSettings(env, new Map()).settings.compiler).toBe(compiler);
        expect(compile(['m'], env)).toEqual(setting);
      });
      it('a path in it is relative to its folder', () => {
        const env = config('{"compiler": "../cc/iree-compile"}');
        original(join(env.XDG_CONFIG_HOME, 'cc'), 'setting');
        expect(compile(['m'], env)).toEqual(setting);
      });
      test.each([
        ['a comment', `{ // "compiler": "/no/such"\n//"compiler": "/no/such"\n}`],
        ['a value', '{"db": "compiler", "log": "/no/such"}'],
        ['no text', '{"compiler": 5, "db": "/no/such"}'],
        ['an empty text', '{"compiler": ""}'],
        ['a text with escapes', '{"compiler": "\\u002fno\\/such"}'],
        ['a text with escapes on another line', '{"compiler":\n"\\/no\\/such"}'],
        ['a text without an end', '{"compiler": "/no/such\n}'],
      ])('%s names no compiler', (_, text) => {
        expect(compile(['m'], config(text))).toEqual(first);
      });
      it('XDG_CONFIG_HOME replaces the home directory only if it is absolute', () => {
        const HOME = temporaryDirectory();
        write(join(HOME, '.config/iree-tuned/config.json'), `{"compiler": "${compiler}"}`);
        const home = { PATH: `${at}/first`, HOME };
        expect(compile(['m'], home)).toEqual(setting);
        expect(compile(['m'], { ...home, XDG_CONFIG_HOME: 'x' })).toEqual(setting);
        expect(compile(['m'], { ...home, XDG_CONFIG_HOME: '/no/such' })).toEqual(first);
      });
      it("the machine's file comes after the user's", () => {
        const own = fakePackage({ built: false, node: false });
        const machine = write(
          join(temporaryDirectory(), 'config.json'),
          `{"compiler": "${at}/tools/iree-compile"}`,
        );
        const text = readFileSync(wrapper(own), 'utf8');
        write(wrapper(own), text.replaceAll('/etc/iree-tuned/config.json', machine), 0o755);
        const got = (env: Record<string, string>) => run(wrapper(own), ['m'], env).stdout;
        expect(got({ PATH: `${at}/first` })).toBe('tools m\n');
        expect(got(config('{"budget": 5}'))).toBe('tools m\n');
        expect(got(config(`{"compiler": "${compiler}"}`))).toBe('setting m\n');
      });
      it("the environment comes before it, and it before a shim's compiler, as with Node", () => {
        const env = {
          ...config(`{"compiler": "${compiler}"}`),
          IREE_TUNED_SHIM_FOR: `${at}/second/iree-compile`,
        };
        const tools = `${at}/tools/iree-compile`;
        expect(compile(['m'], env).stdout).toBe('setting m\n');
        expect(compile(['m'], { ...env, IREE_TUNED_COMPILER: tools }).stdout).toBe('tools m\n');
        expect(compile([`--iree-tuned-compiler=${tools}`, 'm'], env).stdout).toBe('tools m\n');
        expect(compile(['m'], { ...env, IREE_TUNED_DISABLE: '1' }).stdout).toBe('setting m\n');
      });
      it('is also read for descriptors of the caller, which do not reach Node', () => {
        const got = run(wrapper(ready), ['/dev/fd/5'], config(`{"compiler": "${compiler}"}`));
        expect(got).toEqual({ ...setting, stdout: 'setting /dev/fd/5\n' });
      });
      it('a missing compiler is an error', () => {
        const env = config('{"compiler": "no/such"}');
        const folder = join(env.XDG_CONFIG_HOME, 'iree-tuned');
        const none = compile(['m'], env);
        expect(none).toMatchObject({ status: 127, stdout: '' });
        expect(none.stderr).toContain(
          `"compiler" in ${folder}/config.json (${folder}/no/such) is not the real iree-compile`,
        );
      });
    });
    it('folders with the wrapper are removed from the search paths of the compiler', () => {
      const places = temporaryDirectory();
      const us = (name: string) =>
        dirname(program(join(places, name, 'iree-compile'), `# ${launcherMarker}\nexit 9`));
      const [shims, shared] = [us('shims'), us('shared')];
      program(join(shims, 'iree-opt'), '');
      program(join(shared, 'helper'), '');
      const real = dirname(
        program(
          join(places, 'real/iree-compile'),
          'echo "$PATH ${IREE_TOOL_PATH-unset} $IREE_TUNED_SHIM_FOR"',
        ),
      );
      const seen = (env: Record<string, string>) => compile(['m'], env).stdout.replace('\n', '');
      // A folder with other programs stays in PATH, because the compiler may need them.
      expect(
        seen({ PATH: `${shims}:${shared}:${real}:${tools}`, IREE_TOOL_PATH: `${shared}:/nowhere:${shims}` }),
      ).toBe(`${shared}:${real}:${tools} /nowhere `);
      expect(seen({ PATH: `${real}:${tools}`, IREE_TOOL_PATH: shims })).toBe(`${real}:${tools} unset `);
      // Nothing to remove: unchanged.
      expect(seen({ PATH: `:${real}::${tools}:`, IREE_TOOL_PATH: ':/a:' })).toBe(`:${real}::${tools}: :/a: `);
    });
    it("pip's script does not call the wrapper again", () => {
      const venv = temporaryDirectory();
      const shims = dirname(shimFor(directory, join(venv, 'shims/iree-compile')));
      // Like IREE's own script, it prefers IREE_TOOL_PATH.
      const python = program(
        join(venv, 'bin/python3'),
        'shift; tool=${IREE_TOOL_PATH:-none}/iree-compile; [ ! -x "$tool" ] || exec "$tool" "$@"; echo elf "$@"',
      );
      const script = write(join(venv, 'bin/iree-compile'), pipScript(python), 0o755);
      const env = { PATH: tools, IREE_TOOL_PATH: shims, IREE_TUNED_COMPILER: script };
      expect(compile(['m'], env)).toEqual(said('elf m\n'));
      expect(run(join(shims, 'iree-compile'), ['m'], env)).toEqual(said('elf m\n'));
    });
    it('a compiler that calls the wrapper again is stopped', () => {
      const circle = temporaryDirectory();
      program(join(circle, 'iree-compile'), `echo round >&2; exec "${wrapper(directory)}" "$@"`);
      const stopped = run(wrapper(directory), ['m'], { PATH: `${circle}:${tools}` });
      expect(stopped.status).toBe(1);
      expect(stopped.stderr).toMatch(/^round\nround\niree-compile-tuned: .* calls iree-compile-tuned again/);
    });
  });
});
