import table from '../operations.json' with { type: 'json' };
import type { AffineMap, IteratorType, Kind, Role } from './types.ts';

/** One row of operations.json: the syntax and the meaning of an operation. */
export interface OperationRow {
  readonly name: string;
  readonly kind: Kind;
  /** One role for each operand: inputs, then outputs. */
  readonly roles: readonly Role[];
  readonly inputs: number;
  /** Number of operands at the end that may be absent. */
  readonly optional: number;
  /** The role of further operands; null if the operation takes none. */
  readonly rest: Role | null;
  /** Whether `indexing_maps = [...]` may or must follow the name in the custom form. */
  readonly mapsKeyword: 'optional' | 'required' | 'never';
  /** The maps if the text gives none; null if the text must give them. */
  readonly defaultMaps: readonly AffineMap[] | null;
  /** Null if the text gives them or the maps imply them. */
  readonly iteratorTypes: readonly IteratorType[] | null;
  /** `named`: a multiply-add by its name. `region`: the region defines it. `other`: something else. */
  readonly body: 'named' | 'region' | 'other';
  /** The place of discardable attributes in the custom form. `operator`: the name is a string after `torch.operator`. */
  readonly dictionary: 'before-ins' | 'attrs-after-outs' | 'before-types' | 'operator';
}

/** An operation with its name as a string: `torch.operator "onnx.MatMul"`. */
export const OPERATOR = 'torch.operator';

/** The meaning of a known name at the start of a statement. */
export type Head =
  | { readonly kind: 'operation'; readonly row: OperationRow }
  /** A string or an attribute names the operation. */
  | { readonly kind: 'operator' }
  /** A string behind a `bare` operation is not its argument. */
  | {
      readonly kind:
        'constant' | 'load' | 'global' | 'through' | 'opaque-region' | 'transparent-region' | 'bare';
    };

/** The shape of operations.json; test/table.test.ts checks the file. */
interface Json {
  readonly operations: Readonly<Record<string, JsonRow>>;
  /** Rows that differ only in their names. */
  readonly families: readonly (JsonRow & { readonly names: readonly string[] })[];
  readonly constants: Readonly<Record<'sources' | 'loads' | 'globals' | 'through', readonly string[]>> & {
    /** Strings of a `torch.operator`. */
    readonly operators: Readonly<Record<'sources' | 'through', readonly string[]>>;
  };
  readonly bare: readonly string[];
  readonly regions: Readonly<Record<'opaque' | 'transparent', readonly string[]>>;
}

interface JsonRow {
  readonly kind: Kind;
  readonly inputs: readonly Role[];
  readonly optional?: number;
  readonly rest?: Role;
  readonly outputs: readonly Role[];
  readonly maps: {
    readonly keyword: OperationRow['mapsKeyword'];
    readonly dimensions?: number;
    readonly default?: readonly (readonly number[])[];
  };
  readonly iterators?: readonly IteratorType[];
  readonly body: OperationRow['body'];
  readonly dictionary: OperationRow['dictionary'];
}

const json: Json = table as Json;

/** Every known operation, in the order of operations.json. */
export const rows: readonly OperationRow[] = [
  ...Object.entries(json.operations),
  ...json.families.flatMap((family) => family.names.map((name) => [name, family] as const)),
].map(([name, row]) => ({
  name,
  kind: row.kind,
  roles: [...row.inputs, ...row.outputs],
  inputs: row.inputs.length,
  optional: row.optional ?? 0,
  rest: row.rest ?? null,
  mapsKeyword: row.maps.keyword,
  defaultMaps:
    row.maps.default?.map((results) => ({ dimensions: row.maps.dimensions ?? 0, results })) ?? null,
  iteratorTypes: row.iterators ?? null,
  body: row.body,
  dictionary: row.dictionary,
}));

/** A head and its name, in the bucket of the name's hash. */
interface Entry {
  readonly name: string;
  readonly head: Head;
}

const buckets = new Map<number, Entry[]>();

function add(name: string, head: Head): void {
  const bytes = new TextEncoder().encode(name);
  const hash = hashOf(bytes, 0, bytes.length);
  const bucket = buckets.get(hash);
  if (bucket === undefined) buckets.set(hash, [{ name, head }]);
  else bucket.push({ name, head });
}

/** The rows of `torch.operator`, by its string. */
export const operators: ReadonlyMap<string, OperationRow> = new Map(
  rows.filter((row) => row.dictionary === 'operator').map((row) => [row.name, row]),
);

/** Strings of a `torch.operator` that makes a constant, or that changes only the shape, order or type of its operand. */
export const constantOperators: ReadonlySet<string> = new Set(json.constants.operators.sources);
export const operatorsThrough: ReadonlySet<string> = new Set(json.constants.operators.through);

for (const row of rows) if (row.dictionary !== 'operator') add(row.name, { kind: 'operation', row });
add(OPERATOR, { kind: 'operator' });
for (const name of json.constants.sources) add(name, { kind: 'constant' });
for (const name of json.constants.loads) add(name, { kind: 'load' });
for (const name of json.constants.globals) add(name, { kind: 'global' });
for (const name of json.constants.through) add(name, { kind: 'through' });
for (const name of json.bare) add(name, { kind: 'bare' });
for (const name of json.regions.opaque) add(name, { kind: 'opaque-region' });
for (const name of json.regions.transparent) add(name, { kind: 'transparent-region' });

/** The head of the name in [start, end); null for an unknown name. */
export function findHead(bytes: Uint8Array, start: number, end: number): Head | null {
  const bucket = buckets.get(hashOf(bytes, start, end));
  if (bucket === undefined) return null;
  search: for (const { name, head } of bucket) {
    if (name.length !== end - start) continue;
    for (let index = 0; index < name.length; index++) {
      if (bytes[start + index] !== name.charCodeAt(index)) continue search;
    }
    return head;
  }
  return null;
}

/** Hashes the length and the last eight bytes, because the names of a dialect share their prefix. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start;
  for (let index = Math.max(start, end - 8); index < end; index++)
    hash = (Math.imul(hash, 31) + bytes[index]!) | 0;
  return hash & 0x3fffffff;
}
