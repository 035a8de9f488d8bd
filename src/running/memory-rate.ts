// Measures how fast the machine reads its memory, and the caches of its cores. The rates bound the speed of code.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Bytes that all threads together read: more than caches hold. */
const BYTES = 2 ** 29;

/** More threads add little, and each needs a buffer. */
const MOST_THREADS = 8;

/** The fastest pass counts, because other processes only slow a pass down. */
const PASSES = 3;

/**
 * The program of one thread. It writes every page first, because the system backs all unwritten pages by one page. Then it searches for
 * an absent byte, and so reads the buffer as fast as the core can. Its answer is the time of the fastest of some passes.
 */
const READER = `
const { parentPort, workerData } = require('node:worker_threads');
const bytes = Buffer.alloc(workerData, 1);
parentPort.on('message', ({ passes, reads }) => {
  let least = Infinity;
  for (let pass = 0; pass < passes; pass++) {
    const begun = performance.now();
    for (let read = 0; read < reads; read++) bytes.indexOf(2);
    least = Math.min(least, (performance.now() - begun) / 1000 / reads);
  }
  parentPort.postMessage(least);
});
parentPort.postMessage(0);
`;

/** Passes of one answer, and how often each reads the buffer. */
interface Reading {
  readonly passes: number;
  readonly reads: number;
}

/** Runs a thread for each buffer. Each call of `read` gives the seconds that each thread needs for its buffer. */
async function withReaders<T>(
  count: number,
  bytesEach: number,
  measure: (read: (reading: Reading) => Promise<number[]>) => Promise<T>,
): Promise<T> {
  const readers = Array.from(
    { length: count },
    () => new Worker(READER, { eval: true, workerData: bytesEach }),
  );
  try {
    await Promise.all(readers.map((reader) => once(reader, 'message')));
    return await measure(async (reading) => {
      for (const reader of readers) reader.postMessage(reading);
      const seconds = await Promise.all(readers.map((reader) => once(reader, 'message')));
      return seconds.flat().map(Number);
    });
  } finally {
    await Promise.all(readers.map((reader) => reader.terminate()));
  }
}

/**
 * Bytes per second that all threads together read, each from its own buffer.
 * @throws when there is too little memory
 */
export function memoryRate(threads: number): Promise<number> {
  const count = Math.max(1, Math.min(threads, MOST_THREADS));
  return withReaders(count, BYTES / count, async (read) => {
    let rate = 0;
    for (let pass = 0; pass < PASSES; pass++)
      rate = Math.max(rate, BYTES / Math.max(...(await read({ passes: 1, reads: 1 }))));
    return rate;
  });
}

/** Many short passes: a disturbance meets few of them. */
const CACHED: Reading = { passes: 500, reads: 4 };

/** Threads of one core share its cache, and the cache holds other data, too. */
const SHARE = 1 / 4;

/**
 * Bytes per second that all threads together read from the caches of their cores.
 * @param cacheBytes of the largest cache that a core has for itself
 */
export function cacheRate(threads: number, cacheBytes: number): Promise<number> {
  const count = Math.max(1, Math.min(threads, MOST_THREADS));
  const each = Math.floor(SHARE * cacheBytes);
  return withReaders(count, each, async (read) => {
    const fastest = Math.min(...(await read(CACHED)));
    // Cores do not share these caches, so more cores read more.
    return (threads * each) / fastest;
  });
}
