// Products with constant weights (n, k) that a program transposes, as in linear layers. The compiler fuses the transpose into the product, whose
// vectors then read weights that are k elements apart. In its form, the weights are transposed once, at compile time. If no tile divides their
// columns, as those of most vocabularies, they are padded to blocks of whole vectors.
import type { Operation } from 'mlir-parser-ts';
import { VALUE } from '../compiler/symbol.ts';
import type { Named, ReplaceableKind } from './form.ts';
import type { Packing } from './packing.ts';
import { hasStrips } from './strips.ts';
import { packedProduct } from './tiles.ts';
import { isFloat } from '../workload/element-type.ts';
import { elementsOf, isTensor, staticTensor, tensorText, typeName, type Tensor } from '../workload/tensor.ts';
import { CONSTANT, definitionIn } from './definitions.ts';
import { listOf, type Value, type Writer, type Written } from './text.ts';

export interface Product {
  readonly name: 'linalg.matmul';
  /** Factors: (m, k), and weights (n, k). */
  readonly factors: readonly [Tensor, Tensor];
  /** (m, n). */
  readonly result: Tensor;
}

const NAME = 'linalg.matmul';

const [SETTLED, BLOCKS] = ['settled-weights', 'blocks-of-weights'] as const;

/** Columns of a block: two vectors of the widest registers. */
const WIDTH = 32;

/** Columns that some tile of whole vectors divides. A single row needs none, because its time is that of reading the weights. */
const COLUMNS = 16;

/** Tiles of a product whose weights have n columns of k elements; none for other types, and for few columns. */
export const tilesFor = ({ elementType }: Tensor, n: number, k: number): Pick<Named, 'tiles'> =>
  elementType === 'f32' && hasStrips(n, k) ? { tiles: { of: 'f32', areNeeded: false } } : {};

const needsBlocks = ({ shape }: Tensor): boolean => shape[0]! > 1 && shape[1]! % COLUMNS !== 0;

/** Smaller weights stay in the fastest cache in any layout. */
export const LEAST_WEIGHTS = 16_384;

/** Such as `linalg.matmul 20x1024xf32,8210x1024xf32->20x8210xf32`. */
const productKey = ({ name, factors, result }: Product): string =>
  `${name} ${factors.map(typeName).join()}->${typeName(result)}`;

/**
 * The products of a program whose weights are all constants. A product of other values would be transposed in each call, and equal operations
 * are rewritten alike.
 */
export const readProducts = (operations: readonly Operation[], text: Uint8Array): Product[] =>
  alwaysConstant(
    operations.flatMap((operation) => readProduct(operation, text) ?? []),
    productKey,
  );

/** Those with constant weights, without those whose equals have others: equal operations are rewritten alike. */
export function alwaysConstant<T>(
  found: readonly { readonly product: T; readonly isConstant: boolean }[],
  keyOf: (product: T) => string,
): T[] {
  const varying = new Set(found.flatMap((one) => (one.isConstant ? [] : [keyOf(one.product)])));
  return found.map(({ product }) => product).filter((one) => !varying.has(keyOf(one)));
}

function readProduct({ name, operands, start }: Operation, text: Uint8Array) {
  if (name !== NAME || operands.length !== 3) return null;
  const [lhs, , result] = operands.map(({ type }) => staticTensor(type));
  const weights = TRANSPOSED.exec(definitionIn(text, operands[1]!.value, start) ?? '')?.[1];
  if (!lhs || !result || weights === undefined) return null;
  const shape = [result.shape[1]!, lhs.shape[1]!];
  const product = { ...{ name: NAME, result }, factors: [lhs, { ...lhs, shape }] } as const;
  const isConstant = CONSTANT.test(definitionIn(text, weights, start) ?? '');
  return isProduct(product) ? { product, isConstant } : null;
}

/** The transpose of a matrix. Its group is the matrix. */
export const TRANSPOSED = new RegExp(
  String.raw`^linalg\.transpose ins\((${VALUE}) : [^\n]* permutation = \[1, 0\]`,
);

/** Whether a value, for example from a file, is such an operation. Checks every field, because all are written into MLIR. */
export function isProduct(value: unknown): value is Product {
  const { name, factors, result } = (value ?? {}) as Partial<Record<keyof Product, unknown>>;
  if (name !== NAME || !Array.isArray(factors) || factors.length !== 2 || !isTensor(result)) return false;
  if (!factors.every(isTensor)) return false;
  const [lhs, weights] = factors as [Tensor, Tensor];
  const all = [lhs, weights, result];
  return (
    all.every(({ shape, elementType }) => shape.length === 2 && elementType === result.elementType) &&
    isFloat(result.elementType) &&
    lhs.shape[1] === weights.shape[1] &&
    lhs.shape[0] === result.shape[0] &&
    weights.shape[0] === result.shape[1] &&
    elementsOf(weights.shape) >= LEAST_WEIGHTS
  );
}

/**
 * Writes a product with constant weights in its form. Returns its result.
 * @param isTransposed whether the weights are (n, k), not (k, n)
 * @param packing null to leave the layout to the compiler
 */
export function withSettledWeights(
  writer: Writer,
  [lhs, weights]: readonly [Value, Value],
  isTransposed: boolean,
  into: Value,
  packing: Packing | null,
): Value {
  if (packing !== null)
    return writer.add(packedProduct(writer, [lhs, weights], isTransposed, into, packing), into);
  const columns = isTransposed ? writer.transpose(weights, [1, 0]) : weights;
  if (!needsBlocks(into)) {
    const settled = isTransposed ? writer.settle(columns) : columns;
    return writer.contraction([lhs, settled], into, ['mk', 'kp', 'mp']);
  }
  const [k, n] = columns.shape as [number, number];
  const rows = into.shape[0]!;
  const count = Math.ceil(n / WIDTH);
  const padded = writer.pad(columns, [0, 0], [0, count * WIDTH - n]);
  const split = writer.expand(padded, [[0], [1, 2]], [k, count, WIDTH]);
  const blocks = writer.settle(writer.transpose(split, [1, 0, 2]));
  const none = writer.zeros({ ...into, shape: [count, rows, WIDTH] });
  const products = writer.settle(writer.contraction([lhs, blocks], none, ['pk', 'bkf', 'bpf']));
  const joined = writer.collapse(writer.transpose(products, [1, 0, 2]), [[0], [1, 2]]);
  const cut = writer.slice(joined, [
    [0, rows, 1],
    [0, n, 1],
  ]);
  return writer.add(cut, into);
}

/** The operation as the program has it. */
function writtenProduct({ name, factors, result }: Product): Written {
  const operands = [
    { ...factors[0], name: '%lhs' },
    { ...factors[1], name: '%weights' },
    { ...result, name: '%into' },
  ];
  const [lhs, weights, type] = operands.map(tensorText) as [string, string, string];
  const transposed = tensorText({ ...factors[1], shape: [...factors[1].shape].reverse() });
  return {
    ...{ operands, list: listOf(operands), type },
    before: `%none = tensor.empty() : ${transposed}
      %transposed = linalg.transpose ins(%weights : ${weights}) outs(%none : ${transposed}) permutation = [1, 0]`,
    operation: `${name} ins(%lhs, %transposed : ${lhs}, ${transposed}) outs(%into : ${type}) -> ${type}`,
  };
}

export const products: ReplaceableKind<Product> = {
  is: isProduct,
  key: productKey,
  read: (text, operations) => readProducts(operations, text),
  writtenOf: writtenProduct,
  resultOf: ({ result }) => result,
  formsOf: ({ factors: [, weights], result }) => {
    const [n, k] = weights.shape as [number, number];
    return [{ name: needsBlocks(result) ? BLOCKS : SETTLED, ...tilesFor(result, n, k) }];
  },
  write: (writer, _, operands, { packing }) => {
    const [lhs, weights, into] = operands as [Value, Value, Value];
    return { value: withSettledWeights(writer, [lhs, weights], true, into, packing) };
  },
  loopsOf: ({ factors: [lhs, weights] }) => [...lhs.shape, weights.shape[0]!],
};
