// The dispatch profiler's words for a configuration. Pure.
import type { Configuration } from '../backend/configuration.ts';
import { stepOf, type GpuConfiguration } from '../backend/gpu/configuration.ts';
import type { LlvmCpuConfiguration } from '../backend/llvm-cpu/configuration.ts';
import { tileOf } from '../backend/llvm-cpu/configuration.ts';
import type { VulkanConfiguration } from '../backend/vulkan/configuration.ts';
import type { Workload } from '../workload/workload.ts';

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
