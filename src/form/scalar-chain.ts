// A chain of operations on scalars that makes one integer of 8 bits of another one: its text, and its result for each of the 256 integers.
import { isIntegerWithin } from '../system/data.ts';
import { elementBits } from '../workload/element-type.ts';

/** An operation, with the names and types of the text. */
export interface Line {
  /** Such as `arith.addf`. */
  readonly name: string;
  /** Its operands: 0 for the integer of 8 bits, then the lines before it. */
  readonly of: readonly number[];
  /** Its result. */
  readonly type: string;
  /** A constant as the compiler writes it, or the predicate of a comparison. */
  readonly text?: string;
}

type Numbers = readonly number[];

/** Operations on floats of 32 bits, before the result is rounded to such a float. */
const OF_FLOATS: Readonly<Record<string, (...of: Numbers) => number>> = {
  'arith.addf': (a, b) => a + b,
  'arith.subf': (a, b) => a - b,
  'arith.mulf': (a, b) => a * b,
  'arith.divf': (a, b) => a / b,
  'arith.negf': (a) => -a,
  'arith.maxnumf': (a, b) => Math.max(a, b),
  'arith.maximumf': (a, b) => Math.max(a, b),
  'arith.minnumf': (a, b) => Math.min(a, b),
  'arith.minimumf': (a, b) => Math.min(a, b),
  'math.absf': (a) => Math.abs(a),
  'math.ceil': (a) => Math.ceil(a),
  'math.erf': (a) => erf(a),
  'math.exp': (a) => Math.exp(a),
  'math.floor': (a) => Math.floor(a),
  'math.log': (a) => Math.log(a),
  'math.log1p': (a) => Math.log1p(a),
  'math.roundeven': (a) => roundEven(a),
  'math.sqrt': (a) => Math.sqrt(a),
  'math.tanh': (a) => Math.tanh(a),
};

/** Those that take long. */
const SLOW = ['math.erf', 'math.exp', 'math.log', 'math.log1p', 'math.tanh'];

/** Operations on integers. */
const OF_INTEGERS: Readonly<Record<string, (a: number, b: number) => number>> = {
  'arith.addi': (a, b) => a + b,
  'arith.subi': (a, b) => a - b,
  'arith.muli': (a, b) => a * b,
};

/** Conversions, and whether they are of floats, and to floats. */
const CONVERSIONS: Readonly<Record<string, readonly [isOfFloat: boolean, isToFloat: boolean]>> = {
  'arith.extsi': [false, false],
  'arith.extui': [false, false],
  'arith.trunci': [false, false],
  'arith.sitofp': [false, true],
  'arith.uitofp': [false, true],
  'arith.fptosi': [true, false],
  'arith.fptoui': [true, false],
};

/** Predicates of comparisons. No operand is a NaN, so ordered and unordered ones are the same. */
const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
};

const [BYTE, FLOAT, TRUTH] = ['i8', 'f32', 'i1'];
const INTEGERS = ['i8', 'i16', 'i32'];
const INTEGER_TEXT = /^-?\d+$/;
const FLOAT_TEXT = /^(?:-?\d+\.\d+(?:e[+-]\d+)?|0x[0-9A-F]{8})$/;

/** The type of an operand. */
export const typeOf = (lines: readonly Line[], i: number): string => (i === 0 ? BYTE : lines[i - 1]!.type);

/** Whether a value, for example from a file, is a chain. Checks every field, because all are written into MLIR. */
export function isChain(value: unknown): value is readonly Line[] {
  if (!Array.isArray(value) || value.length === 0) return false;
  const lines = value as readonly Line[];
  const uses = lines.flatMap(({ of }): readonly unknown[] => (Array.isArray(of) ? of : []));
  return (
    lines.every((one, i) => isLine(one, lines.slice(0, i))) &&
    // The compiler's matcher takes an input of one use, and every line is an operand of a later one.
    uses.filter((one) => one === 0).length === 1 &&
    lines.slice(0, -1).every((_, i) => uses.includes(i + 1)) &&
    typeOf(lines, lines.length) === BYTE &&
    /^arith\.fpto[us]i$/.test(lines.at(-1)!.name)
  );
}

function isLine(value: unknown, before: readonly Line[]): boolean {
  const { name, of, type, text } = (value ?? {}) as Partial<Record<keyof Line, unknown>>;
  if (typeof name !== 'string' || typeof type !== 'string' || !Array.isArray(of)) return false;
  if (!of.every((one) => isIntegerWithin(one, 0, before.length))) return false;
  const types = (of as number[]).map((one) => typeOf(before, one));
  const areOf = (...all: readonly string[]) => types.join() === all.join();
  if (name === 'arith.constant')
    return (
      areOf() &&
      typeof text === 'string' &&
      (type === FLOAT ? FLOAT_TEXT.test(text) : INTEGERS.includes(type) && INTEGER_TEXT.test(text))
    );
  if (name === 'arith.cmpf')
    return (
      areOf(FLOAT, FLOAT) && type === TRUTH && typeof text === 'string' && comparisonOf(text) !== undefined
    );
  if (text !== undefined) return false;
  if (name === 'arith.select') return areOf(TRUTH, type, type) && type !== TRUTH;
  const floats = Object.hasOwn(OF_FLOATS, name) ? OF_FLOATS[name] : undefined;
  if (floats !== undefined)
    return type === FLOAT && areOf(...Array.from({ length: floats.length }, () => FLOAT));
  if (Object.hasOwn(OF_INTEGERS, name)) return INTEGERS.includes(type) && areOf(type, type);
  const conversion = Object.hasOwn(CONVERSIONS, name) ? CONVERSIONS[name] : undefined;
  if (conversion === undefined || types.length !== 1) return false;
  const [isOfFloat, isToFloat] = conversion;
  const [from] = types as [string];
  const isOf = isOfFloat ? from === FLOAT : INTEGERS.includes(from);
  const isTo = isToFloat ? type === FLOAT : INTEGERS.includes(type);
  const isNarrower = elementBits(type) < elementBits(from);
  return (
    isOf && isTo && (isOfFloat || isToFloat || (from !== type && isNarrower === (name === 'arith.trunci')))
  );
}

const comparisonOf = (predicate: string) => {
  const [, own] = /^[ou](\w\w)$/.exec(predicate) ?? [];
  return own !== undefined && Object.hasOwn(COMPARISONS, own) ? COMPARISONS[own] : undefined;
};

/** Whether a table is faster than the operations. */
export const isSlow = (lines: readonly Line[]): boolean => lines.some(({ name }) => SLOW.includes(name));

/** A line of a text. @param nameOf the name of an operand */
export function lineText(lines: readonly Line[], i: number, nameOf: (i: number) => string): string {
  const { name, of, type, text } = lines[i]!;
  if (name === 'arith.constant') return `${name} ${text!} : ${type}`;
  const from = of.length === 0 ? type : typeOf(lines, of.at(-1)!);
  const operands = [...(text === undefined ? [] : [text]), ...of.map(nameOf)].join(', ');
  return `${name} ${operands} : ${from}${Object.hasOwn(CONVERSIONS, name) ? ` to ${type}` : ''}`;
}

/** The results for the integers whose bits are 0 to 255, as signed integers. Null if a value on the way is no finite number. */
export function tableOf(lines: readonly Line[]): number[] | null {
  const all = Array.from({ length: 256 }, (_, bits) => resultOf(lines, wrapped(bits, BYTE)));
  return all.every((one) => one !== null) ? all : null;
}

function resultOf(lines: readonly Line[], integer: number): number | null {
  const values = [integer];
  for (const line of lines) {
    const value = valueOf(
      line,
      line.of.map((one) => values[one]!),
      line.of.map((one) => typeOf(lines, one)),
    );
    if (!Number.isFinite(value)) return null;
    values.push(value);
  }
  return values.at(-1)!;
}

/** Integers have the sign of their highest bit. A comparison gives 0 or 1. */
function valueOf({ name, type, text }: Line, of: Numbers, types: readonly string[]): number {
  const [a, b, c] = of as [number, number, number];
  if (name === 'arith.constant') return type === FLOAT ? floatIn(text!) : wrapped(Number(text), type);
  if (name === 'arith.cmpf') return Number(comparisonOf(text!)!(a, b));
  if (name === 'arith.select') return a === 1 ? b : c;
  const floats = OF_FLOATS[name];
  if (floats !== undefined) return Math.fround(floats(...of));
  const integers = OF_INTEGERS[name];
  if (integers !== undefined) return wrapped(integers(a, b), type);
  const isUnsigned = name === 'arith.extui' || name === 'arith.uitofp';
  const from = isUnsigned && a < 0 ? a + 2 ** elementBits(types[0]!) : a;
  return type === FLOAT ? Math.fround(from) : wrapped(Math.trunc(from), type);
}

/** The low bits of an integer; NaN for one that is not exact. */
function wrapped(value: number, type: string): number {
  if (!Number.isSafeInteger(value)) return NaN;
  const range = 2 ** elementBits(type);
  const bits = ((value % range) + range) % range;
  return bits < range / 2 ? bits : bits - range;
}

function floatIn(text: string): number {
  if (!text.startsWith('0x')) return Math.fround(Number(text));
  const bytes = new DataView(new ArrayBuffer(4));
  bytes.setUint32(0, Number(text));
  return bytes.getFloat32(0);
}

const roundEven = (value: number): number => {
  const down = Math.floor(value);
  const isTie = value - down === 0.5;
  return isTie ? down + (Math.abs(down % 2) === 1 ? 1 : 0) : Math.round(value);
};

/** The error function, by a series whose terms all have one sign. */
function erf(value: number): number {
  const size = Math.abs(value);
  // From here on it is 1 in double precision.
  if (size > 6) return Math.sign(value);
  let [term, sum] = [size, size];
  for (let n = 1; term > sum * Number.EPSILON; n++) {
    term *= (2 * size * size) / (2 * n + 1);
    sum += term;
  }
  return Math.sign(value) * (2 / Math.sqrt(Math.PI)) * Math.exp(-size * size) * sum;
}
