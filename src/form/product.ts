// Products with constant weights (n, k) that a program transposes, as in linear layers. The compiler fuses the transpose into the product, whose
// vectors then read weights that are k elements apart. In its form, the weights are transposed once, at compile time. If no tile divides their
// columns, as those of most vocabularies, they are padded to blocks of whole vectors.
//
// A loop over the steps of a sequence, as of an LSTM, multiplies one step at a time, and reads all weights for each. In their form, the
// products of all steps are one product before the loop, of which each step takes its rows.
import { VALUE } from '../compiler/symbol.ts';
import type { Operation } from 'mlir-parser-ts';
import type { Named, ReplaceableKind } from './form.ts';
import type { Packing } from './packing.ts';
import { hasStrips } from './strips.ts';
import { packedProduct } from './tiles.ts';
import { isIntegerWithin } from '../system/data.ts';
import { isFloat } from '../workload/element-type.ts';
import { elementsOf, isTensor, staticTensor, tensorText, typeName, type Tensor } from '../workload/tensor.ts';
import {
  areBeforeLoop,
  CONSTANT,
  definitionIn,
  listOf,
  type Value,
  type Writer,
  type Written,
} from './text.ts';

export interface Product {
  readonly name: 'linalg.matmul';
  /** Factors: (m, k), and weights (n, k). */
  readonly factors: readonly [Tensor, Tensor];
  /** (m, n). */
  readonly result: Tensor;
  /** Of a product in a loop: number of steps of the sequence (steps, m, k), of which the first factor is one step. */
  readonly steps?: number;
}

const NAME = 'linalg.matmul';

const [SETTLED, BLOCKS, AT_ONCE] = ['settled-weights', 'blocks-of-weights', 'all-steps-at-once'] as const;

/** Columns of a block: two vectors of the widest registers. */
const WIDTH = 32;

/** Columns that some tile of whole vectors divides. A single row needs none, because its time is that of reading the weights. */
const COLUMNS = 16;

function formOf({ factors: [lhs], result, steps = 1 }: Product): Named {
  const name = steps > 1 ? AT_ONCE : needsBlocks(result) ? BLOCKS : SETTLED;
  const isPackable = lhs.elementType === 'f32' && hasStrips(result.shape[1]!, lhs.shape[1]!);
  return isPackable ? { name, tiles: { of: 'f32', areNeeded: false } } : { name };
}

const needsBlocks = ({ shape }: Tensor): boolean => shape[0]! > 1 && shape[1]! % COLUMNS !== 0;

const MOST_STEPS = 2 ** 16;

/** Smaller weights stay in the fastest cache in any layout. */
export const LEAST_WEIGHTS = 16_384;

/** Such as `linalg.matmul 20x1024xf32,8210x1024xf32->20x8210xf32`, or `... of 20 steps`. */
const productKey = ({ name, factors, result, steps }: Product): string =>
  `${name} ${factors.map(typeName).join()}->${typeName(result)}${steps === undefined ? '' : ` of ${steps} steps`}`;

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
  const step = stepOf(operands[0]!.value, weights, text, start);
  const product = {
    ...{ name: NAME, factors: [lhs, { ...lhs, shape: [n, k] }], result },
    ...(step !== null && { steps: step.steps }),
  } as const satisfies Product;
  const isConstant = step?.isInvariant ?? CONSTANT.test(definitionIn(text, weights, start) ?? '');
  return isProduct(product) ? { product, isConstant } : null;
}

/**
 * The number of steps of a sequence of which a product multiplies one, and whether a loop does so for all of them with the same weights. Null for
 * other products.
 */
function stepOf(lhs: string, weights: string, text: Uint8Array, start: number) {
  const slice = COLLAPSED.exec(definitionIn(text, lhs, start) ?? '')?.[1];
  const step = slice === undefined ? null : STEP.exec(definitionIn(text, slice, start) ?? '');
  if (step === null) return null;
  const [, sequence, steps] = step;
  return { steps: Number(steps), isInvariant: areBeforeLoop(text, [sequence!, weights], start) };
}

const COLLAPSED = new RegExp(String.raw`^tensor\.collapse_shape (${VALUE}) \[\[0, 1\], \[2\]\] `);
const STEP = new RegExp(
  String.raw`^tensor\.extract_slice (${VALUE})\[${VALUE}, 0, 0\] \[1, \d+, \d+\] \[1, 1, 1\] : tensor<(\d+)x`,
);

/** The transpose of a matrix. Its group is the matrix. */
export const TRANSPOSED = new RegExp(
  String.raw`^linalg\.transpose ins\((${VALUE}) : [^\n]* permutation = \[1, 0\]`,
);

/** Whether a value, for example from a file, is such an operation. Checks every field, because all are written into MLIR. */
export function isProduct(value: unknown): value is Product {
  const { name, factors, result, steps } = (value ?? {}) as Partial<Record<keyof Product, unknown>>;
  if (name !== NAME || !Array.isArray(factors) || factors.length !== 2 || !isTensor(result)) return false;
  if (!factors.every(isTensor)) return false;
  if (steps !== undefined && !isIntegerWithin(steps, 2, MOST_STEPS)) return false;
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

/** Writes the product in its form. Returns its result. @param packing null to leave the layout to the compiler */
function inProductForm(
  writer: Writer,
  product: Product,
  operands: readonly Value[],
  packing: Packing | null,
): Value {
  const [lhs, weights, into] = operands as [Value, Value, Value];
  if (product.steps === undefined) return withSettledWeights(writer, lhs, weights, into, packing);
  const [steps, rows, columns] = [product.steps, ...into.shape] as [number, number, number];
  const all = writer.collapse(lhs, [[0, 1], [2]]);
  const none = writer.zeros({ ...into, shape: [steps * rows, columns] });
  const split = writer.expand(
    withSettledWeights(writer, all, weights, none, packing),
    [[0, 1], [2]],
    [steps, rows, columns],
  );
  const own = writer.define(
    into,
    `tensor.extract_slice ${split.name}[${STEP_NAME}, 0, 0] [1, ${rows}, ${columns}] [1, 1, 1] : ${tensorText(split)} to ${tensorText(into)}`,
  );
  return writer.add(own, into);
}

function withSettledWeights(
  writer: Writer,
  lhs: Value,
  weights: Value,
  into: Value,
  packing: Packing | null,
): Value {
  if (packing !== null) return writer.add(packedProduct(writer, [lhs, weights], true, into, packing), into);
  const transposed = writer.transpose(weights, [1, 0]);
  if (!needsBlocks(into))
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

/** Names of the step and of the first factor in the written operation. */
const [STEP_NAME, FACTOR] = ['%step', '%factor'];

/** The operation as the program has it. */
function writtenProduct({ name, factors: [lhs, weights], result, steps }: Product): Written {
  const [rows, k] = lhs.shape as [number, number];
  const first = steps === undefined ? lhs : { ...lhs, shape: [steps, rows, k] };
  const operands = [
    { ...first, name: '%lhs' },
    { ...weights, name: '%weights' },
    { ...result, name: '%into' },
  ];
  const transposed = tensorText({ ...weights, shape: [...weights.shape].reverse() });
  const [type, lhsType] = [tensorText(result), tensorText(lhs)];
  const slice = tensorText({ ...lhs, shape: [1, rows, k] });
  const ofStep = `%slice = tensor.extract_slice %lhs[${STEP_NAME}, 0, 0] [1, ${rows}, ${k}] [1, 1, 1] : ${tensorText(first)} to ${slice}
      ${FACTOR} = tensor.collapse_shape %slice [[0, 1], [2]] : ${slice} into ${lhsType}
      `;
  const written = {
    ...{ operands, list: listOf(operands), type },
    before: `${steps === undefined ? '' : ofStep}%none = tensor.empty() : ${transposed}
      %transposed = linalg.transpose ins(%weights : ${tensorText(weights)}) outs(%none : ${transposed}) permutation = [1, 0]`,
    operation: `${name} ins(${steps === undefined ? '%lhs' : FACTOR}, %transposed : ${lhsType}, ${transposed}) outs(%into : ${type}) -> ${type}`,
  };
  return steps === undefined ? written : inLoop(written, steps);
}

/** A product of a step. A function of its own adds up the products of all steps. */
function inLoop(written: Written, steps: number): Written {
  const { operands, before, operation, type } = written;
  const [sequence, weights, into] = operands as [Value, Value, Value];
  return {
    ...written,
    list: `${listOf([sequence])}, ${STEP_NAME}: index, ${listOf([weights, into])}`,
    alone: {
      operands: [sequence, weights, { ...into, name: '%initial' }],
      body: `%first = arith.constant 0 : index
  %one = arith.constant 1 : index
  %steps = arith.constant ${steps} : index
  %0 = scf.for ${STEP_NAME} = %first to %steps step %one iter_args(%into = %initial) -> (${type}) {
    ${before}
    %sum = ${operation}
    scf.yield %sum : ${type}
  }`,
    },
  };
}

export const products: ReplaceableKind<Product> = {
  is: isProduct,
  key: productKey,
  read: (text, operations) => readProducts(operations, text),
  writtenOf: writtenProduct,
  resultOf: ({ result }) => result,
  formsOf: (product) => [formOf(product)],
  passesAfter: ({ steps }) => (steps === undefined ? [] : ['"loop-invariant-code-motion"']),
  write: (writer, product, operands, { packing }) => ({
    value: inProductForm(writer, product, operands, packing),
  }),
  loopsOf: ({ factors: [lhs, weights] }) => [...lhs.shape, weights.shape[0]!],
};
