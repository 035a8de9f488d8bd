// The outcome of one run of a compiler.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OUTPUT, RESPONSE_FILE, type Shape } from './shapes.ts';

export interface Outcome {
  /** `exit code 1`, `signal SIGSEGV`, `too long`. */
  readonly ending: string;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** The output file; null if it is missing. */
  readonly output: Buffer | null;
  /** Names of all other files in the working folder. */
  readonly left: readonly string[];
}

export interface Run {
  readonly executable: string;
  readonly env: NodeJS.ProcessEnv;
  /** The working folder. It is emptied first, and the same for all compared runs. */
  readonly folder: string;
  readonly timeoutSeconds: number;
}

export const TOO_LONG = 'too long';

const running = new Set<ChildProcess>();

/** Kills all runs with their children. They have process groups of their own, which our signals do not reach. */
export function killRunning(): void {
  for (const { pid } of running)
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    } catch {
      // It has just ended.
    }
}

/** The output of a run is too large to be read. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}

/** Largest output, in bytes. */
const MOST_BYTES = 2 ** 30;

/** The old output file. A failing compile has to remove it. */
const EARLIER = 'the output of an earlier build';

/**
 * Runs a compiler on a file in one shape.
 * @throws TooLargeError
 * @throws the error of the system when it cannot be started
 */
export async function compileIn(shape: Shape, input: string, run: Run): Promise<Outcome> {
  const { folder } = run;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, OUTPUT), EARLIER);
  if (shape.response !== undefined) writeFileSync(join(folder, RESPONSE_FILE), shape.response(input));
  const stdin = shape.stdin ? readFileSync(input) : null;
  const ended = await ending(run, shape.argv(input), stdin);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return {
    ...ended,
    output: names.includes(OUTPUT) ? readOutput(join(folder, OUTPUT)) : null,
    left: names.filter((name) => name !== OUTPUT).sort(),
  };
}

function readOutput(path: string): Buffer {
  const { size } = statSync(path);
  if (size <= MOST_BYTES) return readFileSync(path);
  // Large files are removed now, because they would fill the disk.
  rmSync(path);
  throw new TooLargeError(`the output has ${(size / 2 ** 30).toFixed(1)} GiB`);
}

function ending(
  { executable, env, folder, timeoutSeconds }: Run,
  argv: readonly string[],
  stdin: Buffer | null,
): Promise<Pick<Outcome, 'ending' | 'stdout' | 'stderr'>> {
  return new Promise((resolve, reject) => {
    // A process group of its own, so that its children end with it.
    const child = spawn(executable, argv, { cwd: folder, env, detached: true, stdio: 'pipe' });
    running.add(child);
    const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    // A compiler that rejects its arguments does not read its input.
    child.stdin.on('error', () => undefined);
    child.stdin.end(stdin ?? '');
    let isTooLong = false;
    const timer = setTimeout(() => {
      isTooLong = true;
      process.kill(-child.pid!, 'SIGKILL');
    }, timeoutSeconds * 1000);
    child.on('error', (error) => {
      clearTimeout(timer);
      running.delete(child);
      reject(error);
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      running.delete(child);
      resolve({
        ending: isTooLong ? TOO_LONG : signal === null ? `exit code ${code}` : `signal ${signal}`,
        stdout: Buffer.concat(stdout),
        stderr: Buffer.concat(stderr),
      });
    });
  });
}
