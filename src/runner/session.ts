// A session on another machine: one build measures there at a time, in a folder that ends with the session, however this process ends.
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { makeFolder } from '../system/folder.ts';
import { lockWith, type Lock } from '../system/machine-lock.ts';
import { shellWord } from '../system/shell-word.ts';
import { UnreachableError } from './broken.ts';
import { putFile, runThere } from './remote-tool.ts';
import { KEPT, SENT, sessionFile, TOOLS_LINK, wheelOf, type Runner } from './runner.ts';
import { shellCommand, unreachable } from './shell.ts';
import { unpackTools, wheelName } from './wheel.ts';

/** Lines of the shell's answer there. Others may precede them, such as a greeting. */
const [READY, BUSY] = ['iree-tuned-ready:', 'iree-tuned-busy'];
const READY_LINE = new RegExp(`^${READY}(/.*)$`, 'm');

/**
 * Waits for the lock of the machine (BusyBox's flock has no time limit), which its system frees when the shell ends; removes folders that a loss of power has left; makes the folder; and
 * waits for the end of its stdin. Machines without flock have no lock of their own, and builds here exclude each other only.
 */
const script = (seconds: number, tools: string | null): string => `umask 077
at=\${TMPDIR:-/tmp}
[ -w "$at" ] || at=/data/local/tmp
if command -v flock >/dev/null 2>&1; then
  exec 9>>"$at/.iree-tuned-measuring"
  chmod 666 "$at/.iree-tuned-measuring" 2>/dev/null
  left=${Math.max(0, Math.floor(seconds))}
  while flock -n 9 2>/dev/null; [ $? = 1 ]; do
    [ $left -gt 0 ] || { echo ${BUSY}; exit 0; }
    left=$((left - 1))
    sleep 1
  done
  rm -rf "$at"/iree-tuned.??????
fi
folder=$(mktemp -d "$at/iree-tuned.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 0' HUP INT TERM
${tools === null ? '' : linkTools(tools)}
echo "${READY}$folder"
cat >/dev/null`;

/** Links the folder of a wheel's tools, which outlives sessions. A phone has no home that is writable. */
const linkTools = (name: string): string => `tools=\${XDG_CACHE_HOME:-\${HOME:-}/.cache}/${name}
mkdir -p "$tools" 2>/dev/null && [ -w "$tools" ] || { tools=$at/${name}; mkdir -p "$tools"; }
ln -s "$tools" "$folder/${TOOLS_LINK}"`;

/** Sends the tools of a wheel, unless they are there. */
async function sendTools(runner: Runner, there: string, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  const enter = `cd ${shellWord(`${there}/${TOOLS_LINK}`)}`;
  const areThere = [enter, ...paths.map((path) => `[ -x ${basename(path)} ]`)].join(' && ');
  if ((await runThere(runner, areThere)).code === 0) return;
  for (const path of paths) await putFile(runner, enter, basename(path), path);
}

/**
 * Opens a session; null if another build measures there for so long, or at the signal. A program that runs commands here (`kind: 'command'`) needs none.
 * @throws UnreachableError
 */
export async function openSession(
  runner: Runner,
  seconds: number,
  signal?: AbortSignal,
): Promise<Lock | null> {
  const { address, folder } = runner;
  const wheel = wheelOf(runner);
  const tools = wheel === null ? [] : await unpackTools(runner, wheel);
  if (address.kind === 'command') return lockWith(() => undefined);
  makeFolder(folder, 0o700);
  const file = sessionFile(folder);
  const [program, ...argv] = shellCommand(address, folder, script(seconds, wheel && wheelName(wheel)), true);
  const child = spawn(program!, argv, { stdio: 'pipe' });
  child.stdin.on('error', () => undefined);
  const stderr: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  const stop = () => child.kill();
  signal?.addEventListener('abort', stop);
  const answer = await new Promise<string | Error>((resolve) => {
    let read = '';
    child.stdout.on('data', (chunk: Buffer) => {
      read += chunk.toString();
      if (read.endsWith('\n') && (READY_LINE.test(read) || read.includes(BUSY))) resolve(read);
    });
    child.on('error', resolve);
    child.on('close', () => {
      resolve(read);
    });
  });
  signal?.removeEventListener('abort', stop);
  const end = () => {
    rmSync(file, { force: true });
    child.stdin.end();
  };
  const text = typeof answer === 'string' ? answer : '';
  const there = READY_LINE.exec(text)?.[1];
  if (there !== undefined) {
    for (const name of [SENT, KEPT]) rmSync(join(folder, name), { recursive: true, force: true });
    writeFileSync(file, there);
    // The session must not keep this process alive.
    child.unref();
    for (const pipe of [child.stdin, child.stdout, child.stderr]) (pipe as { unref?: () => void }).unref?.();
    const session = lockWith(end);
    try {
      await sendTools(runner, there, tools);
    } catch (error) {
      session.release();
      throw error;
    }
    return session;
  }
  end();
  if (text.includes(BUSY) || signal?.aborted === true) return null;
  throw new UnreachableError(
    answer instanceof Error
      ? `${program!} does not start: ${answer.message}`
      : unreachable(runner.text, address, Buffer.concat(stderr).toString()),
  );
}
