// Products in tiles: see `packing.ts`. Generic products of integers are what is left of the products of a quantized program that is computed in
// integers. Products of floats are those of the program; of f32 and f16, only those with constant weights, which become strips.
import { VALUE } from '../compiler/symbol.ts';
import type { Operation } from 'mlir-parser-ts';
import { bufferOf } from '../system/bytes.ts';
import type { ReplaceableKind } from './form.ts';
import { isTensor, staticTensor, tensorText, typeName, type Tensor } from '../workload/tensor.ts';
import { isWidening, widenedProduct, wideningsIn, type Widening } from './generic-convolution.ts';
import type { Packed, Packing } from './packing.ts';
import { hasStrips } from './strips.ts';
import { packedProduct } from './tiles.ts';
import { flipped, HALF, rowsTimes, splitRows, widened } from './parts.ts';
import { TRANSPOSED } from './product.ts';
import { CONSTANT, definitionIn } from './definitions.ts';
import { genericText, listOf, type Value, type Writer, type Written } from './text.ts';

export interface PackedProduct {
  readonly name: typeof NAME;
  /** (m, k) or (b, m, k), and (k, n) or (b, k, n). */
  readonly factors: readonly [Tensor, Tensor];
  /** Whether the second factor is (n, k) or (b, n, k). */
  readonly isTransposed: boolean;
  /** Of the integers of a generic operation; null for floats, whose operation has a name. */
  readonly widenings: readonly [Widening, Widening] | null;
  /** (m, n) or (b, m, n), of 32 bits. */
  readonly result: Tensor;
}

const NAME = 'product in tiles';

const [BYTE, WIDE] = ['i8', 'i32'];

/** Types of factors whose second one becomes strips. */
const IN_STRIPS = ['f32', 'f16'];

/** Sums of more products of 8-bit integers may not fit into 32 bits. */
export const MOST_SUMMED = 2 ** 15;

const [UNSIGNED, SIGNED] = ['arith.extui', 'arith.extsi'] as const satisfies readonly Widening[];

/** Such as `product in tiles 128x384xui8,384x384xi8->128x384xi32`; `, transposed` may follow. */
function packedProductKey({ name, factors, widenings, isTransposed, result }: PackedProduct): string {
  const types = factors.map((one, i) =>
    typeName(one).replace(/i8$/, widenings?.[i] === UNSIGNED ? 'ui8' : 'i8'),
  );
  return `${name} ${types.join()}->${typeName(result)}${isTransposed ? ', transposed' : ''}`;
}

const NAMES = ['linalg.matmul', 'linalg.batch_matmul'];

/** Results of the maps of both factors and of the result. */
const MAPS = ['[0,2] [2,1] [0,1]', '[0,2] [1,2] [0,1]', '[0,1,3] [0,3,2] [0,1,2]', '[0,1,3] [0,2,3] [0,1,2]'];

/** @returns null for other operations */
export function readPackedProduct(operation: Operation, text: Uint8Array): PackedProduct | null {
  const { name, kind, operands, indexingMaps, start, end } = operation;
  if (kind !== 'contraction' || operands.length !== 3) return null;
  const isNamed = NAMES.includes(name);
  if (!isNamed && name !== 'linalg.generic') return null;
  const maps = MAPS.indexOf(indexingMaps.map(({ results }) => JSON.stringify(results)).join(' '));
  const [lhs, rhs, result] = operands.map(({ type }) => staticTensor(type));
  if (!lhs || !rhs || !result || maps < 0) return null;
  const widenings = isNamed ? null : wideningsIn(bufferOf(text).toString('latin1', start, end));
  if (!isNamed && widenings === null) return null;
  const found = { name: NAME, factors: [lhs, rhs], isTransposed: maps % 2 === 1, widenings, result } as const;
  const isLaidOut = !IN_STRIPS.includes(rhs.elementType) || isConstant(text, operands[1]!.value, start, rhs);
  return isLaidOut && isPackedProduct(found) ? found : null;
}

/** Whether a value is a constant, or the same constant for each batch, which may be transposed. */
function isConstant(text: Uint8Array, value: string, end: number, { elementType }: Tensor): boolean {
  const definitionOf = (name: string | undefined) =>
    name === undefined ? '' : (definitionIn(text, name, end) ?? '');
  const defined = definitionOf(value);
  const [, expanded, spread] = SPREAD.exec(defined) ?? [];
  const matrix = expanded ?? spread;
  const before = matrix === undefined ? defined : definitionOf(matrix);
  // Transposed weights of f32 have forms of their own: see `product.ts`.
  const mayBeTransposed = matrix !== undefined || elementType !== 'f32';
  return (
    CONSTANT.test(before) || (mayBeTransposed && CONSTANT.test(definitionOf(TRANSPOSED.exec(before)?.[1])))
  );
}

/** A generic operation that only moves a value: exporters write a batch of equal weights so. */
const SPREAD = new RegExp(
  String.raw`^(?:tensor\.expand_shape (${VALUE}) |linalg\.generic\b(?:(?!\^bb0)[^])*? ins\((${VALUE}) : [^\n]*\n *\^bb0\((%\w+):[^\n]*\n *linalg\.yield \3 )`,
);

/** Whether a value, for example from a file, is such an operation. Checks every field, because all are written into MLIR. */
export function isPackedProduct(value: unknown): value is PackedProduct {
  const { name, factors, isTransposed, widenings, result } = (value ?? {}) as Partial<
    Record<keyof PackedProduct, unknown>
  >;
  if (name !== NAME || typeof isTransposed !== 'boolean' || !isTensor(result)) return false;
  const areIntegers = Array.isArray(widenings) && widenings.length === 2 && widenings.every(isWidening);
  if (!areIntegers && widenings !== null) return false;
  if (!Array.isArray(factors) || factors.length !== 2 || !factors.every(isTensor)) return false;
  const [lhs, rhs] = factors as [Tensor, Tensor];
  const [m, k] = lhs.shape.slice(-2);
  const n = rhs.shape.at(isTransposed ? -2 : -1);
  const batch = lhs.shape.slice(0, -2);
  const has = ({ shape }: Tensor, sizes: readonly unknown[]) =>
    JSON.stringify(shape) === JSON.stringify([...batch, ...sizes]);
  return (
    (areIntegers ? [BYTE] : ['bf16', ...IN_STRIPS]).includes(lhs.elementType) &&
    rhs.elementType === lhs.elementType &&
    result.elementType === (areIntegers ? WIDE : 'f32') &&
    batch.length <= 1 &&
    (areIntegers ? k! <= MOST_SUMMED : !isTransposed) &&
    (!IN_STRIPS.includes(lhs.elementType) || ((batch[0] ?? 1) === 1 && hasStrips(n!, k!))) &&
    has(lhs, [m, k]) &&
    has(rhs, isTransposed ? [n, k] : [k, n]) &&
    has(result, [m, n])
  );
}

/** Writes the product in its form. Returns its result. */
function inTiles(
  writer: Writer,
  { isTransposed, widenings }: Pick<PackedProduct, 'isTransposed' | 'widenings'>,
  [lhs, rhs, into]: readonly Value[],
  packing: Packing,
): Value {
  // Settled: steps that quantize are scalar code if the packing is fused into them.
  const factors = [writer.settle(lhs!), rhs!] as const;
  const product =
    widenings === null
      ? packedProduct(
          writer,
          packing.hasStrips ? [widened(writer, factors[0], 'f32'), factors[1]] : factors,
          isTransposed,
          into!,
          packing,
        )
      : productOfIntegers(writer, factors, { isTransposed, widenings, packing, shape: into!.shape });
  return writer.add(product, into!);
}

/**
 * The product of 8-bit integers as integers of 32 bits.
 * @param packing null to leave the layout to the compiler
 * @param shape of the result, which may have more dimensions instead of m
 */
export function productOfIntegers(
  writer: Writer,
  all: readonly [Value, Value],
  {
    isTransposed = false,
    widenings,
    packing,
    shape,
  }: {
    readonly isTransposed?: boolean;
    readonly widenings: readonly [Widening, Widening];
    readonly packing: Packing | null;
    readonly shape: readonly number[];
  },
): Value {
  const are = widenings.map((one) => one === UNSIGNED);
  const wanted = [packing?.isUnsigned ?? false, false];
  /** Difference of each factor to the integers that are multiplied. */
  const [first, second] = are.map((isUnsigned, i) =>
    isUnsigned === wanted[i] ? 0 : isUnsigned ? HALF : -HALF,
  ) as [number, number];
  const factors = all.map((one, i) => (are[i] === wanted[i] ? one : flipped(writer, one))) as [Value, Value];
  const product =
    packing === null
      ? splitRows(writer, rowsTimes(writer, ...factors, WIDE), shape)
      : packedProduct(writer, factors, isTransposed, { elementType: WIDE, shape }, packing);
  if (first === 0 && second === 0) return product;
  const places = shape.map((_, d) => `d${d}`);
  const rows = places.slice(0, -1);
  const columns = factors[0].shape.length === 3 ? ['d0', places.at(-1)!] : [places.at(-1)!];
  // The difference of a factor multiplies the sums of the other one.
  const ofRows = () =>
    splitRows(writer, sumsAlong(writer, factors[0], -1, wanted[0] ? UNSIGNED : SIGNED), shape.slice(0, -1));
  const ofColumns = () => sumsAlong(writer, factors[1], isTransposed ? -1 : -2, SIGNED);
  const sums = [
    ...(first === 0 ? [] : [{ at: columns, times: first, value: ofColumns() }]),
    ...(second === 0 ? [] : [{ at: rows, times: second, value: ofRows() }]),
  ];
  const k = factors[0].shape.at(-1)!;
  return writer.generic({
    loops: places.join(', '),
    maps: [places, ...sums.map(({ at }) => at), places].map((one) => one.join(', ')),
    inputs: [product, ...sums.map(({ value }) => value)],
    into: writer.empty(product),
    body: [
      `%both = arith.constant ${first * second * k} : ${WIDE}`,
      `%t0 = arith.addi %x0, %both : ${WIDE}`,
      ...sums.flatMap(({ times }, i) => [
        `%h${i} = arith.constant ${times} : ${WIDE}`,
        `%p${i} = arith.muli %x${i + 1}, %h${i} : ${WIDE}`,
        `%t${i + 1} = arith.addi %t${i}, %p${i} : ${WIDE}`,
      ]),
    ],
    gives: `%t${sums.length}`,
  });
}

/** Sums of 8-bit integers along the last dimension, or the one before, as integers of 32 bits. */
export function sumsAlong(writer: Writer, value: Value, along: -1 | -2, widening: Widening): Value {
  const loops = value.shape.map((_, d) => `d${d}`);
  return writer.generic({
    loops: loops.join(', '),
    maps: [loops, loops.toSpliced(along, 1)].map((one) => one.join(', ')),
    inputs: [value],
    into: writer.zeros({ elementType: WIDE, shape: value.shape.toSpliced(along, 1) }),
    body: [`%w = ${widening} %x0 : ${BYTE} to ${WIDE}`, `%s = arith.addi %out, %w : ${WIDE}`],
    gives: '%s',
  });
}

/** The operation as the program has it. */
function writtenPackedProduct({ factors, isTransposed, widenings, result }: PackedProduct): Written {
  const [lhs, rhs] = factors.map((one, i) => ({ ...one, name: ['%lhs', '%rhs'][i]! })) as [Value, Value];
  const into = { ...result, name: '%into' };
  const rank = result.shape.length;
  const [m, n, k] = ['d', 'd', 'd'].map((d, i) => `${d}${rank - 2 + i}`) as [string, string, string];
  const batch = rank === 3 ? 'd0, ' : '';
  const operands = [lhs, rhs, into];
  const type = tensorText(into);
  const common = { operands, list: listOf(operands), type };
  if (widenings === null)
    return {
      ...common,
      operation: `${NAMES[rank - 2]!} ins(%lhs, %rhs : ${tensorText(lhs)}, ${tensorText(rhs)}) outs(%into : ${type}) -> ${type}`,
    };
  return {
    ...common,
    operation: genericText({
      loops: `${batch}${m}, ${n}, ${k}`,
      maps: [`${m}, ${k}`, isTransposed ? `${n}, ${k}` : `${k}, ${n}`, `${m}, ${n}`].map(
        (one) => `${batch}${one}`,
      ),
      ...{ inputs: [lhs, rhs], into },
      ...widenedProduct(widenings, [BYTE, BYTE], WIDE),
    }),
  };
}

export const packedProducts: ReplaceableKind<PackedProduct> = {
  is: isPackedProduct,
  key: packedProductKey,
  read: (text, operations) => operations.flatMap((one) => readPackedProduct(one, text) ?? []),
  writtenOf: writtenPackedProduct,
  resultOf: ({ result }) => result,
  formsOf: ({ factors: [{ elementType }] }) => [
    { name: 'packed', tiles: { of: elementType as Packed, areNeeded: true } },
  ],
  write(writer, product, operands, { name, packing }) {
    if (packing === null) throw new RangeError(`${packedProductKey(product)} has no form ${name}`);
    return { value: inTiles(writer, product, operands, packing) };
  },
};
