// How fast a machine reads its memory: no code is faster than that with operands that no cache holds.
import { Worker } from 'node:worker_threads';

/** All threads read so many bytes together: more than caches hold. */
const BYTES = 2 ** 29;

/** Threads beyond these add little, and each takes memory of its own. */
const MOST_THREADS = 8;

/** The best of so many passes counts, since other processes only slow a pass down. */
const PASSES = 3;

/**
 * The program of one thread. It writes every page first, since the system keeps a single page for all that were never written. Then it
 * searches for a byte that is not there, which reads a buffer as fast as the core can.
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
 * Bytes that so many threads read in a second, all of them together, each from its own memory.
 * @throws where there is not enough memory
 */
export async function memoryRate(threads: number): Promise<number> {
  const count = Math.max(1, Math.min(threads, MOST_THREADS));
  const each = BYTES / count;
  const readers = Array.from({ length: count }, () => new Worker(READER, { eval: true, workerData: each }));
  try {
    await Promise.all(readers.map(answerOf));
    let rate = 0;
    for (let pass = 0; pass < PASSES; pass++) {
      const seconds = await Promise.all(
        readers.map((reader) => {
          reader.postMessage(null);
          return answerOf(reader);
        }),
      );
      rate = Math.max(rate, BYTES / Math.max(...seconds));
    }
    return rate;
  } finally {
    await Promise.all(readers.map((reader) => reader.terminate()));
  }
}

const answerOf = (reader: Worker): Promise<number> =>
  new Promise((resolve, reject) => {
    reader.once('message', resolve);
    reader.once('error', reject);
  });
