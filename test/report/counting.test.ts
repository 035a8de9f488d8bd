import { spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { countsIn, noteCounts, takeCounts } from '../../src/report/counting.ts';
import { temporaryDirectory } from '../support/folders.ts';

function place() {
  const cache = join(temporaryDirectory(), 'cache');
  return { cache, file: join(cache, 'counters.jsonl') };
}

afterEach(() => {
  vi.useRealTimers();
});

/** A process that counts `count` compiles. */
async function noteInProcess(cache: string, count: number): Promise<void> {
  const module = JSON.stringify(join(import.meta.dirname, '../../src/report/counting.ts'));
  const script = `import { noteCounts } from ${module};
    for (let i = 0; i < ${count}; i++) noteCounts(${JSON.stringify(cache)}, { compiles: 1, 'seconds tuning': 0.5 });`;
  const child = spawn(process.execPath, ['--conditions=source', '--input-type=module', '-e', script]);
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
}

describe('a count', () => {
  test('is added once', () => {
    const { cache } = place();
    noteCounts(cache, { compiles: 1, 'operations: hit': 2 });
    noteCounts(cache, { compiles: 1 });
    const sums = { compiles: 2, 'operations: hit': 2 };
    expect(countsIn(cache)).toEqual(sums);
    expect(takeCounts(cache)).toEqual(sums);
    expect(takeCounts(cache)).toEqual({});
    expect(readdirSync(cache)).toEqual([]);
  });

  test('of parallel processes is neither lost nor doubled, even during collection', async () => {
    // A process that has opened the file appends its line within the grace time, even on a busy machine.
    const { wait } = Atomics;
    const waiting = vi
      .spyOn(Atomics, 'wait')
      .mockImplementation((cell: Int32Array | BigInt64Array) => wait(cell as Int32Array, 0, 0, 1000));
    onTestFinished(() => {
      waiting.mockRestore();
    });
    const { cache } = place();
    const state = { isRunning: true };
    const builds = Promise.all([1, 2, 3, 4].map(() => noteInProcess(cache, 500))).finally(() => {
      state.isRunning = false;
    });
    const taken = { compiles: 0, 'seconds tuning': 0 };
    const take = () => {
      const { compiles = 0, 'seconds tuning': seconds = 0 } = takeCounts(cache);
      taken.compiles += compiles;
      taken['seconds tuning'] += seconds;
    };
    while (state.isRunning) {
      take();
      await sleep(20);
    }
    await builds;
    take();
    expect(taken).toEqual({ compiles: 2000, 'seconds tuning': 1000 });
  });

  test('after a line that was cut off is not lost', () => {
    const { cache, file } = place();
    noteCounts(cache, { compiles: 1 });
    appendFileSync(file, '\n{"compiles":');
    noteCounts(cache, { compiles: 1 });
    appendFileSync(file, '\n[7]\nnull\n{"compiles": "many"}');
    expect(takeCounts(cache)).toEqual({ compiles: 2 });
  });

  test('in a file that another process has taken stays with that process, and is taken after its death', () => {
    const { cache, file } = place();
    noteCounts(cache, { compiles: 1 });
    renameSync(file, `${file}.1-1767225600000-0`);
    expect(takeCounts(cache)).toEqual({});
    expect(readdirSync(cache)).toEqual(['counters.jsonl.1-1767225600000-0']);
    vi.setSystemTime(Date.now() + 61_000);
    expect(takeCounts(cache)).toEqual({ compiles: 1 });
    expect(readdirSync(cache)).toEqual([]);
  });

  test('takes a bounded file', () => {
    const { cache, file } = place();
    const line = { compiles: 1, 'seconds tuning': 0.25, ['unchanged: '.padEnd(10_000, 'x')]: 1 };
    for (let i = 0; i < 250; i++) noteCounts(cache, line);
    expect(statSync(file).size).toBeLessThan(1_100_000);
    expect(countsIn(cache)).toMatchObject({ compiles: 250, 'seconds tuning': 62.5 });
    expect(readdirSync(cache)).toEqual(['counters.jsonl']);
  });

  test('in an unwritable folder is dropped', () => {
    const { cache } = place();
    writeFileSync(cache, '');
    expect(() => {
      noteCounts(cache, { compiles: 1 });
    }).not.toThrow();
    expect([countsIn(cache), takeCounts(cache)]).toEqual([{}, {}]);
  });

  test.runIf(existsSync('/dev/full'))('on a full disk is not minded', () => {
    const folder = temporaryDirectory();
    symlinkSync('/dev/full', join(folder, 'counters.jsonl'));
    expect(() => {
      noteCounts(folder, { compiles: 1 });
    }).not.toThrow();
  });
});
