// The parts of a backend that are the same for all GPUs: they follow from the search space, the user's family and the rendering.
import { EMPTY_SPACE, type SearchSpace } from '../../search/space.ts';
import type { Workload } from '../../workload/workload.ts';
import type { Backend, SpaceOptions } from '../backend.ts';
import { compilationInfo, type Rendered } from '../compilation-info.ts';
import type { Configuration, OwnConfiguration } from '../configuration.ts';
import { landedWith } from '../landed.ts';
import { isMatmul } from './roles.ts';
import { readGpuTarget, type GpuTarget } from './target.ts';
import type { UserFamily } from './user-space.ts';

/** Pipelines of a GPU for a kind of problem: a workload on a target. */
interface Pipelines<Problem> {
  /** Null for a workload without search. */
  problemOf(workload: Workload, target: GpuTarget): Problem | null;
  space(problem: Problem): SearchSpace<Configuration>;
  userFamily(problem: Problem): UserFamily;
  /** @param configuration of one of the backend's kinds */
  rendered(configuration: OwnConfiguration, loops: readonly number[]): Rendered;
}

/** The parts of a backend that are the same for all GPUs. */
export function gpuParts<Problem>({ problemOf, space, userFamily, rendered }: Pipelines<Problem>) {
  const problemFor = (workload: Workload, options: Pick<SpaceOptions, 'gpu'>) => {
    const target = targetOf(options);
    return target && problemOf(workload, target);
  };
  return {
    hardwareOf: ({ gpu = '' }, { threads }) => ({ nativeVectorBytes: 0, vectorRegisters: 0, threads, gpu }),
    spaceOf(workload, options) {
      const problem = problemFor(workload, options);
      if (problem === null) return EMPTY_SPACE;
      return options.only === undefined ? space(problem) : userFamily(problem).space(options.only);
    },
    // Without stages the compiler ignores prefetching.
    otherRounding: [['--iree-opt-level=O2']],
    isRestrictable: isMatmul,
    illegalValues(workload, options) {
      const problem = problemFor(workload, options);
      return problem === null ? [] : userFamily(problem).illegalValues(options.only ?? {});
    },
    directive: (c, loops) => compilationInfo(rendered(c, loops)),
    landedOn: (configured, form, c, loops, expected) =>
      landedWith(configured, form, loops, expected, rendered(c, loops)),
  } satisfies Partial<Backend>;
}

/** The GPU of a search; null without a readable description. */
export const targetOf = ({ gpu = '' }: Pick<SpaceOptions, 'gpu'>) => readGpuTarget(Buffer.from(gpu));
