import type { AffineMap, Body, Operation, Type } from '../../../src/main.ts';
import { operators, rows } from '../../../src/table.ts';
import type { Tree } from '../derive.ts';
import { nameOf, partOf, partsOf, Refused, textOf, Unsaid } from '../reader.ts';
import { ALIASES, Dictionaries, mapsOf } from './attributes.ts';
import { bodyOf } from './regions.ts';
import { resultsOf, typeOf, typesOf, valuesOf } from './types.ts';

export const MAPS =
  '[affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]';
export const ITERATORS = 'iterator_types = ["parallel", "parallel", "reduction"]';
/** Maps and iterator types of `#trait`. */
const TRAIT: Pick<Operation, 'indexingMaps' | 'iteratorTypes'> = {
  indexingMaps: [
    { dimensions: 3, results: [0, 2] },
    { dimensions: 3, results: [2, 1] },
    { dimensions: 3, results: [0, 1] },
  ],
  iteratorTypes: ['parallel', 'parallel', 'reduction'],
};
/** Aliases that sentences may use. */
export const BEFORE = `${ALIASES}#trait = {indexing_maps = ${MAPS}, ${ITERATORS}}\n`;

/** The compared parts of an operation. */
export interface Read extends Pick<
  Operation,
  'name' | 'form' | 'results' | 'indexingMaps' | 'iteratorTypes' | 'body'
> {
  readonly values: readonly string[];
  readonly types: readonly Type[];
  readonly attributes: readonly string[];
}

/** The meaning apart from the row of the operation. */
interface Said extends Pick<Read, 'name' | 'form' | 'values' | 'types' | 'results'> {
  /** How many values are inputs, where that is written. */
  readonly inputs: number | null;
  readonly dictionaries: Dictionaries;
  /** Of the region. */
  readonly region: Body;
}

function fitted({ inputs, dictionaries, region, ...said }: Said): Read {
  const row = rows.find(({ name }) => name === said.name)!;
  const { length } = said.values;
  const most = row.rest === null ? row.roles.length : Infinity;
  if (length !== said.types.length || length < row.roles.length - row.optional || length > most)
    throw new Refused();
  if (inputs !== null && inputs !== row.inputs) throw new Refused();
  const { attributes, unsigned } = dictionaries;
  const named = unsigned ? 'multiply-add-unsigned' : 'multiply-add';
  const body = row.body === 'named' ? named : row.body === 'region' ? region : 'other';
  const maps =
    row.kind === 'contraction'
      ? fittedMaps(said.name, length, dictionaries)
      : { indexingMaps: [], iteratorTypes: [] };
  return { ...said, body, attributes, ...maps };
}

function fittedMaps(name: string, count: number, dictionaries: Dictionaries): typeof TRAIT {
  const row = rows.find((one) => one.name === name)!;
  if (row.body === 'region' && dictionaries.iteratorTypes?.includes('reduction') !== true)
    throw new Refused();
  const mayHaveMaps = row.body === 'region' || row.mapsKeyword !== 'never';
  const hasMaps = mayHaveMaps && dictionaries.attributes.some((one) => /^"?indexing_maps\b/.test(one));
  const indexingMaps = hasMaps ? dictionaries.indexingMaps : row.defaultMaps;
  if (indexingMaps?.length !== count) throw new Refused();
  const iteratorTypes = row.iteratorTypes ?? dictionaries.iteratorTypes ?? impliedBy(indexingMaps.at(-1)!);
  if (indexingMaps.some(({ dimensions }) => dimensions !== iteratorTypes.length)) throw new Refused();
  return { indexingMaps, iteratorTypes };
}

function impliedBy({ dimensions, results }: AffineMap): Operation['iteratorTypes'] {
  return Array.from({ length: dimensions }, (_, one) => (results.includes(one) ? 'parallel' : 'reduction'));
}

/** The meaning of a named, generic or other operation; throws a {@link Refused} when it does not fit its row. */
export function meaningOf(text: string, operation: Tree): Read {
  const [first, second] = operation.children;
  switch (operation.label) {
    case 'named-operation':
    case 'generic-operation':
      return fitted({ ...linalg(text, operation), name: textOf(text, first!) });
    case 'front-end-operation':
      return fitted({ ...frontEnd(text, operation), name: textOf(text, first!) });
    case 'operator-operation':
      return fitted({ ...quoted(text, operation), form: 'custom', name: nameOf(text, second!) });
  }
  const name = nameOf(text, first!);
  if (name !== 'torch.operator') return fitted({ ...quoted(text, operation), name });
  const dictionary = partOf(partOf(operation, 'operation-rest')!, 'dictionary');
  const operator = dictionary && new Dictionaries().add(text, dictionary).operator;
  if (operator === undefined || operator === null || !operators.has(operator)) throw new Refused();
  return fitted({ ...quoted(text, operation), name: operator });
}

function linalg(text: string, operation: Tree): Omit<Said, 'name'> {
  const dictionaries = new Dictionaries();
  for (const child of operation.children) {
    if (child.label === 'map-list') {
      const { start } = partOf(operation, '"indexing_maps"')!;
      dictionaries.attributes.push(textOf(text, { start, end: child.end }));
      dictionaries.indexingMaps = mapsOf(text, child);
    } else if (child.label === 'attribute-id') {
      if (textOf(text, child) !== '#trait') throw new Refused();
      dictionaries.attributes.push(`indexing_maps = ${MAPS}`, ITERATORS);
      Object.assign(dictionaries, TRAIT);
    } else if (child.label === 'dictionary') {
      dictionaries.add(text, child);
    } else if (child.label === 'front-dictionaries') {
      for (const one of partsOf(child, 'dictionary')) dictionaries.add(text, one);
    }
  }
  const lists = partOf(operation, 'operand-lists')!;
  const values = partsOf(lists, 'value-list').map((list) => valuesOf(text, list));
  const types = partsOf(lists, 'type-list').map((list) => typesOf(text, list));
  if (values.some((list, index) => list.length !== types[index]?.length)) throw new Refused();
  const results = partOf(operation, 'result-types');
  const region = partOf(operation, 'region');
  return {
    ...{
      form: 'custom',
      values: values.flat(),
      types: types.flat(),
      dictionaries,
      inputs: values[0]!.length,
    },
    results: results ? resultsOf(text, results) : [],
    region: region ? bodyOf(text, region) : 'other',
  };
}

function frontEnd(text: string, operation: Tree): Omit<Said, 'name'> {
  const dictionaries = new Dictionaries();
  const types: Type[] = [];
  const results: Type[] = [];
  let list = types;
  for (const child of operation.children) {
    // Braces behind it may be its value, or the dictionary.
    if (child.label === 'clause' && child.children.length === 2) throw new Unsaid();
    if (child.label === 'clause' || child.label === 'call') dictionaries.attributes.push(textOf(text, child));
    else if (child.label === 'dictionary') dictionaries.add(text, child);
    else if (child.label === 'type-list') types.push(...typesOf(text, child));
    else if (child.label === 'result-types') (list = results).push(...resultsOf(text, child));
    else if (child.label === 'type' || child.label === 'plain-type') list.push(typeOf(text, child));
  }
  const values = valuesOf(text, partOf(operation, 'value-list')!);
  return { form: 'custom', values, types, inputs: null, dictionaries, results, region: 'other' };
}

function quoted(text: string, operation: Tree): Omit<Said, 'name'> {
  const rest = partOf(operation, 'operation-rest')!;
  const dictionaries = new Dictionaries();
  for (const dictionary of partsOf(rest, 'dictionary')) dictionaries.add(text, dictionary);
  const region = partOf(rest, 'region');
  return {
    ...{ form: 'quoted', dictionaries, inputs: dictionaries.segments?.[0] ?? null },
    values: valuesOf(text, partOf(rest, 'value-list')!),
    types: typesOf(text, partOf(rest, 'type-list')!),
    results: resultsOf(text, partOf(rest, 'result-types')!),
    region: region ? bodyOf(text, region) : 'other',
  };
}
