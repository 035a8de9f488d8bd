// How many threads programs run on.
import { availableParallelism } from 'node:os';
import { UsageError, type Arguments } from './arguments.ts';

/**
 * What `--threads` says; 1 when it was not given.
 * @throws UsageError for anything but 1 and all: the wrapper tunes for nothing in between
 */
export function threadsOption({ options: { threads = '1' } }: Arguments): number {
  const all = availableParallelism();
  if (threads === '1') return 1;
  if (threads === 'all' || threads === String(all)) return all;
  throw new UsageError(
    `--threads ${threads}: it takes 1, or all, which are ${all} here; for fewer, start it under taskset`,
  );
}

/** The runtime's driver that uses so many. */
export const driverOf = (threads: number): string => (threads === 1 ? 'local-sync' : 'local-task');
