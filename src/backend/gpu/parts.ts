// The parts of a backend that are the same for all GPUs: they follow from the search space, the user's family and the rendering.
import { EMPTY_SPACE, type SearchSpace } from '../../search/space.ts';
import type { OperationWork } from '../../workload/workload.ts';
import type { ComparisonFlags, Devices, Rendering, SpaceOptions, Tuning } from '../backend.ts';
import type { Configuration, OwnConfiguration } from '../configuration.ts';
import { compilationInfo, landedWith, type Rendered } from '../rendered.ts';
import { isMatmul } from './roles.ts';
import { readGpuTarget, type GpuTarget } from './target.ts';
import type { UserFamily } from './user-space.ts';

interface OnTarget {
  space(): SearchSpace<Configuration>;
  userFamily(): UserFamily;
}

/**
 * The tuning of a contraction.
 * @param families of all targets: the target decides about the real families, and every record names the target
 */
export function gpuTuning(
  workload: OperationWork,
  families: readonly string[],
  on: (target: GpuTarget) => OnTarget,
): Tuning {
  const onTarget = (options: SpaceOptions) => {
    const target = targetOf(options);
    return target && on(target);
  };
  return {
    unsupported: null,
    families: ({ only }) => (only === undefined ? families : []),
    space(options) {
      const own = onTarget(options);
      if (own === null) return EMPTY_SPACE;
      return options.only === undefined ? own.space() : own.userFamily().space(options.only);
    },
    ...(isMatmul(workload) && {
      illegalValues: (options) =>
        onTarget(options)
          ?.userFamily()
          .illegalValues(options.only ?? {}) ?? [],
    }),
  };
}

export const gpuRendering = (
  rendered: (configuration: OwnConfiguration, loops: readonly number[]) => Rendered,
): Pick<Rendering, 'directive' | 'landedOn'> => ({
  directive: (c, loops) => compilationInfo(rendered(c, loops)),
  landedOn: (configured, form, c, loops, expected) =>
    landedWith(configured, form, loops, expected, rendered(c, loops)),
});

export const hardwareOf: Devices['hardwareOf'] = ({ gpu = '' }, { threads }) => ({
  ...{ nativeVectorBytes: 0, vectorRegisters: 0, threads, gpu },
});

export const COMPARISON_FLAGS: ComparisonFlags = { otherRounding: [['--iree-opt-level=O2']] };

/** The GPU of a search; null without a readable description. */
export const targetOf = ({ gpu = '' }: Pick<SpaceOptions, 'gpu'>) => readGpuTarget(Buffer.from(gpu));
