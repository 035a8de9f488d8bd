import table from '../operations.json' with { type: 'json' };
import type { AffineMap, IteratorType, Role } from './types.ts';

/** One row of operations.json: how an operation is written and what it computes. */
export interface OperationRow {
  readonly name: string;
  /** One role per operand: inputs, then outputs. */
  readonly roles: readonly Role[];
  readonly inputs: number;
  /** Whether `indexing_maps = [...]` may or must follow the name in the custom form. */
  readonly mapsKeyword: 'optional' | 'required' | 'never';
  /** The maps when the text gives none; null when it must. */
  readonly defaultMaps: readonly AffineMap[] | null;
  /** Null when the text gives them or the maps imply them. */
  readonly iteratorTypes: readonly IteratorType[] | null;
  /** `named` computes multiply-add by its name, `region` what its region says. */
  readonly body: 'named' | 'region';
  /** Where discardable attributes go in the custom form. */
  readonly dictionary: 'before-ins' | 'attrs-after-outs';
}

/** What the parser does when a statement starts with a known name. */
export type Head =
  | { readonly kind: 'operation'; readonly row: OperationRow }
  | { readonly kind: 'constant' | 'load' | 'global' | 'through' | 'opaque-region' | 'transparent-region' };

/** What operations.json holds, as text; test/table.test.ts checks it against this shape. */
interface Json {
  readonly operations: Readonly<Record<string, JsonRow>>;
  readonly constants: Readonly<Record<'sources' | 'loads' | 'globals' | 'through', readonly string[]>>;
  readonly regions: Readonly<Record<'opaque' | 'transparent', readonly string[]>>;
}

interface JsonRow {
  readonly inputs: readonly Role[];
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
export const rows: readonly OperationRow[] = Object.entries(json.operations).map(([name, row]) => ({
  name,
  roles: [...row.inputs, ...row.outputs],
  inputs: row.inputs.length,
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

for (const row of rows) add(row.name, { kind: 'operation', row });
for (const name of json.constants.sources) add(name, { kind: 'constant' });
for (const name of json.constants.loads) add(name, { kind: 'load' });
for (const name of json.constants.globals) add(name, { kind: 'global' });
for (const name of json.constants.through) add(name, { kind: 'through' });
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
