// Products of floats and constant weights that are stored in 8 bits, with a step for each column or for all of them, as of language models. By default,
// the compiler makes floats of all weights in each call, in a dispatch of its own: it writes and reads four times the bytes. In their form, a product
// widens the weights in registers, and each sum is multiplied by its step.
import { VALUE } from '../compiler/symbol.ts';
import type { Operation } from 'mlir-parser-ts';
import { withoutLocations } from '../compiler/locations.ts';
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
import { hasStrips, packedProduct, type Packing } from './packing.ts';
import { flipped, HALF } from './parts.ts';
import { matrixOfBatch } from './packed-product.ts';
import { LEAST_WEIGHTS, TRANSPOSED } from './product.ts';
import { CONSTANT, definitionIn, genericText, type Value, type Writer, type Written } from './text.ts';

export interface StoredProduct {
  readonly name: 'linalg.matmul' | 'linalg.batch_matmul';
  /** (m, k) or (1, m, k). */
  readonly lhs: Tensor;
  /** Integers of 8 bits: (k, n), or (n, k) if the program transposes them. */
  readonly weights: Tensor;
  readonly isTransposed: boolean;
  readonly isUnsigned: boolean;
  /** Whether each column has a step, and a zero point. Otherwise, all columns have one. */
  readonly isByColumn: boolean;
  readonly hasZeroPoints: boolean;
  /** (m, n) or (1, m, n). */
  readonly result: Tensor;
}

const [NARROW, WIDE] = ['i8', 'f32'];

/** Such as `dequantized product 1x768xf32,768x2048xi8 by columns->1x2048xf32`. */
const storedKey = ({ lhs, weights, result, ...one }: StoredProduct): string => {
  const stored = typeName(weights).replace(NARROW, one.isUnsigned ? 'ui8' : NARROW);
  const steps = `${one.isByColumn ? ' by columns' : ''}${one.hasZeroPoints ? ' around zero points' : ''}`;
  return `dequantized product ${typeName(lhs)},${stored}${one.isTransposed ? ' transposed' : ''}${steps}->${typeName(result)}`;
};

/** The type of zero points; a single one is wide. */
const zeroTypeOf = (isByColumn: boolean): string => (isByColumn ? NARROW : 'i64');

/** Values of integers of 8 bits. */
const rangeOf = (isUnsigned: boolean) => (isUnsigned ? [0, 2 * HALF - 1] : [-HALF, HALF - 1]);

const DEQUANTIZED = new RegExp(
  String.raw`^iree_linalg_ext\.dequantize_affine <indexing_maps = \[affine_map<\(d0, d1\) -> \(d0, d1\)>, affine_map<\(d0, d1\) -> \((?<along>d[01])?\)>, (?:affine_map<\(d0, d1\) -> \(\k<along>\)>, )?affine_map<\(d0, d1\) -> \(d0, d1\)>\], quant_min = (?<least>-?\d+), quant_max = (?<most>\d+)(?<unsigned>, input_unsigned)?(?<unsignedZero>, zp_unsigned)?> ins\((?<weights>${VALUE}), ${VALUE}(?<zero>, ${VALUE})? : (?<type>tensor<\d+x\d+xi8>), `,
);

/** @returns null for other operations */
function readStoredProduct({ name, operands, start }: Operation, text: Uint8Array): StoredProduct | null {
  if (operands.length !== 3) return null;
  const [lhs, , result] = operands.map(({ type }) => staticTensor(type));
  if (!lhs || !result) return null;
  const definitionOf = (value: string) => withoutLocations(definitionIn(text, value, start) ?? '');
  const factor = operands[1]!.value;
  const matrix = name === 'linalg.batch_matmul' ? matrixOfBatch(definitionOf(factor)) : factor;
  if (matrix === undefined) return null;
  const transposed = TRANSPOSED.exec(definitionOf(matrix))?.[1];
  const found = DEQUANTIZED.exec(definitionOf(transposed ?? matrix))?.groups;
  if (found === undefined || !CONSTANT.test(definitionOf(found['weights']!))) return null;
  const { along, least, most, unsigned, unsignedZero, zero } = found as Record<string, string | undefined>;
  const isTransposed = transposed !== undefined;
  const [isUnsigned, hasZeroPoints] = [unsigned !== undefined, zero !== undefined];
  const isUsual =
    [undefined, isTransposed ? 'd0' : 'd1'].includes(along) &&
    rangeOf(isUnsigned).join() === `${least},${most}` &&
    (unsignedZero !== undefined) === (isUnsigned && hasZeroPoints && along !== undefined);
  const product = {
    ...{ name, lhs, weights: tensorFromText(found['type']!), isTransposed, isUnsigned },
    ...{ isByColumn: along !== undefined, hasZeroPoints, result },
  };
  return isUsual && isStoredProduct(product) ? product : null;
}

/** Whether a value, for example from a file, is such an operation. Checks every field, because all are written into MLIR. */
function isStoredProduct(value: unknown): value is StoredProduct {
  const { name, lhs, weights, result, ...are } = (value ?? {}) as Partial<
    Record<keyof StoredProduct, unknown>
  >;
  const batch = name === 'linalg.matmul' ? [] : name === 'linalg.batch_matmul' ? [1] : null;
  if (batch === null || ![lhs, weights, result].every(isTensor)) return false;
  const [rows, stored, into] = [lhs, weights, result] as [Tensor, Tensor, Tensor];
  const [k, n] = are.isTransposed === true ? stored.shape.toReversed() : stored.shape;
  const m = rows.shape.at(-2);
  const has = ({ shape }: Tensor, sizes: readonly unknown[]) => shape.join() === [...batch, ...sizes].join();
  return (
    [are.isTransposed, are.isUnsigned, are.isByColumn, are.hasZeroPoints].every(
      (one) => typeof one === 'boolean',
    ) &&
    stored.shape.length === 2 &&
    stored.elementType === NARROW &&
    rows.elementType === WIDE &&
    into.elementType === WIDE &&
    elementsOf(stored.shape) >= LEAST_WEIGHTS &&
    hasStrips(n!, k!) &&
    has(rows, [m, k]) &&
    has(into, [m, n])
  );
}

/** Writes the product in its form. Returns its result. */
function inRegisters(
  writer: Writer,
  { isTransposed, isUnsigned, isByColumn, hasZeroPoints, result }: StoredProduct,
  operands: readonly Value[],
  packing: Packing,
): Value {
  // Single steps and zero points are scalars.
  const tensorOf = (one: Value) =>
    isByColumn ? one : writer.define(one, `tensor.from_elements ${one.name} : ${tensorText(one)}`);
  const [lhs, weights] = operands as [Value, Value];
  const steps = tensorOf(operands[2]!);
  const into = operands.at(-1)!;
  const signed = isUnsigned ? flipped(writer, weights) : weights;
  const product = packedProduct(writer, [lhs, signed], isTransposed, result, packing);
  const loops = result.shape.map((_, d) => `d${d}`);
  const [rows, columns] = [loops.slice(0, -1).join(', '), isByColumn ? loops.at(-1)! : ''];
  // A zero point multiplies the sum of its row.
  const zeros = hasZeroPoints ? [tensorOf(operands[3]!)] : [];
  const moved = isUnsigned ? HALF : 0;
  const isMoved = isUnsigned || hasZeroPoints;
  const zeroOf = hasZeroPoints
    ? [
        `%w = ${isByColumn && isUnsigned ? 'arith.uitofp' : 'arith.sitofp'} %x3 : ${zeroTypeOf(isByColumn)} to ${WIDE}`,
        `%h = arith.constant ${moved}.0 : ${WIDE}`,
        `%z = arith.subf %w, %h : ${WIDE}`,
      ]
    : [`%z = arith.constant -${moved}.0 : ${WIDE}`];
  const scaled = writer.generic({
    loops: loops.join(', '),
    maps: [
      loops.join(', '),
      columns,
      ...(isMoved ? [rows] : []),
      ...zeros.map(() => columns),
      loops.join(', '),
    ],
    inputs: [product, steps, ...(isMoved ? [sumsOfRows(writer, lhs)] : []), ...zeros],
    into: writer.empty(result),
    body: isMoved
      ? [
          ...zeroOf,
          `%m = arith.mulf %x2, %z : ${WIDE}`,
          `%d = arith.subf %x0, %m : ${WIDE}`,
          `%r = arith.mulf %d, %x1 : ${WIDE}`,
        ]
      : [`%r = arith.mulf %x0, %x1 : ${WIDE}`],
    gives: '%r',
  });
  return writer.add(scaled, into);
}

function sumsOfRows(writer: Writer, rows: Value): Value {
  const loops = rows.shape.map((_, d) => `d${d}`);
  return writer.generic({
    loops: loops.join(', '),
    maps: [loops.join(', '), loops.slice(0, -1).join(', ')],
    inputs: [rows],
    into: writer.zeros({ ...rows, shape: rows.shape.slice(0, -1) }),
    body: [`%s = arith.addf %out, %x0 : ${WIDE}`],
    gives: '%s',
  });
}

/** The operation as the program has it. */
function writtenStored(product: StoredProduct): Written {
  const { name, lhs, weights, isTransposed, isUnsigned, isByColumn, hasZeroPoints, result } = product;
  const columns = isByColumn ? result.shape.slice(-1) : [];
  const named = (one: Tensor, own: string): Value => ({ ...one, name: own });
  const zeros = hasZeroPoints
    ? [named({ elementType: zeroTypeOf(isByColumn), shape: columns }, '%zeros')]
    : [];
  const stored = named(weights, '%weights');
  const quantized = [stored, named({ elementType: WIDE, shape: columns }, '%steps'), ...zeros];
  const operands = [named(lhs, '%lhs'), ...quantized, named(result, '%into')];
  const typeOf = (one: Value) => (one.shape.length === 0 ? one.elementType : tensorText(one));
  const map = (own: string) => `affine_map<(d0, d1) -> (${own})>`;
  const along = isByColumn ? (isTransposed ? 'd0' : 'd1') : '';
  const maps = ['d0, d1', along, ...zeros.map(() => along), 'd0, d1'].map(map).join(', ');
  const [least, most] = rangeOf(isUnsigned);
  const signs = `${isUnsigned ? ', input_unsigned' : ''}${isUnsigned && hasZeroPoints && isByColumn ? ', zp_unsigned' : ''}`;
  const lines: string[] = [];
  const define = (type: Tensor, textOf: (none: Value) => string): Value => {
    const [none, made] = [named(type, `%none${lines.length}`), named(type, `%made${lines.length}`)];
    lines.push(`${none.name} = tensor.empty() : ${tensorText(none)}`, `${made.name} = ${textOf(none)}`);
    return made;
  };
  const floats = define({ ...weights, elementType: WIDE }, (none) => {
    const type = tensorText(none);
    return `iree_linalg_ext.dequantize_affine <indexing_maps = [${maps}], quant_min = ${least!}, quant_max = ${most!}${signs}> ins(${quantized.map((one) => one.name).join(', ')} : ${quantized.map(typeOf).join(', ')}) outs(${none.name} : ${type}) -> ${type}`;
  });
  const matrix = isTransposed
    ? define({ ...floats, shape: floats.shape.toReversed() }, (none) => {
        const [from, to] = [tensorText(floats), tensorText(none)];
        return `linalg.transpose ins(${floats.name} : ${from}) outs(${none.name} : ${to}) permutation = [1, 0]`;
      })
    : floats;
  const factor =
    name === 'linalg.batch_matmul'
      ? define({ ...matrix, shape: [1, ...matrix.shape] }, (into) =>
          genericText({ loops: 'd0, d1, d2', maps: ['d1, d2', 'd0, d1, d2'], inputs: [matrix], into }),
        )
      : matrix;
  const type = tensorText(result);
  return {
    ...{ operands, type, list: operands.map((one) => `${one.name}: ${typeOf(one)}`).join(', ') },
    before: lines.join('\n      '),
    operation: `${name} ins(%lhs, ${factor.name} : ${tensorText(lhs)}, ${tensorText(factor)}) outs(%into : ${type}) -> ${type}`,
  };
}

export const storedProducts: ReplaceableKind<StoredProduct> = {
  is: isStoredProduct,
  key: storedKey,
  read: (text, operations) => operations.flatMap((one) => readStoredProduct(one, text) ?? []),
  writtenOf: writtenStored,
  resultOf: ({ result }) => result,
  formsOf: () => [{ name: 'in-registers', tiles: { of: 'stored', areNeeded: true } }],
  write(writer, product, operands, { name, packing }) {
    if (packing === null) throw new RangeError(`${storedKey(product)} has no form ${name}`);
    return { value: inRegisters(writer, product, operands, packing) };
  },
};
