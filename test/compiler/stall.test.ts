import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCompiler } from '../../src/compiler/index.ts';
import { childrenOf, scanForChildren } from '../../src/compiler/process-tree.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { isRunning, program } from './support.ts';

const start = (file: string, argv: readonly string[], stallSeconds: number) =>
  runCompiler(file, argv, { env: process.env, stdin: new Uint8Array(), capture: true, stallSeconds });
const run = (script: string, stallSeconds = 1) => start('/bin/sh', ['-c', script], stallSeconds);

describe.runIf(process.platform === 'linux')('a child that does nothing', () => {
  test('is killed', async () => {
    const { code, signal, stalled } = await run('exec sleep 60');
    expect({ code, signal, stalled }).toEqual({ code: null, signal: 'SIGKILL', stalled: true });
  });

  test('is killed with all that it has started', async () => {
    const directory = temporaryDirectory();
    const pids = join(directory, 'pids');
    // Two at each level wait for two more each, and the last ones for nothing.
    const tree = program(
      join(directory, 'tree'),
      `echo $$ >>'${pids}'; [ "$1" -gt 0 ] || exec sleep 600; "$0" $(($1 - 1)) & "$0" $(($1 - 1)); wait`,
    );
    const { signal, stalled } = await start(tree, ['2'], 2);
    expect({ signal, stalled }).toEqual({ signal: 'SIGKILL', stalled: true });
    const all = readFileSync(pids, 'utf8').trim().split('\n').map(Number);
    expect(all).toHaveLength(7);
    await expect.poll(() => all.filter(isRunning)).toEqual([]);
  });

  test('is given up though a daemon of its holds the output open', async () => {
    const pid = join(temporaryDirectory(), 'pid');
    const daemon = `(sleep 60 & echo $! >'${pid}')`;
    try {
      expect(await run(`echo said; ${daemon}; exec sleep 60`)).toMatchObject({ stalled: true });
      process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL');
      const ended = await run(`echo said; ${daemon}; exit 3`);
      expect(ended).toMatchObject({ code: 3, stalled: false, stdout: Buffer.from('said\n') });
    } finally {
      if (existsSync(pid)) process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL');
    }
  });
});

describe('a child that works', () => {
  /** Keeps a shell busy; for every second that it says it takes at least one. */
  const busy = (seconds: number) =>
    `end=$(($(date +%s) + ${seconds})); while [ $(date +%s) -lt $end ]; do i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; done`;

  test.each([
    ['itself', `${busy(3)}; echo done`],
    ['in a child that it waits for', `sh -c '${busy(5)}; :'; echo done`],
    ['in a child of a child', `sh -c 'sh -c "$0"; :' '${busy(5)}; :'; echo done`],
    [
      'in many children that end soon',
      `end=$(($(date +%s) + 5)); while [ $(date +%s) -lt $end ]; do sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done'; done; echo done`,
    ],
  ])('%s is not killed, however long it takes', async (_, script) => {
    const { code, stalled, stdout } = await run(script, 2);
    expect({ code, stalled, stdout: stdout.toString() }).toEqual({
      code: 0,
      stalled: false,
      stdout: 'done\n',
    });
  });
});

test.runIf(process.platform === 'linux')(
  'where the kernel does not tell children, they are looked for',
  async () => {
    const ended = run('sleep 60 & sleep 60', 600);
    let tree: number[] = [];
    await expect
      .poll(() => (tree = childrenOf(process.pid).flatMap((pid) => [pid, ...childrenOf(pid)])).length)
      .toBe(3);
    for (const pid of [process.pid, ...tree])
      expect(scanForChildren(pid).sort()).toEqual(childrenOf(pid).sort());
    for (const pid of tree) process.kill(pid, 'SIGKILL');
    await ended;
  },
);
