// Does one job of a program: `iree-tuned tune` in a process of its own, which can be ended, with the worker's own flags.
import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, sep } from 'node:path';
import { startChild } from '../system/child.ts';
import { fileSha256 } from '../system/hash.ts';
import { afterSeconds, onAbort } from '../system/limits.ts';
import { messageOf } from '../system/tell.ts';
import { UserError } from '../system/user-error.ts';
import type { ProgramFile } from './job.ts';
import type { JobResult } from './tune-job.ts';

export interface ProgramMeans {
  /** Folder of the models; null if there is none. */
  readonly models: string | null;
  /** The command `iree-tuned`. */
  readonly executable: string;
  /** Flags of the compiler. */
  readonly flags: readonly string[];
  /** Environment with the worker's settings and this budget. */
  readonly envFor: (budgetSeconds: number) => Readonly<Record<string, string | undefined>>;
}

/** Seconds for the compiles and runs that no budget limits. */
const MARGIN_SECONDS = 1800;

export async function tuneProgramFile(
  program: ProgramFile,
  budgetSeconds: number,
  { models, executable, flags, envFor }: ProgramMeans,
  signal: AbortSignal,
): Promise<JobResult> {
  let path: string;
  try {
    path = fileBelow(models, program);
  } catch (error) {
    return { outcome: 'undecided', reason: messageOf(error) };
  }
  const { code, cut, stdout, stderr } = await startChild(executable, ['tune', path, '--', ...flags], {
    ...{ env: envFor(budgetSeconds), group: 'own', stdin: 'ignore', output: 'pipe' },
    limits: [onAbort(signal), afterSeconds(budgetSeconds + MARGIN_SECONDS)],
  }).ended;
  if (signal.aborted) return { outcome: 'stopped' };
  const log = [stderr, stdout].map((text) => text.toString().trim()).filter((text) => text !== '');
  if (code === 0) return { outcome: 'done', summary: 'tuned', log };
  const why = cut === 'late' ? 'it did not end in time' : log[0]?.split('\n').at(-1);
  return { outcome: 'undecided', reason: why ?? `iree-tuned tune ended with ${code}`, log };
}

/**
 * The file of a job. Authors of the folder choose the programs, so no job leads out of it.
 * @throws for a path that leaves the folder, and for another content
 */
export function fileBelow(models: string | null, { path, sha256 }: ProgramFile): string {
  if (models === null)
    throw new UserError('this worker has no folder of models: start the worker with --models DIR');
  if (isAbsolute(path) || path.split('/').includes('..'))
    throw new UserError(`${path} is not a path below the folder of models`);
  const [root, real] = [realpathSync(models), realpathSync(join(models, path))];
  if (!real.startsWith(root.endsWith(sep) ? root : root + sep))
    throw new UserError(`${path} is a link out of the folder of models`);
  // A pipe would never end.
  if (!statSync(real).isFile()) throw new UserError(`${path} is no file`);
  if (fileSha256(real) !== sha256) throw new UserError(`${path} has changed: its digest is another one`);
  return real;
}
