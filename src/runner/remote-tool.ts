// Runs one tool of the runtime on another machine, as if it ran here: `node runner.cjs RUNNER TOOL ARGUMENTS`. Files of the arguments go there first,
// and written files come back.
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { extname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileIdentity, namesIn } from '../system/files.ts';
import { lastLine } from '../system/format.ts';
import { shortHash } from '../system/hash.ts';
import { shellWord } from '../system/shell-word.ts';
import { pinned } from './address.ts';
import { KEPT, SENT, sessionFolder, toolThere, wheelOf, type Runner } from './runner.ts';
import { shellCommand, unreachable, UnreachableError } from './shell.ts';

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

/** The line before the stdout of a script. Lines above it are a greeting of the shell there. */
const STARTED = 'iree-tuned-started';

/** Marks a line with the digest of a written file. */
const DIGEST = 'iree-tuned-digest:';

/** Folder, command and known results of one run. */
export interface Run {
  /** Of the session; null without one, for a tool that reads no files. */
  readonly folder: string | null;
  /** Text of the shell: the words before the arguments. */
  readonly command: string;
  /** Digests of outputs that are here. They need not come again. */
  readonly kept: readonly string[];
}

/**
 * The script of one run. The tool ends when this process does, because the shell's stdin ends then. Each process may use half of the memory,
 * so that a candidate cannot exhaust it.
 */
export const runScript = ({ folder, command, kept }: Run, { argv, puts, gets }: Sent): string =>
  [
    ...(folder === null ? [] : [`cd ${shellWord(folder)} || exit ${LOST}`]),
    ...[...puts.keys()].map((name) => `[ -e ${name} ] || exit ${LOST}`),
    "half=$(awk '/^MemTotal/ { print int($2 / 2) }' /proc/meminfo 2>/dev/null)",
    '[ -z "$half" ] || ulimit -d "$half" 2>/dev/null',
    'exec 3<&0',
    `${[command, ...argv.map(shellWord)].join(' ')} </dev/null 3<&- & tool=$!`,
    '{ cat <&3 >/dev/null; kill -KILL $tool; } >/dev/null 2>&1 & watcher=$!',
    'exec 3<&-',
    'wait $tool; code=$?',
    'kill $watcher 2>/dev/null',
    ...(gets.size === 0
      ? []
      : [
          `for name in ${[...gets.keys()].join(' ')}; do`,
          '  [ $code = 0 ] || rm -f "$name"',
          '  digest=$(sha256sum "$name" 2>/dev/null) || continue',
          '  digest=${digest%% *}',
          `  echo "${DIGEST}$name $digest" >&2`,
          `  case " ${kept.join(' ')} " in *" $digest "*) rm -f "$name" ;; esac`,
          'done',
        ]),
    `echo "${ENDED}$code" >&2`,
    'exit $code',
  ].join('\n');

/** The variables of this process that change how the tools work. */
const variables = (): string => {
  const tunables = process.env['GLIBC_TUNABLES'];
  return tunables === undefined ? '' : `GLIBC_TUNABLES=${shellWord(tunables)} `;
};

/**
 * Runs a script there.
 * @param to file for its stdout, or `own` for the stdout of this process; by default it is ignored
 * @returns its exit code, and its stderr
 */
export async function runThere(
  { address, folder }: Pick<Runner, 'address' | 'folder'>,
  script: string,
  { from, to }: { readonly from?: string; readonly to?: 'own' | { readonly file: string } } = {},
): Promise<{ readonly code: number | null; readonly stderr: string }> {
  const [program, ...argv] = shellCommand(address, folder, `echo ${STARTED}\n${script}`);
  const child = spawn(program!, argv, { stdio: ['pipe', to === undefined ? 'ignore' : 'pipe', 'pipe'] });
  const stderr: Buffer[] = [];
  child.stderr!.on('data', (chunk: Buffer) => stderr.push(chunk));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  child.stdin!.on('error', () => undefined);
  const streams = [
    ...(from === undefined ? [] : [pipeline(createReadStream(from), child.stdin!).catch(() => undefined)]),
    ...(to === undefined
      ? []
      : [
          pipeline(
            child.stdout!,
            withoutGreeting(),
            to === 'own' ? process.stdout : createWriteStream(to.file),
            { end: to !== 'own' },
          ),
        ]),
  ];
  const code = await ended;
  await Promise.all(streams);
  return { code, stderr: Buffer.concat(stderr).toString() };
}

/** Removes everything up to the line `STARTED`. */
function withoutGreeting(): Transform {
  let greeting = Buffer.alloc(0);
  let isStarted = false;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      if (isStarted) {
        done(null, chunk);
        return;
      }
      greeting = Buffer.concat([greeting, chunk]);
      const start = greeting.indexOf(`${STARTED}\n`);
      isStarted = start >= 0;
      done(null, isStarted ? greeting.subarray(start + STARTED.length + 1) : undefined);
    },
  });
}

/** Sends the files that the machine does not have. */
async function put(runner: Runner, there: string, puts: Sent['puts']): Promise<void> {
  const known = join(runner.folder, SENT, shortHash(there));
  mkdirSync(known, { recursive: true });
  for (const [name, path] of puts) {
    if (existsSync(join(known, name)) || !existsSync(path)) continue;
    await putFile(runner, `cd ${shellWord(there)}`, name, path);
    writeFileSync(join(known, name), '');
  }
}

/**
 * Sends a file.
 * @param enter command of the shell that goes to the folder there
 * @throws UnreachableError
 */
export async function putFile(runner: Runner, enter: string, name: string, path: string): Promise<void> {
  const size = statSync(path).size;
  // Two tools may send one file at the same time.
  const script = `${enter} && cat >${name}.$$ && [ $(wc -c <${name}.$$) = ${size} ] && chmod 700 ${name}.$$ && mv ${name}.$$ ${name}`;
  const { code, stderr } = await runThere(runner, script, { from: path });
  if (code !== 0)
    throw new UnreachableError(`${path} could not be sent to ${runner.text}: ${lastLine(stderr)}`);
}

/** Most outputs of a session that are kept here. Candidates with right results have the outputs of the default. */
const MOST_KEPT = 16;

/** Largest output that is kept, in bytes. */
const MOST_KEPT_BYTES = 2 ** 26;

/**
 * @param tool name of the tool
 * @returns the exit code of the tool
 * @throws UnreachableError
 */
export async function runRemoteTool(runner: Runner, tool: string, argv: readonly string[]): Promise<number> {
  const sent = sentFor(argv, nameThere);
  const there = sessionFolder(runner.folder);
  if (there !== null) await put(runner, there, sent.puts);
  else if (sent.puts.size + sent.gets.size > 0 || wheelOf(runner) !== null)
    throw new UnreachableError(`there is no session on ${runner.text}`);
  const keptHere = join(runner.folder, KEPT);
  const words = [...pinned(runner.cpus), toolThere(runner, tool)].map(shellWord);
  const command = `${variables()}${words.join(' ')}`;
  const kept = namesIn(keptHere).filter((name) => DIGITS.test(name));
  const { code, stderr } = await runThere(runner, runScript({ folder: there, command, kept }, sent), {
    to: 'own',
  });
  const end = stderr.lastIndexOf(ENDED);
  if (end < 0) {
    if (code === LOST) throw new UnreachableError(`${runner.text} has lost the files of this build`);
    throw new UnreachableError(unreachable(runner.text, runner.address, stderr));
  }
  const own = Number(stderr.slice(end + ENDED.length));
  const digests = new Map<string, string>();
  process.stderr.write(
    stderr.slice(0, end).replace(DIGEST_LINE, (_, name: string, digest: string) => {
      digests.set(name, digest);
      return '';
    }),
  );
  if (own === NOT_FOUND)
    throw new UnreachableError(
      `${tool} is not found on ${runner.text} (${lastLine(stderr.slice(0, end))}): set runner-tools to its folder there`,
    );
  if (own !== 0) return own;
  for (const [name, path] of sent.gets) {
    const digest = digests.get(name);
    if (digest !== undefined && kept.includes(digest)) {
      copyFileSync(join(keptHere, digest), path);
      continue;
    }
    const script = `cd ${shellWord(there!)} && cat ${name} && rm -f ${name}`;
    const got = await runThere(runner, script, { to: { file: path } });
    if (got.code !== 0) throw new UnreachableError(unreachable(runner.text, runner.address, got.stderr));
    if (digest === undefined || kept.length >= MOST_KEPT || statSync(path).size > MOST_KEPT_BYTES) continue;
    mkdirSync(keptHere, { recursive: true, mode: 0o700 });
    copyFileSync(path, join(keptHere, digest));
  }
  return own;
}

const DIGITS = /^[0-9a-f]{64}$/;
const DIGEST_LINE = new RegExp(`^${DIGEST}(\\S+) ([0-9a-f]{64})\\n`, 'gm');
