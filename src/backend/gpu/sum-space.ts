// The space of `VectorDistribute` for products with a vector: threads share sums along k.
import type { SearchSpace } from '../../search/space.ts';
import { spaceOfChoices } from '../choices.ts';
import type { Configuration } from '../configuration.ts';
import type { SharedSumConfiguration } from './configuration.ts';
import { illegality, type Problem } from './legality.ts';
import { stepsOf } from './roles.ts';
import { powers } from '../tiles.ts';

const STARTS = [
  { lanes: 1, subgroups: 4, 'subgroups.depth': 1, thread: 1, 'thread.depth': 4, 'repeat.depth': 1 },
  { lanes: 1, subgroups: 1, 'subgroups.depth': 4, thread: 1, 'thread.depth': 4, 'repeat.depth': 1 },
  { lanes: 1, subgroups: 4, 'subgroups.depth': 1, thread: 1, 'thread.depth': 8, 'repeat.depth': 1 },
  { lanes: 1, subgroups: 1, 'subgroups.depth': 8, thread: 2, 'thread.depth': 4, 'repeat.depth': 1 },
  { lanes: 32, subgroups: 4, 'subgroups.depth': 1, thread: 1, 'thread.depth': 8, 'repeat.depth': 1 },
  { lanes: 4, subgroups: 1, 'subgroups.depth': 8, thread: 4, 'thread.depth': 4, 'repeat.depth': 1 },
  { lanes: 1, subgroups: 1, 'subgroups.depth': 1, thread: 1, 'thread.depth': 4, 'repeat.depth': 1 },
];

/** The space of configurations with shared sums; null unless the workload is a product with a vector. Pure. */
export function sumSpace(problem: Problem): SearchSpace<Configuration> | null {
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
  return spaceOfChoices({
    kind: 'shared-sum',
    knobs: {
      lanes: { values: powers(Math.min(32, size(long))), of: ({ lanes }) => lanes[long] ?? 1 },
      subgroups: { values: powers(8), of: ({ subgroups }) => subgroups[long] ?? 1 },
      'subgroups.depth': { values: powers(16), of: ({ subgroups }) => subgroups[depth]! },
      thread: { values: powers(8), of: ({ thread }) => thread[long] ?? 1, isInner: true },
      'thread.depth': { values: powers(8), of: ({ thread }) => thread[depth]!, isInner: true },
      'repeat.depth': {
        values: powers(4),
        of: ({ reduction, lanes, subgroups, thread }) =>
          reduction[depth]! / (lanes[depth]! * subgroups[depth]! * thread[depth]!),
      },
    },
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
        reduction: stepsOf(
          problem,
          summed * choice['subgroups.depth'] * choice['thread.depth'] * choice['repeat.depth'],
        ),
        thread: along(thread, choice['thread.depth']),
        lanes: along(lanes, summed),
        subgroups: along(subgroups, choice['subgroups.depth']),
      };
      return illegality(problem, configuration) ?? configuration;
    },
  });
}
