// A compiler that remembers its compiles in `.cache/compiled`, also for later runs of the tests. remembering-compiler.sh is its script. A
// test about the compiler's own run uses `compiler` of real-tools.ts.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compilerFiles, compilerIdentity } from '../../src/compiler/identity.ts';
import { shortHash } from '../../src/system/hash.ts';
import { cpuFeatures } from '../../src/system/processor.ts';
import { root } from './folders.ts';
import { compiler, runtimeTool } from './installed-tools.ts';
import { compilerBelow, installScripts } from './scripts.ts';

const STORE = join(root, '.cache', 'compiled');

const DAY_MS = 24 * 3600 * 1000;

/** Size limit of the store, in MB. Beyond it, the least recently used compiles are removed. */
const MOST_MB = 1024;

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** POSIX extended regular expression: names of folders that differ from run to run (folders of tests, and our scratch folders). */
const NAMES = `${escaped(join(tmpdir(), 'iree-tuned-test-'))}[A-Za-z0-9]{6}|[0-9a-f]{8}-[0-9]+-[0-9]+-[A-Za-z0-9]{6}`;

/** Digest of the compiler's files, stored because the library has 340 MB. */
function digestOfCompiler(): string {
  const memory = join(STORE, `digest-${shortHash(compilerIdentity(compiler.executable))}`);
  if (existsSync(memory)) return readFileSync(memory, 'latin1');
  const hash = createHash('sha1');
  for (const file of compilerFiles(compiler.executable))
    if (existsSync(file)) hash.update(readFileSync(file));
  const digest = hash.digest('hex');
  replaceFile(memory, digest);
  return digest;
}

/** Replaces a file atomically, because another run may write it at the same time. */
function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
}

/** The store of this compiler on this CPU, which contains the script in pip's folder layout. */
function openStore(): string {
  mkdirSync(STORE, { recursive: true });
  const script = readFileSync(join(import.meta.dirname, 'remembering-compiler.sh'), 'utf8');
  const key = [digestOfCompiler(), cpuFeatures(), script, compiler.executable, NAMES].join('\0');
  const folder = join(STORE, shortHash(key));
  if (existsSync(compilerBelow(folder))) return folder;
  const kept = join(folder, 'kept');
  mkdirSync(kept, { recursive: true });
  const made = `${folder}.${process.pid}`;
  const sum = process.platform === 'darwin' ? 'md5' : 'md5sum';
  const settings = { real: compiler.executable, kept, names: NAMES, sum };
  installScripts(made, {
    compile: `${Object.entries(settings)
      .map(([name, value]) => `${name}='${value}'`)
      .join('\n')}\n${script}`,
    benchmark: `exec '${runtimeTool('iree-benchmark-module')}' "$@"`,
    run: `exec '${runtimeTool('iree-run-module')}' "$@"`,
  });
  try {
    renameSync(join(made, 'iree'), join(folder, 'iree'));
  } catch (error) {
    // Another run was first.
    if (!existsSync(compilerBelow(folder))) throw error;
  }
  rmSync(made, { recursive: true, force: true });
  return folder;
}

/** The folder with the compiles of this compiler on this CPU. */
export const store = openStore();

export const rememberingCompiler = compilerBelow(store);

/** Removes the oldest entries of stores that are too large, and the remains of killed runs. Runs before all tests. */
export function tidyStores(): void {
  // The script notes a use of an entry unless the entry is newer than this file.
  const today = join(store, 'today');
  const since = statSync(today, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (since < Date.now() - DAY_MS) writeFileSync(today, '');
  const folders = readdirSync(STORE).map((name) => join(STORE, name, 'kept'));
  const files = folders.filter((folder) => existsSync(folder)).flatMap(filesOf);
  let bytes = 0;
  for (const { path, size, usedMs } of files.toSorted((a, b) => b.usedMs - a.usedMs)) {
    bytes += size;
    const isAbandoned = /\/new\.\d+[^/]*$/.test(path) && usedMs < Date.now() - DAY_MS;
    if (bytes > MOST_MB * 1e6 || isAbandoned) rmSync(path, { recursive: true, force: true });
  }
}

/** Files of a folder of entries, with the time of their last use. An entry is a file, touched when it is used, and a folder. */
function filesOf(folder: string) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    try {
      const status = statSync(path);
      const [entry] = name.split('.');
      const usedMs = statSync(join(folder, entry!), { throwIfNoEntry: false })?.mtimeMs ?? status.mtimeMs;
      const inside = status.isDirectory() ? readdirSync(path, { recursive: true, encoding: 'utf8' }) : [];
      const sizes = inside.map((one) => statSync(join(path, one)).size);
      return [{ path, size: status.size + sizes.reduce((sum, size) => sum + size, 0), usedMs }];
    } catch {
      // Another run removed the file.
      return [];
    }
  });
}
