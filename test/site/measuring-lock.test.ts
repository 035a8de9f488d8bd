// @module-tag slow
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { connect, Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { unknownDevice, type Device } from '../../src/backend/device.ts';
import { shortHash } from '../../src/system/hash.ts';
import { acquireMeasuringLock } from '../../src/site/measuring-lock.ts';
import { temporaryDirectory } from '../support/folders.ts';

const source = join(import.meta.dirname, '../../src/site/measuring-lock.ts');

let machines = 0;
const newMachine = () => `${process.pid} ${machines++}`;

/** A cache folder on a machine, and the device to measure. */
const placeOn = (machine: string, cacheDirectory = temporaryDirectory(), device = CPU) => ({
  cacheDirectory,
  env: { IREE_TUNED_MACHINE: machine },
  device,
});

const CPU = unknownDevice('local-task');
const gpu = (uuid: string, { isSoftware = false, driver = 'vulkan' } = {}): Device => ({
  ...unknownDevice(driver),
  gpu: { version: '1', uuid, subgroup: 32, isSoftware },
});
type Place = ReturnType<typeof placeOn>;

const cleanups: (() => void)[] = [];
const cleanUp = () => {
  for (const clean of cleanups.splice(0)) clean();
};
afterEach(() => {
  vi.restoreAllMocks();
  cleanUp();
});

/** Whether the lock is free. If so, holds it until `cleanUp`. */
async function isFree(place: Place, seconds = 0.2): Promise<boolean> {
  const lock = await acquireMeasuringLock(place, seconds);
  if (lock === null) return false;
  cleanups.push(() => {
    lock.release();
  });
  return true;
}

/** Id of another user who can read this file, if any. */
const otherUser = (() => {
  if (process.getuid?.() !== 0) return undefined;
  const uid = 65534;
  const readsIt = `require('node:fs').accessSync(${JSON.stringify(source)})`;
  return spawnSync(process.execPath, ['-e', readsIt], { uid, cwd: '/' }).status === 0 ? uid : undefined;
})();

/** Starts a process that holds the lock, with a child that outlives it. Returns a function that kills the process. */
async function startHolder(place: Place, uid?: number): Promise<() => Promise<unknown>> {
  const holder = spawn(
    process.execPath,
    [
      '--conditions=source',
      '--input-type=module',
      '-e',
      `const { acquireMeasuringLock } = await import(${JSON.stringify(source)});
       const { spawn } = await import('node:child_process');
       const lock = await acquireMeasuringLock(${JSON.stringify(place)}, 5);
       const child = spawn('sleep', ['60'], { stdio: 'ignore', detached: true });
       console.log(lock === null ? 'not held' : child.pid);
       setInterval(() => {}, 1000);`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], ...(uid !== undefined && { uid, cwd: '/' }) },
  );
  cleanups.push(() => holder.kill('SIGKILL'));
  const [said] = (await once(holder.stdout, 'data')) as [Buffer];
  const child = Number(said);
  expect(child).toBeGreaterThan(0);
  cleanups.push(() => process.kill(child, 'SIGKILL'));
  return () => {
    holder.kill('SIGKILL');
    return once(holder, 'exit');
  };
}

describe('the measuring lock', () => {
  test('has one holder at a time', async () => {
    const place = placeOn(newMachine());
    expect(await isFree(place)).toBe(true);
    expect(await isFree(place)).toBe(false);
    cleanUp();
    expect(await isFree(place)).toBe(true);
  });

  test('covers all cache folders of a machine', async () => {
    const machine = newMachine();
    const [mine, yours] = [placeOn(machine), placeOn(machine)];
    expect(await isFree(mine)).toBe(true);
    expect(await isFree(yours)).toBe(false);
    cleanUp();
    // A wait that timed out holds no part of the lock.
    expect(await isFree(yours)).toBe(true);
    expect(await isFree(mine)).toBe(false);
  });

  test('covers all machines that share a cache folder', async () => {
    const folder = temporaryDirectory();
    expect(await isFree(placeOn(newMachine(), folder))).toBe(true);
    expect(await isFree(placeOn(newMachine(), folder))).toBe(false);
  });

  test.each<[string, Device, Device, boolean]>([
    ['of two equal GPUs do not wait for each other', gpu('A'), gpu('B'), true],
    ['of two drivers of one GPU wait for each other', gpu('A'), gpu('A', { driver: 'cuda://1' }), false],
    ['of a GPU and the CPU do not wait for each other', gpu('A'), CPU, true],
    [
      'of a software driver and the CPU wait for each other',
      gpu('llvmpipe', { isSoftware: true }),
      CPU,
      false,
    ],
  ])('is per device: measurements %s', async (_, one, other, isSideBySide) => {
    const folder = temporaryDirectory();
    const machine = newMachine();
    expect(await isFree(placeOn(machine, folder, one))).toBe(true);
    // The machine's lock, and the lock of the cache folder.
    expect(await isFree(placeOn(machine, temporaryDirectory(), other))).toBe(isSideBySide);
    if (isSideBySide) cleanups.pop()!();
    expect(await isFree(placeOn(newMachine(), folder, other))).toBe(isSideBySide);
  });

  const holders: [whose: string, uid: number | undefined][] = [['of the same user', undefined]];
  if (otherUser !== undefined) holders.push(['of another user', otherUser]);
  test.each(holders)('ends when its holder %s is killed, even if a child lives on', async (_, uid) => {
    const machine = newMachine();
    const theirs = placeOn(machine);
    chmodSync(theirs.cacheDirectory, 0o777);
    const kill = await startHolder(theirs, uid);
    const mine = placeOn(machine);
    expect(await isFree(mine)).toBe(false);
    await kill();
    expect(await isFree(mine, 5)).toBe(true);
  });

  test.runIf(process.platform === 'linux')('survives a connection to its socket', async () => {
    const machine = newMachine();
    expect(await isFree(placeOn(machine))).toBe(true);
    const connection = connect({ path: `\0iree-tuned-measuring-${shortHash(machine)}` });
    await once(connection, 'close');
    expect(await isFree(placeOn(machine))).toBe(false);
  });

  test.runIf(process.platform === 'linux')(
    "is the cache folder's alone where the system refuses",
    async () => {
      vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server) {
        setImmediate(() => this.emit('error', Object.assign(new Error('refused'), { code: 'EPERM' })));
        return this;
      });
      const machine = newMachine();
      const place = placeOn(machine);
      expect(await isFree(place)).toBe(true);
      expect(await isFree(place)).toBe(false);
      expect(await isFree(placeOn(machine))).toBe(true);
    },
  );
});
