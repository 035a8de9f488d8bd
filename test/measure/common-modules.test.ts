import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { compiled } from '../../src/measure/common-modules.ts';
import { filesAt, COMMON_MODULES, pathIn } from '../../src/system/cache.ts';

import { temporaryDirectory } from '../support/folders.ts';
import { fakeTools } from '../tuning/fake-tools.ts';

/** Tools of one process. Tools of several processes may share a cache folder. */
function toolsOf(cacheDirectory: string, compiler = '') {
  const workDirectory = join(temporaryDirectory(), 'work');
  mkdirSync(workDirectory);
  return {
    ...fakeTools(workDirectory, { compiler }),
    commonDirectory: dirname(pathIn(cacheDirectory, COMMON_MODULES)),
  };
}

test('a module is compiled once, and kept for other processes with the same compiler and flags', async () => {
  const cache = temporaryDirectory();
  const tools = toolsOf(cache, 'echo run >>"$0.runs"');
  const first = await compiled(tools, 'module {}', [], 'vmfb');
  expect(await compiled(tools, 'module {}', [], 'vmfb')).toBe(first);
  expect(filesAt(cache, COMMON_MODULES)).toEqual([first]);
  expect(readdirSync(dirname(first!))).toHaveLength(1);
  const otherFlags = { ...tools, flags: ['--other'] };
  expect(await compiled(otherFlags, 'module {}', [], 'vmfb')).not.toBe(first);
  expect(await compiled(toolsOf(cache), 'module {}', [], 'vmfb')).not.toBe(first);
  expect(readdirSync(dirname(first!))).toHaveLength(3);
});

test('a failed compile leaves no file, and the next call compiles again', async () => {
  const cache = temporaryDirectory();
  const tools = toolsOf(cache, '[ -e "$0.works" ] || exit 1');
  expect(await compiled(tools, 'module {}', [], 'vmfb')).toBeNull();
  rmSync(`${tools.compiler}.works`, { force: true });
  mkdirSync(`${tools.compiler}.works`);
  expect(await compiled(tools, 'module {}', [], 'vmfb')).not.toBeNull();
});
