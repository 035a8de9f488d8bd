import type { Type } from '../../../src/main.ts';
import { parseResults, parseTypes, parseValues } from '../../../src/operation.ts';
import { ARROW } from '../../../src/scanner.ts';
import { parseType, skipType } from '../../../src/type.ts';
import type { Tree } from '../derive.ts';
import { closed, partOf, partsOf, type Reader, textOf, whole } from '../reader.ts';

const KINDS = {
  tensor: 'tensor',
  memref: 'memref',
  vector: 'vector',
  '!torch.vtensor': 'vtensor',
  '!torch.tensor': 'torch-tensor',
} as const;

export function typeOf(text: string, tree: Tree): Type {
  const plain = partOf(tree, 'plain-type');
  if (plain !== undefined) return typeOf(text, plain);
  const shaped = partOf(tree, 'shaped-type') ?? partOf(tree, 'torch-type');
  if (shaped === undefined) return { kind: 'opaque', text: textOf(text, tree) };
  const element = partOf(shaped, 'element-type') ?? partOf(shaped, 'element');
  const encoding = partOf(shaped, 'encoding');
  return {
    kind: KINDS[textOf(text, shaped.children[0]!).replace('<', '') as keyof typeof KINDS],
    shape: shapeOf(text, shaped),
    elementType: element ? textOf(text, element) : 'unk',
    encoding: encoding ? textOf(text, encoding) : null,
  };
}

function shapeOf(text: string, shaped: Tree): number[] | null {
  const shape = partOf(shaped, 'shape');
  const isUnranked = shape === undefined && partOf(shaped, '"["') === undefined;
  const sizes = shape
    ? textOf(text, shape)
        .replace(/\/\/.*|[\s\0]/g, '')
        .split('x')
        .slice(0, -1)
    : partsOf(shaped, 'size').map((size) => textOf(text, size));
  return isUnranked ? null : sizes.map((size) => (/^\d/.test(size) ? Number(size) : -1));
}

export const typesOf = (text: string, list: Tree): Type[] =>
  partsOf(list, 'type').map((type) => typeOf(text, type));

/** The types behind an arrow: one, or a list. */
export function resultsOf(text: string, tree: Tree): Type[] {
  const list = partOf(tree, 'type-list');
  return list ? typesOf(text, list) : [typeOf(text, partOf(tree, 'plain-type')!)];
}

export const valuesOf = (text: string, list: Tree): string[] =>
  partsOf(list, 'value-id').map((value) => textOf(text, value).replace(/^(%[\w$.-]*)[^]*(#\d+)$/, '$1$2'));

const shaped = [
  ...[
    'tensor<f32>',
    'memref<*xf32>',
    'vector<[ 4 ]x4x!quant.uniform<i8:f32, 0.1>>',
    'tensor<0x8xf32, #a, 1>',
  ],
  ...['tensor< 128 x ? // 3x\n x (f32, i1) -> f32>', 'memref<?xf32, , 2>', 'vector<[]x1x2xi8>'],
  ...['tensor<4xf32, (a), b>', 'vector<3xcomplex<f32>>', 'tensor<* xi1>', 'tensor<2xi8 i9>'],
  ...['tensor<2x{a}>', 'tensor<2x<a>>', 'tensor<xf32>', 'tensor<2x!a.b<//>>', 'tensor<2x#a.b<//>>'],
];
const torch = [
  ...['!torch.vtensor', '!torch.tensor', '!torch.vtensor<*,f32>', '!torch.tensor<[],i1>'],
  ...['!torch.vtensor<[2,?,3],si8,#a>', '!torch.tensor<[?],"a">'],
];
const named = [
  ...['f32', '!a', '!0', '!a.b', 'complex<f32>', '!a.b<c, (d)>', 'f<>', 'tensor<4>'],
  ...['!torch.vtensor<[0x1],f32>', '!a<b>', '!a.b<c // (d)>', '!a<"//" ->, [<e>]>'],
];
const functions = ['()', '(f32, i1)', '() -> f32', '(a) -> () -> !a.b<c>'];

export const typeReaders: readonly Reader[] = [
  {
    production: 'type',
    examples: [...shaped, ...torch, ...named, ...functions],
    read: whole(parseType),
    says: typeOf,
  },
  {
    production: 'opaque-type',
    examples: [...named, ...functions],
    read: whole(({ scanner }) => (skipType(scanner) < 0 ? null : true)),
    says: () => true,
  },
  {
    production: 'type-list',
    examples: ['', 'f32', 'f32, () -> f32, tensor<4xf32, a>'],
    read: closed((source) => {
      const types: Type[] = [];
      return parseTypes(source, types) ? types : null;
    }),
    says: typesOf,
  },
  {
    production: 'result-types',
    examples: ['-> f32', '-> (f32, i1)', '-> ()', '-> tensor<4xf32>'],
    read: whole((source) => (source.scanner.next() === ARROW ? parseResults(source) : null)),
    says: resultsOf,
  },
  {
    production: 'value-list',
    examples: ['', '%a', '%a, %0#1', '%a,'],
    read: closed((source) => {
      const values: string[] = [];
      parseValues(source, values);
      return values;
    }),
    says: valuesOf,
  },
];
