// When a server is asked: with a clock of our own, and other processes that ask at the same time.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { askOnce, type Asking } from '../../src/team/ask-once.ts';
import { MISSING_MS } from '../../src/team/missing.ts';
import { teamState } from '../../src/team/state.ts';
import type { Answer, Received } from '../../src/team/team.ts';
import { root, temporaryDirectory } from '../support/folders.ts';

const URL = 'postgres://ada:secret@nowhere.invalid/tuning';
const PLACE = { target: 't', device: 'd', compiler: 'c' };
const NOTHING: Answer<Received> = { ok: true, value: { lines: [], later: [], ignored: 2 } };
const LOST: Answer<Received> = { ok: false, failure: { kind: 'unreachable', reason: 'gone' } };
const DENIED: Answer<Received> = { ok: false, failure: { kind: 'denied', reason: 'wrong password' } };

/** A machine with a clock, and a server that answers what `answer` says. */
function machine(cache = temporaryDirectory()) {
  const asked: string[][] = [];
  const here = { clock: 1e12, answer: NOTHING, missing: ['a', 'b'], knows: [] as string[], url: URL };
  return {
    cache,
    asked,
    here,
    state: () => teamState(cache, here.url),
    build: (change: Partial<Asking> = {}) =>
      askOnce({
        state: teamState(cache, here.url),
        place: PLACE,
        missing: () => here.missing,
        ask: (question) => {
          asked.push([...question.workloads]);
          return Promise.resolve(here.answer);
        },
        take: () => {
          here.missing = here.missing.filter((workload) => !here.knows.includes(workload));
        },
        limitMs: 300,
        now: () => here.clock,
        random: () => 0.5,
        ...change,
      }),
  };
}

test('a server is asked for what is missing, and not again for what it did not know', async () => {
  const { build, asked, here } = machine();
  here.knows = ['a'];
  expect(await build()).toEqual({ outcome: 'answered', ignored: 2 });
  expect(await build()).toEqual({ outcome: 'known' });
  here.missing = ['b', 'new'];
  expect(await build()).toMatchObject({ outcome: 'answered' });
  here.clock += MISSING_MS;
  expect(await build()).toMatchObject({ outcome: 'answered' });
  expect(asked).toEqual([['a', 'b'], ['new'], ['b', 'new']]);
});

test('on a network disk nothing is locked, and everybody has the turn', () => {
  const cache = temporaryDirectory();
  const state = teamState(cache, URL, () => 'NFS');
  const [first, second] = [state.lock(), state.lock()];
  expect(first).not.toBeNull();
  expect(second).not.toBeNull();
  second!.release();
  first!.release();
  expect(readdirSync(cache)).toEqual([]);
  const here = teamState(cache, URL);
  const turn = here.lock();
  expect(here.lock()).toBeNull();
  turn!.release();
});

test('a server that cannot be reached is left alone, and asked again later', async () => {
  const { build, asked, here } = machine();
  here.answer = LOST;
  expect(await build()).toEqual({ outcome: 'unreachable', reason: 'gone' });
  expect(await build()).toEqual({ outcome: 'unreachable', reason: 'gone' });
  expect(asked).toHaveLength(1);
  here.clock += 60_000;
  await build();
  here.clock += 60_000;
  await build();
  expect(asked).toHaveLength(2);
  here.clock += 60_000;
  here.answer = NOTHING;
  expect(await build()).toMatchObject({ outcome: 'answered' });
  // The next failure is the first one again.
  here.answer = LOST;
  here.missing = ['new'];
  await build();
  here.clock += 60_000;
  await build();
  expect(asked).toHaveLength(5);
});

test('a wrong password is tried again after an hour, with another URL, or after a sync', async () => {
  const { build, asked, here, state } = machine();
  here.answer = DENIED;
  await build();
  here.clock += 2_000_000;
  expect(await build()).toEqual({ outcome: 'unreachable', reason: 'wrong password' });
  expect(asked).toHaveLength(1);
  state().forget();
  await build();
  expect(asked).toHaveLength(2);
  here.url = URL.replace('secret', 'another');
  here.answer = NOTHING;
  expect(await build()).toMatchObject({ outcome: 'answered' });
});

test('while one process tries a server that had failed, the others do not wait', async () => {
  const { build, here, state } = machine();
  here.answer = LOST;
  await build();
  here.clock += 60_000;
  const lock = state().lock()!;
  const begun = performance.now();
  expect(await build({ limitMs: 30_000 })).toEqual({ outcome: 'unreachable', reason: 'gone' });
  expect(performance.now() - begun).toBeLessThan(20_000);
  lock.release();
});

test('who waits for another one asks only for what is missing then', async () => {
  const { build, asked, here, state } = machine();
  const lock = state().lock()!;
  const waiting = build({ limitMs: 30_000 });
  await new Promise((resolve) => setTimeout(resolve, 50));
  here.missing = [];
  lock.release();
  expect(await waiting).toEqual({ outcome: 'found' });
  expect(asked).toEqual([]);
});

test('who waits in vain goes on with what is here', async () => {
  const { build, asked, state } = machine();
  const lock = state().lock()!;
  expect(await build({ limitMs: 60 })).toMatchObject({ outcome: 'unreachable' });
  expect(asked).toEqual([]);
  lock.release();
});

test('a cache folder that cannot be written, or holds nonsense, is no obstacle', async () => {
  const { build, asked, cache, state, here } = machine();
  here.answer = LOST;
  await build();
  const memories = readFolder(cache);
  expect(memories.length).toBeGreaterThan(0);
  for (const file of memories) writeFileSync(file, '{"identity":"x","value":{"failures":"many"}}');
  expect(state().breaker()).toBeNull();
  await build();
  expect(asked).toHaveLength(2);
  const nowhere = machine('/dev/null/cache');
  nowhere.here.answer = LOST;
  expect(await nowhere.build()).toEqual({ outcome: 'unreachable', reason: 'gone' });
});

test('no password is in what is remembered', async () => {
  const { build, cache, here } = machine();
  await build();
  here.answer = LOST;
  here.missing = ['c'];
  await build();
  const files = readFolder(cache);
  expect(files).toHaveLength(2);
  for (const file of files) expect(readFileSync(file, 'latin1')).not.toContain('secret');
});

test('of many processes at once one asks, for all of them', async () => {
  const cache = temporaryDirectory();
  const log = join(cache, 'asked');
  writeFileSync(log, '');
  const script = `
    import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
    import { askOnce } from './src/team/ask-once.ts';
    import { teamState } from './src/team/state.ts';
    const [cache, known] = [${JSON.stringify(cache)}, ${JSON.stringify(join(cache, 'known'))}];
    console.log('ready');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    const got = await askOnce({
      state: teamState(cache, 'postgres://nowhere.invalid/x'),
      place: ${JSON.stringify(PLACE)},
      missing: () => existsSync(known) ? [] : ['a'],
      ask: async () => {
        appendFileSync(${JSON.stringify(log)}, 'x');
        await new Promise((resolve) => setTimeout(resolve, 100));
        return { ok: true, value: { lines: [], later: [], ignored: 0 } };
      },
      take: () => writeFileSync(known, ''),
      limitMs: 30000,
      now: Date.now,
      random: Math.random,
    });
    console.log(got.outcome);
    process.exit();`;
  const children = Array.from({ length: 3 }, () =>
    spawn(process.execPath, ['--conditions=source', '--input-type=module', '--eval', script], { cwd: root }),
  );
  const outputs = children.map(() => '');
  const ended = children.map((child, i) => {
    child.stdout.on('data', (bytes: Buffer) => (outputs[i] = outputs[i]! + bytes.toString()));
    return new Promise((resolve) => child.on('close', resolve));
  });
  await Promise.all(children.map((child) => new Promise((resolve) => child.stdout.once('data', resolve))));
  for (const child of children) child.stdin.write('go\n');
  await Promise.all(ended);
  expect(readFileSync(log, 'utf8')).toBe('x');
  expect(outputs.map((output) => output.split('\n')[1]).sort()).toEqual(['answered', 'found', 'found']);
});

function readFolder(cache: string): string[] {
  return readdirSync(join(cache, 'team'))
    .filter((name) => name.endsWith('.json'))
    .map((name) => join(cache, 'team', name));
}
