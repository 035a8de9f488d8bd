import table from '../operations.json' with { type: 'json' };
import type { AffineMap, IteratorType, Kind, Role } from './types.ts';

/** One row of operations.json: how an operation is written and what it computes. */
export interface OperationRow {
  readonly name: string;
  readonly kind: Kind;
  /** One role per operand: inputs, then outputs. */
  readonly roles: readonly Role[];
  readonly inputs: number;
  /** How many operands at the end may be left out. */
  readonly optional: number;
  /** The role of any operands beyond these; null when there are none. */
  readonly rest: Role | null;
  /** Whether `indexing_maps = [...]` may or must follow the name in the custom form. */
  readonly mapsKeyword: 'optional' | 'required' | 'never';
  /** The maps when the text gives none; null when it must. */
  readonly defaultMaps: readonly AffineMap[] | null;
  /** Null when the text gives them or the maps imply them. */
  readonly iteratorTypes: readonly IteratorType[] | null;
  /** `named` computes multiply-add by its name, `region` what its region says, `other` something else. */
  readonly body: 'named' | 'region' | 'other';
  /** Where discardable attributes go in the custom form; `operator` is named by a string after `torch.operator`. */
  readonly dictionary: 'before-ins' | 'attrs-after-outs' | 'before-types' | 'operator';
}

/** The operation whose name is a string: `torch.operator "onnx.MatMul"`. */
export const OPERATOR = 'torch.operator';

/** What the parser does when a statement starts with a known name. */
export type Head =
  | { readonly kind: 'operation'; readonly row: OperationRow }
  /** What it is says a string or an attribute. */
  | { readonly kind: 'operator' }
  /** One that is `bare` has nothing behind its name. */
  | {
      readonly kind:
        'constant' | 'load' | 'global' | 'through' | 'opaque-region' | 'transparent-region' | 'bare';
    };

/** What operations.json holds, as text; test/table.test.ts checks it against this shape. */
interface Json {
  readonly operations: Readonly<Record<string, JsonRow>>;
  /** Rows that are the same but for their names. */
  readonly families: readonly (JsonRow & { readonly names: readonly string[] })[];
  readonly constants: Readonly<Record<'sources' | 'loads' | 'globals' | 'through', readonly string[]>> & {
    /** By the string of a `torch.operator`. */
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

/** Every operation that is recognised, in the order of operations.json. */
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

/** A head with its name, in the bucket of its hash. */
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

/** The rows of `torch.operator`, by what its string says. */
export const operators: ReadonlyMap<string, OperationRow> = new Map(
  rows.filter((row) => row.dictionary === 'operator').map((row) => [row.name, row]),
);

/** Names in a `torch.operator` that make a constant, or change the shape, the order or the type of one. */
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

/** The head whose name is the bytes in [start, end), or null: most names are not known. */
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

/** Length and last eight bytes: dialects share their prefixes. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start;
  for (let index = Math.max(start, end - 8); index < end; index++)
    hash = (Math.imul(hash, 31) + bytes[index]!) | 0;
  return hash & 0x3fffffff;
}
