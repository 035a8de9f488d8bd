// Candidates as separate programs, for reading and for the compiler's tools.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDefault } from '../backend/configuration.ts';
import { backendOf, configurationKey, needsOf } from '../backend/index.ts';
import { candidateModule, candidateOf, moduleWithFillers } from '../measure/candidate-module.ts';
import { moduleAt } from '../measure/common-modules.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Site } from '../site/site.ts';
import { makeFolder } from '../system/folder.ts';
import { withScratchFolder } from '../system/scratch.ts';
import { Semaphore } from '../system/semaphore.ts';
import { candidatePhase, needsProgram, workloadKey } from '../workload/workload.ts';
import { configurationName, type Measurement } from './measurement.ts';
import { csvHeader, csvRow } from './report.ts';

/** Writes every candidate as MLIR into a folder, and a CSV of the results. */
export async function keepCandidates(
  folder: string,
  all: readonly Measurement[],
  site: Site,
  { cacheDirectory }: Pick<Surroundings, 'cacheDirectory'>,
): Promise<void> {
  makeFolder(folder);
  await withScratchFolder(cacheDirectory, 'candidates', async (workDirectory) => {
    const rows: string[] = [];
    for (const one of all) {
      const { operation, configuration } = one;
      const program = await candidateProgram(one, site, workDirectory);
      const name = program && `${operation.name}/${configurationName(configuration)}.mlir`;
      if (name !== null) {
        makeFolder(dirname(join(folder, name)));
        writeFileSync(join(folder, name), program!.text);
      }
      rows.push(csvRow(one, [], [name, one.message]));
    }
    writeFileSync(join(folder, 'candidates.csv'), csvHeader([], ['File', 'Message']) + rows.join(''));
  });
}

/** A program in MLIR, and the flags to compile it. */
interface CandidateProgram {
  readonly text: string;
  readonly flags: readonly string[];
}

/**
 * A function that applies one configuration to generated operands, with comments about how to compile it. Null for a dispatch, which exists in
 * its program only, and where the compiler fails before the phase of the candidate.
 */
export async function candidateProgram(
  { workload, configuration }: Pick<Measurement, 'workload' | 'configuration'>,
  site: Site,
  workDirectory: string,
): Promise<CandidateProgram | null> {
  if (needsProgram(workload)) return null;
  const phase = candidatePhase(workload);
  const toolchain = {
    ...{ compiler: site.executable, compiles: new Semaphore(1), flags: site.flags },
    ...{ commonDirectory: workDirectory, workDirectory, signal: new AbortController().signal },
  };
  const fillers = moduleWithFillers(workload);
  const around = phase === null ? fillers : await moduleAt(phase, toolchain, fillers);
  if (around === null) return null;
  const from = phase === null ? [] : [`--compile-from=${phase}`];
  const own = isDefault(configuration) ? undefined : backendOf(configuration).wholeProgram;
  const flags = [...from, ...site.flags, ...(needsOf(configuration) === null ? [] : own!.flags)];
  const comments = [
    workloadKey(workload),
    configurationKey(configuration),
    `iree-compile ${flags.join(' ')}`,
  ];
  if (own?.late.isNeeded(configuration) === true)
    comments.push(
      `Its tiles apply to operations that the compiler creates in the phase ${own.late.phase}. This text lacks them.`,
    );
  const candidate = candidateOf('main', configuration, workload, site.compiler.release);
  const text =
    comments.map((line) => `// ${line}\n`).join('') + candidateModule(workload, [candidate], around);
  return { text, flags };
}
