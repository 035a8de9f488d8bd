// Compiles a program with the real compiler and with the wrapper.
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { type Device } from '../../src/backend/device.ts';
import { findRuntimeTool } from '../../src/compiler/find.ts';
import type { Explanation } from '../../src/report/explain.ts';
import { describeDevice } from '../../src/backend/llvm-cpu/cpu.ts';
import { BenchError } from './arguments.ts';
import { lastLine, root, wrapperEnvironment, type Workplace } from './workplace.ts';

export interface Tools {
  readonly place: Workplace;
  /** Settings of the wrapper, by names without `IREE_TUNED_`. */
  readonly settings: Readonly<Record<string, string>>;
  readonly budgetSeconds: number;
  /** Most memory of each process of a compile; left out for no limit. */
  readonly memoryBytes?: number;
  readonly runModule: string;
  readonly benchmarkModule: string;
  readonly dumpModule: string;
  readonly device: Device;
}

/**
 * @param options.folder for the wrapper's database and cache; undefined for the workplace's folder, which is removed at the end
 * @param options.budgetSeconds of tuning, per program
 * @throws BenchError when a tool of the runtime is missing
 */
export function openTools(
  place: Workplace,
  options: { readonly driver: string; readonly budgetSeconds: number; readonly folder: string | undefined },
): Tools {
  const { driver, budgetSeconds } = options;
  const kept = resolve(options.folder ?? place.folder);
  mkdirSync(kept, { recursive: true });
  return {
    place,
    settings: {
      DB: join(kept, 'tuning.sqlite'),
      CACHE: join(kept, 'cache'),
      BUDGET: String(budgetSeconds),
      DEVICE: driver,
    },
    budgetSeconds,
    runModule: runtimeTool('iree-run-module', place),
    benchmarkModule: runtimeTool('iree-benchmark-module', place),
    dumpModule: runtimeTool('iree-dump-module', place),
    device: describeDevice(driver),
  };
}

function runtimeTool(name: string, { compiler, cacheDirectory }: Workplace): string {
  const path = findRuntimeTool(name, compiler, process.env, { root, cacheDirectory });
  if (path === undefined) throw new BenchError(`${name} is missing: pip install iree-base-runtime`);
  return path;
}

/** Time limit of a compile, without tuning. */
const COMPILE_SECONDS = 600;

/** One run of a compiler. */
export interface Build {
  /** Wall time. */
  readonly seconds: number;
  /** Message of the failed compiler; null for success. */
  readonly error: string | null;
}

/** Compiles a program with the real compiler. @param module path of the output */
export const compileStock = (
  path: string,
  module: string,
  flags: readonly string[],
  { place, memoryBytes }: Pick<Tools, 'place' | 'memoryBytes'>,
): Promise<Build> =>
  compile([place.compiler.executable, ...flags, path], module, process.env, {
    seconds: COMPILE_SECONDS,
    memoryBytes,
  });

async function compile(
  command: readonly string[],
  module: string,
  env: NodeJS.ProcessEnv,
  { seconds, memoryBytes }: { readonly seconds: number; readonly memoryBytes: number | undefined },
): Promise<Build> {
  const started = performance.now();
  const result = await execa(
    '/bin/sh',
    ['-c', LIMITED, 'sh', limitOf(memoryBytes), ...command, '-o', module],
    {
      ...{ reject: false, stdin: 'ignore', timeout: seconds * 1000 },
      ...{ env: { ...env, NO_COLOR: '1' }, extendEnv: false },
    },
  );
  const elapsed = (performance.now() - started) / 1000;
  // The compiler can exit with 0 and write only a crash reproducer.
  const isThere = result.exitCode === 0 && statSync(module, { throwIfNoEntry: false }) !== undefined;
  if (isThere) return { seconds: elapsed, error: null };
  const said = result.stderr.split('\n').find((line) => /error:/i.test(line)) ?? lastLine(result);
  return { seconds: elapsed, error: result.timedOut ? `it takes more than ${seconds} s` : said };
}

/**
 * Runs a command with a limit of the private memory that each process can write (RLIMIT_DATA). Node and the stacks of threads reserve
 * far more addresses (RLIMIT_AS) than they use.
 */
const LIMITED = 'ulimit -d "$1" && shift && exec "$@"';

const limitOf = (bytes: number | undefined): string =>
  bytes === undefined ? 'unlimited' : String(Math.floor(bytes / 1024));

export type State = 'stock does not compile' | 'broken' | 'compiled by both';

export interface Compiled {
  readonly state: State;
  /** Message of the failed compiler; null if both compiled the program. */
  readonly error: string | null;
  /** Paths of the two modules, which exist if both compiled the program. */
  readonly stock: string;
  readonly tuned: string;
  /** Whether both modules have the same bytes. Their times then differ only by noise. */
  readonly sameCode: boolean;
  /** The wrapper's explain JSON; null if there is none. */
  readonly explanation: Explanation | null;
  /** Wall time of each compile; null for a compile that was not tried. */
  readonly seconds: { readonly stock: number; readonly tuned: number | null };
}

/** Compiles a program into `folder`: first with the real compiler, then with the wrapper, which tunes. */
export async function compileBoth(
  path: string,
  folder: string,
  flags: readonly string[],
  tools: Tools,
): Promise<Compiled> {
  const { place, settings, budgetSeconds, memoryBytes } = tools;
  const [stock, tuned, explain] = ['stock.vmfb', 'tuned.vmfb', 'explain.json'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  const paths = { stock, tuned };
  const first = await compileStock(path, stock, flags, tools);
  if (first.error !== null) {
    const seconds = { stock: first.seconds, tuned: null };
    return {
      ...{ ...paths, seconds, sameCode: false, explanation: null },
      ...{ state: 'stock does not compile', error: first.error },
    };
  }
  const env = wrapperEnvironment(place, { ...settings, EXPLAIN: explain });
  const limits = { seconds: COMPILE_SECONDS + 2 * budgetSeconds, memoryBytes };
  const second = await compile([place.wrapper, ...flags, path], tuned, env, limits);
  const rest = {
    ...{ ...paths, explanation: readExplanation(explain) },
    seconds: { stock: first.seconds, tuned: second.seconds },
  };
  if (second.error !== null) return { ...rest, sameCode: false, state: 'broken', error: second.error };
  const sameCode = readFileSync(stock).equals(readFileSync(tuned));
  return { ...rest, sameCode, state: 'compiled by both', error: null };
}

function readExplanation(file: string): Explanation | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Explanation;
  } catch {
    return null;
  }
}
