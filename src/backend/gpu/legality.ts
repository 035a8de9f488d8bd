// Rules for configurations of GPUs. The compiler checks few of them: it accepts wrong numbers of threads, other subgroup sizes and tiles
// that do not divide, and the kernels are slow or wrong. `test/backend/gpu` holds the rules against the compiler's own constraints.
import { elementBits } from '../../workload/element-type.ts';
import type { OperationWork } from '../../workload/workload.ts';
import {
  isConsistent,
  stepOf,
  threadsOf,
  type GpuConfiguration,
  type MmaTileConfiguration,
  type SharedSumConfiguration,
  type SimtTileConfiguration,
} from './configuration.ts';
import type { Roles } from './roles.ts';
import type { GpuTarget, Mma } from './target.ts';

/** The compiler's own limit for tiles of a workgroup with matrix instructions, along each side and along k. */
const MOST_MMA_ELEMENTS = 512;

/** Sums that one thread holds: with more, registers spill. AMD's matrix cores have accumulators of their own. */
const MOST_SUMS = 128;
const MOST_SUMS_OF_AMD = 256;

/** Subgroups that one sum is combined from; beyond, lanes of other sums get into it, silently. */
const MOST_COMBINED = 32;

/** Stages of loads that may be those of a part of the threads. */
const MOST_PARTIAL_STAGES = 2;

/** Bytes by which rows in shared memory are lengthened. */
const BANK_PADDING_BYTES = 8;

/** What the rules look at beside the configuration. */
export interface Problem {
  readonly workload: OperationWork;
  readonly roles: Roles;
  readonly target: GpuTarget;
}

/** The rule that a configuration breaks; null when it compiles and computes the right result. Pure. */
export function illegality(problem: Problem, c: GpuConfiguration): string | null {
  const { workload, target } = problem;
  const { dimensions } = workload;
  if (c.workgroup.length !== dimensions.length) return 'another number of dimensions';
  if (!isConsistent(c)) return 'a workgroup is no whole number of tiles';
  const threads = threadsOf(c);
  if (!target.subgroupSizes.includes(c.subgroupSize)) return 'no subgroup size of the GPU';
  if (threads > Math.min(target.threads, target.workgroupSizes[0])) return 'too many threads';
  if (threads % c.subgroupSize !== 0) return 'threads are no whole subgroups';
  if (c.kind === 'shared-sum') return illegalSum(problem, c);
  return remainder(problem, c) ?? (c.kind === 'mma-tile' ? illegalMma(problem, c) : illegalSimt(problem, c));
}

/** The configuration itself, or with padding where tiles leave a remainder; null where both break a rule. */
export function legal<C extends MmaTileConfiguration | SimtTileConfiguration>(
  problem: Problem,
  configuration: C,
): C | null {
  const isLegal = (c: C) => illegality(problem, c) === null;
  if (isLegal(configuration)) return configuration;
  const padded = { ...configuration, padded: true };
  return isLegal(padded) ? padded : null;
}

/** Tiles divide what they tile, or operands are padded to less than twice their size. */
function remainder(
  { workload: { dimensions }, roles }: Problem,
  c: MmaTileConfiguration | SimtTileConfiguration,
): string | null {
  const depth = c.reduction[roles.depth]! * stepOf(c);
  const tiles = dimensions.map(({ kind, size }, d) =>
    kind !== 'k'
      ? ([size, c.workgroup[d]!] as const)
      : d === roles.depth
        ? ([roles.depthSize, depth] as const)
        : roles.igemm
          ? null
          : ([size, c.reduction[d]!] as const),
  );
  for (const [d, pair] of tiles.entries()) {
    if (pair === null) continue;
    const [size, tile] = pair;
    if (tile === 0) return 'a dimension has no tile';
    if (c.padded ? tile >= 2 * size && tile > leastTile(c, roles, d) : size % tile !== 0)
      return c.padded ? 'most of a tile is padding' : 'a tile leaves a remainder';
  }
  return null;
}

/** What one instruction takes, however small the dimension is. */
function leastTile(c: MmaTileConfiguration | SimtTileConfiguration, roles: Roles, d: number): number {
  if (c.kind === 'simt-tile') return 1;
  if (d === roles.depth) return stepOf(c);
  return c.workgroup[d]! / ((c.subgroup[d] || 1) * c.subgroups[d]!);
}

/** Bytes that a workgroup holds in shared memory, at most: rows of operands may lie either way. */
export function sharedBytes(
  { workload: { dimensions, lhs, rhs, accumulator } }: Pick<Problem, 'workload'>,
  c: MmaTileConfiguration | SimtTileConfiguration,
): number {
  const depth = depthOf(c);
  const [rows, columns] = (['m', 'n'] as const).map((kind) => tileAlong(dimensions, c, kind)) as [
    number,
    number,
  ];
  const bytes = (width: number, { elementType }: typeof lhs) => {
    const padding = c.kind === 'mma-tile' && c.bankPadding ? BANK_PADDING_BYTES * Math.max(width, depth) : 0;
    return (width * depth * elementBits(elementType)) / 8 + padding;
  };
  const operands = c.kind === 'simt-tile' && !c.promoted ? 0 : bytes(rows, lhs) + bytes(columns, rhs);
  // Without matrix instructions the padded result lies there, too.
  const result =
    c.kind === 'simt-tile' && c.padded ? (rows * columns * elementBits(accumulator.elementType)) / 8 : 0;
  return operands + result;
}

/** Elements that are summed at once. */
const depthOf = (c: MmaTileConfiguration | SimtTileConfiguration): number =>
  c.reduction.reduce((all, tile) => all * (tile || 1), 1) * stepOf(c);

/** Elements of a workgroup along all dimensions of a kind. */
const tileAlong = (
  dimensions: OperationWork['dimensions'],
  { workgroup }: GpuConfiguration,
  wanted: 'm' | 'n',
): number => dimensions.reduce((all, { kind }, d) => (kind === wanted ? all * (workgroup[d] || 1) : all), 1);

function illegalMma(problem: Problem, c: MmaTileConfiguration): string | null {
  const { workload, roles, target } = problem;
  const { row, column, depth } = roles;
  const mma = usableMmas(workload, target).find(({ name }) => name === c.mma);
  if (mma === undefined) return 'no matrix instruction of the GPU for these types';
  if (row < 0 || column < 0) return 'a product without rows or columns';
  for (const [d, along] of [
    [row, mma.m],
    [column, mma.n],
  ] as const)
    if (c.workgroup[d] !== c.subgroup[d]! * c.subgroups[d]! * along)
      return 'a workgroup is no whole number of instructions';
  const side = (kind: 'm' | 'n') => tileAlong(workload.dimensions, c, kind);
  if (Math.max(side('m'), side('n'), c.reduction[depth]! * mma.k) > MOST_MMA_ELEMENTS)
    return 'tiles of a workgroup are too large';
  const sums = (side('m') * side('n')) / threadsOf(c);
  if (sums > (mma.name.startsWith('MFMA') ? MOST_SUMS_OF_AMD : MOST_SUMS)) return 'registers would spill';
  // The compiler crashes where loads that run ahead are not those of all threads.
  const least = Math.min(side('m'), side('n')) * depthOf(c);
  if ((c.prefetch ?? 0) > MOST_PARTIAL_STAGES && least < threadsOf(c)) return 'too little to load ahead';
  return sharedBytes(problem, c) > target.sharedMemoryBytes ? 'too little shared memory' : null;
}

function illegalSimt(problem: Problem, c: SimtTileConfiguration): string | null {
  if (c.thread.reduce((all, tile) => all * (tile || 1), 1) > MOST_SUMS) return 'registers would spill';
  return sharedBytes(problem, c) > problem.target.sharedMemoryBytes ? 'too little shared memory' : null;
}

function illegalSum({ workload: { dimensions }, roles }: Problem, c: SharedSumConfiguration): string | null {
  if (roles.igemm) return 'convolutions have no shared sums';
  const others = c.lanes.reduce((all, count, d) => (d === roles.depth ? all : all * count), 1);
  if (others * c.subgroups[roles.depth]! > MOST_COMBINED) return 'too many subgroups share a sum';
  for (const [d, { kind, size }] of dimensions.entries()) {
    const tile = (kind === 'k' ? c.reduction : c.workgroup)[d]!;
    if (tile === 0) return 'a dimension has no tile';
    if (size % tile !== 0) return 'a tile leaves a remainder';
  }
  const held = c.workgroup.reduce(
    (all, tile, d) => (tile === 0 ? all : (all * tile) / (c.lanes[d]! * c.subgroups[d]!)),
    1,
  );
  return held > MOST_SUMS ? 'registers would spill' : null;
}

/** Matrix instructions for a workload's types. The compiler lists `NV_WMMA`, and generates no code for it. */
export const usableMmas = ({ lhs, rhs, accumulator }: OperationWork, { mma }: GpuTarget): Mma[] =>
  mma.filter(
    (one) =>
      one.lhs === lhs.elementType &&
      one.rhs === rhs.elementType &&
      one.accumulator === accumulator.elementType &&
      !one.name.startsWith('NV_WMMA'),
  );
