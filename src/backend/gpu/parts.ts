// The parts of a backend that are the same for all GPUs: they follow from the search space, the user's family and the rendering.
import { EMPTY_SPACE, type SearchSpace } from '../../search/space.ts';
import type { OperationWork } from '../../workload/workload.ts';
import type { Backend, SpaceOptions, Tuning } from '../backend.ts';
import { compilationInfo, type Rendered } from '../compilation-info.ts';
import { isDefault, type Configuration, type OwnConfiguration } from '../configuration.ts';
import { landedWith } from '../landed.ts';
import { isMatmul } from './roles.ts';
import { readGpuTarget, type GpuTarget } from './target.ts';
import type { UserFamily } from './user-space.ts';

/** The search of the pipelines for contractions. A problem is a workload on a target. */
interface Search<Problem> {
  /** Null for an untuned workload. */
  problemOf(workload: OperationWork, target: GpuTarget): Problem | null;
  space(problem: Problem): SearchSpace<Configuration>;
  userFamily(problem: Problem): UserFamily;
  /** Features of a configuration of one of the backend's kinds; null without features. */
  features(problem: Problem, configuration: OwnConfiguration): readonly number[] | null;
}

type SearchParts = 'spaceOf' | 'featuresOf' | 'isRestrictable' | 'illegalValues';

export function gpuSearch<Problem>(own: Search<Problem>): Pick<Tuning<OperationWork>, SearchParts> {
  const problemFor = (workload: OperationWork, options: SpaceOptions) => {
    const target = targetOf(options);
    return target && own.problemOf(workload, target);
  };
  return {
    spaceOf(workload, options) {
      const problem = problemFor(workload, options);
      if (problem === null) return EMPTY_SPACE;
      return options.only === undefined ? own.space(problem) : own.userFamily(problem).space(options.only);
    },
    featuresOf(workload, configuration, options) {
      const problem = problemFor(workload, options);
      return problem === null || isDefault(configuration) ? null : own.features(problem, configuration);
    },
    isRestrictable: isMatmul,
    illegalValues(workload, options) {
      const problem = problemFor(workload, options);
      return problem === null ? [] : own.userFamily(problem).illegalValues(options.only ?? {});
    },
  };
}

/** @param rendered renders a configuration of one of the backend's kinds */
export const gpuRendering = (
  rendered: (configuration: OwnConfiguration, loops: readonly number[]) => Rendered,
): Pick<Backend, 'hardwareOf' | 'otherRounding' | 'directive' | 'landedOn'> => ({
  hardwareOf: ({ gpu = '' }, { threads }) => ({ nativeVectorBytes: 0, vectorRegisters: 0, threads, gpu }),
  otherRounding: [['--iree-opt-level=O2']],
  directive: (c, loops) => compilationInfo(rendered(c, loops)),
  landedOn: (configured, form, c, loops, expected) =>
    landedWith(configured, form, loops, expected, rendered(c, loops)),
});

/** The GPU of a search; null without a readable description. */
export const targetOf = ({ gpu = '' }: Pick<SpaceOptions, 'gpu'>) => readGpuTarget(Buffer.from(gpu));
