// Numbers of threads.
import { availableParallelism } from 'node:os';
import { UsageError, type Arguments } from './arguments.ts';

/**
 * Reads `--threads`; default: 1.
 * @throws UsageError for other numbers than 1 and all, because the wrapper tunes only for these
 */
export function threadsOption({ options: { threads = '1' } }: Arguments): number {
  const all = availableParallelism();
  if (threads === '1') return 1;
  if (threads === 'all' || threads === String(all)) return all;
  throw new UsageError(
    `--threads ${threads}: it takes 1, or all, which is ${all} here; for fewer, run the benchmark under taskset`,
  );
}

/** The runtime's driver for this number of threads. */
export const driverOf = (threads: number): string => (threads === 1 ? 'local-sync' : 'local-task');
