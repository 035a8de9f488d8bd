// What candidates ask of their whole module, and the compiler's own text of it.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { backendOf } from '../backend/index.ts';
import type { WholeProgram } from '../backend/backend.ts';
import { isDefault } from '../backend/configuration.ts';
import { preprocessingFlags, preprocessingSpec } from '../spec/preprocessing.ts';
import { candidateFunctions, type Candidate } from './candidate-module.ts';
import type { Toolchain } from './toolchain.ts';

/**
 * Flags for modules with candidates that ask for something of the whole module; for the others they must change nothing.
 * @param name of the module, for what is written beside it
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

/** What says something of a candidate's operations that only exist after a phase of the compiler; undefined when nothing does. */
export const lateAnnotations = (candidates: readonly Candidate[]): WholeProgram['late'] | undefined =>
  configured(candidates).find(({ wholeProgram, configuration }) => wholeProgram.late.isNeeded(configuration))
    ?.wholeProgram.late;

/** The candidates that may ask something of the whole module, with the part of the backend that understands it. */
const configured = (candidates: readonly Candidate[]) =>
  candidates.flatMap(({ configuration }) => {
    if (configuration === undefined || isDefault(configuration)) return [];
    const { wholeProgram } = backendOf(configuration);
    return wholeProgram === undefined ? [] : [{ configuration, wholeProgram }];
  });

/** The compiler's text of a module of candidates, with what each says of its operations. */
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
