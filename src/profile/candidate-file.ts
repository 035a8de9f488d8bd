// One candidate as a program of its own, for a look and for the compiler's tools. Pure.
import { backendOf, configurationKey, needsOf } from '../backend/index.ts';
import { isDefault } from '../backend/configuration.ts';
import type { Site } from '../site/site.ts';
import { candidateModule, candidateOf } from '../measure/candidate-module.ts';
import { candidatePhase, workloadKey, type OperationWork } from '../workload/workload.ts';
import { configurationName, type Measurement } from './measurement.ts';

/** Where it lies below the folder of all candidates. */
export const candidatePath = ({ operation, configuration }: Measurement): string =>
  `${operation.name}/${configurationName(configuration)}.mlir`;

/**
 * MLIR of a function that works on made-up operands with one configuration, and above it how to compile it.
 * @param around text of the module that the function is added to, as it is in its phase
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
          `Its tiles belong to operations that the compiler makes in the phase ${late.phase}: they are not in this text.`,
        ]),
  ];
  const candidate = candidateOf('main', configuration, workload, compiler.release);
  const module = candidateModule(workload, [candidate], around);
  return `${comments.map((line) => `// ${line}\n`).join('')}${module}`;
}
