// Attentions with matrix instructions: how many rows of queries, columns of values and keys a workgroup has at once, and how many
// subgroups share the rows. No other whole dispatches are tuned.
import { EMPTY_SPACE, type SearchSpace } from '../../search/space.ts';
import {
  multipliedAlong,
  type DispatchWork,
  type MatrixInstructions,
} from '../../workload/dispatch/dispatch-work.ts';
import { readShapedLike } from '../../workload/dispatch/from-configured.ts';
import { elementBits } from '../../workload/element-type.ts';
import { untuned, type Tuning } from '../backend.ts';
import { spaceOfChoices } from '../choices.ts';
import type { Configuration, OwnConfiguration } from '../configuration.ts';
import { isPowerOfTwo, powers } from '../tiles.ts';
import { threadsOf, type AttentionConfiguration } from './configuration.ts';
import { targetOf } from './parts.ts';
import type { GpuTarget } from './target.ts';

/** Indices into the dimensions of an attention. */
interface Roles {
  readonly rows: number;
  readonly columns: number;
  readonly keys: number;
  /** Along the elements of a key. */
  readonly depth: number;
}

/** Most sums of one thread without register spills. */
const MOST_SUMS = 256;

/** Most elements along each role, and most subgroups. */
const MOST_ROWS = 256;
const MOST_COLUMNS = 512;
const MOST_KEYS = 256;
const MOST_SUBGROUPS = 8;

/** Subgroups, and elements along rows and keys; all columns at once come first. */
const RECIPES = [
  { subgroups: 4, rows: 64, keys: 64 },
  { subgroups: 4, rows: 128, keys: 64 },
  { subgroups: 4, rows: 64, keys: 32 },
  { subgroups: 2, rows: 64, keys: 64 },
  { subgroups: 4, rows: 128, keys: 32 },
  { subgroups: 8, rows: 128, keys: 64 },
  { subgroups: 2, rows: 32, keys: 64 },
  { subgroups: 4, rows: 64, keys: 128 },
  { subgroups: 1, rows: 16, keys: 64 },
];

/** Null for an attention with dynamic sizes, with several dimensions of rows or columns, or with keys that threads cannot share evenly. */
function rolesOf({ dimensions, matrix, lane, parts }: DispatchWork): Roles | null {
  const depth = multipliedAlong(parts);
  if (matrix === undefined || depth === null || lane === null) return null;
  if (dimensions.some(({ sizes }) => sizes !== undefined) || !isPowerOfTwo(dimensions[depth]!.size))
    return null;
  const tiled = dimensions.flatMap(({ kind }, d) =>
    matrix.unit[d]! > 1 && d !== depth && d !== lane ? [{ kind, d }] : [],
  );
  const [rows, ...otherRows] = tiled.filter(({ kind }) => kind === 'm');
  const [keys, ...otherKeys] = tiled.filter(({ kind }) => kind === 'k');
  if (rows === undefined || keys === undefined || otherRows.length + otherKeys.length > 0) return null;
  return { rows: rows.d, columns: lane, keys: keys.d, depth };
}

export function attentionTuning(workload: DispatchWork): Tuning {
  const { matrix } = workload;
  const roles = rolesOf(workload);
  if (roles === null || matrix === undefined) return untuned('such attentions');
  return {
    unsupported: null,
    families: ({ only }) => (only === undefined ? ['attention-tile'] : []),
    space(options) {
      const target = targetOf(options);
      return target === null ? EMPTY_SPACE : attentionSpace(workload, matrix, roles, target);
    },
  };
}

function attentionSpace(
  { dimensions }: DispatchWork,
  matrix: MatrixInstructions,
  roles: Roles,
  target: GpuTarget,
): SearchSpace<Configuration> {
  const { rows, columns, keys } = roles;
  /** Whole instructions that divide a dimension. Threads cannot share other tiles evenly. */
  const along = (d: number, most: number) =>
    powers(most).filter((tile) => dimensions[d]!.size % tile === 0 && tile % matrix.unit[d]! === 0);
  const subgroupSize = target.subgroupSizes[0]!;
  const columnTiles = along(columns, MOST_COLUMNS);
  return spaceOfChoices({
    kind: 'attention-tile',
    knobs: {
      subgroups: { values: powers(MOST_SUBGROUPS), of: (c) => c.subgroups[rows]! },
      rows: { values: along(rows, MOST_ROWS), of: (c) => c.workgroup[rows]! },
      columns: { values: columnTiles, of: (c) => c.workgroup[columns]! },
      keys: { values: along(keys, MOST_KEYS), of: (c) => c.reduction[keys]! },
    },
    starts: RECIPES.map((recipe) => ({ ...recipe, columns: columnTiles.at(-1) ?? 0 })),
    at(choice) {
      const tiles: Readonly<Record<number, number>> = { [rows]: choice.rows, [columns]: choice.columns };
      const c: AttentionConfiguration = {
        version: 1,
        kind: 'attention-tile',
        subgroupSize,
        workgroup: dimensions.map(({ kind }, d) => tiles[d] ?? (kind === 'k' ? 0 : 1)),
        reduction: dimensions.map((_, d) => (d === keys ? choice.keys : 0)),
        subgroups: dimensions.map((_, d) => (d === rows ? choice.subgroups : 1)),
      };
      return illegality(dimensions, matrix, c, roles, target) ?? c;
    },
  });
}

/** The broken rule; null for a configuration that compiles and computes the right result. Pure. */
function illegality(
  dimensions: DispatchWork['dimensions'],
  { unit, elementType, chained }: MatrixInstructions,
  c: AttentionConfiguration,
  { rows, columns, keys, depth }: Roles,
  target: GpuTarget,
): string | null {
  const threads = threadsOf(c);
  if (threads > Math.min(target.threads, target.workgroupSizes[0])) return 'too many threads';
  const [height, width, step] = [c.workgroup[rows]!, c.workgroup[columns]!, c.reduction[keys]!];
  if (height % (unit[rows]! * c.subgroups[rows]!) !== 0) return 'a subgroup has no whole instructions';
  if ((height * (width + step)) / threads > MOST_SUMS) return 'registers would spill';
  // Queries, keys and values go through shared memory.
  const weights = chained ? 0 : height * step;
  const elements = (height + step) * dimensions[depth]!.size + step * width + weights;
  return (elements * elementBits(elementType)) / 8 > target.sharedMemoryBytes
    ? 'too little shared memory'
    : null;
}

/** The text of a configured executable with these tiles; null for another dispatch. */
export function reconfigured(
  text: string,
  workload: DispatchWork,
  configuration: OwnConfiguration,
): string | null {
  if (configuration.kind !== 'attention-tile') return null;
  const found = readShapedLike(text, workload);
  if (found === null) return null;
  const { workgroup, reduction, subgroups, subgroupSize } = configuration;
  const list = (numbers: readonly number[]) => `[${numbers.join(', ')}]`;
  const { start, end } = found.parts[found.root]!;
  const before = text
    .slice(0, start)
    .replace(
      /workgroup_size = \[[\d, ]*\] subgroup_size = \d+/,
      `workgroup_size = [${threadsOf(configuration)}, 1, 1] subgroup_size = ${subgroupSize}`,
    )
    // Both products share the work in the same way.
    .replaceAll(/(?<=subgroup_basis = \[)\[[\d, ]*\]/g, list(subgroups));
  const own = text
    .slice(start, end)
    .replace(/\breduction = \[[\d, ]*\]/, `reduction = ${list(reduction)}`)
    .replace(/\bworkgroup = \[[\d, ]*\]/, `workgroup = ${list(workgroup)}`);
  return before + own + text.slice(end);
}
