// Commands of `iree-tuned` from its source. The load time is longer than most commands, so one process runs them in order. A test that
// kills a command, or writes to its stdin, starts another process.
import { fork, spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { temporaryDirectory } from '../support/folders.ts';
import { NODE_CODE } from '../support/node-code.ts';

/** The folder and all environment variables of a command. */
export interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface Command extends Place {
  readonly words: readonly string[];
}

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A new folder with a database and a cache, without settings of this machine but `more`. */
export function newPlace(more: Readonly<Record<string, string>> = {}) {
  const folder = temporaryDirectory();
  const at = (name: string) => join(folder, name);
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    IREE_TUNED_DB: at('tuning.db'),
    IREE_TUNED_CACHE: at('cache'),
    ...more,
  };
  const run = (...words: readonly string[]) => runCommand(words, { cwd: folder, env });
  return { folder, at, env, run };
}

let runner: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();

/** Runs a command after the earlier ones, without input. */
export function runCommand(words: readonly string[], place: Place): Promise<Ended> {
  const result = last.then(() => ask({ words, ...place }));
  last = result.catch(() => undefined);
  return result;
}

async function ask(command: Command): Promise<Ended> {
  const child = (runner ??= startRunner());
  const said = Promise.all([partsOf(child.stdout!, 2), partsOf(child.stderr!, 1)]);
  child.send(command);
  const [[out, code], [err]] = await said.catch((error: unknown) => {
    runner = undefined;
    throw new Error(`iree-tuned ${command.words.join(' ')} ended the process that runs commands`, {
      cause: error,
    });
  });
  return { code: Number(code), out: out!, err: err! };
}

/** Reads `count` texts, each followed by a zero byte. Rejects if the stream ends before. */
function partsOf(stream: Readable, count: number): Promise<string[]> {
  let text = '';
  return new Promise((resolve, reject) => {
    const onEnd = () => {
      reject(new Error(text));
    };
    const onData = (chunk: string) => {
      text += chunk;
      const parts = text.split('\0');
      if (parts.length <= count) return;
      stream.off('data', onData).off('end', onEnd);
      resolve(parts);
    };
    stream.setEncoding('utf8').on('data', onData).on('end', onEnd);
  });
}

/** The process ends with this one. */
function startRunner(): ChildProcess {
  const child = fork(join(import.meta.dirname, 'commands-runner.ts'), {
    execArgv: ['--conditions=source'],
    env: { ...NODE_CODE, PATH: '/nowhere' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  child.unref();
  child.channel?.unref();
  return child;
}

const MAIN = join(import.meta.dirname, 'command.ts');

/**
 * Starts a command in a process of its own.
 * @param nodeOptions of Node's own
 */
export function startCommand(
  words: readonly string[],
  { cwd, env }: Place,
  nodeOptions: readonly string[] = [],
): ChildProcessWithoutNullStreams {
  const all = ['--conditions=source', ...nodeOptions, MAIN, ...words];
  return spawn(process.execPath, all, { cwd, env: { ...NODE_CODE, ...env }, stdio: 'pipe' });
}

/** Waits for the end of a command. */
export async function endOf(child: ChildProcessWithoutNullStreams, input?: string): Promise<Ended> {
  let [out, err] = ['', ''];
  child.stdout.on('data', (bytes: Buffer) => (out += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (err += bytes.toString()));
  child.stdin.end(input);
  const code = await new Promise((resolve) => child.on('close', resolve));
  return { code: Number(code), out, err };
}
