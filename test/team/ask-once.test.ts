// When a build asks a server: with a simulated clock, and with concurrent processes.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { networkOf } from '../../src/system/file-system.ts';
import { askOnce, type Asking } from '../../src/team/ask-once.ts';
import { MISSING_MS } from '../../src/team/missing.ts';
import { teamState } from '../../src/team/state.ts';
import type { Answer, Received } from '../../src/team/team.ts';
import { root, temporaryDirectory } from '../support/folders.ts';

vi.mock(import('../../src/system/file-system.ts'), { spy: true });

const URL = 'postgres://ada:secret@nowhere.invalid/tuning';
const PLACE = { target: 't', device: 'd', compiler: 'c' };
const NOTHING: Answer<Received> = { ok: true, value: { lines: [], later: [], ignored: 2 } };
const LOST: Answer<Received> = { ok: false, failure: { kind: 'unreachable', reason: 'gone' } };
const DENIED: Answer<Received> = { ok: false, failure: { kind: 'denied', reason: 'wrong password' } };

/** A machine with a simulated clock, and a server whose answers `answer` defines. */
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

test('a build asks for missing workloads, and does not repeat a question that had no answer', async () => {
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

test('on a network disk every process gets the lock', () => {
  const cache = temporaryDirectory();
  const state = teamState(cache, URL);
  vi.mocked(networkOf).mockReturnValueOnce('NFS').mockReturnValueOnce('NFS');
  const [first, second] = [state.lock(), state.lock()];
  expect(first).not.toBeNull();
  expect(second).not.toBeNull();
  second!.release();
  first!.release();
  expect(readdirSync(cache)).toEqual([]);
  const turn = state.lock();
  expect(state.lock()).toBeNull();
  turn!.release();
});

test('an unreachable server is asked again only after a pause', async () => {
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
  // After an answer the next failure counts as the first.
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

test('other processes do not wait while one tries a failed server', async () => {
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

test('a process that waited asks only for workloads that are still missing', async () => {
  const { build, asked, here, state } = machine();
  const lock = state().lock()!;
  const waiting = build({ limitMs: 30_000 });
  await new Promise((resolve) => setTimeout(resolve, 50));
  here.missing = [];
  lock.release();
  expect(await waiting).toEqual({ outcome: 'found' });
  expect(asked).toEqual([]);
});

test('a process whose wait times out goes on without an answer', async () => {
  const { build, asked, state } = machine();
  const lock = state().lock()!;
  expect(await build({ limitMs: 60 })).toMatchObject({ outcome: 'unreachable' });
  expect(asked).toEqual([]);
  lock.release();
});

test('a cache folder that is read-only or corrupt does no harm', async () => {
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

test('the memory contains no password', async () => {
  const { build, cache, here } = machine();
  await build();
  here.answer = LOST;
  here.missing = ['c'];
  await build();
  const files = readFolder(cache);
  expect(files).toHaveLength(2);
  for (const file of files) expect(readFileSync(file, 'latin1')).not.toContain('secret');
});

test('one of many concurrent processes asks for all', async () => {
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
