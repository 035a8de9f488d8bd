// Features of tiles on a GPU, from which a prior predicts the speed. Sizes are logarithms to base 2, so that a prior holds for other shapes,
// too.
import { elementBits } from '../../workload/element-type.ts';
import { stepOf, threadsOf, type GpuConfiguration } from './configuration.ts';
import { sharedBytes, type Problem } from './legality.ts';

/** Names of the features, in their order. A prior with other names comes from another version of this program. */
export const FEATURES = [
  ...['m', 'n', 'k', 'batch', 'bytes', 'matrix', 'sharedSum', 'igemm'],
  ...['workgroupM', 'workgroupN', 'depth', 'threads', 'workgroups', 'threadsInAll', 'sums'],
  ...['shared', 'sharedShare', 'promoted', 'padded', 'paddingM', 'paddingN', 'reuse', 'prefetch', 'waves'],
] as const;

const log = (value: number): number => Math.log2(Math.max(value, 2 ** -10));

/** The features of a configuration. Pure. */
export function gpuFeatures(problem: Problem, c: GpuConfiguration): number[] {
  const { workload, roles, target } = problem;
  const { dimensions, lhs, rhs, accumulator } = workload;
  const over = (wanted: string, of: (d: number, size: number) => number) =>
    dimensions.reduce((all, { kind, size }, d) => (kind === wanted ? all * of(d, size) : all), 1);
  const [m, n, k, batch] = ['m', 'n', 'k', 'batch'].map((kind) => over(kind, (_, size) => size)) as [
    number,
    number,
    number,
    number,
  ];
  const tile = (kind: string) => over(kind, (d) => c.workgroup[d] || 1);
  const count = (kind: string) => over(kind, (d, size) => Math.ceil(size / (c.workgroup[d] || 1)));
  const [rows, columns] = [tile('m'), tile('n')];
  const depth = (c.reduction[roles.depth] || 1) * stepOf(c);
  const threads = threadsOf(c);
  const workgroups = count('batch') * count('m') * count('n');
  const bytes = ({ elementType }: typeof lhs) => elementBits(elementType) / 8;
  const shared = c.kind === 'shared-sum' ? 0 : sharedBytes(problem, c);
  const isMma = c.kind === 'mma-tile';
  const isPromoted = isMma || (c.kind === 'simt-tile' && c.promoted);
  return [
    ...[log(m), log(n), log(k), log(batch)],
    log(batch * (bytes(lhs) * m * k + bytes(rhs) * k * n + bytes(accumulator) * m * n)),
    ...[Number(isMma), Number(c.kind === 'shared-sum'), Number(roles.igemm)],
    ...[log(rows), log(columns), log(depth), log(threads), log(workgroups), log(workgroups * threads)],
    ...[log((rows * columns * tile('batch')) / threads), log(shared), shared / target.sharedMemoryBytes],
    ...[Number(isPromoted), Number(c.kind !== 'shared-sum' && c.padded)],
    ...[
      log((count('m') * rows) / m),
      log((count('n') * columns) / n),
      log((rows * columns) / (rows + columns)),
    ],
    ...[isMma ? (c.prefetch ?? 0) : 0, isMma ? (c.wavesPerEu ?? 0) : 0],
  ];
}
