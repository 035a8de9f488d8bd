// The files that executables of a plan are substituted by: made once per plan, and found again after that.
import { existsSync } from 'node:fs';
import { flagIsOn } from '../compiler/index.ts';
import type { Decision } from '../decision/decision.ts';
import type { SpecEntry } from '../inject/spec.ts';
import type { Command, Subjects, Surroundings } from './inspect.ts';
import { memoryOf } from './memory.ts';
import { planIdentity } from './plan-memory.ts';

interface SubstituteFile {
  /** Of the executable. */
  readonly name: string;
  readonly path: string;
}

/**
 * The files to substitute executables by; null when none can be made.
 * @param write keeps a source in a file and says where
 */
export async function substituteFiles(
  entries: readonly SpecEntry[],
  command: Command,
  { bytes, digest, description }: Subjects,
  decisions: readonly Decision[],
  { env, cacheDirectory }: Surroundings,
  write: (source: Uint8Array) => string,
): Promise<readonly SubstituteFile[] | null> {
  const { compiler, argv, arguments: args } = command;
  const { input } = args;
  // The sources name the input, and so does what is made from them.
  const name = input?.kind === 'file' ? input.path : null;
  const identity = JSON.stringify([planIdentity(command, digest, decisions, 'substitute'), name]);
  const known = substituteMemory.recall(cacheDirectory, identity);
  if (known?.files.every(({ path }) => existsSync(path)) === true) return known.files;
  // Chunks of a split input have executables of the same names.
  if (flagIsOn(args, 'split-input-file')) return null;
  // Nothing of this is loaded on a hit.
  const { makeSubstitutes } = await import('../inject/substitute.ts');
  const made = await makeSubstitutes(compiler.executable, argv, entries, {
    release: description.release,
    env,
    stdin: input?.kind === 'stdin' ? bytes : undefined,
    cacheDirectory,
  });
  if (made === null || made.length === 0) return null;
  const files = made.map((substitute) => ({ name: substitute.name, path: write(substitute.source) }));
  substituteMemory.remember(cacheDirectory, { identity, files });
  return files;
}

interface SubstituteMemory {
  readonly identity: string;
  readonly files: readonly SubstituteFile[];
}

const substituteMemory = memoryOf('substitute', isSubstituteMemory);

function isSubstituteMemory(value: unknown): value is SubstituteMemory {
  const { identity, files } = (value ?? {}) as Partial<Record<keyof SubstituteMemory, unknown>>;
  return typeof identity === 'string' && Array.isArray(files) && files.every(isSubstituteFile);
}

function isSubstituteFile(value: unknown): value is SubstituteFile {
  const { name, path } = (value ?? {}) as Partial<Record<keyof SubstituteFile, unknown>>;
  return typeof name === 'string' && typeof path === 'string';
}
