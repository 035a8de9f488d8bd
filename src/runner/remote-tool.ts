// Runs one tool of the runtime on another machine, as if it ran here: `node runner.cjs ADDRESS FOLDER TOOL ARGUMENTS`. Files of the arguments go
// there first, and written files come back.
import { spawn } from 'node:child_process';
import { createReadStream, createWriteStream, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileIdentity } from '../system/files.ts';
import { shortHash } from '../system/hash.ts';
import { shellWord } from '../system/shell-word.ts';
import { readAddress, type Address } from './address.ts';
import { UnreachableError } from './broken.ts';
import { SENT, sessionFolder } from './runner.ts';
import { shellCommand, unreachable } from './shell.ts';

/** Arguments for the other machine, and the files that they name. */
export interface Sent {
  readonly argv: readonly string[];
  /** Files here that go there, by their names there. */
  readonly puts: ReadonlyMap<string, string>;
  /** Files here that come back, by their names there. */
  readonly gets: ReadonlyMap<string, string>;
}

/** Flags with paths of files that the tools read, and of files that they write. */
const READING = /^(--(?:module=|input=(?:[^@]*)@|parameters=(?:[^=]*=)?))(.+)$/s;
const WRITING = /^(--(?:output=[@+]|device_profiling_output=))(.+)$/s;

/** @param nameOf name there of a file that is read */
export function sentFor(all: readonly string[], nameOf: (path: string) => string): Sent {
  const puts = new Map<string, string>();
  const gets = new Map<string, string>();
  const argv = all.map((argument) => {
    const [, reading, from] = READING.exec(argument) ?? [];
    if (from !== undefined) {
      const name = nameOf(from);
      puts.set(name, from);
      return reading! + name;
    }
    const [, writing, to] = WRITING.exec(argument) ?? [];
    if (to === undefined) return argument;
    const name = `out-${process.pid}-${gets.size}${ending(to)}`;
    gets.set(name, to);
    return writing! + name;
  });
  return { argv, puts, gets };
}

/** Equal for equal files. Scripts have the name without quotes. */
const nameThere = (path: string): string => `${shortHash(fileIdentity(path) ?? path)}${ending(path)}`;

/** The ending of a path, by which tools tell formats; empty for one with other characters. */
const ending = (path: string): string => /^\.\w+$/.exec(extname(path))?.[0] ?? '';

/** Marks the line in which the shell there tells how the tool has ended. Without it, the link has broken. */
const ENDED = 'iree-tuned-ended:';

/** Exit code of the shell there if a file is missing: the machine was started again, or its disk was cleared. */
const LOST = 74;

/** Exit code of a shell that does not find a program. */
const NOT_FOUND = 127;

/**
 * The script of one run. The tool ends when this process does, because the shell's stdin ends then. Each process may use half of the memory,
 * so that a candidate cannot exhaust it.
 */
export const runScript = (
  folder: string,
  tool: string,
  { argv, puts, gets }: Sent,
  variables: string,
): string =>
  [
    `cd ${shellWord(folder)} || exit ${LOST}`,
    ...[...puts.keys()].map((name) => `[ -e ${name} ] || exit ${LOST}`),
    "half=$(awk '/^MemTotal/ { print int($2 / 2) }' /proc/meminfo 2>/dev/null)",
    '[ -z "$half" ] || ulimit -d "$half" 2>/dev/null',
    'exec 3<&0',
    `${variables}${[tool, ...argv].map(shellWord).join(' ')} </dev/null 3<&- & tool=$!`,
    '{ cat <&3 >/dev/null; kill -KILL $tool; } >/dev/null 2>&1 & watcher=$!',
    'exec 3<&-',
    'wait $tool; code=$?',
    'kill $watcher 2>/dev/null',
    ...(gets.size === 0 ? [] : [`[ $code = 0 ] || rm -f ${[...gets.keys()].join(' ')}`]),
    `echo "${ENDED}$code" >&2`,
    'exit $code',
  ].join('\n');

/** The variables of this process that change how the tools work. */
const variables = (): string => {
  const tunables = process.env['GLIBC_TUNABLES'];
  return tunables === undefined ? '' : `GLIBC_TUNABLES=${shellWord(tunables)} `;
};

interface Link {
  readonly text: string;
  readonly address: Address;
  /** Of the runner here. */
  readonly folder: string;
}

/** Runs a script there. @returns its exit code, and its stderr */
async function runThere(
  { address, folder }: Link,
  script: string,
  { from, to }: { readonly from?: string; readonly to?: string } = {},
): Promise<{ readonly code: number | null; readonly stderr: string }> {
  const [program, ...argv] = shellCommand(address, folder, script);
  const child = spawn(program!, argv, { stdio: ['pipe', to === undefined ? 'inherit' : 'pipe', 'pipe'] });
  const stderr: Buffer[] = [];
  child.stderr!.on('data', (chunk: Buffer) => stderr.push(chunk));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  child.stdin!.on('error', () => undefined);
  const streams = [
    ...(from === undefined ? [] : [pipeline(createReadStream(from), child.stdin!).catch(() => undefined)]),
    ...(to === undefined ? [] : [pipeline(child.stdout!, createWriteStream(to))]),
  ];
  const code = await ended;
  await Promise.all(streams);
  return { code, stderr: Buffer.concat(stderr).toString() };
}

/** Sends the files that the machine does not have. */
async function put(link: Link, there: string, puts: Sent['puts']): Promise<void> {
  const known = join(link.folder, SENT, shortHash(there));
  mkdirSync(known, { recursive: true });
  for (const [name, path] of puts) {
    if (existsSync(join(known, name)) || !existsSync(path)) continue;
    const size = statSync(path).size;
    // Two tools may send one file at the same time.
    const script = `cd ${shellWord(there)} && cat >${name}.$$ && [ $(wc -c <${name}.$$) = ${size} ] && mv ${name}.$$ ${name}`;
    const { code, stderr } = await runThere(link, script, { from: path });
    if (code !== 0)
      throw new UnreachableError(`${path} could not be sent to ${link.text}: ${lastLine(stderr)}`);
    writeFileSync(join(known, name), '');
  }
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';

/**
 * @param words address, folder of the runner here, tool there, and its arguments
 * @returns the exit code of the tool
 * @throws UnreachableError
 */
export async function runRemoteTool([text, folder, tool, ...argv]: readonly string[]): Promise<number> {
  const link = { text: text!, address: readAddress(text!)!, folder: folder! };
  const there = sessionFolder(link.folder);
  if (there === null) throw new UnreachableError(`there is no session on ${link.text}`);
  const sent = sentFor(argv, nameThere);
  await put(link, there, sent.puts);
  const { code, stderr } = await runThere(link, runScript(there, tool!, sent, variables()));
  const end = stderr.lastIndexOf(ENDED);
  if (end < 0) {
    if (code === LOST) throw new UnreachableError(`${link.text} has lost the files of this build`);
    throw new UnreachableError(unreachable(link.text, link.address, stderr));
  }
  process.stderr.write(stderr.slice(0, end));
  const own = Number(stderr.slice(end + ENDED.length));
  if (own === NOT_FOUND)
    throw new UnreachableError(`${tool!} is not found on ${link.text}: set runner-tools to its folder there`);
  if (own === 0)
    for (const [name, path] of sent.gets) {
      const script = `cd ${shellWord(there)} && cat ${name} && rm -f ${name}`;
      const got = await runThere(link, script, { to: path });
      if (got.code !== 0) throw new UnreachableError(unreachable(link.text, link.address, got.stderr));
    }
  return own;
}
