// Products with constant weights (n, k) that a program transposes, as in linear layers. The compiler fuses the transpose into the product, whose
// vectors then read weights that are k elements apart. In its form, the weights are transposed once, at compile time. If no tile divides their
// columns, as those of most vocabularies, they are padded to blocks of whole vectors.
import type { Operation } from 'mlir-parser-ts';
import { isFloat } from '../workload/element-type.ts';
import { elementsOf, isTensor, staticTensor, tensorText, typeName, type Tensor } from '../workload/tensor.ts';
import { definitionIn, listOf, type Value, type Writer, type Written } from './text.ts';

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

/** Name of the only form of such an operation. */
export const productForm = ({ result }: Product): string =>
  result.shape[0]! > 1 && result.shape[1]! % COLUMNS !== 0 ? BLOCKS : SETTLED;

/** Smaller weights stay in the fastest cache in any layout. */
const LEAST_WEIGHTS = 16_384;

/** Such as `linalg.matmul 20x1024xf32,8210x1024xf32->20x8210xf32`. */
export const productKey = ({ name, factors, result }: Product): string =>
  `${name} ${factors.map(typeName).join()}->${typeName(result)}`;

/**
 * The products of a program whose weights are all constants. A product of other values would be transposed in each call, and equal operations
 * are rewritten alike.
 */
export function readProducts(operations: readonly Operation[], text: Uint8Array): Product[] {
  const found = operations.flatMap((operation) => readProduct(operation, text) ?? []);
  const varying = new Set(found.flatMap((one) => (one.isConstant ? [] : [productKey(one.product)])));
  return found.map(({ product }) => product).filter((one) => !varying.has(productKey(one)));
}

function readProduct({ name, operands, start }: Operation, text: Uint8Array) {
  if (name !== NAME || operands.length !== 3) return null;
  const [lhs, , result] = operands.map(({ type }) => staticTensor(type));
  const weights = TRANSPOSED.exec(definitionIn(text, operands[1]!.value, start) ?? '')?.[1];
  if (!lhs || !result || weights === undefined) return null;
  const [k, n] = [lhs.shape[1]!, result.shape[1]!];
  const product = {
    ...{ name: NAME, factors: [lhs, { ...lhs, shape: [n, k] }], result },
  } as const satisfies Product;
  const isConstant = CONSTANT.test(definitionIn(text, weights, start) ?? '');
  return isProduct(product) ? { product, isConstant } : null;
}

const TRANSPOSED = /^linalg\.transpose ins\((%[\w#]+) : [^\n]* permutation = \[1, 0\]/;
const CONSTANT = /^(?:arith\.constant|util\.global\.load) /;

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

/** Writes the product in its form. Returns its result. */
export function withSettledWeights(
  writer: Writer,
  product: Product,
  [lhs, weights, into]: readonly [Value, Value, Value],
): Value {
  const transposed = writer.transpose(weights, [1, 0]);
  if (productForm(product) === SETTLED)
    return writer.contraction([lhs, writer.settle(transposed)], into, ['mk', 'kp', 'mp']);
  const [k, n] = transposed.shape as [number, number];
  const rows = into.shape[0]!;
  const count = Math.ceil(n / WIDTH);
  const padded = writer.pad(transposed, [0, 0], [0, count * WIDTH - n]);
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
export function writtenProduct({ name, factors: [lhs, weights], result }: Product): Written {
  const operands = [
    { ...lhs, name: '%lhs' },
    { ...weights, name: '%weights' },
    { ...result, name: '%into' },
  ];
  const [n, k] = weights.shape as [number, number];
  const transposed = tensorText({ ...weights, shape: [k, n] });
  const type = tensorText(result);
  return {
    ...{ operands, list: listOf(operands), type },
    before: `%none = tensor.empty() : ${transposed}
      %transposed = linalg.transpose ins(%weights : ${tensorText(weights)}) outs(%none : ${transposed}) permutation = [1, 0]`,
    operation: `${name} ins(%lhs, %transposed : ${tensorText(lhs)}, ${transposed}) outs(%into : ${type}) -> ${type}`,
  };
}
