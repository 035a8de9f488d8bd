// The files that replace executables of a plan. The cache keeps them for later builds.
import { existsSync } from 'node:fs';
import { flagIsOn } from '../compiler/arguments.ts';
import { isOfDispatch, matchesGenerated, type Entry } from '../inject/plan.ts';
import type { ExecutableTexts } from '../inject/executable-sources.ts';
import type { SubstituteFile } from '../inject/injection-flags.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Compile } from '../compiler/command.ts';
import { SUBSTITUTES } from '../system/cache.ts';
import { hasFields, isText, listOf } from '../system/data.ts';
import { memoryOf } from '../system/memory.ts';
import type { Plan } from './route.ts';

/**
 * The files that replace executables; null if there are none.
 * @param compile with the other configurations of the plan
 * @param texts of the executables of this compile; null if they are not known
 * @param write writes a text into a file, and returns its path
 */
export async function substituteFiles(
  { command, inspected, injection, identity: plan }: Plan,
  entries: readonly Entry[],
  { argv, stdin }: Compile,
  texts: ExecutableTexts | null,
  { env, cacheDirectory }: Surroundings,
  write: (text: Uint8Array) => string,
): Promise<readonly SubstituteFile[] | null> {
  const { compiler, arguments: args } = command;
  const { input } = args;
  // The sources and the substitutes contain the input's name.
  const name = input?.kind === 'file' ? input.path : null;
  const identity = JSON.stringify([plan, name]);
  const known = substituteMemory.recall(cacheDirectory, identity);
  if (known?.files.every(({ path }) => existsSync(path)) === true) return known.files;
  // Executables of different chunks have the same names.
  if (flagIsOn(args, 'split-input-file')) return null;
  // Not loaded on a hit.
  const { makeSubstitutes } = await import('../inject/substitute.ts');
  // Programs for one target, which were measured, may have other numbers.
  const isRenumbered =
    !matchesGenerated(injection.route) ||
    entries.some((one) => isOfDispatch(one) && one.target !== undefined);
  const made = await makeSubstitutes(
    compiler.executable,
    argv,
    entries,
    inspected.site.compiler.release,
    { env, stdin, cacheDirectory },
    isRenumbered,
    texts,
  );
  if (made === null || made.length === 0) return null;
  const files = made.map(({ name, phase, text }) => ({ name, phase, path: write(text) }));
  substituteMemory.remember(cacheDirectory, { identity, files });
  return files;
}

interface SubstituteMemory {
  readonly identity: string;
  readonly files: readonly SubstituteFile[];
}

const substituteMemory = memoryOf(
  SUBSTITUTES,
  hasFields<SubstituteMemory>({
    identity: isText,
    files: listOf(
      hasFields<SubstituteFile>({
        ...{ name: isText, path: isText, phase: (value) => value === 'source' || value === 'configuration' },
      }),
    ),
  }),
);
