import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { describeCompiler, parseVersion, versionKey } from '../../src/compiler/describe.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { program, realCompiler } from './support.ts';

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
      // Of an earlier version of this program, which did not read the build.
      good.replace('"build"', '"hash"'),
    ]) {
      writeFileSync(file, text);
      expect(await describeCompiler(compiler, cache)).toEqual(first);
    }
    expect(readFileSync(join(directory, 'count'), 'utf8')).toBe('x\n'.repeat(8));
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
