// Products of f32 and constant weights that are stored in 8 or 16 bits, as of language models; integers have a step for each column or for all of them.
// By default, the compiler makes f32 of all weights in each call, in a dispatch of its own: it writes and reads several times the bytes. In their form,
// a product widens the weights in registers, and each sum is multiplied by its step.
import { VALUE } from '../compiler/symbol.ts';
import type { Operation } from 'mlir-parser-ts';
import { withoutLocations } from '../compiler/locations.ts';
import { isNarrowFloat } from '../workload/element-type.ts';
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
import { hasStrips } from './strips.ts';
import { packedProduct } from './tiles.ts';
import { flipped, HALF } from './parts.ts';
import { LEAST_WEIGHTS, TRANSPOSED } from './product.ts';
import { batchOf, batchText, CONSTANT, definitionIn, Writer, type Value, type Written } from './text.ts';

export interface StoredProduct {
  readonly name: 'linalg.matmul' | 'linalg.batch_matmul';
  /** (m, k) or (b, m, k), f32. All of a batch have the same weights. */
  readonly lhs: Tensor;
  /** (k, n), or (n, k) if the program transposes the floats that it makes of them. */
  readonly weights: Tensor;
  readonly isTransposed: boolean;
  /** Of integers. */
  readonly isUnsigned: boolean;
  readonly spelling: Spelling;
  /** Whether each column has a step, and a zero point. */
  readonly isByColumn: boolean;
  /** The type of zero points; null without. */
  readonly zero: ZeroType | null;
  /** (m, n) or (b, m, n), f32. */
  readonly result: Tensor;
}

/** How the program makes floats: by one operation, by a conversion alone, or by a conversion and a multiplication with steps. */
const SPELLINGS = ['dequantized', 'widened', 'scaled'] as const;
type Spelling = (typeof SPELLINGS)[number];

const ZERO_TYPES = ['i8', 'i32', 'i64'] as const;
type ZeroType = (typeof ZERO_TYPES)[number];

const [NARROW, WIDE] = ['i8', 'f32'];

/** Such as `dequantized product 1x768xf32,768x2048xi8 by columns->1x2048xf32`. */
function storedKey({ spelling, lhs, weights, result, ...one }: StoredProduct): string {
  const stored = `${one.isUnsigned ? 'u' : ''}${weights.elementType}`;
  const type = typeName(weights).replace(weights.elementType, stored);
  const zeros = one.zero === null ? '' : ` around ${one.zero}`;
  return `${spelling} product ${typeName(lhs)},${type}${one.isTransposed ? ' transposed' : ''}${one.isByColumn ? ' by columns' : ''}${zeros}->${typeName(result)}`;
}

/** Values of integers of 8 bits. */
const rangeOf = (isUnsigned: boolean) => (isUnsigned ? [0, 2 * HALF - 1] : [-HALF, HALF - 1]);

/** The operation that widens an element. */
const widening = (elementType: string, isUnsigned: boolean): string =>
  isNarrowFloat(elementType) ? 'arith.extf' : isUnsigned ? 'arith.uitofp' : 'arith.sitofp';

const same = String.raw`affine_map<\(d0, d1\) -> \(d0, d1\)>`;

const DEQUANTIZED = new RegExp(
  String.raw`^iree_linalg_ext\.dequantize_affine <indexing_maps = \[${same}, affine_map<\(d0, d1\) -> \((?<along>d[01])?\)>, (?:affine_map<\(d0, d1\) -> \(\k<along>\)>, )?${same}\], quant_min = (?<least>-?\d+), quant_max = (?<most>\d+)(?<unsigned>, input_unsigned)?(?<unsignedZero>, zp_unsigned)?> ins\((?<weights>${VALUE}), ${VALUE}(?:, ${VALUE})? : (?<type>tensor<\d+x\d+xi8>), (?:tensor<\d+xf32>|f32)(?:, (?:tensor<\d+x(?<zero>i\d+)>|(?<oneZero>i\d+)))?\)`,
);

const parallel = String.raw`iterator_types = \["parallel", "parallel"\]`;
const block = String.raw`outs\([^\n]*\n\s*\^bb0\(`;

const WIDENED = new RegExp(
  String.raw`^linalg\.generic \{indexing_maps = \[${same}, ${same}\], ${parallel}\} ins\((?<weights>${VALUE}) : (?<type>tensor<\d+x\d+x(?:i8|f16|bf16)>)\) ${block}(?<in>%\w+): \w+, %\w+: f32\):\s*(?<wide>%\w+) = arith\.(?:sitofp|extf|(?<unsigned>uitofp)) \k<in> : \w+ to f32\s*linalg\.yield \k<wide> : `,
);

/** Steps have a second dimension of size 1 where the columns are the rows of the weights. */
const SCALED = new RegExp(
  String.raw`^linalg\.generic \{indexing_maps = \[${same}, affine_map<\(d0, d1\) -> \((?<along>d0, 0|d1)\)>, ${same}\], ${parallel}\} ins\((?<floats>${VALUE}), ${VALUE} : [^\n]*?\) ${block}(?<in>%\w+): f32, (?<step>%\w+): f32, %\w+: f32\):\s*(?<product>%\w+) = arith\.mulf \k<in>, \k<step> : f32\s*linalg\.yield \k<product> : `,
);

const BATCHED = batchOf(WIDE);

/** @returns null for other operations */
function readStoredProduct({ name, operands, start }: Operation, text: Uint8Array): StoredProduct | null {
  if (operands.length !== 3) return null;
  const [lhs, , result] = operands.map(({ type }) => staticTensor(type));
  if (!lhs || !result) return null;
  const definitionOf = (value: string) => withoutLocations(definitionIn(text, value, start) ?? '');
  const factor = operands[1]!.value;
  const matrix = name === 'linalg.batch_matmul' ? BATCHED.exec(definitionOf(factor))?.[1] : factor;
  if (matrix === undefined) return null;
  const transposed = TRANSPOSED.exec(definitionOf(matrix))?.[1];
  const isTransposed = transposed !== undefined;
  const found = floatsOf(definitionOf(transposed ?? matrix), isTransposed, definitionOf);
  if (found === null) return null;
  const { weights, type, ...how } = found;
  const stored = definitionOf(weights);
  const moved = TRANSPOSED.exec(stored)?.[1];
  if (!CONSTANT.test(moved === undefined ? stored : definitionOf(moved))) return null;
  const product = { ...{ name, lhs, weights: tensorFromText(type), isTransposed, result }, ...how };
  return isStoredProduct(product) ? product : null;
}

/** How a definition makes floats of a matrix of weights, and its type; null for another definition. */
function floatsOf(definition: string, isTransposed: boolean, definitionOf: (value: string) => string) {
  const scaled = SCALED.exec(definition)?.groups;
  if (scaled !== undefined && scaled['along'] !== (isTransposed ? 'd0, 0' : 'd1')) return null;
  const widened = WIDENED.exec(scaled === undefined ? definition : definitionOf(scaled['floats']!))?.groups;
  if (widened !== undefined) {
    const { weights, type, unsigned } = widened as Record<string, string>;
    const [isUnsigned, isByColumn] = [unsigned !== undefined, scaled !== undefined];
    const spelling: Spelling = isByColumn ? 'scaled' : 'widened';
    return { weights: weights!, type: type!, isUnsigned, isByColumn, spelling, zero: null };
  }
  const found = DEQUANTIZED.exec(definition)?.groups;
  if (found === undefined) return null;
  const { weights, type, along, least, most, unsigned, unsignedZero, ...zeros } = found as Record<
    string,
    string | undefined
  >;
  const zero = zeros['zero'] ?? zeros['oneZero'] ?? null;
  const [isUnsigned, isByColumn] = [unsigned !== undefined, along !== undefined];
  const isUsual =
    [undefined, isTransposed ? 'd0' : 'd1'].includes(along) &&
    rangeOf(isUnsigned).join() === `${least},${most}` &&
    (unsignedZero !== undefined) === (isUnsigned && zero === NARROW);
  const spelling: Spelling = 'dequantized';
  return isUsual ? { weights: weights!, type: type!, isUnsigned, isByColumn, spelling, zero } : null;
}

/** Whether a value, for example from a file, is such an operation. Checks every field, because all are written into MLIR. */
function isStoredProduct(value: unknown): value is StoredProduct {
  const { name, lhs, weights, result, ...are } = (value ?? {}) as Partial<
    Record<keyof StoredProduct, unknown>
  >;
  const isBatch = name === 'linalg.batch_matmul';
  if ((!isBatch && name !== 'linalg.matmul') || ![lhs, weights, result].every(isTensor)) return false;
  const [rows, stored, into] = [lhs, weights, result] as [Tensor, Tensor, Tensor];
  const batch = isBatch ? rows.shape.slice(0, 1) : [];
  const [k, n] = are.isTransposed === true ? stored.shape.toReversed() : stored.shape;
  const m = rows.shape.at(-2);
  const has = ({ shape }: Tensor, sizes: readonly unknown[]) => shape.join() === [...batch, ...sizes].join();
  const isInteger = stored.elementType === NARROW;
  const isDequantized = are.spelling === 'dequantized';
  return (
    [are.isTransposed, are.isUnsigned, are.isByColumn].every((one) => typeof one === 'boolean') &&
    SPELLINGS.some((one) => one === are.spelling) &&
    (are.zero === null || (isDequantized && ZERO_TYPES.some((one) => one === are.zero))) &&
    (isDequantized || are.isByColumn === (are.spelling === 'scaled')) &&
    (isInteger || (isNarrowFloat(stored.elementType) && !isDequantized && are.isUnsigned === false)) &&
    stored.shape.length === 2 &&
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
  { isTransposed, isUnsigned, spelling, isByColumn, zero, result }: StoredProduct,
  operands: readonly Value[],
  packing: Packing,
): Value {
  const [lhs, weights] = operands as [Value, Value];
  const into = operands.at(-1)!;
  const signed = isUnsigned ? flipped(writer, weights) : weights;
  const product = packedProduct(writer, [lhs, signed], isTransposed, result, packing);
  const hasSteps = spelling !== 'widened';
  if (!hasSteps && !isUnsigned) return writer.add(product, into);
  // Single steps and zero points are scalars.
  const vectorOf = (one: Value) =>
    !isByColumn
      ? writer.define(one, `tensor.from_elements ${one.name} : ${tensorText(one)}`)
      : one.shape.length > 1
        ? writer.collapse(one, [[0, 1]])
        : one;
  const loops = result.shape.map((_, d) => `d${d}`);
  const [all, rows] = [loops.join(', '), loops.slice(0, -1).join(', ')];
  const columns = isByColumn ? loops.at(-1)! : '';
  const moved = isUnsigned ? HALF : 0;
  const more: { readonly map: string; readonly value: Value }[] = [];
  const inputOf = (map: string, value: Value): string => {
    more.push({ map, value });
    return `%x${more.length}`;
  };
  const body: string[] = [];
  let last = '%x0';
  if (isUnsigned || zero !== null) {
    // A zero point multiplies the sum of its row.
    const sums = inputOf(rows, sumsOfRows(writer, lhs));
    const own = zero === null ? null : inputOf(columns, vectorOf(operands[3]!));
    body.push(`%h = arith.constant ${moved}.0 : ${WIDE}`);
    if (own === null) body.push(`%z = arith.negf %h : ${WIDE}`);
    else {
      const convert = zero === NARROW && isUnsigned ? 'arith.uitofp' : 'arith.sitofp';
      body.push(`%o = ${convert} ${own} : ${zero!} to ${WIDE}`, `%z = arith.subf %o, %h : ${WIDE}`);
    }
    body.push(`%m = arith.mulf ${sums}, %z : ${WIDE}`, `%d = arith.subf ${last}, %m : ${WIDE}`);
    last = '%d';
  }
  if (hasSteps) {
    body.push(`%r = arith.mulf ${last}, ${inputOf(columns, vectorOf(operands[2]!))} : ${WIDE}`);
    last = '%r';
  }
  const scaled = writer.generic({
    ...{ loops: all, maps: [all, ...more.map(({ map }) => map), all], body, gives: last },
    inputs: [product, ...more.map(({ value }) => value)],
    into: writer.empty(result),
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

const named = (one: Tensor, name: string): Value => ({ ...one, name });

/** The operation as the program has it. */
function writtenStored(product: StoredProduct): Written {
  const { name, lhs, weights, isTransposed, spelling, result } = product;
  const inputs = [named(weights, '%weights'), ...stepsOf(product)];
  const writer = new Writer();
  const floats = (spelling === 'dequantized' ? dequantized : converted)(writer, product, inputs);
  const matrix = isTransposed ? writer.transpose(floats, [1, 0]) : floats;
  const isBatch = name === 'linalg.batch_matmul';
  const into = isBatch ? writer.empty({ ...matrix, shape: [lhs.shape[0]!, ...matrix.shape] }) : matrix;
  const factor = isBatch ? writer.define(into, batchText(matrix, into)) : matrix;
  const type = tensorText(result);
  const operands = [named(lhs, '%lhs'), ...inputs, named(result, '%into')];
  return {
    ...{ operands, type, list: operands.map((one) => `${one.name}: ${typeOf(one)}`).join(', ') },
    before: writer.text,
    operation: `${name} ins(%lhs, ${factor.name} : ${tensorText(lhs)}, ${tensorText(factor)}) outs(%into : ${type}) -> ${type}`,
  };
}

const typeOf = (one: Value): string => (one.shape.length === 0 ? one.elementType : tensorText(one));

/** Steps and zero points. */
function stepsOf({ spelling, isTransposed, isByColumn, zero, result }: StoredProduct): Value[] {
  if (spelling === 'widened') return [];
  const columns = isByColumn ? result.shape.slice(-1) : [];
  const shape = spelling === 'scaled' && isTransposed ? [...columns, 1] : columns;
  const steps = named({ elementType: WIDE, shape }, '%steps');
  return zero === null ? [steps] : [steps, named({ elementType: zero, shape: columns }, '%zeros')];
}

/** The operation that makes floats. */
function dequantized(writer: Writer, product: StoredProduct, inputs: readonly Value[]): Value {
  const { weights, isTransposed, isUnsigned, isByColumn, zero } = product;
  const into = writer.empty({ ...weights, elementType: WIDE });
  const along = isByColumn ? (isTransposed ? 'd0' : 'd1') : '';
  const maps = ['d0, d1', ...inputs.slice(1).map(() => along), 'd0, d1'];
  const [least, most] = rangeOf(isUnsigned);
  const signs = `${isUnsigned ? ', input_unsigned' : ''}${isUnsigned && zero === NARROW ? ', zp_unsigned' : ''}`;
  const [names, types] = [inputs.map((one) => one.name), inputs.map(typeOf)].map((all) => all.join(', '));
  const type = tensorText(into);
  return writer.define(
    into,
    `iree_linalg_ext.dequantize_affine <indexing_maps = [${maps.map((one) => `affine_map<(d0, d1) -> (${one})>`).join(', ')}], quant_min = ${least!}, quant_max = ${most!}${signs}> ins(${names!} : ${types!}) outs(${into.name} : ${type}) -> ${type}`,
  );
}

/** The conversion to floats, and their product with steps. */
function converted(
  writer: Writer,
  { weights: { elementType }, isTransposed, isUnsigned }: StoredProduct,
  [stored, steps]: readonly Value[],
): Value {
  const loops = 'd0, d1';
  const into = writer.empty({ ...stored!, elementType: WIDE });
  const wide = writer.generic({
    ...{ loops, maps: [loops, loops], inputs: [stored!], into, gives: '%w' },
    body: [`%w = ${widening(elementType, isUnsigned)} %x0 : ${elementType} to ${WIDE}`],
  });
  if (steps === undefined) return wide;
  return writer.generic({
    ...{ loops, maps: [loops, isTransposed ? 'd0, 0' : 'd1', loops], inputs: [wide, steps], into },
    ...{ body: [`%p = arith.mulf %x0, %x1 : ${WIDE}`], gives: '%p' },
  });
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
