// Products of 8-bit integers with zero points, as ONNX's MatMulInteger of networks that are quantized at run time. They arrive as products of
// 32-bit integers, from which the zero points are subtracted before, with sums of 64 bits: code for these is many times slower. In their form, 8-bit
// integers are multiplied, in tiles where the processor has products of these, and the zero points are taken out as sums of rows and columns.
import { VALUE } from '../compiler/symbol.ts';
import type { Operation } from 'mlir-parser-ts';
import type { ReplaceableKind } from './form.ts';
import { isTensor, staticTensor, tensorText, typeName, type Tensor } from '../workload/tensor.ts';
import type { Widening } from './generic-convolution.ts';
import { MOST_SUMMED, productOfIntegers, sumsAlong } from './packed-product.ts';
import type { Packing } from './packing.ts';
import { plainDefinitionIn } from './definitions.ts';
import { batchOf, batchText, genericText, listOf, type Value, type Writer, type Written } from './text.ts';

export interface IntegerProduct {
  readonly name: 'linalg.matmul' | 'linalg.batch_matmul';
  /** 8-bit integers: (m, k) or (1, m, k), and (k, n). */
  readonly integers: readonly [Tensor, Tensor];
  /** (m, n) or (1, m, n). */
  readonly result: Tensor;
  /** Of each factor: whether its integers and its zero point are unsigned. */
  readonly isUnsigned: readonly [boolean, boolean];
  /** Whether the zero point of the second factor is 0. */
  readonly isSymmetric: boolean;
}

const [NARROW, MIDDLE] = ['i8', 'i32'];

/** Such as `linalg.matmul 128x384xui8,384x1536xi8->128x1536xi64`; with a second zero point, ` around a zero point` follows. */
const integerProductKey = ({ name, integers, result, isUnsigned, isSymmetric }: IntegerProduct): string => {
  const types = integers.map((one, i) => typeName(one).replace(/i8$/, isUnsigned[i]! ? 'ui8' : 'i8'));
  return `${name} ${types.join()}->${typeName(result)}${isSymmetric ? '' : ' around a zero point'}`;
};

const identity = String.raw`affine_map<\(([^()]*)\) -> \(\1\)>`;
const same = String.raw`affine_map<\(\1\) -> \(\1\)>`;
const parallel = String.raw`iterator_types = \[(?:"parallel"(?:, )?)+\]`;
const block = String.raw`[^\n]*\n\s*\^bb0\(`;

/** An integer that is widened: value, operation. */
const WIDENED = new RegExp(
  String.raw`^linalg\.generic \{indexing_maps = \[${identity}, ${same}\], ${parallel}\} ins\((${VALUE}) : tensor<[\dx]+i8>\) outs\(${block}(%\w+): i8, %\w+: i32\):\s*(%\w+) = arith\.(ext[us]i) \3 : i8 to i32\s*linalg\.yield \4 : i32`,
);

/** From which a zero point is subtracted: value, zero point, operation. */
const MOVED = new RegExp(
  String.raw`^linalg\.generic \{indexing_maps = \[${identity}, affine_map<\(\1\) -> \(\)>, ${same}\], ${parallel}\} ins\((${VALUE}), (${VALUE}) : tensor<[\dx]+i32>, tensor<i8>\) outs\(${block}(%\w+): i32, (%\w+): i8, %\w+: i32\):\s*(%\w+) = arith\.(ext[us]i) \5 : i8 to i32\s*(%\w+) = arith\.subi \4, \6 : i32\s*linalg\.yield \8 : i32`,
);

const BATCHED = batchOf(MIDDLE);

const ZERO = /^arith\.constant dense<0> : tensor<i8>/;

/** @returns null for other operations */
export function readIntegerProduct(operation: Operation, text: Uint8Array): IntegerProduct | null {
  const { name, operands, start } = operation;
  if (operands.length !== 3) return null;
  const [lhs, rhs, result] = operands.map(({ type }) => staticTensor(type));
  if (lhs?.elementType !== MIDDLE || rhs?.elementType !== MIDDLE || !result) return null;
  const defined = (value: string) => plainDefinitionIn(text, value, start);
  const factorOf = (value: string) => {
    const [, , wide, zero, , , , how] = MOVED.exec(defined(value)) ?? [];
    const widened = wide === undefined ? null : WIDENED.exec(defined(wide));
    return widened !== null && widened[5] === how ? { zero: zero!, isUnsigned: how === 'extui' } : null;
  };
  const isBatch = name === 'linalg.batch_matmul';
  const matrix = isBatch ? BATCHED.exec(defined(operands[1]!.value))?.[1] : operands[1]!.value;
  const factors = [factorOf(operands[0]!.value), matrix === undefined ? null : factorOf(matrix)];
  const [first, second] = factors;
  if (!first || !second) return null;
  const found = {
    ...{ name, result, isUnsigned: [first.isUnsigned, second.isUnsigned] },
    integers: [lhs, { ...rhs, shape: rhs.shape.slice(isBatch ? 1 : 0) }].map((one) => ({
      ...one,
      elementType: NARROW,
    })),
    isSymmetric: !second.isUnsigned && ZERO.test(defined(second.zero)),
  };
  return isIntegerProduct(found) ? found : null;
}

/** Whether a value, for example from a file, is such an operation. Checks every field, because all are written into MLIR. */
export function isIntegerProduct(value: unknown): value is IntegerProduct {
  const { name, integers, result, isUnsigned, isSymmetric } = (value ?? {}) as Partial<
    Record<keyof IntegerProduct, unknown>
  >;
  const batch = name === 'linalg.matmul' ? [] : name === 'linalg.batch_matmul' ? [1] : null;
  if (batch === null || !Array.isArray(integers) || integers.length !== 2 || !integers.every(isTensor))
    return false;
  if (!Array.isArray(isUnsigned) || isUnsigned.length !== 2 || !isTensor(result)) return false;
  const [lhs, rhs] = integers as [Tensor, Tensor];
  const [k, n] = rhs.shape;
  const m = lhs.shape.at(-2);
  const has = ({ shape }: Tensor, sizes: readonly unknown[]) =>
    JSON.stringify(shape) === JSON.stringify(sizes);
  return (
    [...(isUnsigned as readonly unknown[]), isSymmetric].every((one) => typeof one === 'boolean') &&
    [lhs, rhs].every(({ elementType }) => elementType === NARROW) &&
    (result.elementType === 'i32' || result.elementType === 'i64') &&
    rhs.shape.length === 2 &&
    k! <= MOST_SUMMED &&
    has(lhs, [...batch, m, k]) &&
    has(result, [...batch, m, n])
  );
}

/** A batch of one as a matrix. */
const FLAT = [[0, 1], [2]];

/** Writes the product in its form. Returns its result. */
function inEightBits(
  writer: Writer,
  product: IntegerProduct,
  operands: readonly Value[],
  packing: Packing | null,
): Value {
  const [lhs, lhsZero, rhs] = operands as [Value, Value, Value];
  const into = operands.at(-1)!;
  const flat = (value: Value) => (value.shape.length === 3 ? writer.collapse(value, FLAT) : value);
  const widenings = product.isUnsigned.map((is) => `arith.ext${is ? 'u' : 's'}i` as const) as [
    Widening,
    Widening,
  ];
  const rows = writer.settle(flat(lhs));
  const columns = writer.settle(rhs);
  const begun = flat(into);
  const sum = productOfIntegers(writer, [rows, columns], { widenings, packing, shape: begun.shape });
  const k = rhs.shape[0]!;
  const zeroOf = (i: 0 | 1, input: string) => `%z${i} = ${widenings[i]} ${input} : ${NARROW} to ${MIDDLE}`;
  const rest = product.isSymmetric
    ? { inputs: [], maps: [], body: [], gives: '%a' }
    : {
        inputs: [operands[3]!, sumsAlong(writer, rows, -1, widenings[0])],
        maps: ['', 'm'],
        body: [
          zeroOf(1, '%x4'),
          `%v = arith.muli %z1, %x5 : ${MIDDLE}`,
          `%b = arith.subi %a, %v : ${MIDDLE}`,
          `%both = arith.muli %z0, %z1 : ${MIDDLE}`,
          `%count = arith.constant ${k} : ${MIDDLE}`,
          `%all = arith.muli %both, %count : ${MIDDLE}`,
          `%c = arith.addi %b, %all : ${MIDDLE}`,
        ],
        gives: '%c',
      };
  const isWide = into.elementType !== MIDDLE;
  const moved = writer.generic({
    loops: 'm, n',
    maps: ['m, n', 'm, n', '', 'n', ...rest.maps, 'm, n'],
    inputs: [sum, begun, lhsZero, sumsAlong(writer, columns, -2, widenings[1]), ...rest.inputs],
    into: writer.empty(begun),
    body: [
      zeroOf(0, '%x2'),
      `%t = arith.muli %z0, %x3 : ${MIDDLE}`,
      `%a = arith.subi %x0, %t : ${MIDDLE}`,
      ...rest.body,
      ...(isWide ? [`%e = arith.extsi ${rest.gives} : ${MIDDLE} to ${into.elementType}`] : []),
      `%r = arith.addi ${isWide ? '%e' : rest.gives}, %x1 : ${into.elementType}`,
    ],
    gives: '%r',
  });
  return into.shape.length === 3 ? writer.expand(moved, FLAT, into.shape) : moved;
}

/** The operation as the program has it. */
function writtenIntegerProduct({ name, integers, result, isUnsigned, isSymmetric }: IntegerProduct): Written {
  const [lhs, rhs] = integers.map((one, i) => ({ ...one, name: ['%lhs', '%rhs'][i]! })) as [Value, Value];
  const zeros = ['%lhs_zero', '%rhs_zero'].map((zero) => ({ name: zero, shape: [], elementType: NARROW }));
  const into = { ...result, name: '%into' };
  const movedOf = (value: Value, i: number) => {
    const wide = { ...value, elementType: MIDDLE, name: `${value.name}_wide` };
    const none = { ...wide, name: `${value.name}_none` };
    const moved = { ...wide, name: `${value.name}_moved` };
    const loops = value.shape.map((_, d) => `d${d}`).join(', ');
    const widen = `arith.${isUnsigned[i]! ? 'extui' : 'extsi'}`;
    const widened = genericText({
      ...{ loops, maps: [loops, loops], inputs: [value], into: none },
      ...{ body: [`%w = ${widen} %x0 : ${NARROW} to ${MIDDLE}`], gives: '%w' },
    });
    const subtracted = genericText({
      ...{ loops, maps: [loops, '', loops], inputs: [wide, zeros[i]!], into: none },
      body: [`%w = ${widen} %x1 : ${NARROW} to ${MIDDLE}`, `%s = arith.subi %x0, %w : ${MIDDLE}`],
      gives: '%s',
    });
    const text = `${none.name} = tensor.empty() : ${tensorText(none)}
      ${wide.name} = ${widened}
      ${moved.name} = ${subtracted}
      `;
    return { moved, text };
  };
  const [first, second] = [movedOf(lhs, 0), movedOf(rhs, 1)];
  const isBatch = name === 'linalg.batch_matmul';
  const batched = { ...second.moved, shape: [1, ...second.moved.shape], name: '%batched' };
  const none = { ...batched, name: '%batched_none' };
  const batching = isBatch
    ? `${none.name} = tensor.empty() : ${tensorText(none)}
      ${batched.name} = ${batchText(second.moved, none)}`
    : '';
  const matrix = isBatch ? batched : second.moved;
  const operands = [lhs, zeros[0]!, rhs, ...(isSymmetric ? [] : [zeros[1]!]), into];
  const zero = isSymmetric ? `%rhs_zero = arith.constant dense<0> : tensor<${NARROW}>\n      ` : '';
  const type = tensorText(result);
  return {
    ...{ operands, list: listOf(operands), type },
    before: `${zero}${first.text}${second.text}${batching}`,
    operation: `${name} ins(${first.moved.name}, ${matrix.name} : ${tensorText(first.moved)}, ${tensorText(matrix)}) outs(%into : ${type}) -> ${type}`,
  };
}

export const integerProducts: ReplaceableKind<IntegerProduct> = {
  is: isIntegerProduct,
  key: integerProductKey,
  read: (text, operations) => operations.flatMap((one) => readIntegerProduct(one, text) ?? []),
  writtenOf: writtenIntegerProduct,
  resultOf: ({ result }) => result,
  formsOf: () => [{ name: 'in-8-bits', tiles: { of: 'i8', areNeeded: false } }],
  write: (writer, product, operands, { packing }) => ({
    value: inEightBits(writer, product, operands, packing),
  }),
};
