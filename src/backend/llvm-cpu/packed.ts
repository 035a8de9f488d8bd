// Tiles of packed operations, which a search tries if data tiling is among the best: the compiler's own tiles ignore the caches and prime
// dimensions. They are on packed operations and on the packing of their operands, by rules of a tuning spec, where types identify both; or in
// the compiler's own text, for candidates. The packed operations of all candidates look alike, so that no spec can tell them apart.
import { parse } from 'mlir-parser-ts';
import { VALUE } from '../../compiler/symbol.ts';
import { annotate, type Rule } from '../../spec/rules.ts';
import { isDynamic, isOperationWork, type OperationWork, type Workload } from '../../workload/workload.ts';
import type { Measured, SpaceOptions, TextAfter } from '../backend.ts';
import type { Configuration } from '../configuration.ts';
import { compilationInfo, type Rendered } from '../rendered.ts';
import {
  DATA_TILE_CONFIGURATION,
  type DataTileConfiguration,
  type PackedForm,
  type PackedTiles,
} from './configuration.ts';
import { PACKED_PHASE } from './data-tiling.ts';

/** Shapes of the two operands of a packed operation: rows and k in tiles, then the size of one tile. */
type PackedShapes = readonly [first: readonly number[], second: readonly number[]];

/** Packed shapes of a workload's operands; null for a workload without exactly one m, one n and one k. */
export function packedShapes(
  { dimensions }: OperationWork,
  { inner, swapped }: PackedForm,
): PackedShapes | null {
  if (dimensions.map(({ kind }) => kind).join() !== 'm,n,k') return null;
  const [m, n, k] = dimensions.map(({ size }) => size) as [number, number, number];
  const operand = (rows: number, tile: number) => [
    Math.ceil(rows / tile),
    Math.ceil(k / inner[2]),
    tile,
    inner[2],
  ];
  return [operand(swapped ? n : m, inner[0]), operand(swapped ? m : n, inner[1])];
}

/** The packed form with operands of these shapes; null for none. */
export function packedFormOf(workload: OperationWork, [first, second]: PackedShapes): PackedForm | null {
  if (first.length !== 4 || second.length !== 4 || first[3] !== second[3]) return null;
  const inner = [first[2]!, second[2]!, first[3]!] as const;
  const forms = [false, true].map((swapped): PackedForm => ({ inner, swapped }));
  return (
    forms.find((form) => {
      const shapes = packedShapes(workload, form);
      return shapes !== null && shapes[0].join() === first.join() && shapes[1].join() === second.join();
    }) ?? null
  );
}

/** Blocks that keep the packed rows of one side in a cache while the other side streams. */
const ROWS = [4, 8, 16, 32];
const COLUMNS = 8;

/** Long contiguous writes, also for dimensions without such divisors. */
const PACKING = [16, 64] as const;

/**
 * A few configurations, because each compiles in a module of its own.
 * @param threads of the program; a distribution has work for all threads
 */
export function packedConfigurations(
  workload: OperationWork,
  form: PackedForm,
  threads: number,
): DataTileConfiguration[] {
  const shapes = packedShapes(workload, form);
  if (shapes === null) return [];
  const [rows, columns] = [shapes[0][0]!, shapes[1][0]!];
  const distributions = ROWS.map(
    (first) => [Math.min(first, rows), Math.min(COLUMNS, columns)] as const,
  ).filter(([first, second]) => Math.ceil(rows / first) * Math.ceil(columns / second) >= threads);
  const packed: PackedTiles[] = [
    { ...form, packing: PACKING },
    ...distributions.flatMap((distribution) => [
      { ...form, distribution },
      { ...form, distribution, packing: PACKING },
    ]),
  ];
  const distinct = new Map(packed.map((tiles) => [JSON.stringify(tiles), tiles]));
  return [...distinct.values()].map((tiles) => ({ version: 1, kind: 'data-tile', packed: tiles }));
}

/** Data tiling that takes more than this many times as long as the best does not become the best by its tiles. */
const COMPETITIVE = 1.4;

/** More configurations of data tiling, from the measurements so far. */
export async function packedFollowUps(
  workload: Workload,
  measured: readonly Measured[],
  { threads, following }: Pick<SpaceOptions, 'threads' | 'following'>,
  textAfter: TextAfter,
): Promise<readonly DataTileConfiguration[]> {
  if (!following || !isOperationWork(workload) || isDynamic(workload)) return [];
  const best = Math.min(...measured.map(({ seconds }) => seconds));
  const plain = measured.find(({ configuration }) => configuration.kind === 'data-tile');
  if (plain === undefined || plain.seconds > best * COMPETITIVE) return [];
  const form = await findPackedForm(workload, textAfter);
  return form === null ? [] : packedConfigurations(workload, form, threads);
}

/** The packed form of a workload; null if the compiler does not pack it, or packs into a batch or several operations. */
export async function findPackedForm(
  workload: OperationWork,
  textAfter: TextAfter,
): Promise<PackedForm | null> {
  const text = await textAfter(DATA_TILE_CONFIGURATION, PACKED_PHASE);
  if (text === null) return null;
  const packed = parse(text).operations.filter(({ name }) => name === 'linalg.mmt4d');
  const [first, second] = (packed.length === 1 ? packed[0]!.operands : []).map(({ type }) =>
    type.kind === 'opaque' ? null : type.shape,
  );
  return first && second ? packedFormOf(workload, [first, second]) : null;
}

/**
 * Rules for packed operations of operations with the hint for data tiling, from IREE 3.12 on. The first of several entries for a form
 * applies.
 */
export function packedRules(
  entries: readonly { readonly workload: Workload; readonly configuration: Configuration }[],
): Rule[] {
  const operations = entries.flatMap(({ workload, configuration }) => {
    const packed = packedTilesOf(configuration);
    return packed === undefined || !isOperationWork(workload) ? [] : packedOperations(workload, packed);
  });
  const rules = new Map<string, Rule>();
  for (const { rendered, ...form } of operations) {
    const key = JSON.stringify(form);
    const matcher = (name: string) => packedMatcher(form, name, compilationInfo(rendered).value);
    if (!rules.has(key)) rules.set(key, { action: annotate('compilation_info'), matcher });
  }
  return [...rules.values()];
}

const packedTilesOf = (configuration: Configuration): PackedTiles | undefined =>
  configuration.kind === 'data-tile' ? configuration.packed : undefined;

/** The form of an operation of data tiling. */
interface OperationForm {
  readonly operation: 'linalg.mmt4d' | 'linalg.pack';
  /** Types of its first two operands. */
  readonly types: readonly [string, string];
}

interface PackedOperation extends OperationForm {
  readonly rendered: Rendered;
}

/** The tiled operations among the packed operation and the packings of its two operands. */
export function packedOperations(workload: OperationWork, packed: PackedTiles): PackedOperation[] {
  const shapes = packedShapes(workload, packed);
  if (shapes === null) return [];
  const { multiply, pack } = packedParts(packed);
  const sides = packed.swapped ? [workload.rhs, workload.lhs] : [workload.lhs, workload.rhs];
  const types = sides.map(({ elementType }, i) => `tensor<${shapes[i]!.join('x')}x${elementType}>`);
  const forms: PackedOperation[] = [];
  if (multiply !== undefined)
    forms.push({ operation: 'linalg.mmt4d', types: [types[0]!, types[1]!], rendered: multiply });
  if (pack !== undefined)
    for (const [i, { dimensions, elementType }] of sides.entries()) {
      const sizes = dimensions.map((d) => `${workload.dimensions[d]!.size}x`).join('');
      const source = `tensor<${sizes}${elementType}>`;
      forms.push({ operation: 'linalg.pack', types: [source, types[i]!], rendered: pack });
    }
  return forms;
}

/**
 * A packing that is fused with the producer of its operand gets no tiles: the producer would get vectors as large as the tiles, which the
 * compiler refuses.
 */
const FROM_MEMORY = `
    %source = transform.get_defining_op %first : (!transform.any_value) -> !transform.any_op
    transform.match.operation_name %source ["iree_tensor_ext.dispatch.tensor.load"] : !transform.any_op`;

const packedMatcher = (
  { operation, types }: OperationForm,
  name: string,
  value: string,
) => `  transform.named_sequence @${name}(%op: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %op ["${operation}"] : !transform.any_op
    transform.iree.match.has_no_lowering_config %op : !transform.any_op
    %first = transform.get_operand %op[0] : (!transform.any_op) -> !transform.any_value${operation === 'linalg.pack' ? FROM_MEMORY : ''}
    %second = transform.get_operand %op[1] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %first = ${types[0]} : !transform.any_value
    transform.iree.match.cast_compatible_type %second = ${types[1]} : !transform.any_value
    %value = transform.param.constant ${value} -> !transform.any_param
    transform.yield %op, %value : !transform.any_op, !transform.any_param
  }`;

export const hasPackedTiles = (configuration: Configuration): boolean =>
  packedTilesOf(configuration) !== undefined;

/** A line of optimised text with tiles on its packed operation. The line's function has an operation with the configuration. */
export function withPackedTiles(line: string, configuration: Configuration): string {
  const packed = packedTilesOf(configuration);
  if (packed === undefined) return line;
  const { multiply, pack } = packedParts(packed);
  const info = (part: Rendered) => `{compilation_info = ${compilationInfo(part).value}}`;
  let annotated = line;
  if (multiply !== undefined)
    annotated = annotated.replace(/= linalg\.mmt4d (?=ins)/, `$&${info(multiply)} `);
  if (pack !== undefined)
    annotated = annotated.replace(
      new RegExp(String.raw`= linalg\.pack .* into ${VALUE}`),
      `$& ${info(pack)}`,
    );
  return annotated;
}

/** Packed tiles along k that one step moves: the compiler's own value for most operands. */
const PACKED_AT_ONCE = 16;

/**
 * The multiplication of a packed operation, and the packing of its operands, in the spelling of IREE 3.12 and newer. The compiler decides
 * about the tiles of an absent part.
 */
export function packedParts({ inner: [first, second, depth], distribution, packing }: PackedTiles): {
  readonly multiply?: Rendered;
  readonly pack?: Rendered;
} {
  const part = (lowering: string, pipeline: string): Rendered => ({
    lowering: `#iree_cpu.lowering_config<${lowering}>`,
    translation: `#iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<${pipeline}>>`,
  });
  return {
    ...(distribution && {
      multiply: part(
        `distribution = [${distribution.join(', ')}, 0, 0, 0, 0], ` +
          `vector_common_parallel = [1, 1, 0, ${first}, ${second}, 0], vector_reduction = [0, 0, 1, 0, 0, ${depth}]`,
        'Mmt4dTilingExpert',
      ),
    }),
    ...(packing && {
      pack: part(
        `distribution = [${packing.join(', ')}], vector_common_parallel = [1, ${PACKED_AT_ONCE}]`,
        'DataTiling',
      ),
    }),
  };
}
