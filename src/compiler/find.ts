// Finds the real iree-compile. The wrapper may have the same name, so it checks each candidate. Every compile does this: it takes a few
// stats and one short read.
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { PIP_ANSWERS } from '../system/cache.ts';
import { runnerOf, standIn, TOOLS, type RunnerSettings } from '../runner/runner.ts';
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
import {
  isLauncher,
  refuseRecursion,
  type Environment,
  shimVariable,
  splitPath,
} from '../system/recursion.ts';

export interface FoundCompiler {
  /** Path of the ELF file, in place, because it looks for `iree-lld` beside it. */
  readonly executable: string;
  /** Path that was found: pip's Python script, or the executable. */
  readonly invokedAs: string;
  readonly origin: 'IREE_TUNED_COMPILER' | 'shim' | 'IREE_TOOL_PATH' | 'environment' | 'PATH' | 'local';
}

export interface FindOptions {
  /** The setting `compiler`, which excludes all other candidates. */
  readonly compiler?: string | undefined;
  /** Root folder of this package. Its `.venv` may have the compiler, and its neighbours may be the compiler's Python package. */
  readonly root: string;
  /** Caches the answer of a Python. */
  readonly cacheDirectory?: string | undefined;
}

/** Where a tool of the runtime is: beside a compiler, or on the machine of the settings. */
export interface ToolOptions extends Pick<FindOptions, 'root' | 'cacheDirectory'> {
  readonly settings?: RunnerSettings;
}

/** There is no iree-compile, or not at the path of the setting. The message lists the places. */
export class CompilerNotFoundError extends UserError {
  override readonly name = 'CompilerNotFoundError';
}

/**
 * Finds the real compiler, in this order: the setting, the shim's compiler, `IREE_TOOL_PATH`, the Python environment of this package,
 * `PATH`, the package's `.venv`.
 * @throws CompilerNotFoundError, and RecursionError if the wrapper started itself
 */
export function findCompiler(env: Environment, options: FindOptions): FoundCompiler {
  refuseRecursion(env);
  const { compiler, root, cacheDirectory } = options;
  const report: string[] = [];
  /** The compiler at a path; null and a line of the report if it is none. */
  const at = (path: string, origin: FoundCompiler['origin'], place = path): FoundCompiler | null => {
    const problem = whyNot(path, root);
    if (problem !== null) report.push(`${place} ${problem}`);
    return problem === null
      ? { executable: executableBehind(path, pipCompiler, cacheDirectory), invokedAs: path, origin }
      : null;
  };
  const along = (origin: 'IREE_TOOL_PATH' | 'PATH'): FoundCompiler | null => {
    const directories = splitPath(env[origin]);
    const before = report.length;
    for (const directory of directories) {
      const path = resolve(directory, 'iree-compile');
      const found = existsSync(path) ? at(path, origin, `${origin}: ${path}`) : null;
      if (found !== null) return found;
    }
    if (directories.length === 0) report.push(`${origin}: not set`);
    else if (report.length === before) report.push(`${origin}: not in ${directories.join(', ')}`);
    return null;
  };
  if (compiler) {
    const path = resolve(compiler);
    const named = at(path, 'IREE_TUNED_COMPILER', `the setting compiler: ${path}`);
    // Never replace a compiler that the user named.
    if (named === null) throw notFound(report);
    return named;
  }
  report.push('IREE_TUNED_COMPILER: not set');
  const shimmed = env[shimVariable];
  const found =
    // The other tools in a shim's folder belong to the same installation.
    (shimmed ? at(shimmed, 'shim', `the shim was installed for ${shimmed}, which`) : null) ??
    along('IREE_TOOL_PATH') ??
    besidePackage(root) ??
    along('PATH') ??
    at(localTool(root, 'iree-compile'), 'local');
  if (found === null) throw notFound(report);
  return found;
}

/**
 * Finds a tool of the runtime: beside the compiler, which has the same version, then in `PATH`, then in `.venv`. With a runner, the program in
 * place of a tool that runs on its machine.
 */
export function findRuntimeTool(
  name: string,
  compiler: FoundCompiler,
  env: Environment,
  options: ToolOptions,
): string | undefined {
  const { settings, cacheDirectory, root } = options;
  const runner = settings && cacheDirectory !== undefined ? runnerOf(settings, cacheDirectory) : null;
  if (runner !== null && TOOLS.includes(name)) return standIn(runner, name, root);
  const tool = pipRuntimeTool(name);
  // site-packages/iree/compiler/_mlir_libs/iree-compile -> site-packages/iree/_runtime_libs/NAME
  const installed = join(dirname(compiler.executable), '..', '..', '_runtime_libs', name);
  const path = isExecutableFile(installed) ? installed : findTool(name, compiler, env, options);
  return path === undefined ? undefined : executableBehind(path, tool, options.cacheDirectory);
}

/** Path of a program: beside the compiler, in `PATH`, or in `.venv`; undefined for none. */
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

/** Paths of the tools that measure and run candidates. */
export interface MeasuringTools {
  readonly benchmarkModule: string;
  readonly runModule: string;
}

/** Finds the tools for measuring; null if one is missing. */
export function findMeasuringTools(
  compiler: FoundCompiler,
  env: Environment,
  options: ToolOptions,
): MeasuringTools | null {
  const benchmarkModule = findRuntimeTool('iree-benchmark-module', compiler, env, options);
  const runModule = findRuntimeTool('iree-run-module', compiler, env, options);
  return benchmarkModule === undefined || runModule === undefined ? null : { benchmarkModule, runModule };
}

/** Why a path is not the real compiler; null if it is. */
function whyNot(path: string, root: string): string | null {
  if (!isExecutableFile(path)) return existsSync(path) ? 'is not an executable file' : 'does not exist';
  const real = realpathOr(path);
  const own = ['bin', 'dist'].map((name) => realpathOr(join(root, name)) + '/');
  if (own.some((directory) => real.startsWith(directory))) return 'is iree-compile-tuned itself';
  if (isLauncher(real)) return 'is iree-compile-tuned itself (a copy of its launcher)';
  return null;
}

/** The executable that a pip script would start; any other file itself. */
function executableBehind(path: string, tool: PipTool, cache: string | undefined): string {
  const head = readHead(path);
  if (!isPipScript(head)) return path;
  return resolvePipScript(path, head, tool, (python) => askOnce(path, python, tool, cache)) ?? path;
}

/** Asks Python, and caches the answer until the script changes. */
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

/** The compiler in the Python environment of this package. Both lie in site-packages; pip's scripts lie in `bin`, three levels up. */
function besidePackage(root: string): FoundCompiler | null {
  const packages = join(root, '..');
  const executable = join(packages, pipCompiler.directory, pipCompiler.name);
  // Neighbours of a clone are unrelated. Only pip's package has `__init__.py`.
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
