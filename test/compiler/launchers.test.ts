// @module-tag slow
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { launcherMarker } from '../../src/system/recursion.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { said, shimFor, start, underEachShell, wrapper } from './launcher.ts';
import { fakePackage, realCompiler, root } from './support.ts';
import { program, write } from '../support/scripts.ts';

test.each(['iree-compile-tuned', 'iree-tuned'])('%s has the marker in its first 512 bytes', (name) => {
  expect(
    readFileSync(join(root, 'bin', name))
      .subarray(0, 512)
      .toString(),
  ).toContain(launcherMarker);
});

underEachShell((run) => {
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

  it("the bundle removes the wrapper's flags, even if tuning is off", () => {
    const got = run(wrapper(ready), ['m', '--iree-tuned-budget', '3'], { IREE_TUNED_DISABLE: '1' });
    expect(got).toEqual(said('iree-compile-tuned m --iree-tuned-budget 3\n'));
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
    const shim = shimFor(directory, join(shims, 'iree-compile'));
    const env = { PATH: path, IREE_TOOL_PATH: shims, IREE_TUNED_COMPILER: script };
    // pip's script runs the shim, the shim the launcher, and the launcher the executable.
    for (const first of [script, shim]) {
      const run = start(first, ['--version'], env);
      expect(run.status).toBe(0);
      expect(run.stdout).toContain('IREE compiler version');
    }
  });
});
