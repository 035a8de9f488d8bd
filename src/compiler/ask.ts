// Runs the compiler, or a tool of it, for its output.
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { exitLike, runCompiler, type RunOptions, type RunResult } from '../system/run.ts';
import { STALL_SECONDS, whenHung, type HangLimits } from '../system/limits.ts';

export type AskOptions = Pick<RunOptions, 'env' | 'stdin'> & Pick<HangLimits, 'workSeconds'>;

/** Options of a compile besides the user's own. */
export type AsideOptions = AskOptions & { readonly cacheDirectory: string };

/** Limit of processor time, in seconds. No question is worth an hour. */
const MOST_SECONDS = 3600;

/**
 * Runs the compiler with captured outputs, and without input but `stdin`. Kills it if it hangs or works for `workSeconds`. A signal to end
 * ends this process, too. Dumps of executables get the folders that they need.
 */
export async function askCompiler(
  executable: string,
  argv: readonly string[],
  { env, stdin = new Uint8Array(), workSeconds = MOST_SECONDS }: AskOptions,
): Promise<RunResult> {
  const options = {
    env,
    stdin,
    capture: true,
    limits: [whenHung({ stallSeconds: STALL_SECONDS, workSeconds })],
  };
  const dumps = argv.flatMap((one) => /^--iree-hal-dump-executable-[a-z]+-to=(.+)$/.exec(one)?.[1] ?? []);
  const made = new Set<string>();
  for (;;) {
    const result = await runCompiler(executable, argv, options);
    const missing = missingFolders(dumps, result).filter((folder) => !made.has(folder));
    for (const folder of missing) {
      mkdirSync(folder, { recursive: true });
      made.add(folder);
    }
    if (missing.length > 0) continue;
    if (result.forwarded !== null) exitLike({ code: null, signal: result.forwarded, forwarded: null });
    return result;
  }
}

/** Folders that the compiler's dumps lack. It names dumps after functions, and a slash in such a name is part of a path. */
function missingFolders(dumps: readonly string[], { code, stderr }: RunResult): readonly string[] {
  if (code === 0 || dumps.length === 0) return [];
  const failed = stderr
    .toString()
    .matchAll(/cannot open output file '([^'\n]+)': No such file or directory/g);
  return Array.from(failed, ([, path]) => path!)
    .filter((path) => dumps.some((folder) => path.startsWith(`${folder}/`)))
    .filter((path) => !path.split('/').includes('..'))
    .map((path) => dirname(path));
}

/** Runs a compile of the user's program besides the user's own compile. Waits for one of the machine's slots. */
export async function compileAside(
  executable: string,
  argv: readonly string[],
  { cacheDirectory, ...asked }: AsideOptions,
): Promise<RunResult> {
  // Not loaded on a hit.
  const { takeSlot } = await import('../system/slots.ts');
  using _slot = await takeSlot(asked.env, cacheDirectory);
  return await askCompiler(executable, argv, asked);
}
