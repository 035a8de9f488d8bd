// The files that replace executables of a plan. The cache keeps them for later builds.
import { existsSync } from 'node:fs';
import { flagIsOn } from '../compiler/arguments.ts';
import type { Decision } from '../decision/decision.ts';
import { matchesGenerated, type Injection } from '../inject/plan.ts';
import type { SubstituteEntries } from '../inject/substitute.ts';
import type { ExecutableTexts } from '../inject/executable-sources.ts';
import type { SubstituteFile } from '../inject/injection-flags.ts';
import type { Inspected } from './inspected.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Command, Compile } from '../compiler/command.ts';
import { SUBSTITUTES } from '../system/cache.ts';
import { hasFields, isText, listOf } from '../system/data.ts';
import { memoryOf } from '../system/memory.ts';
import { planIdentity } from './ledger.ts';

/** A command whose executables are to be substituted. */
interface Substitution extends Compile, SubstituteEntries {
  /** Route of the other configurations. */
  readonly route: Injection['route'];
  /** Texts of the executables with the other configurations; null if they are not known. */
  readonly texts: ExecutableTexts | null;
}

/**
 * The files that replace executables; null if there are none.
 * @param write writes a text into a file, and returns its path
 */
export async function substituteFiles(
  { argv, stdin, route, entries, dispatches, texts }: Substitution,
  command: Command,
  { input: { digest }, site }: Inspected,
  decisions: readonly Decision[],
  { env, cacheDirectory }: Surroundings,
  write: (text: Uint8Array) => string,
): Promise<readonly SubstituteFile[] | null> {
  const { compiler, arguments: args } = command;
  const { input } = args;
  // The sources and the substitutes contain the input's name.
  const name = input?.kind === 'file' ? input.path : null;
  const identity = JSON.stringify([planIdentity(command, digest, decisions, route), name]);
  const known = substituteMemory.recall(cacheDirectory, identity);
  if (known?.files.every(({ path }) => existsSync(path)) === true) return known.files;
  // Executables of different chunks have the same names.
  if (flagIsOn(args, 'split-input-file')) return null;
  // Not loaded on a hit.
  const { makeSubstitutes } = await import('../inject/substitute.ts');
  // Programs for one target, which were measured, may have other numbers.
  const isRenumbered = !matchesGenerated(route) || dispatches.some(({ target }) => target !== undefined);
  const made = await makeSubstitutes(
    compiler.executable,
    argv,
    { entries, dispatches },
    site.compiler.release,
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
