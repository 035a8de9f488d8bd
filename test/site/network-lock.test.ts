// The measuring lock of a cache folder on a network disk does not block other machines.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { acquireMeasuringLock } from '../../src/site/measuring-lock.ts';
import { networkOf } from '../../src/system/file-system.ts';
import { temporaryDirectory } from '../support/folders.ts';

vi.mock(import('../../src/system/file-system.ts'), { spy: true });

// measuring-lock.test.ts has other disks.
test('two machines that share a cache folder on a network disk do not wait for each other', async () => {
  vi.mocked(networkOf).mockReturnValue('NFS');
  const cacheDirectory = temporaryDirectory();
  const at = (machine: string) => ({
    cacheDirectory,
    env: { IREE_TUNED_MACHINE: `${cacheDirectory} ${machine}` },
  });
  const first = await acquireMeasuringLock(at('first'), 0.1);
  const second = await acquireMeasuringLock(at('second'), 0.1);
  // Within one machine the lock still excludes.
  const again = process.platform === 'linux' ? await acquireMeasuringLock(at('first'), 0.1) : null;
  expect([first !== null, second !== null, again !== null]).toEqual([true, true, false]);
  expect(existsSync(join(cacheDirectory, 'measuring.lock'))).toBe(false);
  for (const lock of [first, second]) lock?.release();
});
