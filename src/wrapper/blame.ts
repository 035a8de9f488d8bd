// Tells a failure of the input or a configuration from a failure of the machine, such as a full disk.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { askCompiler } from '../compiler/index.ts';
import { withTrailingFlags, type Compile } from '../compiler/command.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import type { Surroundings } from '../settings/surroundings.ts';

/** Messages about memory, disks, rights, file descriptors and the linker. */
const ABOUT_MACHINE =
  /no space left|input\/output error|cannot allocate|out of memory|temporarily unavailable|too many open files|quota exceeded|permission denied|read-only file system|\blinker\b|\blld\b|failed to (?:open|create|write)|could not open/i;

/**
 * Repeats a failed compile with a scratch output.
 * @param workSeconds limit of processor time
 * @returns the messages if it fails again and no resource of the machine is missing; null otherwise
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
