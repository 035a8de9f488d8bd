// Products in a loop over the steps of a sequence, as of an LSTM: each multiplies one step, and reads all weights. In their form, the products of
// all steps are one product before the loop, of which each step takes its rows.
import type { Operation } from 'mlir-parser-ts';
import { VALUE } from '../compiler/symbol.ts';
import { isIntegerWithin } from '../system/data.ts';
import { isFloat } from '../workload/element-type.ts';
import {
  elementsOf,
  isTensor,
  staticTensor,
  tensorFromText,
  tensorText,
  typeName,
  type Tensor,
} from '../workload/tensor.ts';
import type { ReplaceableKind } from './form.ts';
import type { Packing } from './packing.ts';
import { alwaysConstant, tilesFor, TRANSPOSED, withSettledWeights } from './product.ts';
import { areBeforeLoop, definitionIn } from './definitions.ts';
import { groupsText, listOf, type Value, type Writer, type Written } from './text.ts';

export interface StepProduct {
  readonly name: (typeof NAMES)[number];
  /** (steps, m, k) or (steps, k). */
  readonly sequence: Tensor;
  /** (k, n), or (n, k) for a program that transposes them. */
  readonly weights: Tensor;
  readonly isTransposed: boolean;
  /** (m, n), or (n) of a vector. */
  readonly result: Tensor;
}

const NAMES = ['linalg.matmul', 'linalg.vecmat'] as const;

const FORM = 'all-steps-at-once';

const MOST_STEPS = 2 ** 16;

/** Smaller products take no longer than the copy of their result. */
const LEAST_WEIGHTS = 1024;

/** Such as `step of linalg.matmul 20x1x128xf32,144x128xf32->1x144xf32 transposed`. */
const stepKey = ({ name, sequence, weights, isTransposed, result }: StepProduct): string =>
  `step of ${name} ${typeName(sequence)},${typeName(weights)}->${typeName(result)}${isTransposed ? ' transposed' : ''}`;

/** Products whose sequence and weights are older than the loop. */
export const readStepProducts = (operations: readonly Operation[], text: Uint8Array): StepProduct[] =>
  alwaysConstant(
    operations.flatMap((operation) => readStepProduct(operation, text) ?? []),
    stepKey,
  );

function readStepProduct({ name, operands, start }: Operation, text: Uint8Array) {
  if (!(NAMES as readonly string[]).includes(name) || operands.length !== 3) return null;
  const definitionOf = (value: string) => definitionIn(text, value, start) ?? '';
  const [lhs, rhs] = operands.map(({ value }) => value) as [string, string];
  const slice = COLLAPSED.exec(definitionOf(lhs))?.[1] ?? lhs;
  const [, sequence, type] = STEP.exec(definitionOf(slice)) ?? [];
  if (sequence === undefined || type === undefined) return null;
  const transposed = TRANSPOSED.exec(definitionOf(rhs))?.[1];
  const steps = tensorFromText(type);
  const [, columns, result] = operands.map((one) => staticTensor(one.type));
  if (!steps || !columns || !result) return null;
  const isTransposed = transposed !== undefined;
  const shape = isTransposed ? [...columns.shape].reverse() : columns.shape;
  const product = { name, sequence: steps, weights: { ...columns, shape }, isTransposed, result };
  const isConstant = areBeforeLoop(text, [sequence, transposed ?? rhs], start);
  return isStepProduct(product) ? { product, isConstant } : null;
}

const COLLAPSED = new RegExp(String.raw`^tensor\.collapse_shape (${VALUE}) \[`);
const STEP = new RegExp(
  String.raw`^tensor\.extract_slice (${VALUE})\[${VALUE}(?:, 0)+\] \[1(?:, \d+)+\] \[1(?:, 1)+\] : (tensor<[^>]+>)`,
);

/** Whether a value, for example from a file, is such an operation. Checks every field, because all are written into MLIR. */
export function isStepProduct(value: unknown): value is StepProduct {
  const { name, sequence, weights, isTransposed, result } = (value ?? {}) as Partial<
    Record<keyof StepProduct, unknown>
  >;
  if (!isTensor(sequence) || !isTensor(weights) || !isTensor(result)) return false;
  if (weights.shape.length !== 2 || typeof isTransposed !== 'boolean') return false;
  const [k, n] = isTransposed ? [...weights.shape].reverse() : weights.shape;
  const rows = sequence.shape.slice(1, -1);
  const isVector = name === 'linalg.vecmat';
  return (
    (isVector || name === 'linalg.matmul') &&
    [2, 3].includes(sequence.shape.length) &&
    sequence.shape.at(-1) === k &&
    isIntegerWithin(sequence.shape[0], 2, MOST_STEPS) &&
    elementsOf(rows) * n! === elementsOf(result.shape) &&
    result.shape.length === (isVector ? 1 : 2) &&
    result.shape.at(-1) === n &&
    isFloat(result.elementType) &&
    [sequence, weights].every(({ elementType }) => elementType === result.elementType) &&
    elementsOf(weights.shape) >= LEAST_WEIGHTS
  );
}

/** Rows and columns of the result of one step, and length of the sums. */
const loopsOf = ({ sequence: { shape }, result }: StepProduct) => {
  const [k, n] = [shape.at(-1)!, result.shape.at(-1)!];
  return [elementsOf(result.shape) / n, n, k] as const;
};

const STEP_NAME = '%step';

/** The slice with the product of one step. */
const ofStep = (from: Value, to: Tensor): string =>
  `tensor.extract_slice ${from.name}[${[STEP_NAME, ...from.shape.slice(1).map(() => 0)].join(', ')}] [${[1, ...from.shape.slice(1)].join(', ')}] [${from.shape.map(() => 1).join(', ')}] : ${tensorText(from)} to ${tensorText(to)}`;

function allAtOnce(
  writer: Writer,
  product: StepProduct,
  [sequence, weights, into]: readonly [Value, Value, Value],
  packing: Packing | null,
): Value {
  const steps = sequence.shape[0]!;
  const [rows, columns] = loopsOf(product);
  const all = sequence.shape.length === 3 ? writer.collapse(sequence, [[0, 1], [2]]) : sequence;
  const none = writer.zeros({ ...into, shape: [steps * rows, columns] });
  const products = withSettledWeights(writer, [all, weights], product.isTransposed, none, packing);
  const split = writer.expand(products, [[0, 1], [2]], [steps, ...into.shape]);
  return writer.add(writer.define(into, ofStep(split, into)), into);
}

/** The operation as the program has it. A function of its own adds up the products of all steps. */
function writtenStep(product: StepProduct): Written {
  const { name, sequence, weights, isTransposed, result } = product;
  const operands = [
    { ...sequence, name: '%sequence' },
    { ...weights, name: '%weights' },
    { ...result, name: '%into' },
  ] as const;
  const [ofSequence, ofWeights, into] = operands;
  const slice = { ...sequence, shape: [1, ...sequence.shape.slice(1)] };
  const [rows, , k] = loopsOf(product);
  const step = { ...sequence, shape: result.shape.length === 1 ? [k] : [rows, k] };
  const columns = tensorText({ ...weights, shape: [k, into.shape.at(-1)!] });
  const isSlice = step.shape.length === slice.shape.length;
  const groups = step.shape.length === 1 ? [slice.shape.map((_, d) => d)] : [[0, 1], [2]];
  const type = tensorText(into);
  const before = [
    `${isSlice ? '%one' : '%slice'} = ${ofStep(ofSequence, slice)}`,
    isSlice
      ? ''
      : `%one = tensor.collapse_shape %slice ${groupsText(groups)} : ${tensorText(slice)} into ${tensorText(step)}`,
    ...(isTransposed
      ? [
          `%none = tensor.empty() : ${columns}`,
          `%columns = linalg.transpose ins(%weights : ${tensorText(weights)}) outs(%none : ${columns}) permutation = [1, 0]`,
        ]
      : []),
  ].join('\n      ');
  const operation = `${name} ins(%one, ${isTransposed ? '%columns' : ofWeights.name} : ${tensorText(step)}, ${columns}) outs(%into : ${type}) -> ${type}`;
  return {
    ...{ operands, before, operation, type },
    list: `${listOf([ofSequence])}, ${STEP_NAME}: index, ${listOf([ofWeights, into])}`,
    alone: {
      operands: [ofSequence, ofWeights, { ...into, name: '%initial' }],
      body: `%first = arith.constant 0 : index
  %next = arith.constant 1 : index
  %steps = arith.constant ${sequence.shape[0]} : index
  %0 = scf.for ${STEP_NAME} = %first to %steps step %next iter_args(%into = %initial) -> (${type}) {
    ${before}
    %sum = ${operation}
    scf.yield %sum : ${type}
  }`,
    },
  };
}

export const stepProducts: ReplaceableKind<StepProduct> = {
  is: isStepProduct,
  key: stepKey,
  read: (text, operations) => readStepProducts(operations, text),
  writtenOf: writtenStep,
  resultOf: ({ result }) => result,
  formsOf: (product) => {
    const [, n, k] = loopsOf(product);
    return [{ name: FORM, ...tilesFor(product.result, n, k) }];
  },
  passesAfter: () => ['"loop-invariant-code-motion"'],
  write: (writer, product, operands, { packing }) => ({
    value: allAtOnce(writer, product, operands as [Value, Value, Value], packing),
  }),
  loopsOf,
};
