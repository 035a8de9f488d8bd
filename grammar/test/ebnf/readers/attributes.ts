import { parseAffineMap } from '../../../src/affine-map.ts';
import { parseDictionary, parseMaps } from '../../../src/dictionary.ts';
import type { AffineMap, IteratorType, StridedResult, WindowResult } from '../../../src/main.ts';
import type { Tree } from '../derive.ts';
import { nameOf, partOf, partsOf, type Reader, textOf, Unsaid, whole } from '../reader.ts';

/** Aliases that sentences may use. */
export const ALIASES = `#map = affine_map<(d0, d1) -> (d1)>
#maps = [#map]
#iterators = ["parallel"]
#cast = #linalg.type_fn<cast_unsigned>
`;
const MAP: AffineMap = { dimensions: 2, results: [1] };

function mapOf(text: string, tree: Tree): AffineMap {
  const end = tree.children.findIndex(({ label }) => label === '")"');
  const names = tree.children.slice(0, end).filter(({ label }) => label === 'bare-id');
  const dimensions = names.map((name) => textOf(text, name));
  const strided: StridedResult[] = [];
  const windows: WindowResult[] = [];
  const results = partsOf(tree, 'map-result').map((expression, result) => {
    const terms = partsOf(expression, 'map-term').map((term) => {
      const factor = partOf(term, 'decimal');
      const dimension = dimensions.indexOf(textOf(text, partOf(term, 'bare-id')!));
      return { dimension, stride: factor ? Number(textOf(text, factor)) : 1 };
    });
    const [one, other] = terms;
    if (one === undefined || terms.some(({ dimension, stride }) => dimension < 0 || stride === 0))
      return null;
    const isPlain = textOf(text, expression) === dimensions[one.dimension];
    if (other !== undefined) windows.push({ result, terms: [one, other] });
    else if (!isPlain) strided.push({ result, ...one });
    return isPlain ? one.dimension : null;
  });
  return {
    dimensions: dimensions.length,
    results,
    ...(strided.length > 0 && { strided }),
    ...(windows.length > 0 && { windows }),
  };
}

/** Null for an unknown alias. */
export function mapsOf(text: string, tree: Tree): AffineMap[] | null {
  const list = partOf(tree, 'attribute-id');
  if (list !== undefined) return textOf(text, list) === '#maps' ? [MAP] : null;
  const maps = partsOf(tree, 'map-element').map((element) => {
    const map = partOf(element, 'affine-map');
    return map ? mapOf(text, map) : textOf(text, element) === '#map' ? MAP : null;
  });
  return maps.every((map) => map !== null) ? maps : null;
}

function iteratorsOf(text: string, tree: Tree): IteratorType[] | null {
  const list = partOf(tree, 'attribute-id');
  if (list !== undefined) return textOf(text, list) === '#iterators' ? ['parallel'] : null;
  return partsOf(tree, 'iterator').map(
    (iterator) => /parallel|reduction|window/.exec(textOf(text, iterator))![0] as IteratorType,
  );
}

/** The meaning of one or more dictionaries; attributes are texts. */
export class Dictionaries {
  readonly attributes: string[] = [];
  indexingMaps: readonly AffineMap[] | null = null;
  iteratorTypes: readonly IteratorType[] | null = null;
  segments: readonly number[] | null = null;
  unsigned = false;
  operator: string | null = null;

  add(text: string, dictionary: Tree): this {
    for (const attribute of partsOf(dictionary, 'attribute')) {
      const [name, , value] = attribute.children;
      this.attributes.push(textOf(text, attribute));
      if (value !== undefined) this.set(nameOf(text, name!), text, value);
    }
    return this;
  }

  set(name: string, text: string, value: Tree): this {
    // A list with something behind it is a mistake, another value is not.
    if (name.startsWith('i') && value.label === 'element' && value.children.length > 1) throw new Unsaid();
    switch (name) {
      case 'indexing_maps':
        this.indexingMaps = value.label === 'map-list' ? mapsOf(text, value) : null;
        break;
      case 'iterator_types':
        this.iteratorTypes = value.label === 'iterator-list' ? iteratorsOf(text, value) : null;
        break;
      case 'operandSegmentSizes':
      case 'operand_segment_sizes':
        // Of any other value some numbers may be read.
        if (value.label !== 'segments') throw new Unsaid();
        this.segments = partsOf(value, 'decimal').map((size) => Number(textOf(text, size)));
        break;
      case 'cast':
        this.unsigned = value.label === 'cast' && /^#cast$|</.test(textOf(text, value));
        break;
      case 'name':
        if (value.label === 'string') this.operator = nameOf(text, value);
    }
    return this;
  }
}

const inDictionary = whole((source) => {
  source.scanner.next();
  const read = parseDictionary(source);
  if (read === null) return null;
  const attributes = read.attributes.map(({ start, end }) => source.text.slice(start, end));
  return Object.assign(new Dictionaries(), read, { attributes });
}, ALIASES);

const maps = [
  'affine_map<() -> ()>',
  'affine_map<(d0, d1,)[s0, s1,] -> (d1, d0,)>',
  'affine_map<(m, n)[] -> (m * 2, n + m * 3, m + 1, n * 0, (m), k, m * 2 + n, 0)>',
];
const mapLists = [`[${maps.join(', ')}]`, '[]', '[#map, #map]', '#maps'];
const iteratorLists = [
  '["parallel", "reduction", "window"]',
  '[#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<window>]',
  ...['[]', '#iterators'],
];
const segments = ['array<i32: 2, 1, 0>', 'array<i32: 3>', 'dense<[2, 1, 0]> : vector<3xi32>'];

const dimensions = { 'affine-map/bare-id': [['d0', 'd1']], 'map-term/bare-id': [['d0', 'd1', 's0']] };
const aliases = { 'map-element/attribute-id': [['#map']], 'map-list/attribute-id': [['#maps']] };

export const attributeReaders: readonly Reader[] = [
  {
    production: 'affine-map',
    examples: maps,
    choices: dimensions,
    read: whole(({ scanner }) => (scanner.next(), parseAffineMap(scanner))),
    says: mapOf,
  },
  {
    production: 'map-list',
    examples: mapLists,
    choices: { ...dimensions, ...aliases },
    read: whole(parseMaps, ALIASES),
    says: mapsOf,
  },
  {
    production: 'iterator-list',
    examples: iteratorLists,
    choices: { 'iterator-list/attribute-id': [['#iterators', '#maps']] },
    read: (text) =>
      (inDictionary(`{iterator_types = ${text}}`) as Dictionaries | null)?.iteratorTypes ?? null,
    says: iteratorsOf,
  },
  {
    production: 'dictionary',
    examples: [
      ...['{}', '{a}', '{"a b" = 1 : i32, c = {d = [e, f]}, g}', '{a.b = #c<d>, "e\\22\\n"}'],
      ...mapLists.map((list) => `{indexing_maps = ${list}, a}`),
      ...iteratorLists.map((list) => `{iterator_types = ${list}}`),
      ...segments.map((list) => `{operandSegmentSizes = ${list}}`),
      '{"indexing_maps" = [], "iterator_types" = [], "name" = "a", "cast" = #linalg.type_fn<cast_unsigned>}',
      '{operand_segment_sizes = array<i32: 2, 1>, cast = #linalg.type_fn<cast_signed>, indexing_maps = 1}',
      '{name = "a" : b (c) d, operandSegmentSizes = array<i32: 1> : e (f), cast = #cast : g (h)}',
      '{name = "a", cast = #cast, iterator_types = [1]}',
    ],
    choices: {
      ...aliases,
      ...{ 'iterator-list/attribute-id': [['#iterators', '#a']], 'cast/attribute-id': [['#cast', '#map']] },
    },
    read: inDictionary,
    says: (text, tree) => new Dictionaries().add(text, tree),
  },
];
