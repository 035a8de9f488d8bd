// Whether a compile that has failed fails for what it is told, and not for want of something that the machine has at other times.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { askCompiler } from '../compiler/index.ts';
import { withTrailingFlags, type Compile } from '../compiler/command.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import type { Surroundings } from '../settings/surroundings.ts';

/** What the compiler, its linker or the system says where memory, room on a disk, rights, processes or files are missing. */
const ABOUT_MACHINE =
  /no space left|input\/output error|cannot allocate|out of memory|temporarily unavailable|too many open files|quota exceeded|permission denied|read-only file system|\blinker\b|\blld\b|failed to (?:open|create|write)|could not open/i;

/**
 * Compiles once more, into a file that nobody keeps.
 * @param workSeconds how long it may work
 * @returns what the compiler says where it fails again, by itself and for what it is told; null otherwise
 */
export async function failsAgain(
  { argv, stdin }: Compile,
  executable: string,
  { env, cacheDirectory }: Pick<Surroundings, 'env' | 'cacheDirectory'>,
  workSeconds: number,
): Promise<string | null> {
  const folder = makeScratchFolder(cacheDirectory, 'again');
  if (folder === null) return null;
  try {
    const output = join(folder, 'output');
    const again = withTrailingFlags(argv, ['-o', output]);
    const { code, cut, signal, stderr } = await askCompiler(executable, again, { env, stdin, workSeconds });
    const said = stderr.toString();
    const hasWorked = code === 0 && existsSync(output);
    const wasKilled = signal === 'SIGKILL' && cut === null;
    return hasWorked || cut !== null || wasKilled || ABOUT_MACHINE.test(said) ? null : said;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
