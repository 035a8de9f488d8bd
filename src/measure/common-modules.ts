// Modules that candidates of all workloads share, compiled once and kept in the cache folder.
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { COMMON_MODULES, pathIn } from '../system/cache.ts';
import { sha256 } from '../system/hash.ts';
import { compilerIdentity } from '../compiler/identity.ts';
import { fillersModule, type Values } from '../workload/fillers.ts';
import { fillersOf, type OperationWork } from '../workload/workload.ts';
import { runCompiler, type Toolchain } from './toolchain.ts';

/** The parts of a toolchain that a compile needs. */
type Compiling = Pick<
  Toolchain,
  'compiler' | 'compiles' | 'flags' | 'commonDirectory' | 'workDirectory' | 'signal'
>;

/** Time limit for a module of a few lines. */
const SECONDS_FOR_LITTLE = 30;

/** A workload's types are those of the generated code already, so the compiler must not convert them. */
export const NO_CONVERSION = '--iree-input-demote-f64-to-f32=false';

export const commonFolder = (cacheDirectory: string): string =>
  dirname(pathIn(cacheDirectory, COMMON_MODULES));

/** Compiled files, and compiles in progress, by path. */
const made = new Map<string, Promise<string | null>>();

/**
 * Paths of the modules to load: the module that fills the operands, then the module of candidates.
 * @returns null when the first one does not compile
 */
export async function loadedWith(
  toolchain: Compiling,
  workload: OperationWork,
  module: string,
  values: Values = 'exact',
): Promise<string[] | null> {
  const fillers = await compiledFillers(toolchain, workload, values);
  return fillers === null ? null : [fillers, module];
}

/** Path of the module that fills a workload's operands; null when it does not compile. */
export const compiledFillers = (
  toolchain: Compiling,
  workload: OperationWork,
  values: Values,
): Promise<string | null> =>
  compiled(toolchain, fillersModule(fillersOf(workload), values), [NO_CONVERSION], 'vmfb');

/** The compiler's text of a module after a phase, devices included; null when the compile fails. */
export async function moduleAt(phase: string, toolchain: Compiling, text: string): Promise<string | null> {
  const path = await compiled(toolchain, text, [NO_CONVERSION, `--compile-to=${phase}`], 'mlir');
  return path === null ? null : readFile(path, 'utf8');
}

/**
 * Compiles a text, or finds it compiled.
 * @param own flags for this text alone
 * @returns path of the compiled file; null when the compile fails
 */
export function compiled(
  toolchain: Compiling,
  text: string,
  own: readonly string[],
  ending: string,
): Promise<string | null> {
  const { compiler, flags, commonDirectory, workDirectory } = toolchain;
  const identity = [compilerIdentity(compiler), ...flags, ...own, text].join('\n');
  const name = `${sha256(identity)}.${ending}`;
  const path = join(commonDirectory, name);
  const known = made.get(path);
  if (known !== undefined) return known;
  const compile = async () => {
    if (existsSync(path)) return path;
    // Another process may compile the same text, so write elsewhere and rename.
    const [source, output] = [`in-${name}.mlir`, `out-${name}`].map((file) => join(workDirectory, file));
    await writeFile(source!, text);
    const argv = [...flags, ...own, source!, '-o', output!];
    if (!(await runCompiler(toolchain, argv, SECONDS_FOR_LITTLE)).ok) return null;
    await mkdir(commonDirectory, { recursive: true });
    await rename(output!, path);
    return path;
  };
  const making = compile();
  made.set(path, making);
  // A failed or stopped compile may be tried again.
  const forget = () => made.delete(path);
  making.then((result) => result === null && forget(), forget);
  return making;
}
