// Products and convolutions of bf16 or f16 whose sums have the same type, as JAX writes them. The compiler rounds such a sum after each product, by
// operations on single values. In their form, the sums have 32 bits and are rounded once. Other forms then apply to the operation with these sums.
import type { Operation } from 'mlir-parser-ts';
import { isSizes, isTensor, staticTensor, tensorText, typeName, type Tensor } from '../workload/tensor.ts';
import { readMoves, type Moves } from './convolution.ts';
import type { ReplaceableKind } from './form.ts';
import { listOf, movesText, type Value, type Writer, type Written } from './text.ts';

export interface NarrowSums extends Moves {
  readonly kind: typeof KIND;
  /** Such as `linalg.matmul`. */
  readonly name: string;
  readonly factors: readonly [Tensor, Tensor];
  readonly result: Tensor;
}

const KIND = 'narrow sums';

const FORM = 'sums-of-32-bits';

const NARROW = ['bf16', 'f16'];
const WIDE = 'f32';

/** Ranks of factors and result, by the name of the operation. */
const RANKS: Readonly<Record<string, readonly number[]>> = {
  'linalg.matmul': [2, 2, 2],
  'linalg.matvec': [2, 1, 1],
  'linalg.vecmat': [1, 2, 1],
  'linalg.batch_matmul': [3, 3, 3],
  'linalg.batch_matvec': [3, 2, 2],
  'linalg.batch_vecmat': [2, 3, 2],
  'linalg.conv_1d_nwc_wcf': [3, 3, 3],
  'linalg.conv_1d_ncw_fcw': [3, 3, 3],
  'linalg.conv_2d_nhwc_hwcf': [4, 4, 4],
  'linalg.conv_2d_nchw_fchw': [4, 4, 4],
  'linalg.conv_2d_ngchw_gfchw': [5, 5, 5],
  'linalg.conv_3d_ndhwc_dhwcf': [5, 5, 5],
  'linalg.conv_3d_ncdhw_fcdhw': [5, 5, 5],
  'linalg.depthwise_conv_1d_nwc_wc': [3, 2, 3],
  'linalg.depthwise_conv_1d_ncw_cw': [3, 2, 3],
  'linalg.depthwise_conv_2d_nhwc_hwc': [4, 3, 4],
  'linalg.depthwise_conv_2d_nchw_chw': [4, 3, 4],
  'linalg.depthwise_conv_3d_ndhwc_dhwc': [5, 4, 5],
};

/** The number of dimensions along which a window moves. */
const spatialIn = (name: string): number => Number(/_(\d)d_/.exec(name)?.[1] ?? 0);

/** Such as `narrow sums of matmul 128x384xbf16,384x384xbf16->128x384xbf16`; strides and dilations may follow. */
function keyOf({ name, factors, result, strides, dilations }: NarrowSums): string {
  const types = `${factors.map(typeName).join()}->${typeName(result)}`;
  const moves = strides.length === 0 ? '' : ` strides=${strides.join()} dilations=${dilations.join()}`;
  return `${KIND} of ${name.replace('linalg.', '')} ${types}${moves}`;
}

function readNarrowSums(operation: Operation, text: Uint8Array): NarrowSums | null {
  const { name, operands, attributes } = operation;
  if (!Object.hasOwn(RANKS, name) || operands.length !== 3) return null;
  // Other maps than those of the name.
  if (attributes.some((one) => one.name === 'indexing_maps')) return null;
  const [lhs, rhs, result] = operands.map(({ type }) => staticTensor(type));
  const moves = readMoves(operation, text, spatialIn(name));
  const found = { kind: KIND, name, factors: [lhs, rhs], result, ...moves };
  return isNarrowSums(found) ? found : null;
}

/** Whether a value, for example from a file, is such an operation. Checks every field, because all are written into MLIR. */
function isNarrowSums(value: unknown): value is NarrowSums {
  const { kind, name, factors, result, strides, dilations, steps } = (value ?? {}) as Partial<
    Record<keyof NarrowSums, unknown>
  >;
  if (kind !== KIND || typeof name !== 'string' || !Object.hasOwn(RANKS, name)) return false;
  if (!Array.isArray(factors) || factors.length !== 2) return false;
  const all: unknown[] = [...(factors as unknown[]), result];
  return (
    all.every(isTensor) &&
    all.every(({ shape }, i) => shape.length === RANKS[name]![i]) &&
    all.every(({ elementType }) => elementType === all[0]!.elementType) &&
    NARROW.includes(all[0]!.elementType) &&
    [strides, dilations].every((moves) => isSizes(moves) && moves.length === spatialIn(name)) &&
    (steps === undefined || steps === 'tensor' || steps === 'none')
  );
}

/** The choice of wide sums for all operations with narrow ones among these. */
export const widestSums = (operations: readonly unknown[]) =>
  operations.filter(isNarrowSums).map((operation) => ({ operation, form: FORM }));

/** The operation with sums of 32 bits, if its form has these. */
export function withWideSums(operation: Operation, text: Uint8Array): Operation {
  if (readNarrowSums(operation, text) === null) return operation;
  const operands = operation.operands.map((one, i) =>
    i === 2 && one.type.kind !== 'opaque' ? { ...one, type: { ...one.type, elementType: WIDE } } : one,
  );
  return { ...operation, operands };
}

/** The operation without the name of its result. */
function operationText({ name, strides, dilations, steps }: NarrowSums, operands: readonly Value[]): string {
  const [a, b, into] = operands as [Value, Value, Value];
  const moves = strides.length === 0 ? '' : ` ${movesText(strides, dilations, steps)}`;
  const type = tensorText(into);
  return `${name}${moves} ins(${a.name}, ${b.name} : ${tensorText(a)}, ${tensorText(b)}) outs(${into.name} : ${type}) -> ${type}`;
}

function written(sums: NarrowSums): Written {
  const { factors, result } = sums;
  const operands = [...factors, result].map((one, i) => ({ ...one, name: ['%lhs', '%rhs', '%into'][i]! }));
  const [type, list] = [tensorText(result), listOf(operands)];
  const wide = operands.map((one) => ({ ...one, name: `${one.name}_wide`, elementType: WIDE }));
  const none = { ...wide[2]!, name: '%none' };
  const exact = `${operands.map((one, i) => `${wide[i]!.name} = arith.extf ${one.name} : ${tensorText(one)} to ${tensorText(wide[i]!)}`).join('\n  ')}
  %none = arith.constant dense<0.0> : ${tensorText(none)}
  %sums = ${operationText(sums, [wide[0]!, wide[1]!, none])}
  %all = arith.addf %sums, %into_wide : ${tensorText(none)}
  %0 = arith.truncf %all : ${tensorText(none)} to ${type}`;
  return { operands, list, operation: operationText(sums, operands), type, exact };
}

/** The sums in 32 bits, added to the accumulator and rounded. */
function inWideSums(writer: Writer, sums: NarrowSums, operands: readonly Value[]): Value {
  const [lhs, rhs, accumulator] = operands as [Value, Value, Value];
  const none = writer.zeros({ ...accumulator, elementType: WIDE });
  const own = writer.define(none, operationText(sums, [lhs, rhs, none]));
  const loops = accumulator.shape.map((_, d) => `d${d}`).join(', ');
  const { elementType } = accumulator;
  return writer.generic({
    ...{ loops, maps: [loops, loops, loops], inputs: [own, accumulator], into: writer.empty(accumulator) },
    body: [
      `%a = arith.extf %x1 : ${elementType} to ${WIDE}`,
      `%s = arith.addf %x0, %a : ${WIDE}`,
      `%r = arith.truncf %s : ${WIDE} to ${elementType}`,
    ],
    gives: '%r',
  });
}

export const narrowSums: ReplaceableKind<NarrowSums> = {
  is: isNarrowSums,
  key: keyOf,
  read: (text, operations) => operations.flatMap((one) => readNarrowSums(one, text) ?? []),
  writtenOf: written,
  resultOf: ({ result }) => result,
  // GPUs multiply such floats, and add them up as wide or as narrow.
  formsOf: (_, { isForCpu }) => (isForCpu ? [{ name: FORM }] : []),
  write: (writer, sums, operands) => ({ value: inWideSums(writer, sums, operands) }),
  turn: 1,
};
