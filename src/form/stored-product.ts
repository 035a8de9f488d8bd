// Products of floats and constant weights that are stored in fewer bits, as of language models: with a factor for each column, for each block of a
// column, or for all weights. By default, the compiler makes floats of all weights in each call, in a dispatch of its own: it writes and reads
// several times the bytes. In their form, a product widens the weights in registers: see `strips.ts` and `words.ts`.
import { VALUE } from '../compiler/symbol.ts';
import type { Operation } from 'mlir-parser-ts';
import { bufferOf } from '../system/bytes.ts';
import { elementBits, isNarrowFloat } from '../workload/element-type.ts';
import { elementsOf, isTensor, staticTensor, tensorText, typeName, type Tensor } from '../workload/tensor.ts';
import { areSteps, bodyIn, bodyText, FloatBody, isSumOfProducts, type Step } from './body.ts';
import { isHalfByte, type Definitions } from './constants.ts';
import type { ReplaceableKind } from './form.ts';
import {
  areStages,
  asFloats,
  dequantizationOf,
  inputsOf,
  stagesBefore,
  stagesKey,
  stepsKey,
  weightsAt,
  writeStages,
  type Part,
  type Stage,
} from './made.ts';
import type { Packing } from './packing.ts';
import { flipped, HALF, sumsOfRows, widened } from './parts.ts';
import { LEAST_WEIGHTS, TRANSPOSED } from './product.ts';
import { hasStrips } from './strips.ts';
import { plainDefinitionIn } from './definitions.ts';
import { batchOf, batchText, genericText, listOf, Writer, type Value, type Written } from './text.ts';
import { packedProduct } from './tiles.ts';
import { areInWords, productOfWords } from './words.ts';

export interface StoredProduct {
  readonly name: typeof NAME;
  /** (m, k) or (b, m, k); for a sum along blocks (m, groups, block) or (b, m, groups, block). All of a batch have the same weights. */
  readonly lhs: Tensor;
  /** How the program makes floats of the weights (k, n), (n, k) or (n, groups, block). */
  readonly stages: readonly Stage[];
  /** Whether the columns of the product are the rows of the weights. */
  readonly isTransposed: boolean;
  /** Bits of the weights: integers of 8 bits that the program cuts out of bytes have 4. */
  readonly bits: number;
  /** How a sum along blocks adds up; null for a named operation. */
  readonly sum: readonly Step[] | null;
  /** (m, n) or (b, m, n), f32. */
  readonly result: Tensor;
}

const NAME = 'stored product';

const WIDE = 'f32';

const [IN_REGISTERS, IN_WORDS] = ['in-registers', 'in-words'] as const;

/** Such as `stored product 1x768xf32,768x2048xi8(d0, d1),2048xf32(d1) by dequantize signed->1x2048xf32`. */
function storedKey({ name, lhs, stages, isTransposed, bits, sum, result }: StoredProduct): string {
  const how = `${isTransposed ? ' transposed' : ''} of ${bits} bits${sum === null ? '' : ` adding ${stepsKey(sum)}`}`;
  return `${name} ${typeName(lhs)},${stagesKey(stages)}${how}->${typeName(result)}`;
}

const weightsOf = (stages: readonly Stage[]): Tensor => inputsOf(stages)[weightsAt(stages)]!;

/** Results of the maps of both factors and of the result, of a sum along blocks. */
const MAPS = ['[0,2,3] [1,2,3] [0,1]', '[0,1,3,4] [2,3,4] [0,1,2]'];

const BATCHED = batchOf(WIDE);
const JOINED = new RegExp(String.raw`^tensor\.collapse_shape (${VALUE}) \[\[0\], \[1, 2\]\] `);

/** @returns null for other operations */
function readStoredProduct(operation: Operation, text: Uint8Array): StoredProduct | null {
  const { name, operands, indexingMaps, start, end } = operation;
  const isBatch = name === 'linalg.batch_matmul';
  const isSum = name === 'linalg.generic';
  if (operands.length !== 3 || !(isSum || isBatch || name === 'linalg.matmul')) return null;
  const [lhs, , result] = operands.map(({ type }) => staticTensor(type));
  const maps = indexingMaps.map(({ results }) => JSON.stringify(results)).join(' ');
  if (!lhs || !result || (isSum && !MAPS.includes(maps))) return null;
  const sum = isSum ? bodyIn(bufferOf(text).toString('latin1', start, end)) : null;
  const definitionOf: Definitions = (value) => plainDefinitionIn(text, value, start);
  const before = (pattern: RegExp, value: string) => pattern.exec(definitionOf(value))?.[1];
  const matrix = isBatch ? before(BATCHED, operands[1]!.value) : operands[1]!.value;
  if (matrix === undefined || (isSum && sum === null)) return null;
  const transposed = isSum ? undefined : before(TRANSPOSED, matrix);
  const rows = transposed ?? matrix;
  const found = stagesBefore((transposed && before(JOINED, transposed)) ?? rows, definitionOf);
  if (found === null) return null;
  const product = {
    ...{ name: NAME, lhs, result, sum: sum?.steps ?? null, stages: found.stages },
    isTransposed: isSum || transposed !== undefined,
    bits: isHalfByte(found.weights, definitionOf) ? 4 : elementBits(found.type.elementType),
  };
  return isStoredProduct(product) && sum?.types.join() === sumTypes(product)?.join() ? product : null;
}

/** Element types of the body of a sum along blocks; undefined for a named operation. */
const sumTypes = ({ lhs, sum, result }: Pick<StoredProduct, 'lhs' | 'sum' | 'result'>) =>
  sum === null ? undefined : [lhs.elementType, lhs.elementType, result.elementType];

/** Whether a value, for example from a file, is such an operation. Checks every field, because all are written into MLIR. */
function isStoredProduct(value: unknown): value is StoredProduct {
  const { name, lhs, stages, isTransposed, bits, sum, result } = (value ?? {}) as Partial<
    Record<keyof StoredProduct, unknown>
  >;
  if (name !== NAME || !isTensor(lhs) || !isTensor(result) || typeof isTransposed !== 'boolean') return false;
  const float = lhs.elementType;
  if (!areStages(stages, float, isTransposed ? 0 : 1) || (sum !== null && !Array.isArray(sum))) return false;
  const { shape, elementType } = weightsOf(stages);
  const { factor } = dequantizationOf(stages)!;
  const isSum = sum !== null;
  const hasBlocks = shape.length === 3;
  const rows = lhs.shape.slice(0, isSum ? -2 : -1);
  const [n, k] = isTransposed ? [shape[0]!, elementsOf(shape.slice(1))] : [shape[1]!, shape[0]!];
  const has = (one: Tensor, sizes: readonly unknown[]) => one.shape.join() === sizes.join();
  const types = sumTypes({ lhs, sum, result });
  const ofBlocks = () =>
    isTransposed &&
    factor !== null &&
    (bits === 4 || bits === 8) &&
    areInWords(shape, bits) &&
    (bits === elementBits(elementType) || elementType === 'i8');
  const ofColumns = () =>
    shape.length === 2 && !isSum && elementType !== 'i4' && bits === elementBits(elementType);
  return (
    (hasBlocks ? ofBlocks() : ofColumns()) &&
    (float === WIDE || (isSum && isNarrowFloat(float))) &&
    result.elementType === WIDE &&
    (types === undefined || (areSteps(sum, types) && isSumOfProducts({ types, steps: sum }))) &&
    elementsOf(shape) >= LEAST_WEIGHTS &&
    hasStrips(n, k) &&
    (rows.length === 1 || rows.length === 2) &&
    has(lhs, [...rows, ...(isSum ? shape.slice(1) : [k])]) &&
    has(result, [...rows, n])
  );
}

/** Writes a product with weights (k, n) or (n, k) in its form. Returns its result. */
function inRegisters(
  writer: Writer,
  { stages, isTransposed, result }: StoredProduct,
  operands: readonly Value[],
  packing: Packing,
): Value {
  const { isUnsigned, factor, zero, offset } = dequantizationOf(stages)!;
  const [lhs, stored, into] = [operands[0]!, operands[1 + weightsAt(stages)]!, operands.at(-1)!];
  // Strips have signed integers.
  const signed = isUnsigned ? flipped(writer, stored) : stored;
  const product = packedProduct(writer, [lhs, signed], isTransposed, result, packing);
  const loops = result.shape.map((_, d) => `d${d}`);
  const [all, rows] = [loops.join(', '), loops.slice(0, -1).join(', ')];
  const body = new FloatBody();
  /** A value of each column, or of all. */
  const valueOf = ({ input, isUnsigned: isPositive }: Part): string => {
    const own = operands[1 + input]!;
    if (own.shape.length > 0)
      return body.float(writer.reshape(own, [elementsOf(own.shape)]), loops.at(-1)!, isPositive);
    const one = writer.define(own, `tensor.from_elements ${own.name} : ${tensorText(own)}`);
    return body.float(one, '', isPositive);
  };
  let last = body.input(product, all);
  // Zero points and offsets multiply the sum of a row.
  const hasSums = isUnsigned || zero !== null || offset !== null;
  const sum = hasSums ? body.input(sumsOfRows(writer, lhs), rows) : '';
  const addTimes = (one: string) => {
    last = body.combine('addf', last, body.combine('mulf', sum, one));
  };
  if (isUnsigned || zero !== null) {
    const half = body.constant(isUnsigned ? HALF : 0);
    addTimes(zero === null ? half : body.combine('subf', half, valueOf(zero)));
  }
  if (factor !== null) last = body.combine('mulf', last, valueOf(factor));
  if (offset !== null) addTimes(valueOf(offset));
  if (body.lines.length === 0) return writer.add(product, into);
  const scaled = writer.generic({
    ...{ loops: all, maps: [...body.maps, all], inputs: body.inputs, body: body.lines, gives: last },
    into: writer.empty(result),
  });
  return writer.add(scaled, into);
}

/** Writes a product with weights in blocks in its form. Returns its result. */
function inWords(
  writer: Writer,
  { stages, bits, result }: StoredProduct,
  operands: readonly Value[],
  packing: Packing,
): Value {
  const { isUnsigned, factor, zero, offset } = dequantizationOf(stages)!;
  const [rows, stored, into] = [operands[0]!, operands[1 + weightsAt(stages)]!, operands.at(-1)!];
  const [, groups, block] = stored.shape as [number, number, number];
  const valueOf = (one: Part | null) => {
    if (one === null) return null;
    const own = writer.transpose(writer.collapse(operands[1 + one.input]!, [[0], [1, 2]]), [1, 0]);
    return asFloats(writer, own, one.isUnsigned);
  };
  const m = elementsOf(rows.shape) / (groups * block);
  const product = productOfWords(
    writer,
    {
      rows: widened(writer, writer.reshape(rows, [m, groups, block]), WIDE),
      ...{ weights: stored, bits },
      // Halves of bytes are never negative.
      isUnsigned: isUnsigned || bits < elementBits(stored.elementType),
      ...{ zeros: valueOf(zero), factors: valueOf(factor)!, offsets: valueOf(offset) },
    },
    result.shape,
    packing,
  );
  return writer.add(product, into);
}

/** The operation as the program has it. */
function writtenStored(product: StoredProduct): Written {
  const { lhs, stages, isTransposed, bits, sum, result } = product;
  const writer = new Writer();
  const inputs: Value[] = inputsOf(stages).map((one, i) => ({
    ...{ ...one, name: `%input${i}` },
    ...(one.shape.length === 0 && { isScalar: true }),
  }));
  const [rows, into] = [
    { ...lhs, name: '%lhs' },
    { ...result, name: '%into' },
  ];
  const operands = [rows, ...inputs, into];
  const floats = writeStages(writer, stages, inputs, lhs.elementType);
  const isBatch = result.shape.length === 3;
  const type = tensorText(result);
  const written = () => {
    const joined = floats.shape.length === 3 ? writer.collapse(floats, [[0], [1, 2]]) : floats;
    const matrix = isTransposed ? writer.transpose(joined, [1, 0]) : joined;
    const batch = isBatch ? writer.empty({ ...matrix, shape: [lhs.shape[0]!, ...matrix.shape] }) : matrix;
    const factor = isBatch ? writer.define(batch, batchText(matrix, batch)) : matrix;
    return `linalg.${isBatch ? 'batch_' : ''}matmul ins(%lhs, ${factor.name} : ${tensorText(lhs)}, ${tensorText(factor)}) outs(%into : ${type}) -> ${type}`;
  };
  const operation =
    sum === null
      ? written()
      : genericText({
          loops: isBatch ? 'd0, d1, d2, d3, d4' : 'd0, d1, d2, d3',
          maps: isBatch
            ? ['d0, d1, d3, d4', 'd2, d3, d4', 'd0, d1, d2']
            : ['d0, d2, d3', 'd1, d2, d3', 'd0, d1'],
          ...{ inputs: [rows, floats], into, ...bodyText(sumTypes(product)!, sum) },
        });
  const own = { operands, list: listOf(operands), before: writer.text, operation, type };
  return bits === 4 ? { ...own, alone: ofBytes(own, inputs[weightsAt(stages)]!) } : own;
}

/** A function whose weights of 4 bits arrive as bytes: files of values have no narrower ones. */
function ofBytes(
  { operands, before = '', operation }: Pick<Written, 'operands' | 'operation' | 'before'>,
  weights: Value,
) {
  const isNarrow = weights.elementType === 'i4';
  const last = weights.shape.at(-1)!;
  const shape = weights.shape.with(-1, isNarrow ? last / 2 : last);
  const bytes = { name: '%bytes', elementType: 'i8', shape };
  const [from, type] = [tensorText(bytes), tensorText(weights)];
  const made = isNarrow
    ? `${weights.name} = flow.tensor.bitcast %bytes : ${from} -> ${type}`
    : `%low = arith.constant dense<15> : ${type}
    ${weights.name} = arith.andi %bytes, %low : ${type}`;
  return {
    operands: operands.map((one) => (one === weights ? bytes : one)),
    body: `${made}\n${before}\n  %0 = ${operation}`,
  };
}

export const storedProducts: ReplaceableKind<StoredProduct> = {
  is: isStoredProduct,
  key: storedKey,
  read: (text, operations) => operations.flatMap((one) => readStoredProduct(one, text) ?? []),
  writtenOf: writtenStored,
  resultOf: ({ result }) => result,
  formsOf: ({ stages }) => [
    {
      name: weightsOf(stages).shape.length === 3 ? IN_WORDS : IN_REGISTERS,
      tiles: { of: 'stored', areNeeded: true },
    },
  ],
  write(writer, product, operands, { name, packing }) {
    const write = { [IN_REGISTERS]: inRegisters, [IN_WORDS]: inWords }[name];
    if (packing === null || write === undefined)
      throw new RangeError(`${storedKey(product)} has no form ${name}`);
    return { value: write(writer, product, operands, packing) };
  },
};
