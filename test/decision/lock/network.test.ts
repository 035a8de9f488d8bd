// Lock files are written by one process at a time, even if the cache folder is on a network disk.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { updateLock } from '../../../src/decision/lock/file.ts';
import { lockText } from '../../../src/decision/lock/lock.ts';
import { lockOnMachine } from '../../../src/system/machine-lock.ts';
import { networkOf } from '../../../src/system/file-system.ts';
import { shortHash } from '../../../src/system/hash.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { programOf } from './support.ts';

vi.mock(import('../../../src/system/file-system.ts'), { spy: true });

test('SQLite locks nothing there, and a writer of this machine waits for another', async () => {
  vi.mocked(networkOf).mockReturnValue('NFS');
  const [folder, cache] = [temporaryDirectory(), temporaryDirectory()];
  const path = join(folder, 'iree-tuned.lock');
  const other = await lockOnMachine(process.env, 'writing', shortHash(path));
  let isWritten = false;
  const update = updateLock(path, cache, () => {
    isWritten = true;
    return { programs: [programOf()] };
  });
  // The other writer holds the lock.
  await vi.waitFor(() => {
    expect(vi.mocked(networkOf).mock.calls.length).toBeGreaterThan(1);
  });
  if (process.platform === 'linux') expect(isWritten).toBe(false);
  other!.release();
  await update;
  expect(readFileSync(path, 'utf8')).toBe(lockText({ programs: [programOf()] }));
  expect(readdirSync(cache)).toEqual([]);
});
