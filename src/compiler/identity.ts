// Detects a replaced compiler or linker.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { lastingIdentity, realpathOr } from '../system/files.ts';
import { splitPath, type Environment } from '../system/recursion.ts';

/** Possible files of a compiler. The executable is a small stub, so a rebuilt compiler may differ only in its library. */
export function compilerFiles(executable: string): string[] {
  const directory = dirname(realpathOr(executable));
  const name = process.platform === 'darwin' ? 'libIREECompiler.dylib' : 'libIREECompiler.so';
  return [executable, join(directory, name), join(directory, '..', 'lib', name)];
}

/** A string that changes with the compiler's files; its path if they are invisible. */
export const compilerIdentity = (executable: string): string =>
  compilerFiles(executable)
    .map(lastingIdentity)
    .filter((identity) => identity !== null)
    .join('\n') || executable;

/** Variables with the path of a linker. */
export const LINKER_VARIABLES = [
  ...['IREE_LLVM_EMBEDDED_LINKER_PATH', 'IREE_LLVM_SYSTEM_LINKER_PATH', 'IREE_LLVM_WASM_LINKER_PATH'],
] as const;

/** The linker that the compiler uses by default: beside it, or else in `PATH`. Null for none. */
export function linkerOf(
  executable: string,
  env: Environment,
): { readonly path: string; readonly isBeside: boolean } | null {
  const beside = join(dirname(realpathOr(executable)), 'iree-lld');
  if (existsSync(beside)) return { path: beside, isBeside: true };
  const folders = splitPath(env['PATH']);
  const names = ['iree-lld', 'lld', 'ld.lld', 'lld-link'];
  const path = names.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
  return path === undefined ? null : { path, isBeside: false };
}
