// A tool that no signal ends, because its device is in a reset.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { acquireMeasuringLock } from '../../src/site/measuring-lock.ts';
import { foundUnkillable } from '../../src/system/unkillable.ts';
import { tuneWorkloads } from '../../src/tuning/tune-workloads.ts';
import { open, temporaryPath } from '../store/support.ts';
import { SPACE } from '../support/backend.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { keyOfMatmul, siteOf, surroundingsOf } from '../support/inspected.ts';
import { matmul } from '../support/workloads.ts';
import { fakeTools } from './fake-tools.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('ends the measuring, and gives the lock back', async () => {
  const folder = temporaryDirectory();
  const tools = fakeTools(folder, { compiler: `echo x >'${folder}/begun'; exec sleep 600` });
  const site = siteOf({ executable: tools.compiler, device: tools.device });
  const surroundings = surroundingsOf();
  const abort = new AbortController();
  const work = { key: keyOfMatmul(61, 67, 71), workload: matmul(61, 67, 71), count: 1, options: SPACE };
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.spyOn(process, 'kill').mockReturnValue(true);
  const tuning = tuneWorkloads([work], open(temporaryPath()), site, tools, surroundings, {
    budgetSeconds: 60,
    givenSeconds: 60,
    signal: abort.signal,
  });
  const ended = expect(tuning).rejects.toThrow(/ does not end, even by SIGKILL/);
  await expect.poll(() => existsSync(join(folder, 'begun')), { timeout: 20_000 }).toBe(true);
  abort.abort();
  vi.advanceTimersByTime(10_000);
  await ended;
  vi.useRealTimers();
  const acquire = () => acquireMeasuringLock(surroundings, 0);
  // The watcher ends the tool.
  await expect.poll(() => acquire().catch(() => null), { timeout: 20_000 }).not.toBeNull();
});

test.runIf(process.platform === 'linux')('keeps all builds from measuring on its device', async () => {
  const surroundings = surroundingsOf();
  const child = spawn('sleep', ['600']);
  await once(child, 'spawn');
  const lock = await acquireMeasuringLock(surroundings, 0);
  foundUnkillable(child.pid!);
  lock!.release();
  await expect(acquireMeasuringLock(surroundings, 60)).rejects.toThrow(/ does not end, even by SIGKILL/);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const again = await acquireMeasuringLock(surroundings, 0);
  expect(again).not.toBeNull();
  again!.release();
});
