// @module-tag slow
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runTool, StoppedError } from '../../src/measure/toolchain.ts';
import { temporaryDirectory } from '../support/folders.ts';

const directory = temporaryDirectory();
const never = new AbortController().signal;

function script(name: string, body: string): string {
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  return path;
}

/** The process id that a script has noted, once it has. */
async function noted(path: string): Promise<number> {
  while (!existsSync(path) || !readFileSync(path, 'utf8').endsWith('\n')) await sleep(10);
  return Number(readFileSync(path, 'utf8'));
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // Nobody may have collected it yet.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

test('a tool gets its arguments and its environment, and is told from how it ended', async () => {
  const tool = script('echo', 'echo "$#" "$1" "$EXTRA"; echo problem >&2; exit 3');
  const result = await runTool(tool, ["it's", 'a b'], 60, never, { env: { EXTRA: 'x' } });
  expect(result).toEqual({
    ok: false,
    timedOut: false,
    stdout: "2 it's x\n",
    stderr: 'problem\n',
    ending: 'exit code 3',
  });
});

test.each(['SIGSEGV', 'SIGILL', 'SIGABRT'])('one that crashes says %s', async (signal) => {
  const result = await runTool(script(signal, `kill -${signal.slice(3)} $$`), [], 60, never);
  expect(result).toMatchObject({ ok: false, timedOut: false, ending: `ended by ${signal}` });
});

test('one that hangs is ended in time, with whatever it has started', async () => {
  const note = join(directory, 'hanging');
  // What it starts keeps its output open.
  const tool = script('hang', `sleep 600 & echo $! >'${note}'; wait`);
  const result = await runTool(tool, [], 1, never);
  expect(result).toMatchObject({ ok: false, timedOut: true, ending: 'took longer than 1.0 s' });
  const child = await noted(note);
  await expect.poll(() => isThere(child), { timeout: 20_000 }).toBe(false);
});

test('one that is stopped ends with whatever it has started', async () => {
  const note = join(directory, 'stopped');
  const stop = new AbortController();
  const running = runTool(script('stop', `sleep 600 & echo $! >'${note}'; wait`), [], 600, stop.signal);
  const child = await noted(note);
  stop.abort();
  await expect(running).rejects.toThrow(StoppedError);
  await expect.poll(() => isThere(child), { timeout: 20_000 }).toBe(false);
});

test('one ends with us, even when we are killed', async () => {
  const note = join(directory, 'orphan');
  const tool = script('orphan-tool', `sleep 600 & echo $! >'${note}'; wait`);
  const module = JSON.stringify(join(import.meta.dirname, '..', '..', 'src', 'measure', 'toolchain.ts'));
  const us = spawn(process.execPath, [
    '--conditions=source',
    '--input-type=module',
    '-e',
    `const { runTool } = await import(${module});
     await runTool(${JSON.stringify(tool)}, [], 600, new AbortController().signal);`,
  ]);
  const child = await noted(note);
  us.kill('SIGKILL');
  await expect.poll(() => isThere(child), { timeout: 20_000 }).toBe(false);
});

test.runIf(process.platform === 'linux')(
  'one that wants most of the memory fails, and nothing else',
  async () => {
    const node = [
      process.execPath,
      '-e',
      `console.log(new ArrayBuffer(${Math.floor(totalmem() * 0.7)}).byteLength)`,
    ];
    const result = await runTool(node[0]!, node.slice(1), 60, never);
    expect(result.ok).toBe(false);
    expect(result.stderr).toMatch(/allocation failed/);
    const less = await runTool(
      process.execPath,
      ['-e', 'console.log(new ArrayBuffer(2 ** 28).byteLength)'],
      60,
      never,
    );
    expect(less).toMatchObject({ ok: true, stdout: `${2 ** 28}\n` });
  },
);
