// Detects a replaced compiler.
import { dirname, join } from 'node:path';
import { lastingIdentity, realpathOr } from '../system/files.ts';

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
