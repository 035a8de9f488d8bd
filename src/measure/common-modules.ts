// What modules of candidates have in common: made once, and kept in the cache folder.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { COMMON_MODULES, pathIn } from '../system/cache.ts';
import { compilerIdentity } from '../compiler/identity.ts';
import { fillersModule, type Values } from '../workload/fillers.ts';
import { fillersOf, type OperationWork } from '../workload/workload.ts';
import { runCompiler, type Toolchain } from './toolchain.ts';

/** What it takes to compile something. */
type Compiling = Pick<
  Toolchain,
  'compiler' | 'compiles' | 'flags' | 'commonDirectory' | 'workDirectory' | 'signal'
>;

/** Seconds to compile a module of next to nothing. */
const SECONDS_FOR_LITTLE = 30;

/** A workload has the types that code is generated for: nothing is left to convert. */
export const NO_CONVERSION = '--iree-input-demote-f64-to-f32=false';

/** The folder in which they are kept. */
export const commonFolder = (cacheDirectory: string): string =>
  dirname(pathIn(cacheDirectory, COMMON_MODULES));

/** Files that are made or under way. */
const made = new Map<string, Promise<string | null>>();

/**
 * What a module of candidates is loaded with, itself last: what fills its operands stands before it.
 * @returns null when that cannot be compiled
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

/** Path of the module that fills a workload's operands; null when it cannot be compiled. */
export const compiledFillers = (
  toolchain: Compiling,
  workload: OperationWork,
  values: Values,
): Promise<string | null> =>
  compiled(toolchain, fillersModule(fillersOf(workload), values), [NO_CONVERSION], 'vmfb');

/** The compiler's text of a module at the end of a phase, with its devices; null when it does not get there. */
export async function moduleAt(phase: string, toolchain: Compiling, text: string): Promise<string | null> {
  const path = await compiled(toolchain, text, [NO_CONVERSION, `--compile-to=${phase}`], 'mlir');
  return path === null ? null : readFile(path, 'utf8');
}

/**
 * Path of what the compiler makes of a text; null when it makes nothing of it.
 * @param own flags for this text alone
 */
export function compiled(
  toolchain: Compiling,
  text: string,
  own: readonly string[],
  ending: string,
): Promise<string | null> {
  const { compiler, flags, commonDirectory, workDirectory } = toolchain;
  const identity = [compilerIdentity(compiler), ...flags, ...own, text].join('\n');
  const name = `${createHash('sha256').update(identity).digest('hex')}.${ending}`;
  const path = join(commonDirectory, name);
  const known = made.get(path);
  if (known !== undefined) return known;
  const compile = async () => {
    if (existsSync(path)) return path;
    // Others may make the same at the same time.
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
  // What was stopped or has failed may be asked for again.
  const forget = () => made.delete(path);
  making.then((result) => result === null && forget(), forget);
  return making;
}
