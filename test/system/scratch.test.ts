import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { isOwnDisk } from '../../src/system/file-system.ts';
import { temporaryName } from '../../src/system/temporary-files.ts';
import { makeScratchFolder } from '../../src/system/scratch.ts';
import { temporaryDirectory } from '../support/folders.ts';

vi.mock(import('../../src/system/file-system.ts'), { spy: true });

const system = join(import.meta.dirname, '..', '..', 'src', 'system');

/** Names from a process that has ended. */
function namesOfTheDead(cache: string): { folder: string; file: string } {
  const code = `const { temporaryName } = await import(${JSON.stringify(join(system, 'temporary-files.ts'))});
    const { makeScratchFolder } = await import(${JSON.stringify(join(system, 'scratch.ts'))});
    const folder = makeScratchFolder(${JSON.stringify(cache)}, 'tuning');
    process.stdout.write(JSON.stringify({ folder, file: temporaryName(${JSON.stringify(join(cache, 'plans', 'plan-0123456789abcdef.json'))}) }));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  return JSON.parse(stdout) as { folder: string; file: string };
}

test('the next process removes all leftovers of a dead one', () => {
  const cache = temporaryDirectory();
  const { folder, file } = namesOfTheDead(cache);
  writeFileSync(join(folder, 'module.vmfb'), 'x');
  mkdirSync(dirname(file));
  writeFileSync(file, '{');
  const own = makeScratchFolder(cache, 'tuning')!;
  expect([existsSync(folder), existsSync(file), existsSync(own)]).toEqual([false, false, true]);
});

test('files of living processes and permanent files stay', () => {
  const cache = temporaryDirectory();
  const first = makeScratchFolder(cache, 'survey')!;
  const kept = [temporaryName(join(cache, 'target.json')), join(cache, 'target-0123456789abcdef.json')];
  for (const path of kept) writeFileSync(path, '{}');
  makeScratchFolder(cache, 'tuning');
  expect([first, ...kept].map(existsSync)).toEqual([true, true, true]);
});

test('a reused process id does not protect leftovers', () => {
  const cache = temporaryDirectory();
  const own = makeScratchFolder(cache, 'tuning')!;
  const before = own.replace(new RegExp(`-${process.pid}-(\\d+)-`), `-${process.pid}-1-`);
  mkdirSync(before);
  writeFileSync(join(before, '.iree-tuned-scratch'), '');
  makeScratchFolder(cache, 'tuning');
  // Only Linux has the start times of processes.
  expect(existsSync(before)).toBe(process.platform !== 'linux');
});

test('in a shared cache, files of another machine stay for a day', () => {
  const cache = temporaryDirectory();
  const own = makeScratchFolder(cache, 'tuning')!;
  const theirs = own.replace(/tuning-[0-9a-f]{8}/, 'tuning-00000000');
  mkdirSync(theirs);
  writeFileSync(join(theirs, '.iree-tuned-scratch'), '');
  makeScratchFolder(cache, 'tuning');
  expect(existsSync(theirs)).toBe(true);
  const long = Date.now() / 1000 - 48 * 3600;
  utimesSync(theirs, long, long);
  makeScratchFolder(cache, 'tuning');
  expect(existsSync(theirs)).toBe(false);
});

test('on a disk that clones of a virtual machine share, leftovers of this machine stay for a day, too', () => {
  const cache = temporaryDirectory();
  const { folder, file } = namesOfTheDead(cache);
  mkdirSync(dirname(file));
  writeFileSync(file, '{');
  vi.mocked(isOwnDisk).mockReturnValue(false);
  const stay = () => {
    makeScratchFolder(cache, 'tuning');
    return [existsSync(folder), existsSync(file)];
  };
  // A clone has the same boot id, and does not see the owner among its processes.
  expect(stay()).toEqual([true, true]);
  const long = Date.now() / 1000 - 48 * 3600;
  for (const path of [folder, file]) utimesSync(path, long, long);
  expect(stay()).toEqual([false, false]);
  vi.mocked(isOwnDisk).mockRestore();
});

test('a read-only cache has no scratch folder', () => {
  const cache = temporaryDirectory();
  writeFileSync(join(cache, 'file'), '');
  expect(makeScratchFolder(join(cache, 'file'), 'tuning')).toBeNull();
  rmSync(join(cache, 'file'));
  expect(readdirSync(cache)).toEqual([]);
});

test('files that only resemble ours stay', () => {
  const cache = temporaryDirectory();
  const { folder } = namesOfTheDead(cache);
  const [, owner] = /([0-9a-f]{8}-\d+-\d+)/.exec(folder)!;
  const theirs = [
    '20240131-12-30-run1',
    `run-${owner}-abc`,
    `work/run-${owner}-abc`,
    `notes-${owner}.tmp`,
    `specs/notes.${owner}.tmp`,
    `specs/mine.mlir.${owner}.tmp`,
  ].map((name) => join(cache, name));
  mkdirSync(join(cache, 'specs'));
  for (const path of theirs) mkdirSync(path);
  makeScratchFolder(cache, 'tuning');
  expect(existsSync(folder)).toBe(false);
  expect(theirs.filter((path) => !existsSync(path))).toEqual([]);
});
