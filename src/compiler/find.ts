// Finding the real iree-compile, and never ourselves: the wrapper is installed under that very name, so every
// candidate is looked at before it is believed. This is on the way of every compile: it costs a few stats
// and the first bytes of one file.
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { PIP_ANSWERS } from '../system/cache.ts';
import { hasFields, isText } from '../system/data.ts';
import { memoryOf } from '../system/memory.ts';
import { UserError } from '../system/user-error.ts';
import {
  askPython,
  isPipScript,
  pipCompiler,
  pipRuntimeTool,
  resolvePipScript,
  type PipTool,
} from './pip.ts';
import { fileIdentity, isExecutableFile, readHead, realpathOr } from '../system/files.ts';
import { isLauncher, refuseRecursion, shimVariable, splitPath } from '../system/recursion.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface FoundCompiler {
  /** What to run: the ELF itself, in place, because `iree-lld` is looked for beside it. */
  readonly executable: string;
  /** What was found: for pip the Python script, otherwise the executable. */
  readonly invokedAs: string;
  readonly origin: 'IREE_TUNED_COMPILER' | 'shim' | 'IREE_TOOL_PATH' | 'environment' | 'PATH' | 'local';
}

export interface FindOptions {
  /** The setting `IREE_TUNED_COMPILER`; when given, nothing else is tried. */
  readonly compiler?: string | undefined;
  /**
   * The directory of this package: its `bin` and `dist` are never the compiler, its `.venv` may hold one, and what lies
   * beside it may be the compiler of the Python environment that both are installed in.
   */
  readonly root: string;
  /** Where the answer of a Python that had to be asked is kept. */
  readonly cacheDirectory?: string | undefined;
}

/** No iree-compile was found, or not where the user said; the message says where it was looked for. */
export class CompilerNotFoundError extends UserError {
  override readonly name = 'CompilerNotFoundError';
}

/**
 * Finds the real compiler: the explicit setting, the one that the shim was installed for by which we were called, the
 * directories of `IREE_TOOL_PATH`, the Python environment that the package is installed in, the directories of `PATH`, and
 * the package's own `.venv`. Throws {@link CompilerNotFoundError}, or a `RecursionError` when the wrapper was started by
 * itself.
 */
export function findCompiler(env: Environment, options: FindOptions): FoundCompiler {
  refuseRecursion(env);
  const report: string[] = [];
  if (options.compiler) {
    const path = resolve(options.compiler);
    const problem = whyNot(path, options.root);
    if (problem === null) return found(path, 'IREE_TUNED_COMPILER', options.cacheDirectory);
    // The user named one compiler: quietly running another would be worse than stopping.
    throw notFound([`IREE_TUNED_COMPILER: ${path} ${problem}`]);
  }
  report.push('IREE_TUNED_COMPILER: not set');
  const shimmed = env[shimVariable];
  if (shimmed) {
    // A shim's folder stands for one installation: its other tools are of that one too.
    const problem = whyNot(shimmed, options.root);
    if (problem === null) return found(shimmed, 'shim', options.cacheDirectory);
    report.push(`the shim was installed for ${shimmed}, which ${problem}`);
  }
  const alongPath = (origin: 'IREE_TOOL_PATH' | 'PATH'): FoundCompiler | null => {
    const directories = splitPath(env[origin]);
    const refused: string[] = [];
    for (const directory of directories) {
      const path = resolve(directory, 'iree-compile');
      const problem = whyNot(path, options.root);
      if (problem === null) return found(path, origin, options.cacheDirectory);
      if (problem !== missing) refused.push(`${path} ${problem}`);
    }
    if (directories.length === 0) report.push(`${origin}: not set`);
    else if (refused.length > 0) report.push(...refused.map((line) => `${origin}: ${line}`));
    else report.push(`${origin}: not in ${directories.join(', ')}`);
    return null;
  };
  const first = alongPath('IREE_TOOL_PATH') ?? besidePackage(options.root) ?? alongPath('PATH');
  if (first !== null) return first;
  const local = localTool(options.root, 'iree-compile');
  const problem = whyNot(local, options.root);
  if (problem === null) return found(local, 'local', options.cacheDirectory);
  report.push(`${local} ${problem}`);
  throw notFound(report);
}

/**
 * Finds a tool of the runtime (`iree-benchmark-module`, `iree-run-module`): beside the compiler, so that both
 * are of one version, then in `PATH`, then in the package's `.venv`. `undefined` when it is nowhere.
 */
export function findRuntimeTool(
  name: string,
  compiler: FoundCompiler,
  env: Environment,
  options: Pick<FindOptions, 'root' | 'cacheDirectory'>,
): string | undefined {
  const tool = pipRuntimeTool(name);
  // site-packages/iree/compiler/_mlir_libs/iree-compile -> site-packages/iree/_runtime_libs/NAME
  const installed = join(dirname(compiler.executable), '..', '..', '_runtime_libs', name);
  const path = isExecutableFile(installed) ? installed : findTool(name, compiler, env, options);
  return path === undefined ? undefined : executableBehind(path, tool, options.cacheDirectory);
}

/** Path of a program: beside the compiler, in `PATH`, or in the package's `.venv`; `undefined` when it is nowhere. */
export const findTool = (
  name: string,
  { executable, invokedAs }: Pick<FoundCompiler, 'executable' | 'invokedAs'>,
  env: Environment,
  { root }: Pick<FindOptions, 'root'>,
): string | undefined =>
  [
    join(dirname(executable), name),
    join(dirname(invokedAs), name),
    ...splitPath(env['PATH']).map((directory) => resolve(directory, name)),
    localTool(root, name),
  ].find(isExecutableFile);

/** What candidates are measured and run with. */
export interface MeasuringTools {
  readonly benchmarkModule: string;
  readonly runModule: string;
}

/** Paths of the runtime's tools for measuring; null when one of them is nowhere. */
export function findMeasuringTools(
  compiler: FoundCompiler,
  env: Environment,
  options: Pick<FindOptions, 'root' | 'cacheDirectory'>,
): MeasuringTools | null {
  const benchmarkModule = findRuntimeTool('iree-benchmark-module', compiler, env, options);
  const runModule = findRuntimeTool('iree-run-module', compiler, env, options);
  return benchmarkModule === undefined || runModule === undefined ? null : { benchmarkModule, runModule };
}

const missing = 'is not there';

/** Why this path is not the real compiler; `null` when it is. */
function whyNot(path: string, root: string): string | null {
  if (!isExecutableFile(path)) return missing;
  const real = realpathOr(path);
  const own = ['bin', 'dist'].map((name) => realpathOr(join(root, name)) + '/');
  if (own.some((directory) => real.startsWith(directory))) return 'is iree-compile-tuned itself';
  if (isLauncher(real)) return 'is iree-compile-tuned itself (a copy of its launcher)';
  return null;
}

function found(path: string, origin: FoundCompiler['origin'], cache: string | undefined): FoundCompiler {
  return { executable: executableBehind(path, pipCompiler, cache), invokedAs: path, origin };
}

/** The executable that a found file stands for: what pip's script would start, otherwise the file itself. */
function executableBehind(path: string, tool: PipTool, cache: string | undefined): string {
  const head = readHead(path);
  if (!isPipScript(head)) return path;
  return resolvePipScript(path, head, tool, (python) => askOnce(path, python, tool, cache)) ?? path;
}

/** Asks Python, remembering the answer for as long as the script is the same file. */
function askOnce(script: string, python: string, tool: PipTool, cache: string | undefined): string | null {
  const file = fileIdentity(script);
  if (cache === undefined || file === null) return askPython(python, tool);
  const identity = `${file}\n${tool.package}`;
  const known = answerMemory.recall(cache, identity)?.executable;
  if (known !== undefined && isExecutableFile(known)) return known;
  const executable = askPython(python, tool);
  if (executable !== null) answerMemory.remember(cache, { identity, executable });
  return executable;
}

interface Answer {
  readonly identity: string;
  readonly executable: string;
}

const isAnswer = hasFields<Answer>({ identity: isText, executable: isText });
const answerMemory = memoryOf(PIP_ANSWERS, isAnswer, { outlivesBuild: true });

/**
 * The compiler of the Python environment that this package is installed in, and which a call by its whole path means,
 * whatever PATH leads to. Both packages lie in site-packages; pip's scripts in the environment's `bin`, three levels up.
 */
function besidePackage(root: string): FoundCompiler | null {
  const packages = join(root, '..');
  const executable = join(packages, pipCompiler.directory, pipCompiler.name);
  // A clone may lie anywhere, and what lies beside it may be just anybody's.
  if (whyNot(executable, root) !== null || !existsSync(join(root, '__init__.py'))) return null;
  const script = join(packages, '../../../bin', pipCompiler.name);
  return {
    executable,
    invokedAs: isExecutableFile(script) ? script : executable,
    origin: 'environment',
  };
}

function localTool(root: string, name: string): string {
  return join(root, '.venv', 'bin', name);
}

function notFound(places: readonly string[]): CompilerNotFoundError {
  return new CompilerNotFoundError(
    'iree-compile-tuned: cannot find the real iree-compile.\nLooked at:\n' +
      places.map((place) => `  ${place}\n`).join('') +
      'Install it (pip install iree-base-compiler) or set IREE_TUNED_COMPILER to its path.',
  );
}
