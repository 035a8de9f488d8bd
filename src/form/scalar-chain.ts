// A chain of operations on scalars that makes one integer of 8 bits of another one: its result for each of the 256 integers.
import { elementBits, isFloat } from '../workload/element-type.ts';
import { areSteps, INDEX, TO_INTEGER, type Step } from './body.ts';
import { OF_FLOATS, OF_INTEGERS } from './scalar-operations.ts';

/** Those that take long. */
const SLOW = ['math.erf', 'math.exp', 'math.log', 'math.log1p', 'math.tanh'];

/** Predicates of comparisons. No operand is a NaN, so ordered and unordered ones are the same. */
const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
};

const [BYTE, FLOAT] = ['i8', 'f32'] as const;
/** Types that are computed here. */
const TYPES = [BYTE, 'i16', 'i32', FLOAT, 'i1'];

/** The type of an operand: of the integer, or of a step. */
export const typeIn = (steps: readonly Step[], i: number): string => (i === 0 ? BYTE : steps[i - 1]!.type);

/** Whether a value, for example from a file, is a chain. */
export function isChain(value: unknown): value is readonly Step[] {
  if (!areSteps(value, [BYTE])) return false;
  const uses = value.flatMap(({ of }) => of);
  const last = value.at(-1)!;
  return (
    value.every(({ type }) => TYPES.includes(type)) &&
    // The compiler's matcher takes an input of one use, and every step is an operand of a later one.
    uses.filter((one) => one === 0).length === 1 &&
    value.slice(0, -1).every((_, i) => uses.includes(i + 1)) &&
    last.type === BYTE &&
    TO_INTEGER.test(last.name)
  );
}

/** Whether a table is faster than the operations. */
export const isSlow = (steps: readonly Step[]): boolean => steps.some(({ name }) => SLOW.includes(name));

/** The results for the integers whose bits are 0 to 255, as signed integers. Null if a value on the way is no finite number. */
export function tableOf(steps: readonly Step[]): number[] | null {
  const bits = Array.from({ length: 256 }, (_, i) => i);
  const columns = [bits.map((one) => wrapped(one, BYTE))];
  for (const step of steps) {
    const types = step.of.map((one) => typeIn(steps, one));
    const compute = computing(step, types);
    const [a, b, c] = step.of.map((one) => columns[one]!);
    const column = bits.map((i) => compute(a?.[i] ?? NaN, b?.[i] ?? NaN, c?.[i] ?? NaN));
    if (!column.every(Number.isFinite)) return null;
    columns.push(column);
  }
  return columns.at(-1)!;
}

/** The function of a step's operands. Integers have the sign of their highest bit. A comparison gives 0 or 1. */
export function computing(
  { name, type, text }: Step,
  [from]: readonly string[],
): (a: number, b: number, c: number) => number {
  if (name === 'arith.constant') {
    const value = isFloat(type) ? floatIn(text!, type) : wrapped(Number(text), type);
    return () => value;
  }
  if (name === 'arith.cmpf') {
    const holds = COMPARISONS[text!.slice(1)]!;
    return (a, b) => Number(holds(a, b));
  }
  if (name === 'arith.select') return (a, b, c) => (a === 1 ? b : c);
  const floats = OF_FLOATS[name];
  if (floats !== undefined) return (a, b) => rounded(floats(a, b), type);
  const integers = OF_INTEGERS[name];
  if (integers !== undefined) return (a, b) => wrapped(integers(a, b), type);
  const range = name === 'arith.extui' || name === 'arith.uitofp' ? 2 ** elementBits(from!) : 0;
  return (a) => {
    const value = a < 0 ? a + range : a;
    return isFloat(type) ? rounded(value, type) : wrapped(Math.trunc(value), type);
  };
}

/** The nearest number of a type of 32 or 64 bits. */
const rounded = (value: number, type: string): number => (type === FLOAT ? Math.fround(value) : value);

/** Integers of 64 bits, all of which that are exact are in range. */
const isWide = (type: string): boolean => type === INDEX || elementBits(type) === 64;

/** The low bits of an integer; NaN for one that is not exact. */
function wrapped(value: number, type: string): number {
  if (!Number.isSafeInteger(value)) return NaN;
  if (isWide(type)) return value;
  const range = 2 ** elementBits(type);
  const bits = ((value % range) + range) % range;
  return bits < range / 2 ? bits : bits - range;
}

function floatIn(text: string, type: string): number {
  if (!text.startsWith('0x')) return rounded(Number(text), type);
  if (type !== FLOAT) return NaN;
  const bytes = new DataView(new ArrayBuffer(4));
  bytes.setUint32(0, Number(text));
  return bytes.getFloat32(0);
}
