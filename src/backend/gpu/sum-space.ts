// The space of `VectorDistribute` for products with a vector: threads share sums along k.
import type { SearchSpace } from '../../search/space.ts';
import { spaceOfChoices, type Choice } from './choices.ts';
import type { GpuConfiguration, SharedSumConfiguration } from './configuration.ts';
import { illegality, type Problem } from './legality.ts';
import { powers } from './tiles.ts';

type Name = 'lanes' | 'subgroups' | 'subgroups.depth' | 'thread' | 'thread.depth' | 'repeat.depth';

const STARTS: readonly Choice<Name>[] = [
  { lanes: 1, subgroups: 4, 'subgroups.depth': 1, thread: 1, 'thread.depth': 4, 'repeat.depth': 1 },
  { lanes: 1, subgroups: 1, 'subgroups.depth': 4, thread: 1, 'thread.depth': 4, 'repeat.depth': 1 },
  { lanes: 1, subgroups: 4, 'subgroups.depth': 1, thread: 1, 'thread.depth': 8, 'repeat.depth': 1 },
  { lanes: 1, subgroups: 1, 'subgroups.depth': 8, thread: 2, 'thread.depth': 4, 'repeat.depth': 1 },
  { lanes: 32, subgroups: 4, 'subgroups.depth': 1, thread: 1, 'thread.depth': 8, 'repeat.depth': 1 },
  { lanes: 4, subgroups: 1, 'subgroups.depth': 8, thread: 4, 'thread.depth': 4, 'repeat.depth': 1 },
  { lanes: 1, subgroups: 1, 'subgroups.depth': 1, thread: 1, 'thread.depth': 4, 'repeat.depth': 1 },
];

/** The space of configurations with shared sums; null unless the workload is a product with a vector. Pure. */
export function sumSpace(problem: Problem): SearchSpace<GpuConfiguration> | null {
  const { workload, roles, target } = problem;
  const { dimensions } = workload;
  const { row, column, depth } = roles;
  const size = (d: number) => (d < 0 ? 1 : dimensions[d]!.size);
  if (roles.igemm || Math.min(size(row), size(column)) > 1) return null;
  // The dimension of the result with more than one element.
  const long = size(row) > size(column) ? row : column;
  const [subgroupSize] = target.subgroupSizes;
  const along = (own: number, summed: number) =>
    dimensions.map((_, d) => (d === long ? own : d === depth ? summed : 1));
  return spaceOfChoices<Name, GpuConfiguration>({
    values: {
      lanes: powers(Math.min(32, size(long))),
      subgroups: powers(8),
      'subgroups.depth': powers(16),
      thread: powers(8),
      'thread.depth': powers(8),
      'repeat.depth': powers(4),
    },
    isInner: (name) => name.startsWith('thread'),
    starts: STARTS,
    at(choice) {
      const { lanes, subgroups, thread } = choice;
      const summed = subgroupSize! / lanes;
      const configuration: SharedSumConfiguration = {
        version: 1,
        kind: 'shared-sum',
        subgroupSize: subgroupSize!,
        workgroup: dimensions.map(({ kind }, d) =>
          kind === 'k' ? 0 : d === long ? lanes * subgroups * thread : 1,
        ),
        reduction: dimensions.map(({ kind }, d) =>
          kind !== 'k'
            ? 0
            : d === depth
              ? summed * choice['subgroups.depth'] * choice['thread.depth'] * choice['repeat.depth']
              : 1,
        ),
        thread: along(thread, choice['thread.depth']),
        lanes: along(lanes, summed),
        subgroups: along(subgroups, choice['subgroups.depth']),
      };
      return illegality(problem, configuration) === null ? configuration : null;
    },
    choiceOf(c) {
      if (c.kind !== 'shared-sum' || c.workgroup.length !== dimensions.length) return null;
      const step = c.lanes[depth]! * c.subgroups[depth]! * c.thread[depth]!;
      return {
        lanes: c.lanes[long] ?? 1,
        subgroups: c.subgroups[long] ?? 1,
        'subgroups.depth': c.subgroups[depth]!,
        thread: c.thread[long] ?? 1,
        'thread.depth': c.thread[depth]!,
        'repeat.depth': c.reduction[depth]! / step,
      };
    },
  });
}
