// @module-tag slow
// In full after a change of src/system/process-tree.ts.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCompiler } from '../../src/system/run.ts';
import { whenHung, type HangLimits } from '../../src/system/limits.ts';
import { childrenOf, scanForChildren } from '../../src/system/process-tree.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { isRunning } from '../compiler/support.ts';
import { program } from '../support/scripts.ts';
import { casesOfTier } from '../support/needs.ts';

const within = (limits: HangLimits, ...command: string[]) =>
  runCompiler('/bin/sh', command, {
    env: process.env,
    stdin: new Uint8Array(),
    capture: true,
    limits: [whenHung(limits)],
  });
const run = (script: string, stallSeconds = 1) => within({ stallSeconds }, '-c', script);
const work = (script: string, workSeconds: number) => within({ stallSeconds: 60, workSeconds }, '-c', script);

/** Keeps a shell busy for at least the given seconds. */
const busy = (seconds: number) =>
  `end=$(($(date +%s) + ${seconds})); while [ $(date +%s) -lt $end ]; do i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; done`;

// Concurrent, because each test waits for a second of idleness.
describe.runIf(process.platform === 'linux').concurrent('a child that does nothing', () => {
  test('is killed with its descendants', async ({ expect }) => {
    const directory = temporaryDirectory();
    const pids = join(directory, 'pids');
    // A binary tree of processes, in which each waits for its children.
    const tree = program(
      join(directory, 'tree'),
      `echo $$ >>'${pids}'; [ "$1" -gt 0 ] || exec sleep 600; "$0" $(($1 - 1)) & "$0" $(($1 - 1)); wait`,
    );
    const { signal, cut } = await within({ stallSeconds: 2 }, tree, '2');
    expect({ signal, cut }).toEqual({ signal: 'SIGKILL', cut: 'hung' });
    const all = readFileSync(pids, 'utf8').trim().split('\n').map(Number);
    expect(all).toHaveLength(7);
    await expect.poll(() => all.filter(isRunning), { timeout: 20_000 }).toEqual([]);
  });

  test('is given up even if its daemon holds the output open', async () => {
    const pid = join(temporaryDirectory(), 'pid');
    const daemon = `(sleep 60 & echo $! >'${pid}')`;
    try {
      expect(await run(`echo said; ${daemon}; exec sleep 60`)).toMatchObject({ cut: 'hung' });
    } finally {
      if (existsSync(pid)) process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL');
    }
  });
});

describe('a child with a limit of work', () => {
  test('is killed with its descendants', async () => {
    const pid = join(temporaryDirectory(), 'pid');
    const { signal, cut } = await work(`sh -c 'echo $$ >"$0"; while :; do :; done' '${pid}'; :`, 1);
    expect({ signal, cut }).toEqual({ signal: 'SIGKILL', cut: 'hung' });
    await expect.poll(() => isRunning(Number(readFileSync(pid, 'utf8')))).toBe(false);
  });

  test.each([
    ['does not work while it waits', 'sleep 4'],
    ['works in several processes at once', `${busy(2)} & ${busy(2)} & wait`],
    ['ends in time', busy(1)],
  ])('that %s is not killed', async (_, script) => {
    const limit = script.startsWith('sleep') ? 1 : 3.5;
    expect(await work(`${script}; exit 3`, limit)).toMatchObject({ code: 3, cut: null });
  });
});

describe.concurrent('a child that works', () => {
  const working: [string, string][] = [
    ['in a child of a child', `sh -c 'sh -c "$0"; :' '${busy(3)}; :'; echo done`],
    ['itself', `${busy(3)}; echo done`],
    ['in a child that it waits for', `sh -c '${busy(3)}; :'; echo done`],
    [
      'in many children that end soon',
      `end=$(($(date +%s) + 3)); while [ $(date +%s) -lt $end ]; do sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done'; done; echo done`,
    ],
  ];
  test.each(casesOfTier(working, 1))('%s is not killed', async (_, script) => {
    expect(await run(script)).toMatchObject({ code: 0, cut: null, stdout: Buffer.from('done\n') });
  });
});

test.runIf(process.platform === 'linux')(
  'where the kernel does not tell children, they are looked for',
  async () => {
    // Servers of other tests may run.
    const before = childrenOf(process.pid);
    const ended = run('sleep 60 & sleep 60', 600);
    let tree: number[] = [];
    const own = () => childrenOf(process.pid).filter((pid) => !before.includes(pid));
    await expect
      .poll(() => (tree = own().flatMap((pid) => [pid, ...childrenOf(pid)])).length, { timeout: 20_000 })
      .toBe(3);
    for (const pid of [process.pid, ...tree])
      expect(scanForChildren(pid).sort()).toEqual(childrenOf(pid).sort());
    for (const pid of tree) process.kill(pid, 'SIGKILL');
    await ended;
  },
);
