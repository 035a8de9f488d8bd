// One candidate as a separate program, for reading and for the compiler's tools. Pure.
import { backendOf, configurationKey, needsOf } from '../backend/index.ts';
import { isDefault } from '../backend/configuration.ts';
import type { Site } from '../site/site.ts';
import { candidateModule, candidateOf } from '../measure/candidate-module.ts';
import { candidatePhase, workloadKey, type OperationWork } from '../workload/workload.ts';
import { configurationName, type Measurement } from './measurement.ts';

/** Path relative to the folder of candidates. */
export const candidatePath = ({ operation, configuration }: Measurement): string =>
  `${operation.name}/${configurationName(configuration)}.mlir`;

/**
 * MLIR of a function that applies one configuration to invented operands, with comments about how to compile it.
 * @param around text of the module for the function, in the phase of the candidate
 */
export function candidateText(
  { workload, configuration }: Pick<Measurement, 'configuration'> & { readonly workload: OperationWork },
  { flags, compiler }: Pick<Site, 'flags' | 'compiler'>,
  around: string,
): string {
  const phase = candidatePhase(workload);
  const from = phase === null ? [] : [`--compile-from=${phase}`];
  const own = isDefault(configuration) ? undefined : backendOf(configuration).wholeProgram;
  const late = own?.late.isNeeded(configuration) === true ? own.late : undefined;
  const comments = [
    workloadKey(workload),
    configurationKey(configuration),
    `iree-compile ${[...from, ...flags, ...(needsOf(configuration) === null ? [] : own!.flags)].join(' ')}`,
    ...(late === undefined
      ? []
      : [
          `Its tiles apply to operations that the compiler creates in the phase ${late.phase}. This text lacks them.`,
        ]),
  ];
  const candidate = candidateOf('main', configuration, workload, compiler.release);
  const module = candidateModule(workload, [candidate], around);
  return `${comments.map((line) => `// ${line}\n`).join('')}${module}`;
}
