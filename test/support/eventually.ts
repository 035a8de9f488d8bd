// Waits for another process.
import { setTimeout as sleep } from 'node:timers/promises';

/** Whether something becomes true in time. */
export async function eventually(isSo: () => boolean, seconds = 4): Promise<boolean> {
  for (let i = 0; i < 50 * seconds && !isSo(); i++) await sleep(20);
  return isSo();
}
