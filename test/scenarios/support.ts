// Runs the real launchers as a user does, with a separate database and cache.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import type { Explanation } from '../../src/report/explain.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { giveAnswers } from '../support/answers.ts';
import { readExplanation } from '../support/explain-schema.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { rememberingCompiler } from '../support/remembering-compiler.ts';
import { installScripts, program } from '../support/scripts.ts';
import { compiler, root, runtimeTool } from '../support/real-tools.ts';
import { simulatedPrograms } from '../support/simulated-programs.ts';
import { simulatedTools, type Simulation } from '../support/simulated-tools.ts';

export const HOST = [
  '--iree-hal-target-device=local',
  '--iree-hal-local-target-device-backends=llvm-cpu',
  '--iree-llvmcpu-target-cpu=host',
];

/** The launchers of both command lines. */
export const WRAPPER = join(root, 'bin', 'iree-compile-tuned');
export const TUNED = join(root, 'bin', 'iree-tuned');

/** Arguments of most builds. */
export const argv = [...HOST, 'in.mlir', '-o', 'out.vmfb'];

export interface Result {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface RunOptions {
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** User to run as; needs root. */
  readonly uid?: number | undefined;
  /** A shell command to run before, such as `ulimit -f 40`. */
  readonly limits?: string | undefined;
}

/** A user's working folder: inputs, outputs, database, caches. */
export class Workplace {
  readonly folder = temporaryDirectory();
  readonly database = join(this.folder, 'data', 'tuning.db');
  readonly #env: Record<string, string | undefined>;

  /** A workplace with an empty cache, except for the description of the compiler. The compiler remembers earlier compiles. */
  constructor(env: Readonly<Record<string, string>> = {}) {
    giveAnswers(this.path('cache'), env['IREE_TUNED_COMPILER'] ?? rememberingCompiler);
    this.#env = {
      ...process.env,
      // The tests use no settings file and no database of the user.
      XDG_CONFIG_HOME: join(this.folder, 'config'),
      XDG_DATA_HOME: join(this.folder, 'data-home'),
      IREE_TUNED_COMPILER: rememberingCompiler,
      IREE_TUNED_DB: this.database,
      IREE_TUNED_CACHE: join(this.folder, 'cache'),
      // Concurrent tests do not wait for each other.
      IREE_TUNED_MACHINE: this.folder,
      IREE_TUNED_DEVICE: 'local-sync',
      IREE_TUNED_BUDGET: '8',
      ...env,
    };
  }

  /** A workplace with the real compiler, which remembers nothing. */
  static real(env: Readonly<Record<string, string>> = {}): Workplace {
    return new Workplace({ IREE_TUNED_COMPILER: compiler.executable, ...env });
  }

  /**
   * A workplace where a search takes a second and finds a faster configuration, see simulated-tools.ts. The file `hold` holds the search after
   * its first batch. Runs of whole programs are simulated by simulated-programs.ts, real, or failing.
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
    // The search needs far less time. No test may depend on the clock.
    const place = new Workplace({ IREE_TUNED_BUDGET: '300', ...env });
    const simulated = simulatedTools(place.path('tools'), {
      hold: place.path('hold'),
      ...(programs !== 'real' && { programs: simulatedPrograms(place.folder) }),
      ...more,
    });
    if (programs === 'failing') place.write('hook', 'exit 1');
    giveAnswers(place.path('cache'), simulated);
    place.#env['IREE_TUNED_COMPILER'] = simulated;
    return place;
  }

  /** Environment of its processes. */
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
    return this.run(WRAPPER, argv, options);
  }

  /** Runs `iree-tuned` in the folder. */
  async tuned(argv: readonly string[], options: RunOptions = {}) {
    const { code, stdout, stderr } = await this.run(TUNED, argv, options);
    return { code, stdout: stdout.toString(), stderr };
  }

  /** Runs the compiler in the folder, without the wrapper. */
  stock(argv: readonly string[], options: RunOptions = {}): Promise<Result> {
    return this.run(this.#env['IREE_TUNED_COMPILER']!, argv, options);
  }

  /** Runs `iree-compile-tuned` with an explanation. */
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

  /** The same for a build that succeeds without a message. */
  async built(argv: readonly string[], options: RunOptions = {}): Promise<Explanation> {
    const { code, stderr, explanation } = await this.explain(argv, options);
    if (code !== 0 || stderr !== '') throw new Error(`the build ended with ${code}: ${stderr}`);
    return explanation;
  }

  /** Text of a command of `iree-tuned` that succeeds without a message. */
  async said(words: readonly string[], options: RunOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.tuned(words, options);
    if (code !== 0 || stderr !== '') throw new Error(`${words.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  }

  /** JSON of such a command. */
  async asked<T>(words: readonly string[], options: RunOptions = {}): Promise<T> {
    return JSON.parse(await this.said(words, options)) as T;
  }

  /** Whether a file has the bytes of the compiler alone. */
  async isStock(output = 'out.vmfb', argv: readonly string[] = [...HOST, 'in.mlir']): Promise<boolean> {
    const { code, stderr } = await this.stock([...argv, '-o', 'stock.vmfb']);
    if (code !== 0) throw new Error(`the compiler ended with ${code}: ${stderr}`);
    return this.read(output).equals(this.read('stock.vmfb'));
  }

  /**
   * Runs `main` of a module.
   * @param shapes of its arguments, of f32
   * @param valueAt elements by index. Sums of small integers, the default, are exact in any order
   * @returns the bytes of each result
   */
  async outputsOf(
    module: string,
    shapes: readonly string[],
    results = 1,
    valueAt = (i: number) => ((i * 7919) % 13) - 6,
  ): Promise<Buffer[]> {
    for (const [i, shape] of shapes.entries()) {
      const length = shape.split('x').reduce((product, size) => product * Number(size), 1);
      const values = Float32Array.from({ length }, (_, at) => valueAt(at));
      this.write(`argument${i}.bin`, new Uint8Array(values.buffer));
    }
    const files = Array.from({ length: results }, (_, i) => `result${i}.bin`);
    const { code, stderr } = await this.run(runtimeTool('iree-run-module'), [
      ...[`--module=${module}`, '--device=local-sync', '--function=main'],
      ...shapes.map((shape, i) => `--input=${shape}xf32=@argument${i}.bin`),
      ...files.map((name) => `--output=@${name}`),
    ]);
    if (code !== 0 || stderr !== '') throw new Error(`${module} ended with ${code}: ${stderr}`);
    return files.map((name) => this.read(name));
  }

  /** Works with the database as the program does. */
  inStore<T>(action: (store: Store) => T): T {
    using store = openSqliteStore(this.database);
    return action(store);
  }

  /** Works with the database as another program does. */
  inDatabase<T>(action: (database: Database.Database) => T): T {
    const database = new Database(this.database);
    try {
      return action(database);
    } finally {
      database.close();
    }
  }

  /** First column of all rows of a query. */
  columnOf<T>(query: string): T[] {
    return this.inDatabase((database) => database.prepare<[], T>(query).pluck().all());
  }

  /**
   * A compiler that is a shell script.
   * @param isKnown whether the cache has the real compiler's answers to our questions for it
   * @returns the setting for it
   */
  scriptedCompiler(script: string, isKnown = true): { readonly IREE_TUNED_COMPILER: string } {
    const path = program(this.path('iree-compile'), script);
    if (isKnown) giveAnswers(this.path('cache'), path);
    return { IREE_TUNED_COMPILER: path };
  }

  run(file: string, argv: readonly string[], options: RunOptions = {}): Promise<Result> {
    return this.start(file, argv, options).ended;
  }

  /** Starts a process without waiting. */
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
   * Tools that log each of their runs.
   * @param real the compiler to run, with the runtime beside it
   * @returns the compiler to set, and the runs since the last call
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

export const decisionsOf = ({ operations }: Pick<Explanation, 'operations'>): string[] =>
  operations.map(({ outcome, code }) => `${outcome}: ${code}`);

/** The flags that the head of a spec names. */
export const flagsOfSpec = (spec: Buffer): string[] =>
  Array.from(spec.toString().matchAll(/^\/\/ {3}(--.*)$/gm), ([, flag]) => flag!);

/** `iree-tuned explain` measures the rates of the device for a program that was timed, unless it may not write them. */
export const WITHOUT_RATES = { env: { IREE_TUNED_READONLY: 'true' } };

/** Whether a process has a file open. True without /proc. */
export function hasOpen(pid: number, path: string): boolean {
  if (process.platform !== 'linux') return true;
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).some((name) => {
    try {
      return readlinkSync(join(folder, name)) === path;
    } catch {
      // The file was just closed.
      return false;
    }
  });
}

/** Number of rows of a table, also while it is written; 0 before the database is created. */
export function rowsOf({ database }: Workplace, table: string): number {
  if (!existsSync(database)) return 0;
  const connection = new Database(database, { readonly: true });
  try {
    return connection.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
  } catch (error) {
    // The database is being created.
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

/** Runs a compiled `matmulModule` on operands with different elements. Its stdout has the result. */
export function runMatmul(
  place: Workplace,
  module: string,
  m: number,
  n: number,
  k: number,
  { tool = runtimeTool('iree-run-module'), device = 'local-sync' } = {},
): Promise<Result> {
  // Sums of small integers are exact in any order.
  const values = (count: number, step: number) =>
    Array.from({ length: count }, (_, i) => ((i * step) % 7) - 3).join(' ');
  const inputs = [
    `${m}x${k}xf32=${values(m * k, 5)}`,
    `${k}x${n}xf32=${values(k * n, 3)}`,
    `${m}x${n}xf32=${values(m * n, 2)}`,
  ];
  return place.run(tool, [
    `--module=${module}`,
    `--device=${device}`,
    '--function=main',
    ...inputs.map((input) => `--input=${input}`),
  ]);
}

/** A matmul with a slow default, because no tile divides its dimensions. Tuning always finds a faster configuration. */
export const oddMatmul = matmulModule(61, 67, 71);

export const withoutMatmul = `func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = arith.addf %x, %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
`;
