// The dispatch profiler's words: names of operations with sizes, types and layouts, and of configurations. Pure.
import type { Configuration } from '../backend/configuration.ts';
import { type GpuConfiguration, stepOf } from '../backend/gpu/configuration.ts';
import { type LlvmCpuConfiguration, tileOf } from '../backend/llvm-cpu/configuration.ts';
import type { VulkanConfiguration } from '../backend/vulkan/configuration.ts';
import { geometricMean } from '../measure/statistics.ts';
import type { Dimension, OperandForm } from '../workload/contraction/contraction.ts';
import type { DispatchDimension, DispatchWork } from '../workload/dispatch/dispatch-work.ts';
import type { DimensionKind } from '../workload/sizes.ts';
import {
  dispatchOf,
  hasConstants,
  needsProgram,
  type OperationWork,
  staticForms,
  type Workload,
  workloadBytes,
  workloadFlops,
} from '../workload/workload.ts';

export interface ProfiledOperation {
  readonly kind: 'matmul' | 'matmul_splitk' | 'batch_matmul' | 'conv2d' | 'dispatch';
  /** Such as `matmul_512x256x128_f32t_f32t_f32t`. */
  readonly name: string;
  /** Per execution; for dynamic dimensions the geometric mean over their sizes. */
  readonly bytes: number;
  readonly flops: number;
  readonly batchCount: string;
  /** In elements, as the product of dimensions of one kind. A dynamic dimension lists its sizes: `1-16-128`. */
  readonly m: string;
  readonly n: string;
  readonly k: string;
  /** Element type and layout: `t` for contiguous rows, else `n`, as in `f32t`. */
  readonly lhs: string;
  readonly rhs: string;
  readonly result: string;
  /** Number of parts of the sum over k; null without a split. */
  readonly splitKSlices: number | null;
}

/**
 * The operations of a report, with unique names.
 * @param splitKSlices the compiler's split of matmuls; null for none
 */
export function operationsOf(
  works: readonly { readonly workload: Workload }[],
  splitKSlices: number | null,
): ProfiledOperation[] {
  const all = works.map(({ workload }) => operationOf(workload, splitKSlices));
  return all.map((operation, i) =>
    all.some(({ name }, other) => other !== i && name === operation.name)
      ? { ...operation, name: [operation.name, ...moreOf(works[i]!.workload)].join('_') }
      : operation,
  );
}

/** Differences of workloads with the same sizes, types and layouts. */
const moreOf = (workload: Workload): string[] => [
  ...(hasConstants(workload) ? ['rhs_constant'] : []),
  ...(dispatchOf(workload) === null ? [] : [`in_${dispatchOf(workload)!.slice(0, 8)}`]),
];

/** A dispatch under the compiler's name: m is the product of its parallel dimensions, k of its reductions. */
function dispatchOperation(workload: DispatchWork): ProfiledOperation {
  const along = (kind: DispatchDimension['kind']) =>
    String(
      workload.dimensions.reduce((product, one) => (one.kind === kind ? product * one.size : product), 1),
    );
  const type = `${typeName(workload.elementType)}t`;
  return {
    kind: 'dispatch',
    name: workload.name,
    bytes: workloadBytes(workload),
    flops: workloadFlops(workload),
    ...{ batchCount: '1', m: along('m'), n: '1', k: along('k') },
    ...{ lhs: type, rhs: type, result: type, splitKSlices: null },
  };
}

function operationOf(workload: Workload, splitKSlices: number | null): ProfiledOperation {
  if (needsProgram(workload)) return dispatchOperation(workload);
  const kind = kindOf(workload, splitKSlices);
  const isBatched = kind === 'batch_matmul';
  const slices = kind === 'matmul_splitk' ? splitKSlices : null;
  const [batch, m, n, k] = (['batch', 'm', 'n', 'k'] as const).map((one) => sizesAlong(workload, one));
  const { lhs, rhs, accumulator } = workload;
  const [lhsName, rhsName, resultName] = [
    operandName(workload, lhs, ['batch', 'm', 'k']),
    operandName(workload, rhs, ['batch', 'k', 'n']),
    operandName(workload, accumulator, ['batch', 'm', 'n']),
  ];
  const shape = [...(isBatched ? [batch!] : []), m!, n!, k!].map(({ name }) => name).join('x');
  const forms = staticForms(workload);
  return {
    kind,
    name: `${kind}_${shape}_${lhsName}_${rhsName}_${resultName}`,
    bytes: Math.round(geometricMean(forms.map(workloadBytes))),
    flops: Math.round(geometricMean(forms.map(workloadFlops))),
    ...{ batchCount: batch!.size, m: m!.size, n: n!.size, k: k!.size },
    ...{ lhs: lhsName, rhs: rhsName, result: resultName, splitKSlices: slices },
  };
}

function kindOf(
  { dimensions, windows }: OperationWork,
  splitKSlices: number | null,
): ProfiledOperation['kind'] {
  if (windows !== undefined) return 'conv2d';
  if (dimensions.some(({ kind }) => kind === 'batch')) return 'batch_matmul';
  return splitKSlices === null ? 'matmul' : 'matmul_splitk';
}

const sizeText = ({ size, sizes }: Dimension) => sizes?.join('-') ?? String(size);

/** Product of all dimensions of a kind, if static, and a unique name. */
function sizesAlong({ dimensions }: OperationWork, kind: DimensionKind): { size: string; name: string } {
  const own = dimensions.filter((dimension) => dimension.kind === kind);
  const name = own.length === 0 ? '1' : own.map(sizeText).join('.');
  const isStatic = own.every(({ sizes }) => sizes === undefined);
  return { size: isStatic ? String(own.reduce((product, { size }) => product * size, 1)) : name, name };
}

/** Type and layout of an operand. Rows are contiguous if its dimensions are in the order of `rowMajor`. */
function operandName(
  { dimensions }: OperationWork,
  { elementType, dimensions: own }: OperandForm,
  rowMajor: readonly DimensionKind[],
): string {
  const places = own.map((d) => rowMajor.indexOf(dimensions[d]!.kind));
  const isRowMajor = places.every((place, i) => i === 0 || places[i - 1]! <= place);
  return `${typeName(elementType)}${isRowMajor ? 't' : 'n'}`;
}

/** Type name with an explicit sign, which signless integers get. */
const typeName = (type: string): string => type.replace(/^s?i(?=\d)/, 's').replace(/^ui(?=\d)/, 'u');

/** The flag's split of the sum of every matmul; null without a split. */
export function splitKSlices(flags: readonly string[]): number | null {
  const flag = flags.findLast((one) => SPLIT_FLAG.test(one));
  const slices = flag === undefined ? 1 : Number(SPLIT_FLAG.exec(flag)![1]);
  return slices > 1 ? slices : null;
}

/** The first name is from earlier releases. */
const SPLIT_FLAG = /^--?iree-(?:flow|dispatch-creation)-split-matmul-reduction=(\d+)$/;

export interface ConfigurationNames {
  /** Workgroup tile along m and n, and step along k, in elements: `64x32x128`. */
  readonly tiles: string;
  /** Register tile along m, n and k; with matrix instructions, instructions of one subgroup. */
  readonly vectors: string;
  /** `simd`, `simt` or `tensorcore`. */
  readonly core: string;
  readonly instruction: string;
}

type Kind = 'm' | 'n' | 'k';

/** Null for the default. */
export function namesOf({ dimensions }: Workload, c: Configuration): ConfigurationNames | null {
  /** Tiles along m, n and k: products over all dimensions of a kind. */
  const sizes = (tile: (d: number, kind: Kind) => number) =>
    (['m', 'n', 'k'] as const).map((wanted) =>
      dimensions.reduce((all, { kind }, d) => (kind === wanted ? all * tile(d, wanted) : all), 1),
    );
  switch (c.kind) {
    case 'default':
      return null;
    case 'data-tile':
    case 'dispatch-tile':
    case 'tile':
    case 'window-tile':
      return { ...cpuTiles(c, sizes), core: 'simd', instruction: c.kind === 'data-tile' ? 'mmt4d' : c.kind };
    case 'attention-tile':
      return {
        ...{ tiles: c.workgroup.join('x'), vectors: c.subgroups.join('x') },
        ...{ core: 'tensorcore', instruction: c.kind },
      };
    case 'mma-tile':
    case 'shared-sum':
    case 'simt-tile':
    case 'spirv-cooperative':
    case 'spirv-promoted':
    case 'spirv-tile':
      return { ...gpuTiles(c, sizes), ...coreOf(c) };
  }
}

type Sizes = (tile: (d: number, kind: Kind) => number) => number[];

function cpuTiles(c: LlvmCpuConfiguration, sizes: Sizes) {
  if (c.kind === 'data-tile') {
    const { inner, distribution } = c.packed ?? {};
    return { tiles: distribution?.join('x') ?? 'packed', vectors: inner?.join('x') ?? 'packed' };
  }
  if (c.kind === 'dispatch-tile') return { tiles: c.distribution.join('x'), vectors: c.vector.join('x') };
  return {
    tiles: sizes((d, kind) => tileOf(c, kind === 'k' ? 'cache' : 'distribution', d)).join('x'),
    vectors: sizes((d) => tileOf(c, 'vector', d)).join('x'),
  };
}

function gpuTiles(c: GpuConfiguration | VulkanConfiguration, sizes: Sizes) {
  const inner = c.kind === 'mma-tile' ? c.subgroup : c.thread;
  const [m, n, k] = sizes((d) => c.workgroup[d]! || c.reduction[d]! || 1);
  const step = 'mma' in c ? stepOf(c) : 1;
  return { tiles: [m, n, k! * step].join('x'), vectors: sizes((d) => inner[d]! || 1).join('x') };
}

/** The profiler has `tensorcore` with `mmasync` or `wmma`, and `simt` with `ffma`. AMD's `mfma` is ours. */
const coreOf = (c: GpuConfiguration | VulkanConfiguration) =>
  c.kind === 'mma-tile'
    ? {
        core: 'tensorcore',
        instruction: /MMA_SYNC|MFMA|WMMA/.exec(c.mma)![0].replace('_', '').toLowerCase(),
      }
    : c.kind === 'spirv-cooperative'
      ? { core: 'tensorcore', instruction: 'wmma' }
      : { core: 'simt', instruction: 'ffma' };
