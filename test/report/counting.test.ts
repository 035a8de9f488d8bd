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
import { collectCounts, noteCounts, pendingCounts } from '../../src/report/counting.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.ts';
import { StoreError } from '../../src/store/errors.ts';
import { temporaryDirectory } from '../support/folders.ts';

function place() {
  const folder = temporaryDirectory();
  const cache = join(folder, 'cache');
  const store = openSqliteStore(join(folder, 'tuning.db'));
  return { cache, file: join(cache, 'counters.jsonl'), store };
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
  test('is added in the database once', () => {
    const { cache, store } = place();
    noteCounts(cache, { compiles: 1, 'operations: hit': 2 });
    noteCounts(cache, { compiles: 1 });
    expect(pendingCounts(cache)).toEqual({ compiles: 2, 'operations: hit': 2 });
    collectCounts(cache, store);
    collectCounts(cache, store);
    expect(store.counters()).toEqual({ compiles: 2, 'operations: hit': 2 });
    expect(pendingCounts(cache)).toEqual({});
    expect(readdirSync(cache)).toEqual([]);
    store.close();
  });

  test('of an earlier version counts without its day', () => {
    const { cache, file, store } = place();
    noteCounts(cache, { compiles: 1 });
    appendFileSync(file, '\n{"day":20484,"compiles":1}\n{"day":1e99,"compiles":1}');
    collectCounts(cache, store);
    expect(store.counters()).toEqual({ compiles: 3 });
    store.close();
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
    const { cache, store } = place();
    const state = { isRunning: true };
    const builds = Promise.all([1, 2, 3, 4].map(() => noteInProcess(cache, 500))).finally(() => {
      state.isRunning = false;
    });
    while (state.isRunning) {
      collectCounts(cache, store);
      await sleep(20);
    }
    await builds;
    collectCounts(cache, store);
    expect(store.counters()).toEqual({ compiles: 2000, 'seconds tuning': 1000 });
    store.close();
  });

  test('after a line that was cut off is not lost', () => {
    const { cache, file, store } = place();
    noteCounts(cache, { compiles: 1 });
    appendFileSync(file, '\n{"compiles":');
    noteCounts(cache, { compiles: 1 });
    appendFileSync(file, '\n[7]\nnull\n{"compiles": "many"}');
    collectCounts(cache, store);
    expect(store.counters()).toEqual({ compiles: 2 });
    store.close();
  });

  test('stays in the file if the database refuses it', () => {
    const { cache, file, store } = place();
    noteCounts(cache, { compiles: 1 });
    store.close();
    expect(() => {
      collectCounts(cache, store);
    }).toThrow(StoreError);
    expect(existsSync(file)).toBe(false);

    // An abandoned file is taken later.
    const other = openSqliteStore(join(cache, '..', 'other.db'));
    collectCounts(cache, other);
    expect(other.counters()).toEqual({});
    vi.setSystemTime(Date.now() + 61_000);
    collectCounts(cache, other);
    expect(other.counters()).toEqual({ compiles: 1 });
    expect(readdirSync(cache)).toEqual([]);
    other.close();
  });

  test('takes a bounded file', () => {
    const { cache, file } = place();
    const line = { compiles: 1, 'seconds tuning': 0.25, ['unchanged: '.padEnd(10_000, 'x')]: 1 };
    for (let i = 0; i < 250; i++) noteCounts(cache, line);
    expect(statSync(file).size).toBeLessThan(1_100_000);
    expect(pendingCounts(cache)).toMatchObject({ compiles: 250, 'seconds tuning': 62.5 });
    expect(readdirSync(cache)).toEqual(['counters.jsonl']);
  });

  test('in an unwritable folder is dropped', () => {
    const { cache, store } = place();
    writeFileSync(cache, '');
    expect(() => {
      noteCounts(cache, { compiles: 1 });
      collectCounts(cache, store);
    }).not.toThrow();
    expect(pendingCounts(cache)).toEqual({});
    store.close();
  });

  test.runIf(existsSync('/dev/full'))('on a full disk is not minded', () => {
    const folder = temporaryDirectory();
    symlinkSync('/dev/full', join(folder, 'counters.jsonl'));
    expect(() => {
      noteCounts(folder, { compiles: 1 });
    }).not.toThrow();
  });

  test('in a file that another process has just taken stays with that process', () => {
    const { cache, file, store } = place();
    noteCounts(cache, { compiles: 1 });
    renameSync(file, `${file}.1.1.0`);
    collectCounts(cache, store);
    expect(store.counters()).toEqual({});
    expect(readdirSync(cache)).toEqual(['counters.jsonl.1.1.0']);
    store.close();
  });
});
