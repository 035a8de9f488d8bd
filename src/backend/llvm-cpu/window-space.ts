// The search space of the ConvTileAndDecomposeExpert pipeline. The pipeline vectorises only tiles without remainder. The compiler's own
// tiles are the same for all sizes, and lose most there.
import { elementBits } from '../../workload/element-type.ts';
import type { OperationWork } from '../../workload/workload.ts';
import { nearestByRatio, type SearchSpace } from '../../search/space.ts';
import type { SpaceOptions } from '../backend.ts';
import { spaceOfChoices } from '../choices.ts';
import type { Configuration } from '../configuration.ts';
import { LARGEST_TILE } from '../schema.ts';
import { divisors, isPowerOfTwo } from '../tiles.ts';
import { tileOf, type WindowTileConfiguration } from './configuration.ts';
import { live, stepCycles } from './features.ts';
import { elementsPerVector, hasWrongSums, vectorTileLimit } from './legality.ts';

/** The dimensions with tiles of more than one element. */
interface Roles {
  /** Rows of the image; a register tile has one. */
  readonly row: number;
  /** Columns of the image: the rows of the register tile. */
  readonly column: number;
  /** Channels of the result: the dimension of vectors. */
  readonly lane: number;
  /** Reduced channels; null for a depthwise convolution. */
  readonly depth: number | null;
}

function rolesOf({ accumulator, dimensions, windows = [] }: OperationWork): Roles {
  const [, row, column, lane] = accumulator.dimensions;
  const inside = new Set(windows.map(([, filter]) => filter));
  const depth = dimensions.findIndex(({ kind }, d) => kind === 'k' && !inside.has(d));
  return { row: row!, column: column!, lane: lane!, depth: depth < 0 ? null : depth };
}

/** Most rows of accumulators. More rows than registers serve sizes without smaller divisors. */
const MOST_ROWS = 32;
/** Most vectors of one register tile. */
const MOST_LANES = 8;
const MOST_DEPTH = 16;

/**
 * Preferences for one start: register tiles in rows, vectors and elements of the reduction; workgroup tiles in elements. A short search
 * tries the first few only.
 */
const RECIPES: readonly {
  rows: number;
  vectors: number;
  depth: number;
  workgroup: readonly [number, number, number];
}[] = [
  { rows: 6, vectors: 2, depth: 8, workgroup: [1, 64, 256] },
  { rows: 12, vectors: 1, depth: 4, workgroup: [1, 64, 256] },
  { rows: 4, vectors: 4, depth: 4, workgroup: [1, 64, 256] },
  { rows: 6, vectors: 2, depth: 1, workgroup: [1, 64, 256] },
  { rows: 6, vectors: 2, depth: 4, workgroup: [4, 64, 64] },
  { rows: 8, vectors: 2, depth: 4, workgroup: [8, 64, 128] },
  // Reads a filter larger than the caches once for a whole image.
  { rows: 8, vectors: 2, depth: 4, workgroup: [16, 64, 32] },
  { rows: 1, vectors: 8, depth: 8, workgroup: [1, 64, 256] },
  { rows: 16, vectors: 1, depth: 1, workgroup: [2, 64, 32] },
  // The first recipe of depthwise convolutions.
  { rows: 4, vectors: 2, depth: 1, workgroup: [16, 64, 32] },
];

/** The search space of a convolution. All its configurations compile. */
export function windowSpace(
  workload: OperationWork,
  options: Omit<SpaceOptions, 'following'>,
): SearchSpace<Configuration> {
  const { nativeVectorBytes, vectorRegisters, threads } = options;
  const { dimensions, accumulator } = workload;
  const { row, column, lane, depth } = rolesOf(workload);
  const size = (d: number) => dimensions[d]!.size;
  const perVector = elementsPerVector(accumulator.elementType, { nativeVectorBytes });
  const knob = (level: 'distribution' | 'vector', d: number, values: readonly number[]) => ({
    values,
    of: (configuration: WindowTileConfiguration) => tileOf(configuration, level, d),
    isInner: level === 'vector',
  });
  const workgroup = (d: number) => knob('distribution', d, divisors(size(d), 1, LARGEST_TILE));
  const narrow = divisors(size(lane), 1, MOST_LANES * perVector);
  const wide = narrow.filter((tile) => tile % perVector === 0);
  // Partial vectors only if no whole vectors divide the dimension.
  const all = wide.length > 0 ? wide : narrow;
  // Three vectors take up to three times as long as two. Of a depthwise convolution, they are scalar code at a tenth of the default's speed.
  const even = all.filter((tile) => isPowerOfTwo(tile / perVector));
  const knobs = {
    'distribution.row': workgroup(row),
    'distribution.column': workgroup(column),
    'distribution.lane': workgroup(lane),
    rows: knob('vector', column, divisors(size(column), 1, MOST_ROWS)),
    lanes: knob('vector', lane, depth === null && wide.length > 0 ? even : all),
    depth: knob('vector', depth ?? -1, depth === null ? [0] : divisors(size(depth), 1, MOST_DEPTH)),
  };
  const near = (name: keyof typeof knobs, wanted: number) => nearestByRatio(knobs[name].values, wanted);
  /** The nearest workgroup tile to a size, or the next one, that has whole register tiles. */
  const around = (name: keyof typeof knobs, wanted: number, tile: number) => {
    const least = near(name, wanted);
    return knobs[name].values.find((one) => one >= least && one % tile === 0)!;
  };
  const startOf = ({ rows, vectors, depth, workgroup }: (typeof RECIPES)[number]) => {
    const lanes = nearestByRatio(even, vectors * perVector);
    const fitting = knobs.rows.values.filter(
      (one) => one === 1 || live({ rows: one, vectors: lanes / perVector }) <= vectorRegisters,
    );
    const own = { lanes, depth: near('depth', depth), rows: nearestByRatio(fitting, rows) };
    const columns = around('distribution.column', Math.max(workgroup[1], rows), own.rows);
    const channels = around('distribution.lane', Math.max(workgroup[2], lanes), own.lanes);
    const beside = (size(column) / columns) * (size(lane) / channels);
    const most = near('distribution.row', workgroup[0]);
    const images = knobs['distribution.row'].values.findLast(
      (one) => one <= most && (one === 1 || beside * (size(row) / one) >= threads),
    )!;
    return {
      ...own,
      ...{ 'distribution.row': images, 'distribution.column': columns, 'distribution.lane': channels },
    };
  };
  /** Cycles of a product in a register tile. */
  const cyclesOf = ({ rows, lanes }: { readonly rows: number; readonly lanes: number }) => {
    const vectors = lanes / perVector;
    return stepCycles({ rows, vectors }) / (rows * vectors);
  };
  return spaceOfChoices({
    kind: 'window-tile',
    knobs,
    starts:
      depth === null
        ? [RECIPES.at(-1)!, ...RECIPES].map(startOf)
        : RECIPES.map(startOf).toSorted((a, b) => cyclesOf(a) - cyclesOf(b)),
    at(choice) {
      const { rows, lanes } = choice;
      if (choice['distribution.column'] % rows !== 0 || choice['distribution.lane'] % lanes !== 0)
        return 'a workgroup has no whole register tiles';
      const bytes = (rows * lanes * Math.max(1, choice.depth) * elementBits(accumulator.elementType)) / 8;
      if (bytes >= vectorTileLimit({ nativeVectorBytes })) return 'the register tile is too large';
      if (hasWrongSums(workload, lanes, choice.depth, options))
        return 'the compiler computes wrong sums of bytes in this register tile';
      const workgroup = new Map([
        [row, choice['distribution.row']],
        [column, choice['distribution.column']],
        [lane, choice['distribution.lane']],
      ]);
      const inRegisters = new Map([
        [column, rows],
        [lane, lanes],
      ]);
      const tiles = (isReduced: boolean, of: (d: number) => number | undefined) =>
        dimensions.map(({ kind }, d) => ((kind === 'k') === isReduced ? (of(d) ?? 1) : 0));
      return {
        version: 1,
        kind: 'window-tile',
        distribution: tiles(false, (d) => workgroup.get(d)),
        vectorCommonParallel: tiles(false, (d) => inRegisters.get(d)),
        vectorReduction: tiles(true, (d) => (d === depth ? choice.depth : undefined)),
      };
    },
  });
}
