// Builds of one version and commit have different keys, and the same package has the same key on all machines.
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeCompiler, versionKey } from '../../src/compiler/describe.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { program, write } from './support.ts';

const COMMIT = '89ece87b89852100c0a4ac3d515e14842d090967';
/** A program without a first line, which the shell runs: a script's content says nothing about the compiler. */
const SAYS = `echo "IREE compiler version 3.13.0rc20261016 @ ${COMMIT}"\n`;
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
  return { executable, library, info };
}

const keyOf = async (executable: string, cache = temporaryDirectory()) =>
  (await describeCompiler(executable, cache)).key;

test('a package from an index has the key of its version', async () => {
  expect(await keyOf(installed().executable)).toBe(KEY);
  expect(await keyOf(installed({ INSTALLER: 'uv' }).executable)).toBe(KEY);
});

test.each<[string, (place: ReturnType<typeof installed>) => void]>([
  [
    'a changed library',
    ({ library }) => {
      writeFileSync(library, 'other code');
    },
  ],
  [
    'a changed executable',
    ({ executable }) => {
      writeFileSync(executable, `${readFileSync(executable, 'utf8')}# patched\n`);
    },
  ],
  [
    'a package from a file',
    ({ info }) => {
      write(join(info, 'direct_url.json'), '{"url":"file:///wheels/compiler.whl"}');
    },
  ],
  [
    'a copy without the package',
    ({ info }) => {
      rmSync(info, { recursive: true });
    },
  ],
])('%s has a key of its own build', async (_, change) => {
  const place = installed();
  change(place);
  const key = await keyOf(place.executable);
  expect(key).toMatch(/^3\.13\.0rc20261016@89ece87b89\+[0-9a-f]{10}$/);
  expect(versionKey(key)).toBe(KEY);
  // The same build elsewhere.
  const copy = installed();
  change(copy);
  expect(await keyOf(copy.executable)).toBe(key);
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
