// Slots for compiles besides the users' own, such as surveys. All builds of a machine share them, because `make -j64` starts 64 builds.
import { availableParallelism } from 'node:os';
import { lockOnMachine, NO_LOCK, type Lock } from './machine-lock.ts';
import { retry, waitPatiently } from './patience.ts';
import type { Environment } from './recursion.ts';

/** Longest wait for a slot, in seconds. Then the compile runs without, because a stopped build may hold slots for hours. */
const PATIENCE_SECONDS = 60;

let exempted = 0;

/**
 * Exempts this process from waiting. It holds the measuring lock, which other builds wait for, and its compiles are few.
 * @returns a function that ends the exemption
 */
export function exemptFromSlots(): () => void {
  exempted++;
  return () => {
    exempted--;
  };
}

/** Waits for a slot; null after a time-out. A process must wait for nothing but a compile while it holds a slot. */
export const takeSlot = (env: Environment, cacheDirectory: string): Promise<Lock | null> =>
  waitPatiently(cacheDirectory, PATIENCE_SECONDS, (seconds, signal) =>
    retry(() => trySlot(env), seconds, signal),
  );

/** Tries each slot once; null if all are taken. There are as many slots as processors. */
export async function trySlot(env: Environment): Promise<Lock | null> {
  for (let slot = availableParallelism(); slot > 0; slot--) {
    const lock = await lockOnMachine(env, 'compiling', String(slot));
    if (lock !== null) return lock;
  }
  return exempted > 0 ? NO_LOCK : null;
}
