// When a compiler is another one than before.
import { dirname, join } from 'node:path';
import { fileIdentity, realpathOr } from '../system/files.ts';

/**
 * The files that a compiler consists of, those that may not be there included. The executable is a stub of a few
 * kilobytes: a rebuilt compiler may differ in its library only.
 */
export function compilerFiles(executable: string): string[] {
  const directory = dirname(realpathOr(executable));
  const name = process.platform === 'darwin' ? 'libIREECompiler.dylib' : 'libIREECompiler.so';
  return [executable, join(directory, name), join(directory, '..', 'lib', name)];
}

/** A string that changes when the compiler is replaced; its path when it cannot be seen. */
export const compilerIdentity = (executable: string): string =>
  compilerFiles(executable)
    .map(fileIdentity)
    .filter((identity) => identity !== null)
    .join('\n') || executable;
