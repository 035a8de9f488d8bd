// Configurations as MLIR attributes. The syntax differs between releases of the compiler.
import { isBefore, type Release } from '../../compiler/release.ts';
import { withLevels, type ConfiguredPart, type Levels } from '../../workload/dispatch/configured.ts';
import { multipliedAlong, type DispatchWork } from '../../workload/dispatch/dispatch-work.ts';
import { readShapedLike } from '../../workload/dispatch/from-configured.ts';
import type { MatchedForm, OperationWork } from '../../workload/workload.ts';
import type { Directive } from '../backend.ts';
import type { OwnConfiguration } from '../configuration.ts';
import { shapeOf, type ConfiguredOperation } from '../dumps.ts';
import { compilationInfo, landedWith, type Rendered } from '../rendered.ts';
import type {
  DataTileConfiguration,
  DispatchTileConfiguration,
  LlvmCpuConfiguration,
  TileConfiguration,
  WindowTileConfiguration,
} from './configuration.ts';
import { DATA_TILING_HINT } from './data-tiling.ts';
import { packedOperations, packedParts } from './packed.ts';

type Tiles = TileConfiguration | WindowTileConfiguration;

/** @param loops for each loop of the operation, outermost first, the index of the workload's dimension it runs over */
export function rendered(c: Tiles, loops: readonly number[], release: Release): Rendered {
  const name = c.kind === 'tile' ? 'DoubleTilingExpert' : 'ConvTileAndDecomposeExpert';
  // 3.12 turned the pipeline from an enum case into an attribute; each spelling is a parse error in the other.
  const pipeline = isBefore(release, 3, 12) ? `CPU${name}` : `#iree_cpu.pipeline<${name}>`;
  const peeling = c.kind === 'tile' && c.peeling ? ', {enable_loop_peeling}' : '';
  return {
    lowering: loweringConfig(c, loops),
    translation: `#iree_codegen.translation_info<pipeline = ${pipeline}${peeling}>`,
  };
}

/**
 * The attribute of one operation; null for a configuration of several operations.
 * @param loops for each loop of the operation, outermost first, the index of the workload's dimension it runs over
 */
export function directive(
  configuration: LlvmCpuConfiguration,
  loops: readonly number[],
  release: Release,
): Directive | null {
  switch (configuration.kind) {
    case 'tile':
    case 'window-tile':
      return compilationInfo(rendered(configuration, loops, release));
    case 'data-tile':
      return { attribute: DATA_TILING_HINT, value: 'unit' };
    case 'dispatch-tile':
      return null;
  }
}

/** The lowering configuration alone, in the compiler's spelling. */
export function loweringConfig(c: Tiles, loops: readonly number[]): string {
  const own: Partial<TileConfiguration> = c.kind === 'tile' ? c : {};
  const levels: (readonly [string, readonly number[] | undefined])[] = [
    ['cache_parallel', own.cacheParallel],
    ['cache_reduction', own.cacheReduction],
    ['distribution', c.distribution],
    ['vector_common_parallel', c.vectorCommonParallel],
    ['vector_inner_parallel', own.vectorInnerParallel],
    ['vector_reduction', c.vectorReduction],
  ];
  const rendered = levels.flatMap(([name, tiles]) =>
    tiles === undefined ? [] : [`${name} = [${loops.map((d) => tiles[d]!).join(', ')}]`],
  );
  return `#iree_cpu.lowering_config<${rendered.join(', ')}>`;
}

export function landedOn(
  configured: readonly ConfiguredOperation[],
  form: MatchedForm,
  configuration: LlvmCpuConfiguration,
  loops: readonly number[],
  expected: ReadonlySet<string>,
): readonly ConfiguredOperation[] {
  if (configuration.kind === 'dispatch-tile') return [];
  if (configuration.kind === 'data-tile') return packedOnes(configured, form.workload, configuration);
  return landedWith(configured, form, loops, expected, { lowering: loweringConfig(configuration, loops) });
}

/** The packed operation of a workload, if the tiles are on the packed operation and on a packing. */
function packedOnes(
  configured: readonly ConfiguredOperation[],
  workload: OperationWork,
  { packed }: DataTileConfiguration,
): readonly ConfiguredOperation[] {
  const own = configured.filter((operation) => packs(operation, workload));
  if (own.length === 0 || packed === undefined) return own;
  const landed = packedOperations(workload, packed).filter(({ operation, types, rendered: { lowering } }) =>
    configured.some(
      (one) =>
        one.name === operation &&
        types.every((type, i) => one.types[i] === type) &&
        one.lowering === lowering,
    ),
  );
  // The compiler packs a constant itself, so one packing is enough.
  const names = new Set(landed.map(({ operation }) => operation));
  return names.size === Object.keys(packedParts(packed)).length ? own : [];
}

/** Whether an operation is the packed form of a workload: large enough, with less than a tile of padding on each side. */
function packs({ name, types }: ConfiguredOperation, { dimensions }: OperationWork): boolean {
  if (name !== 'linalg.mmt4d' && name !== 'linalg.batch_mmt4d') return false;
  const [lhs, rhs] = types.map((type) => shapeOf(type).slice(-4));
  if (lhs?.length !== 4 || rhs?.length !== 4) return false;
  /** Whether a side has the dimension as tiles, and the size of a tile two dimensions further. */
  const fits = (kind: 'm' | 'n' | 'k', side: readonly number[], at = 0) => {
    const [outer, inner] = [side[at]!, side[at + 2]!];
    const { size, sizes } = dimensions.find((dimension) => dimension.kind === kind) ?? { size: 1 };
    return sizes === undefined ? outer === Math.ceil(size / inner) : outer < 0;
  };
  // The compiler swaps the sides if that uses vectors better.
  const areRows = (first: readonly number[], second: readonly number[]) =>
    fits('m', first) && fits('n', second);
  return fits('k', lhs, 1) && (areRows(lhs, rhs) || areRows(rhs, lhs));
}

export function reconfigured(
  text: string,
  workload: DispatchWork,
  configuration: OwnConfiguration,
): string | null {
  if (configuration.kind !== 'dispatch-tile') return null;
  // The results would be wrong, even if a record says otherwise.
  if (isInSteps(workload, configuration)) return null;
  const found = readShapedLike(text, workload);
  return found && withLevels(text, found, (part) => levelsOf(part, configuration));
}

/** Whether the product of queries and keys has steps: the compiler then computes wrong weights from partial products. */
function isInSteps({ parts, dimensions }: DispatchWork, { vector }: DispatchTileConfiguration): boolean {
  const d = multipliedAlong(parts);
  return d !== null && vector[d] !== 0 && vector[d] !== dimensions[d]!.size;
}

/** The compiler's tiling levels of an operation with other tiles. Cache levels go, because they fit the compiler's tiles only. */
function levelsOf(
  { loops, reduced, levels }: ConfiguredPart,
  { distribution, vector }: DispatchTileConfiguration,
): Levels {
  const own = new Map<string, readonly number[]>();
  const inner = levels.get('vector_inner_parallel') ?? [];
  /** A parallel loop is tiled in the common level of all operations, or in the inner level. */
  const isInner = (loop: number) => (inner[loop] ?? 0) > 0;
  for (const [name, tiles] of levels) {
    if (name === 'cache_parallel' || name === 'cache_reduction') continue;
    own.set(
      name,
      tiles.map((_, loop) => {
        const dimension = loops[loop]!;
        const isReduced = reduced.includes(loop);
        if (name === 'distribution') return isReduced ? 0 : distribution[dimension]!;
        if (name === 'vector_reduction') return isReduced ? vector[dimension]! : 0;
        if (isReduced) return 0;
        return isInner(loop) === (name === 'vector_inner_parallel') ? vector[dimension]! : 0;
      }),
    );
  }
  return own;
}
