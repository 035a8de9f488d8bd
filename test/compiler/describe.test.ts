import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { describeCompiler, parseVersion, versionKey } from '../../src/compiler/describe.ts';
import { compilerIdentity } from '../../src/compiler/identity.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { realCompiler } from './support.ts';
import { program, write } from '../support/scripts.ts';

const PUBLISHED = { digest: '0123456789', isPublished: true };

const commit = '89ece87b89852100c0a4ac3d515e14842d090967';

describe('reading --version', () => {
  it('finds version, commit and release', () => {
    const output = `IREE (https://iree.dev):\n  IREE compiler version 3.13.0rc20261016 @ ${commit}\n  LLVM version 24.0.0git\n`;
    expect(parseVersion(output, 'files', PUBLISHED)).toEqual({
      version: '3.13.0rc20261016',
      commit,
      key: '3.13.0rc20261016@89ece87b89',
      release: [3, 13, 0],
    });
  });
  test.each([
    ['3.11.1', [3, 11, 1]],
    ['4.0', [4, 0, 0]],
    ['3.14.0.dev0+abc', [3, 14, 0]],
    ['(unknown)', [0, 0, 0]],
  ])('reads %s as the release %j', (version, release) => {
    expect(parseVersion(`IREE compiler version ${version} @ ${commit}`, 'files', PUBLISHED).release).toEqual(
      release,
    );
  });
  test.each(['', 'gcc 12', 'IREE compiler version 3.13.0', 'IREE compiler version 3.13.0 @ (unknown)'])(
    'keeps builds that do not know their commit apart: %j',
    (output) => {
      const first = parseVersion(output, 'files of one', null);
      expect(first.commit).toBe('unknown');
      expect(first.key).not.toBe(parseVersion(output, 'files of another', null).key);
      expect(first.key).toBe(parseVersion(output, 'files of one', null).key);
    },
  );
  test.each<[string, string, typeof PUBLISHED]>([
    ['a build that no package manager installed', '3.13.0', { ...PUBLISHED, isPublished: false }],
    ['a package of a version that was never published', '3.14.0.dev0', PUBLISHED],
  ])('keeps apart %s', (_, version, build) => {
    const { key } = parseVersion(`IREE compiler version ${version} @ ${commit}`, 'files', build);
    expect(key).toBe(`${version}@89ece87b89+0123456789`);
    expect(versionKey(key)).toBe(`${version}@89ece87b89`);
  });
});

test('the key without the build is the key of the published package', () => {
  for (const key of [
    '3.13.0rc20261016@89ece87b89',
    '3.14.0.dev0+abcdef0123@89ece87b89',
    'unknown@0123456789',
  ])
    expect(versionKey(key)).toBe(key);
});

describe('describing a compiler', () => {
  const answering = (directory: string): string =>
    program(
      join(directory, 'iree-compile'),
      `echo x >>${directory}/count; echo "IREE compiler version 3.13.0 @ ${commit}"`,
    );

  it('asks it once', async () => {
    const directory = temporaryDirectory();
    const compiler = answering(directory);
    const cache = join(directory, 'cache');
    const first = await describeCompiler(compiler, cache);
    expect(await describeCompiler(compiler, cache)).toEqual(first);
    expect(readFileSync(join(directory, 'count'), 'utf8')).toBe('x\n');
  });

  it('asks again if the cache is damaged or belongs to another compiler', async () => {
    const directory = temporaryDirectory();
    const compiler = answering(directory);
    const cache = join(directory, 'cache');
    const first = await describeCompiler(compiler, cache);
    const file = join(cache, readdirSync(cache)[0]!);
    const good = readFileSync(file, 'utf8');
    for (const text of [
      '',
      'null',
      '{}',
      good.replace('"3.13.0"', '7'),
      good.replace('[3,13,0]', '[3]'),
      good.replace('/', '!'),
    ]) {
      writeFileSync(file, text);
      expect(await describeCompiler(compiler, cache)).toEqual(first);
    }
    expect(readFileSync(join(directory, 'count'), 'utf8')).toBe('x\n'.repeat(7));
  });

  it('returns an unknown version for a failing compiler, and does not cache it', async () => {
    const directory = temporaryDirectory();
    const cache = join(directory, 'cache');
    const failing = program(join(directory, 'failing'), 'exit 1');
    for (const path of [join(directory, 'nowhere'), failing]) {
      expect(await describeCompiler(path, cache)).toMatchObject({
        version: 'unknown',
        commit: 'unknown',
        release: [0, 0, 0],
      });
    }
    expect(readdirSync(directory)).toEqual(['failing']);
  });

  it.skipIf(realCompiler === null)('knows the real one', { tags: ['compiler'] }, async () => {
    const description = await describeCompiler(realCompiler!.executable, temporaryDirectory());
    expect(description.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(description.commit).toMatch(/^[0-9a-f]{40}$/);
    expect(description.key).toBe(`${description.version}@${description.commit.slice(0, 10)}`);
    expect(description.release[0]).toBeGreaterThanOrEqual(3);
  });
});

// Builds of one version and commit have different keys, and the same package has the same key on all machines.

/** A program without a first line, which the shell runs: a script's content says nothing about the compiler. */
const SAYS = `echo "IREE compiler version 3.13.0rc20261016 @ ${commit}"\n`;
const KEY = '3.13.0rc20261016@89ece87b89';

const LIBRARY = process.platform === 'darwin' ? 'libIREECompiler.dylib' : 'libIREECompiler.so';

/** Site-packages with a compiler, as a package manager writes them. */
function installed(files: Readonly<Record<string, string>> = {}) {
  const packages = join(temporaryDirectory(), 'lib/python3.11/site-packages');
  const below = 'iree/compiler/_mlir_libs';
  const library = write(join(packages, below, LIBRARY), 'code');
  const executable = join(packages, below, 'iree-compile');
  write(executable, SAYS, 0o755);
  const lineOf = (path: string) => {
    const bytes = readFileSync(path);
    const digest = createHash('sha256').update(bytes).digest('base64url');
    return `${path.slice(packages.length + 1)},sha256=${digest},${bytes.length}\n`;
  };
  const info = join(packages, 'iree_base_compiler-3.13.0.dist-info');
  write(join(info, 'RECORD'), lineOf(executable) + lineOf(library));
  for (const [path, text] of Object.entries(files)) write(join(info, path), text);
  return { executable, library, info, origin: join(info, 'direct_url.json') };
}

const keyOf = async (executable: string, cache = temporaryDirectory()) =>
  (await describeCompiler(executable, cache)).key;

test('a package from an index has the key of its version', async () => {
  expect(await keyOf(installed().executable)).toBe(KEY);
  expect(await keyOf(installed({ INSTALLER: 'uv' }).executable)).toBe(KEY);
});

test.each([
  ['a changed library', 'library', 'other code'],
  ['a changed executable', 'executable', `${SAYS}# patched\n`],
  ['a package from a file', 'origin', '{"url":"file:///wheels/compiler.whl"}'],
  ['a copy without the package', 'info', null],
] as const)('%s has a key of its own build', async (_, part, text) => {
  const changed = () => {
    const place = installed();
    if (text === null) rmSync(place[part], { recursive: true });
    else writeFileSync(place[part], text);
    return keyOf(place.executable);
  };
  const key = await changed();
  expect(key).toMatch(/^3\.13\.0rc20261016@89ece87b89\+[0-9a-f]{10}$/);
  expect(versionKey(key)).toBe(KEY);
  // The same build elsewhere.
  expect(await changed()).toBe(key);
});

test('a script has the key of the version, and with a library beside it that of its build', async () => {
  const folder = temporaryDirectory();
  const script = program(join(folder, 'bin/iree-compile'), SAYS);
  expect(await keyOf(script)).toBe(KEY);
  const keys: string[] = [];
  for (const code of ['release', 'debug']) {
    write(join(folder, 'lib', LIBRARY), code);
    keys.push(await keyOf(script));
  }
  expect(new Set([KEY, ...keys]).size).toBe(3);
});

test.runIf(process.platform === 'linux')('a library of equal size and time is noticed', async () => {
  const { executable, library } = installed();
  const cache = temporaryDirectory();
  expect(await keyOf(executable, cache)).toBe(KEY);
  const { atime, mtime } = statSync(library);
  writeFileSync(library, 'CODE');
  utimesSync(library, atime, mtime);
  expect(await keyOf(executable, cache)).not.toBe(KEY);
});

test('another library beside the executable changes the identity', () => {
  const directory = temporaryDirectory();
  const path = write(join(directory, 'bin/iree-compile'), 'one');
  for (const place of ['bin', 'lib']) {
    const before = compilerIdentity(path);
    write(join(directory, place, LIBRARY), 'x');
    expect(compilerIdentity(path)).not.toBe(before);
  }
});

test('the identity of an invisible compiler is its path', () => {
  expect(compilerIdentity('/nowhere/iree-compile')).toBe('/nowhere/iree-compile');
});
