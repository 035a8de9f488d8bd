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

/** Waits for the process id that a script writes to a file. */
async function noted(path: string): Promise<number> {
  while (!existsSync(path) || !readFileSync(path, 'utf8').endsWith('\n')) await sleep(10);
  return Number(readFileSync(path, 'utf8'));
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie is gone, too.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

test('a tool gets its arguments and its environment, and the result has its output and exit code', async () => {
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

test.each(['SIGSEGV', 'SIGILL', 'SIGABRT'])('a crash with %s is reported', async (signal) => {
  const result = await runTool(script(signal, `kill -${signal.slice(3)} $$`), [], 60, never);
  expect(result).toMatchObject({ ok: false, timedOut: false, ending: `ended by ${signal}` });
});

test('the time-out ends a tool and its child processes', async () => {
  const note = join(directory, 'hanging');
  // The child keeps the tool's output open.
  const tool = script('hang', `sleep 600 & echo $! >'${note}'; wait`);
  const result = await runTool(tool, [], 1, never);
  expect(result).toMatchObject({ ok: false, timedOut: true, ending: 'took longer than 1.0 s' });
  const child = await noted(note);
  await expect.poll(() => isThere(child), { timeout: 20_000 }).toBe(false);
});

test('the signal ends a tool and its child processes', async () => {
  const note = join(directory, 'stopped');
  const stop = new AbortController();
  const running = runTool(script('stop', `sleep 600 & echo $! >'${note}'; wait`), [], 600, stop.signal);
  const child = await noted(note);
  stop.abort();
  await expect(running).rejects.toThrow(StoppedError);
  await expect.poll(() => isThere(child), { timeout: 20_000 }).toBe(false);
});

test('a tool ends with its parent process, even if the parent is killed', async () => {
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

test.runIf(process.platform === 'linux')('a tool fails if it needs most of the memory', async () => {
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
});
