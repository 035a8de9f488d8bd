// Lock files on disk, and other files in their place.
import { execFile, execFileSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { readLock, updateLock } from '../../../src/decision/lock/file.ts';
import { LockError, lockText } from '../../../src/decision/lock/lock.ts';
import { root, temporaryDirectory } from '../../support/folders.ts';
import { lockFile } from '../../../src/site/measuring-lock.ts';
import { shortHash } from '../../../src/system/hash.ts';
import { programOf } from './support.ts';

const lock = { programs: [programOf()] };
const cache = temporaryDirectory();

test('is written atomically, through links, and read again', async () => {
  const folder = temporaryDirectory();
  const path = join(folder, 'link');
  writeFileSync(join(folder, 'real'), lockText({ programs: [] }));
  symlinkSync('real', path);
  await updateLock(path, cache, () => lock);
  expect(readFileSync(join(folder, 'real'), 'utf8')).toBe(lockText(lock));
  expect(readdirSync(folder).sort()).toEqual(['link', 'real']);
  expect(await readLock(path)).toEqual({ lock, text: lockText(lock) });
});

test('that is missing is null, and a failed write leaves no file', async () => {
  const folder = temporaryDirectory();
  expect(await readLock(join(folder, 'iree-tuned.lock'))).toBeNull();
  mkdirSync(join(folder, 'iree-tuned.lock'));
  await expect(updateLock(join(folder, 'iree-tuned.lock'), cache, () => lock)).rejects.toThrow(
    /it is not a file/,
  );
  expect(readdirSync(folder)).toEqual(['iree-tuned.lock']);
});

test('keeps the changes of parallel processes, and waits for no killed process', async () => {
  const folder = temporaryDirectory();
  const path = join(folder, 'iree-tuned.lock');
  // The system has released the lock of a killed process.
  lockFile(join(cache, `writing-${shortHash(path)}.lock`))!.release();
  const code = `
    const { updateLock } = await import('${join(root, 'src/decision/lock/file.ts')}');
    const { withEntries } = await import('${join(root, 'src/decision/lock/lock.ts')}');
    const entry = { ...${JSON.stringify({ ...programOf(), workloads: null })}, forms: new Map(), workloads: new Map() };
    for (let i = 0; i < 20; i++)
      await updateLock(${JSON.stringify(path)}, ${JSON.stringify(cache)}, (lock) => withEntries(lock, [{ ...entry, program: process.argv[1] + i }]));`;
  const run = promisify(execFile);
  const node = ['--conditions=source', '--input-type=module', '-e', code];
  await Promise.all(['a', 'b', 'c'].map((name) => run(process.execPath, [...node, name])));
  expect((await readLock(path))!.lock.programs).toHaveLength(60);
  expect(readdirSync(folder)).toEqual(['iree-tuned.lock']);
});

test('that is no file fails at once with its path', async () => {
  const folder = temporaryDirectory();
  const path = (name: string) => join(folder, name);
  mkdirSync(path('folder'));
  execFileSync('mkfifo', [path('pipe')]);
  writeFileSync(path('sparse'), '');
  truncateSync(path('sparse'), 2 ** 30);
  expect(statSync(path('sparse')).size).toBe(2 ** 30);
  writeFileSync(path('text'), 'no lock');
  writeFileSync(path('bytes'), Buffer.from([0xff, 0xfe, 0]));
  for (const [name, why] of [
    ['folder', 'it is not a file'],
    ['pipe', 'it is not a file'],
    ['sparse', 'it is too large'],
    ['text', 'it is not JSON: restore it, or delete it and run iree-tuned lock INPUT -- FLAGS'],
    ['bytes', 'it is not JSON: restore it, or delete it and run iree-tuned lock INPUT -- FLAGS'],
  ] as const)
    await expect(readLock(path(name))).rejects.toThrow(
      new LockError(`the lock file ${path(name)} cannot be used: ${why}`),
    );
});
