// Driving the real launchers as a user would, with a database and caches of their own.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import type { Explanation } from '../../src/report/explain.ts';
import { giveAnswers } from '../support/answers.ts';
import { readExplanation } from '../support/explain-schema.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { rememberingCompiler } from '../support/remembering-compiler.ts';
import { installScripts } from '../support/scripts.ts';
import { compiler, root, runtimeTool } from '../support/real-tools.ts';
import { simulatedPrograms } from '../support/simulated-programs.ts';
import { simulatedTools, type Simulation } from '../support/simulated-tools.ts';

export const HOST = [
  '--iree-hal-target-device=local',
  '--iree-hal-local-target-device-backends=llvm-cpu',
  '--iree-llvmcpu-target-cpu=host',
];

export interface Result {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface RunOptions {
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Whom to run as; takes root. */
  readonly uid?: number | undefined;
  /** A shell command that is run before, such as `ulimit -f 40`. */
  readonly limits?: string | undefined;
}

/** A user's working folder: inputs, outputs, database, caches. */
export class Workplace {
  readonly folder = temporaryDirectory();
  readonly database = join(this.folder, 'data', 'tuning.db');
  readonly #env: Record<string, string | undefined>;

  /** With a cache that knows the compiler, which gives what it has compiled before, and nothing else. */
  constructor(env: Readonly<Record<string, string>> = {}) {
    giveAnswers(this.path('cache'), env['IREE_TUNED_COMPILER'] ?? rememberingCompiler);
    this.#env = {
      ...process.env,
      // No settings file and no database of whoever runs the tests.
      XDG_CONFIG_HOME: join(this.folder, 'config'),
      XDG_DATA_HOME: join(this.folder, 'data-home'),
      IREE_TUNED_COMPILER: rememberingCompiler,
      IREE_TUNED_DB: this.database,
      IREE_TUNED_CACHE: join(this.folder, 'cache'),
      // Tests that run at the same time do not wait for each other.
      IREE_TUNED_MACHINE: this.folder,
      IREE_TUNED_DEVICE: 'local-sync',
      IREE_TUNED_BUDGET: '8',
      ...env,
    };
  }

  /** A place for tests that are about the compiler's own run: nothing is taken over from an earlier one. */
  static real(env: Readonly<Record<string, string>> = {}): Workplace {
    return new Workplace({ IREE_TUNED_COMPILER: compiler.executable, ...env });
  }

  /**
   * A place where a search takes a second and is sure to find something: see simulated-tools.ts. The file `hold` holds it
   * after its first batch; what becomes of whole programs is in simulated-programs.ts, unless they are really run, or end at
   * once where it does not matter. What is short compiles nothing to its end.
   */
  static simulated(
    env: Readonly<Record<string, string>> = {},
    {
      programs = 'simulated',
      ...more
    }: { programs?: 'simulated' | 'failing' | 'real' } & Pick<
      Simulation,
      'isShort' | 'isRefusing' | 'isForgetful'
    > = {},
  ): Workplace {
    // The search is over long before: the clock must not decide what comes of a test.
    const place = new Workplace({ IREE_TUNED_BUDGET: '300', ...env });
    const simulated = simulatedTools(place.path('tools'), {
      hold: place.path('hold'),
      ...(programs !== 'real' && { programs: simulatedPrograms(place.folder) }),
      ...more,
    });
    if (programs === 'failing') place.write('deeds', 'exit 1');
    giveAnswers(place.path('cache'), simulated);
    place.#env['IREE_TUNED_COMPILER'] = simulated;
    return place;
  }

  /** What its programs are started with. */
  get env(): Readonly<Record<string, string | undefined>> {
    return this.#env;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, text: string | Uint8Array): string {
    writeFileSync(this.path(name), text);
    return name;
  }

  read(name: string): Buffer {
    return readFileSync(this.path(name));
  }

  remove(name: string): void {
    rmSync(this.path(name), { recursive: true });
  }

  has(name: string): boolean {
    return existsSync(this.path(name));
  }

  /** Runs `iree-compile-tuned` in the folder. */
  compile(argv: readonly string[], options: RunOptions = {}): Promise<Result> {
    return this.run(join(root, 'bin', 'iree-compile-tuned'), argv, options);
  }

  /** Runs `iree-tuned` in the folder. */
  tuned(argv: readonly string[], options: RunOptions = {}): Promise<Result> {
    return this.run(join(root, 'bin', 'iree-tuned'), argv, options);
  }

  /** Runs the compiler in the folder, as the user would have without us. */
  stock(argv: readonly string[], options: RunOptions = {}): Promise<Result> {
    return this.run(this.#env['IREE_TUNED_COMPILER']!, argv, options);
  }

  /** Compiles with an explanation and gives both. */
  async explain(
    argv: readonly string[],
    options: RunOptions = {},
  ): Promise<Result & { explanation: Explanation }> {
    const result = await this.compile(argv, {
      ...options,
      env: { ...options.env, IREE_TUNED_EXPLAIN: 'explain.json' },
    });
    const explanation = readExplanation(this.read('explain.json').toString());
    return { ...result, explanation };
  }

  run(file: string, argv: readonly string[], options: RunOptions = {}): Promise<Result> {
    return this.start(file, argv, options).ended;
  }

  /** Starts without waiting. */
  start(file: string, argv: readonly string[], options: RunOptions = {}) {
    const { limits, uid } = options;
    const [program, all] =
      limits === undefined ? [file, argv] : ['/bin/sh', ['-c', `${limits}; exec "$@"`, 'sh', file, ...argv]];
    const child = spawn(program, all, {
      cwd: this.folder,
      ...(uid !== undefined && { uid }),
      env: { ...this.#env, ...options.env },
      stdio: 'pipe',
    });
    const [stdout, stderr]: Buffer[][] = [[], []];
    child.stdout.on('data', (chunk: Buffer) => stdout!.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr!.push(chunk));
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.stdin ?? '');
    const ended = new Promise<Result>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => {
        resolve({ code, signal, stdout: Buffer.concat(stdout!), stderr: Buffer.concat(stderr!).toString() });
      });
    });
    return { child, ended };
  }

  /**
   * Tools that note each of their runs.
   * @param real the compiler behind it, with the runtime that is laid out beside it
   * @returns the compiler to set, and what ran since the last call
   */
  watchedTools(real = rememberingCompiler): { compiler: string; ran: () => string[] } {
    const log = this.path('ran.log');
    const toolBeside = (name: string) => {
      const path = join(dirname(real), '../../_runtime_libs', name);
      return existsSync(path) ? path : runtimeTool(name);
    };
    const script = (name: string, tool: string) => `echo "${name} $*" >>'${log}'\nexec '${tool}' "$@"`;
    const watched = installScripts(this.path('watched'), {
      compile: script('iree-compile', real),
      benchmark: script('iree-benchmark-module', toolBeside('iree-benchmark-module')),
      run: script('iree-run-module', toolBeside('iree-run-module')),
    });
    giveAnswers(this.path('cache'), watched);
    return {
      compiler: watched,
      ran: () => {
        const lines = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
        writeFileSync(log, '');
        return lines.filter((line) => line !== '');
      },
    };
  }
}

/** Whether a process has a file open. Where there is no /proc nobody can tell, and it is taken for granted. */
export function hasOpen(pid: number, path: string): boolean {
  if (process.platform !== 'linux') return true;
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).some((name) => {
    try {
      return readlinkSync(join(folder, name)) === path;
    } catch {
      // It has just been closed.
      return false;
    }
  });
}

/** Rows of a table, also while it is written; none where nobody has made the database yet. */
export function rowsOf({ database }: Workplace, table: string): number {
  if (!existsSync(database)) return 0;
  const connection = new Database(database, { readonly: true });
  try {
    return connection.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
  } catch (error) {
    // It is being made.
    if (error instanceof Database.SqliteError && /no such table/.test(error.message)) return 0;
    throw error;
  } finally {
    connection.close();
  }
}

/** A function `main` with one f32 matmul. */
export function matmulModule(m: number | '?', n: number, k: number, attributes = ''): string {
  const [lhs, rhs, out] = [`${m}x${k}`, `${k}x${n}`, `${m}x${n}`].map((shape) => `tensor<${shape}xf32>`);
  return `func.func @main(%lhs: ${lhs!}, %rhs: ${rhs!}, %init: ${out!}) -> ${out!} {
  %result = linalg.matmul ${attributes} ins(%lhs, %rhs : ${lhs!}, ${rhs!}) outs(%init : ${out!}) -> ${out!}
  return %result : ${out!}
}
`;
}

/** Runs a compiled `matmulModule` on operands in which every element counts; its result is the output. */
export function runMatmul(
  place: Workplace,
  module: string,
  m: number,
  n: number,
  k: number,
  tool = runtimeTool('iree-run-module'),
): Promise<Result> {
  // Small whole numbers: the sums are exact in any order.
  const values = (count: number, step: number) =>
    Array.from({ length: count }, (_, i) => ((i * step) % 7) - 3).join(' ');
  const inputs = [
    `${m}x${k}xf32=${values(m * k, 5)}`,
    `${k}x${n}xf32=${values(k * n, 3)}`,
    `${m}x${n}xf32=1`,
  ];
  return place.run(tool, [
    `--module=${module}`,
    '--device=local-sync',
    '--function=main',
    ...inputs.map((input) => `--input=${input}`),
  ]);
}

/** A matmul for which the default is so slow that tuning is sure to win: no tile divides its dimensions. */
export const oddMatmul = matmulModule(61, 67, 71);

export const withoutMatmul = `func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = arith.addf %x, %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
`;
