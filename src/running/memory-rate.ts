// Measures how fast the machine reads its memory. The rate bounds the speed of code whose operands exceed all caches.
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
 * an absent byte, and so reads the buffer as fast as the core can.
 */
const READER = `
const { parentPort, workerData } = require('node:worker_threads');
const bytes = Buffer.alloc(workerData, 1);
const pass = () => {
  const begun = performance.now();
  bytes.indexOf(2);
  parentPort.postMessage((performance.now() - begun) / 1000);
};
parentPort.on('message', pass);
parentPort.postMessage(0);
`;

/**
 * Bytes per second that all threads together read, each from its own buffer.
 * @throws when there is too little memory
 */
export async function memoryRate(threads: number): Promise<number> {
  const count = Math.max(1, Math.min(threads, MOST_THREADS));
  const each = BYTES / count;
  const readers = Array.from({ length: count }, () => new Worker(READER, { eval: true, workerData: each }));
  try {
    await Promise.all(readers.map((reader) => once(reader, 'message')));
    let rate = 0;
    for (let pass = 0; pass < PASSES; pass++) {
      for (const reader of readers) reader.postMessage(null);
      const seconds = await Promise.all(readers.map((reader) => once(reader, 'message')));
      rate = Math.max(rate, BYTES / Math.max(...seconds.flat().map(Number)));
    }
    return rate;
  } finally {
    await Promise.all(readers.map((reader) => reader.terminate()));
  }
}
