import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { forgetBuilds, logBuild, loggedBuilds } from '../../src/report/build-log.ts';
import { temporaryDirectory } from '../support/folders.ts';

const inputs = (cache: string, most = 1000) => loggedBuilds(cache, most).map(({ input }) => input);

/** A process that logs builds. */
async function logInProcess(cache: string, name: string, count: number): Promise<void> {
  const module = JSON.stringify(join(import.meta.dirname, '../../src/report/build-log.ts'));
  const script = `import { logBuild } from ${module};
    for (let i = 0; i < ${count}; i++) logBuild(${JSON.stringify(cache)}, '${name}' + i, false, { compiles: 1 });`;
  const child = spawn(process.execPath, ['--conditions=source', '--input-type=module', '-e', script]);
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
}

test('parallel builds keep all lines', async () => {
  const cache = join(temporaryDirectory(), 'cache');
  await Promise.all(['a', 'b', 'c'].map((name) => logInProcess(cache, name, 50)));
  const expected = ['a', 'b', 'c'].flatMap((name) => Array.from({ length: 50 }, (_, i) => `${name}${i}`));
  expect(inputs(cache).sort()).toEqual(expected.sort());
});

test('the last builds are read, without lines that were cut off', () => {
  const cache = temporaryDirectory();
  for (const name of ['a', 'b', 'c']) logBuild(cache, name, false, {});
  appendFileSync(join(cache, 'builds.jsonl'), '{"at":"2026\n[1]\n{"at":1}\n');
  logBuild(cache, 'd', true, { 'operations: hit': 2 });
  expect(inputs(cache, 2)).toEqual(['c', 'd']);
  expect(loggedBuilds(cache, 1)).toMatchObject([
    { folder: process.cwd(), input: 'd', again: true, counts: { 'operations: hit': 2 } },
  ]);
});

test('a long log becomes the older half, and the next one replaces it', () => {
  const cache = temporaryDirectory();
  writeFileSync(join(cache, 'builds.jsonl'), `${' '.repeat(4_000_000)}\n`);
  logBuild(cache, 'last of the older', false, {});
  logBuild(cache, 'first of the new', false, {});
  expect(readFileSync(join(cache, 'builds.jsonl'), 'utf8').length).toBeLessThan(1000);
  expect(existsSync(join(cache, 'builds.older.jsonl'))).toBe(true);
  expect(inputs(cache)).toEqual(['last of the older', 'first of the new']);
  forgetBuilds(cache);
  expect(inputs(cache)).toEqual([]);
});

test('an unwritable log fails no build', () => {
  const cache = temporaryDirectory();
  writeFileSync(join(cache, 'file'), '');
  logBuild(join(cache, 'file'), 'a', false, {});
  expect(loggedBuilds(join(cache, 'file'), 10)).toEqual([]);
});
