// The work of each dispatch of a program after the compiler's phase `flow`: multiplications and bytes. Pure.
import type { Operation } from 'mlir-parser-ts';
import { readAttentions, scoresOf } from '../form/attention.ts';
import { factorType } from '../workload/element-type.ts';
import type { Amount } from '../workload/kind.ts';
import { elementsOf, staticTensor, tensorFromText } from '../workload/tensor.ts';
import { argumentOf, bytesOf, declarationsIn, readFlow, type Executable } from './flow.ts';

/** Each executable with its work; an unknown number is null. */
export const dispatchAmounts = (flow: Uint8Array): ReadonlyMap<string, Amount> =>
  new Map(readFlow(flow).executables.map((one) => [one.name, amountOf(one)]));

function amountOf({ function: own, operations }: Executable): Amount {
  if (own === null) return { multiplications: null, type: null, bytes: null };
  const products = [...operations.map(productOf), ...attentionsIn(own.text), ...inTiles(own.text)];
  const known = products.filter((one) => one !== null).filter(({ count }) => count > 0);
  const types = new Set(known.map(({ type }) => type));
  const isKnown = !products.includes(null) && types.size <= 1 && !OPAQUE.test(own.text);
  return {
    multiplications: isKnown ? known.reduce((sum, { count }) => sum + count, 0) : null,
    type: [...types].join(' and ') || null,
    bytes: bytesIn(own.text),
  };
}

/** Products that are written as other operations, whose multiplications are not counted. */
const OPAQUE = /\b(?:iree_linalg_ext\.(?:winograd|fft|custom_op|exp_reduction)|linalg\.quantized)/;

interface Product {
  readonly count: number;
  readonly type: string;
}

const NOTHING: Product = { count: 0, type: '' };

/** The multiplications of an operation of the parser; null if they are unknown. */
function productOf(operation: Operation): Product | null {
  const { kind, body, iteratorTypes, operands } = operation;
  const factors = operands.filter(({ role }) => role === 'lhs' || role === 'rhs');
  const [lhs, rhs] = factors.map(({ type }) => staticTensor(type));
  const isSum = iteratorTypes.some((one) => one !== 'parallel');
  if (kind === 'pooling' || (kind === 'contraction' && (!isSum || (factors.length < 2 && body === 'other'))))
    return NOTHING;
  if (!lhs || !rhs || (kind === 'contraction' && body === 'other')) return null;
  const type = factorType(lhs.elementType, rhs.elementType);
  const count =
    kind === 'contraction' ? iterationsOf(operation) : kind === 'convolution' ? convolved(operation) : null;
  return count === null ? null : { count, type };
}

/** The product of all loops' sizes; null if an operand does not tell a size. */
function iterationsOf({ indexingMaps, iteratorTypes, operands }: Operation): number | null {
  const sizes = iteratorTypes.map((_, loop) => {
    for (const [i, { results }] of indexingMaps.entries()) {
      const at = results.indexOf(loop);
      const size = at < 0 ? undefined : staticTensor(operands[i]!.type)?.shape[at];
      if (size !== undefined) return size;
    }
    return null;
  });
  return sizes.includes(null) ? null : elementsOf(sizes as number[]);
}

/** Of a named convolution: for each element of the result, the elements of the filter that it sums. */
function convolved({ name, operands }: Operation): number | null {
  const filter = staticTensor(operands.find(({ role }) => role === 'rhs')!.type);
  const result = staticTensor(operands.at(-1)!.type);
  const layout = /_([a-z]+)$/.exec(name.replace(/_q$/, ''))?.[1] ?? '';
  if (filter === null || result === null || layout.length !== filter.shape.length) return null;
  const summed = name.includes('depthwise') ? 'dhw' : 'dhwc';
  return elementsOf(result.shape) * elementsOf(filter.shape.filter((_, i) => summed.includes(layout[i]!)));
}

/** Each attention multiplies queries by keys, and the scores by values. */
function attentionsIn(text: string): readonly (Product | null)[] {
  const count = text.match(/= iree_linalg_ext\.(?:online_)?attention\b/g)?.length ?? 0;
  if (count === 0) return [];
  const found = readAttentions(Buffer.from(text, 'latin1'));
  // Equal attentions are read once.
  if (count !== found.length) return [null];
  return found.map((attention) => {
    const { operands, result } = attention;
    const [query, key] = operands;
    const [along, columns] = [query?.shape.at(-1), result.shape.at(-1)];
    if (along === undefined || columns === undefined || query!.elementType !== key?.elementType) return null;
    return { count: scoresOf(attention) * (along + columns), type: query!.elementType };
  });
}

/** Products in tiles by an intrinsic: (..., m, k, rows, 1, depth) and (..., n, k, columns, depth) into (..., m, n, rows, 1, columns). */
const IN_TILES =
  /\biree_codegen\.inner_tiled\b[^\n]*?[}>] : (tensor<[^<>]*>), (tensor<[^<>]*>) into (tensor<[^<>]*>)/g;

const inTiles = (text: string): readonly (Product | null)[] =>
  [...text.matchAll(IN_TILES)].map(([, ...types]) => {
    const [lhs, rhs, result] = types.map((type) => tensorFromText(type));
    const [k, depth] = [rhs?.shape.at(-3), rhs?.shape.at(-1)];
    if (!lhs || !result || k === undefined || depth === undefined) return null;
    return {
      count: elementsOf(result.shape) * k * depth,
      type: factorType(lhs.elementType, rhs!.elementType),
    };
  });

/** Reads at computed positions: the text does not tell how much. */
const COMPUTED = /\btensor\.extract\b(?!_)|\.(?:map_)?gather\b|\.(?:map_)?scatter\b|\bindirect_load\b/;

/** Bytes of the parts of all tensors that a dispatch loads and stores, each at most once; null if a size is unknown. */
function bytesIn(text: string): number | null {
  const declarations = declarationsIn(text);
  if (declarations === null || COMPUTED.test(text)) return null;
  let bytes = 0;
  for (const declaration of declarations) {
    // A scalar operand, such as an index.
    if (/^%\w+: (?:index|[su]?i\d+|b?f\d+)$/.test(declaration)) continue;
    const argument = argumentOf(declaration);
    if (argument === null) return null;
    const { name, shape, elementType } = argument;
    const whole = bytesOf(shape, elementType);
    for (const way of [`load ${name}`, `store %[\\w#]+, ${name}`]) {
      const uses = [...text.matchAll(new RegExp(`dispatch\\.tensor\\.${way},([^\\n]*)`, 'g'))];
      const parts = uses.map(([, rest]) => partOf(rest!, elementType));
      if (parts.includes(null)) return null;
      bytes += Math.min(
        whole,
        parts.reduce<number>((sum, part) => sum + part!, 0),
      );
    }
  }
  return bytes;
}

/** Bytes of `offsets = [...], sizes = [4, 8], ...`; null for a size that is known only at run time. */
function partOf(rest: string, elementType: string): number | null {
  const sizes = /\bsizes = \[([^\]]*)\]/.exec(rest)?.[1];
  if (sizes === undefined || !/^[\d, ]*$/.test(sizes)) return null;
  return bytesOf(sizes === '' ? [] : sizes.split(', ').map(Number), elementType);
}
