// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compileAside } from '../../src/compiler/ask.ts';
import { acquireMeasuringLock } from '../../src/site/measuring-lock.ts';
import { MOST_TIMED_OUT_SECONDS, noteTimeout } from '../../src/system/patience.ts';
import { takeSlot, trySlot } from '../../src/system/slots.ts';
import { program } from '../support/scripts.ts';
import { root, temporaryDirectory } from '../support/folders.ts';

const SLOTS = availableParallelism();

/** A machine without builds, and a compiler that notes its start and its end. */
function machine() {
  const folder = temporaryDirectory();
  const env = { ...process.env, IREE_TUNED_MACHINE: folder };
  const executable = program(
    join(folder, 'iree-compile'),
    `echo begin >>'${folder}/log'; sleep 0.1; echo end >>'${folder}/log'`,
  );
  const compile = () => compileAside(executable, [], { env, cacheDirectory: folder });
  /** The largest number of compiles at once. */
  const most = () => {
    let now = 0;
    const counts = readFileSync(join(folder, 'log'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => (now += line === 'begin' ? 1 : -1));
    return { compiles: counts.length / 2, atOnce: Math.max(...counts) };
  };
  const takeAll = () => Promise.all(Array.from({ length: SLOTS }, () => trySlot(env)));
  return { folder, env, compile, most, takeAll };
}

const release = (slots: readonly (Disposable | null)[]) => {
  for (const slot of slots) slot![Symbol.dispose]();
};

test('as many extra compiles run at once as there are processors', async () => {
  const { compile, most } = machine();
  const ended = await Promise.all(Array.from({ length: 4 * SLOTS }, compile));
  expect(ended.map(({ code }) => code)).toEqual(ended.map(() => 0));
  const { compiles, atOnce } = most();
  expect(compiles).toBe(4 * SLOTS);
  expect(atOnce).toBeLessThanOrEqual(SLOTS);
});

test('a slot that nobody has is free, and a failed compile gives its slot back', async () => {
  const { env, folder, takeAll } = machine();
  const failing = program(join(folder, 'failing'), 'exit 3');
  for (let i = 0; i < 2 * SLOTS; i++)
    expect(await compileAside(failing, [], { env, cacheDirectory: folder })).toMatchObject({ code: 3 });
  const slots = await takeAll();
  expect(slots).not.toContain(null);
  expect(await trySlot(env)).toBeNull();
  release(slots);
});

test('the slots of a killed process are free', async () => {
  const { env, folder } = machine();
  const holder = spawn(
    process.execPath,
    [
      '--conditions=source',
      '--input-type=module',
      '-e',
      `const { trySlot } = await import(${JSON.stringify(join(root, 'src/system/slots.ts'))});
       const slots = [];
       for (let i = 0; i < ${SLOTS}; i++) slots.push(await trySlot(process.env));
       console.log(slots.includes(null) ? 'not held' : 'held');
       setInterval(() => slots, 1000);`,
    ],
    { env, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [said] = (await once(holder.stdout, 'data')) as [Buffer];
  expect(said.toString()).toBe('held\n');
  expect(await trySlot(env)).toBeNull();
  const slot = takeSlot(env, folder);
  holder.kill('SIGKILL');
  expect(await slot).not.toBeNull();
  release([await slot]);
});

test('the holder of the measuring lock waits for no slot', async () => {
  const { env, folder, compile, takeAll } = machine();
  const slots = await takeAll();
  const lock = await acquireMeasuringLock({ env, cacheDirectory: folder }, 5);
  expect(await compile()).toMatchObject({ code: 0 });
  lock!.release();
  expect(await trySlot(env)).toBeNull();
  release(slots);
});

test('after a wait that timed out a compile runs without a slot', async () => {
  const { env, folder, compile, takeAll } = machine();
  const slots = await takeAll();
  // Builds have waited long today, so this wait is short.
  noteTimeout(folder, MOST_TIMED_OUT_SECONDS);
  expect(await takeSlot(env, folder)).toBeNull();
  expect(await compile()).toMatchObject({ code: 0 });
  release(slots);
});
