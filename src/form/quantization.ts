// Quantization of a float: rounded to the nearest integer, ties to even, moved by a zero point, and limited to the range of a narrow integer. With the
// rounding as additions (see `rounding.ts`), these are ten operations on each element. Its form limits the float first. Then its sum with 1.5 * 2^23
// has the integer in its low bits. The result is the same for every float, and for every zero point within the range of the integer.
import { isIntegerWithin } from '../system/data.ts';
import { elementBits } from '../workload/element-type.ts';
import { definitionsIn, floatConversion, TO_INTEGER, type ScalarOperation } from './body.ts';
import type { ReplaceableKind } from './form.ts';
import { listOf, ofEach, type Value, type Writer, type Written } from './text.ts';

/** A limit of the moved integer. */
interface Limit {
  readonly name: keyof typeof LIMITS;
  readonly bound: number;
}

export interface Quantization {
  readonly name: typeof NAME;
  /** Of the result. */
  readonly type: string;
  readonly isUnsigned: boolean;
  /** The zero point: a float, or how an integer becomes one. Null for none. */
  readonly zero: 'f32' | { readonly type: string; readonly isUnsigned: boolean } | null;
  /** The lower and the upper one, in the order of the program. */
  readonly limits: readonly [Limit, Limit];
}

const NAME = 'quantize';
const FLOAT = 'f32';

/** Which limit an operation is. */
const LIMITS = {
  'arith.maxnumf': 'low',
  'arith.maximumf': 'low',
  'arith.minnumf': 'high',
  'arith.minimumf': 'high',
} as const;

const TYPES = ['i8', 'i16'];
const OF_ZEROS = ['i8', 'i16', 'i32', 'i64'];

/** From this float on, floats of 32 bits are whole numbers. Integers of 22 bits with a sign are the low bits of sums with it. */
const WHOLE = '12582912.0';

const quantizationKey = ({ type, isUnsigned, zero, limits }: Quantization): string => {
  const moved =
    zero === null
      ? 'no zero point'
      : `zero point ${zero === 'f32' ? zero : `${zero.isUnsigned ? 'unsigned ' : ''}${zero.type}`}`;
  const limited = limits.map(({ name, bound }) => `${name.slice('arith.'.length)} ${bound}`);
  return `${NAME} f32->${type}${isUnsigned ? ' unsigned' : ''} ${moved} ${limited.join(' ')}`;
};

/**
 * The quantizations in a text of the compiler, and whether it has other roundings. A float as zero point that is not known to be whole leaves all with
 * such zero points as they are, because they match alike.
 */
export function readQuantizations(text: Uint8Array): { found: Quantization[]; areAll: boolean } {
  const definitions = new Map<string, ScalarOperation>();
  const all: Quantization[] = [];
  let roundings = 0;
  let areWhole = true;
  for (const defined of definitionsIn(text, definitions)) {
    const definition = defined?.definition ?? null;
    if (definition === null) continue;
    if (isRounding(definition)) roundings++;
    const one = quantizationIn(definition, definitions);
    if (one === 'no whole zero point') areWhole = false;
    else if (one !== null) all.push(one);
  }
  const found = areWhole ? all : all.filter(({ zero }) => zero !== 'f32');
  return { found, areAll: roundings === found.length };
}

const isRounding = (one: ScalarOperation | undefined): boolean =>
  one?.name === 'math.roundeven' && one.type === FLOAT;

/** The quantization that a conversion to an integer ends; null for another computation. */
function quantizationIn(
  { name: conversion, of: [last], type }: ScalarOperation,
  definitions: ReadonlyMap<string, ScalarOperation>,
): Quantization | 'no whole zero point' | null {
  if (!TO_INTEGER.test(conversion)) return null;
  const numberIn = (value: string) => Number(definitions.get(value)?.text ?? NaN);
  const limits: unknown[] = [];
  let value = definitions.get(last!);
  while (limits.length < 2) {
    if (value === undefined || !Object.hasOwn(LIMITS, value.name) || value.type !== FLOAT) return null;
    limits.unshift({ name: value.name, bound: numberIn(value.of[1]!) });
    value = definitions.get(value.of[0]!);
  }
  const [rounded, added] = value?.name === 'arith.addf' ? value.of : [];
  const zero = added === undefined ? null : zeroOf(definitions.get(added));
  const read = { name: NAME, type, isUnsigned: conversion === 'arith.fptoui', zero, limits };
  if (!isRounding(rounded === undefined ? value : definitions.get(rounded)) || !isQuantization(read))
    return null;
  const isWhole = zero !== 'f32' || isIntegerWithin(numberIn(added!), ...rangeOf(read));
  return isWhole ? read : 'no whole zero point';
}

function zeroOf(definition: ScalarOperation | undefined): NonNullable<Quantization['zero']> {
  const [from] = definition?.from ?? [];
  const isUnsigned = definition?.name === 'arith.uitofp';
  const isConverted = isUnsigned || definition?.name === 'arith.sitofp';
  return isConverted && OF_ZEROS.includes(from!) ? { type: from!, isUnsigned } : 'f32';
}

/** Whether a value, for example from a file, is such an operation. Checks every field, because all are written into MLIR. */
export function isQuantization(value: unknown): value is Quantization {
  const { name, type, isUnsigned, zero, limits } = (value ?? {}) as Partial<
    Record<keyof Quantization, unknown>
  >;
  if (name !== NAME || !TYPES.some((one) => one === type) || typeof isUnsigned !== 'boolean') return false;
  const range = rangeOf(value as Quantization);
  return (
    (zero === null || zero === 'f32' || isZeroOfIntegers(zero)) &&
    Array.isArray(limits) &&
    limits.length === 2 &&
    (limits as unknown[]).every((one) => {
      const { name: own, bound } = (one ?? {}) as Partial<Record<keyof Limit, unknown>>;
      return typeof own === 'string' && Object.hasOwn(LIMITS, own) && isIntegerWithin(bound, ...range);
    }) &&
    boundsOf(limits as unknown as Quantization['limits']) !== null
  );
}

const isZeroOfIntegers = (zero: unknown): boolean => {
  const { type, isUnsigned } = (zero ?? {}) as Partial<Record<'type' | 'isUnsigned', unknown>>;
  return OF_ZEROS.some((one) => one === type) && typeof isUnsigned === 'boolean';
};

/** The least and the greatest integer of the result. */
const rangeOf = ({ type, isUnsigned }: Pick<Quantization, 'type' | 'isUnsigned'>): [number, number] => {
  const half = 2 ** (elementBits(type) - 1);
  return isUnsigned ? [0, 2 * half - 1] : [-half, half - 1];
};

/** The lower and the upper bound; null for limits of one kind, and for an empty range. */
function boundsOf(limits: Quantization['limits']): [number, number] | null {
  const [low, high] = (['low', 'high'] as const).map(
    (kind) => limits.find(({ name }) => LIMITS[name] === kind)?.bound,
  );
  return low !== undefined && high !== undefined && low <= high ? [low, high] : null;
}

const SCALAR = { shape: [], isScalar: true } as const;
const VALUE: Value = { ...SCALAR, elementType: 'f32', name: '%value' };

/** The operation as the program has it. A function of its own quantizes a tensor. */
function writtenQuantization({ type, isUnsigned, zero, limits }: Quantization): Written {
  const zeroType = zero === null || zero === 'f32' ? zero : zero.type;
  const operands = zeroType === null ? [VALUE] : [VALUE, { ...SCALAR, elementType: zeroType, name: '%zero' }];
  const before = ['%rounded = math.roundeven %value : f32'];
  let last = '%rounded';
  if (zero !== null) {
    if (zero !== 'f32') before.push(`%float = ${floatOf(zero)}`);
    before.push(`%moved = arith.addf %rounded, ${zero === 'f32' ? '%zero' : '%float'} : f32`);
    last = '%moved';
  }
  for (const { name, bound } of limits) {
    const kind = LIMITS[name];
    before.push(
      `%${kind} = arith.constant ${bound.toFixed(1)} : f32`,
      `%not_${kind} = ${name} ${last}, %${kind} : f32`,
    );
    last = `%not_${kind}`;
  }
  const operation = `arith.fpto${isUnsigned ? 'u' : 's'}i ${last} : f32 to ${type}`;
  const { body, ...whole } = onHalves([...before, `%result = ${operation}`], '%result', type);
  const given = `%zero = arith.constant ${zeroType === 'f32' ? ODD.toFixed(1) : ODD} : ${zeroType}\n  `;
  return {
    ...{ operands, list: listOf(operands), before: before.join('\n      '), operation, type },
    alone: { ...whole, body: zeroType === null ? body : `${given}${body}` },
  };
}

/** A zero point with which sums of halves round to another even number than the halves. */
const ODD = 3;

const floatOf = ({ type, isUnsigned }: { readonly type: string; readonly isUnsigned: boolean }): string =>
  `${floatConversion(type, isUnsigned)} %zero : ${type} to f32`;

/** Writes the quantization of a scalar. */
function limitedFirst(
  writer: Writer,
  { type, zero, limits }: Quantization,
  [value, zeroValue]: readonly Value[],
): Value {
  const define = (text: string, type = FLOAT) => writer.scalar(type, text).name;
  const moved = (bound: number) => {
    const limit = define(`arith.constant ${bound.toFixed(1)} : f32`);
    return float === null ? limit : define(`arith.subf ${limit}, ${float} : f32`);
  };
  const float = zero === null ? null : zero === 'f32' ? zeroValue!.name : define(floatOf(zero));
  const [low, high] = boundsOf(limits)!.map(moved);
  const raised = define(`arith.maxnumf ${value!.name}, ${low!} : f32`);
  const limited = define(`arith.minnumf ${raised}, ${high!} : f32`);
  const sum = define(`arith.addf ${limited}, ${define(`arith.constant ${WHOLE} : f32`)} : f32`);
  const bits = define(`arith.bitcast ${sum} : f32 to i32`, 'i32');
  const integer = float === null ? null : define(`arith.fptosi ${float} : f32 to i32`, 'i32');
  const whole = integer === null ? bits : define(`arith.addi ${bits}, ${integer} : i32`, 'i32');
  return writer.scalar(type, `arith.trunci ${whole} : i32 to ${type}`);
}

/** The tensor of a function that quantizes or rounds. */
export const ROUNDED = { elementType: 'f32', shape: [4096] };

/** Parameters and body of a function that computes something of `%value`, the half of each element of a tensor, so that there are ties. */
export const onHalves = (body: readonly string[], gives: string, type: string) =>
  ofEach(
    ROUNDED,
    ['%half = arith.constant 0.5 : f32', '%value = arith.mulf %x0, %half : f32', ...body],
    gives,
    type,
  );

export const quantizations: ReplaceableKind<Quantization> = {
  is: isQuantization,
  key: quantizationKey,
  read: (text) => readQuantizations(text).found,
  writtenOf: writtenQuantization,
  resultOf: ({ type }) => ({ ...ROUNDED, elementType: type }),
  formsOf: (_, { isForCpu }) => (isForCpu ? [{ name: 'limited-first' }] : []),
  write: (writer, one, operands) => ({ value: limitedFirst(writer, one, operands) }),
  turn: 2,
};
