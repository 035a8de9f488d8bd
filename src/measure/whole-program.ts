// Flags and annotations for candidates whose configuration concerns the whole module.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { backendOf } from '../backend/index.ts';
import type { WholeProgram } from '../backend/backend.ts';
import { isDefault } from '../backend/configuration.ts';
import { preprocessingFlags, preprocessingSpec } from '../spec/preprocessing.ts';
import { candidateFunctions, type Candidate } from './candidate-module.ts';
import type { Toolchain } from './toolchain.ts';

/**
 * Flags for a module with candidates that need a change of the whole module. The change must not affect the other candidates.
 * @param name of the module; the spec's file in the work folder has the same name
 */
export async function wholeProgramFlags(
  { workDirectory }: Pick<Toolchain, 'workDirectory'>,
  candidates: readonly Candidate[],
  name: string,
): Promise<string[]> {
  const needy = configured(candidates).filter(
    ({ wholeProgram, configuration }) => wholeProgram.needsOf(configuration) !== null,
  );
  if (needy.length === 0) return [];
  const all = [...new Set(needy.map(({ wholeProgram }) => wholeProgram))];
  const path = join(workDirectory, `${name}.whole-program.mlir`);
  const rules = all.flatMap((one) => one.rules);
  await writeFile(path, preprocessingSpec([], rules));
  return [...preprocessingFlags(path), ...all.flatMap(({ flags }) => flags)];
}

/** Annotates operations that exist only after a phase of the compiler; undefined if no candidate has such operations. */
export const lateAnnotations = (candidates: readonly Candidate[]): WholeProgram['late'] | undefined =>
  configured(candidates).find(({ wholeProgram, configuration }) => wholeProgram.late.isNeeded(configuration))
    ?.wholeProgram.late;

/** Candidates whose backend has a `wholeProgram` part. */
const configured = (candidates: readonly Candidate[]) =>
  candidates.flatMap(({ configuration }) => {
    if (configuration === undefined || isDefault(configuration)) return [];
    const { wholeProgram } = backendOf(configuration);
    return wholeProgram === undefined ? [] : [{ configuration, wholeProgram }];
  });

/** Annotates the operations in the compiler's text of a module, each with its candidate's configuration. */
export function annotated(
  text: string,
  candidates: readonly Candidate[],
  annotate: WholeProgram['late']['annotate'],
): string {
  const configurations = new Map(candidates.map(({ name, configuration }) => [name, configuration]));
  const lines = text.split('\n');
  for (const { candidate, firstLine, lastLine } of candidateFunctions(text)) {
    const configuration = configurations.get(candidate);
    if (configuration === undefined) continue;
    for (let line = firstLine - 1; line < lastLine; line++)
      lines[line] = annotate(lines[line]!, configuration);
  }
  return lines.join('\n');
}
