// Evaluates steps on scalars, for values that are known when a program is read.
import { elementBits, isFloat } from '../workload/element-type.ts';
import { INDEX, type Step } from './body.ts';
import { OF_FLOATS, OF_INTEGERS } from './scalar-operations.ts';

/** Predicates of comparisons. No operand is a NaN, so ordered and unordered ones are the same. */
const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
};

/**
 * Gives the values of elements and steps, in this order, for values of the elements. NaN for a value that is not exact.
 * @param types of the elements
 */
export function evaluating(
  steps: readonly Step[],
  types: readonly string[],
): (elements: readonly number[]) => readonly number[] {
  const all = [...types, ...steps.map(({ type }) => type)];
  const computes = steps.map((step) =>
    computing(
      step,
      step.of.map((one) => all[one]!),
    ),
  );
  return (elements) => {
    const values = [...elements];
    for (const [i, compute] of computes.entries())
      values.push(compute(...steps[i]!.of.map((one) => values[one]!)));
    return values;
  };
}

type Compute = (...operands: number[]) => number;

/** The function of a step's operands. Integers have the sign of their highest bit. A comparison gives 0 or 1. */
function computing({ name, type, text }: Step, [from]: readonly string[]): Compute {
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

/** The nearest number of a type; NaN for types that are not computed here. */
const rounded = (value: number, type: string): number =>
  type === 'f32' ? Math.fround(value) : type === 'f64' ? value : NaN;

/** Integers of 64 bits, all of which that are exact are in range. */
const isWide = (type: string): boolean => type === INDEX || elementBits(type) === 64;

/** The low bits of an integer; NaN for one that is not exact. */
export function wrapped(value: number, type: string): number {
  if (!Number.isSafeInteger(value)) return NaN;
  if (isWide(type)) return value;
  const range = 2 ** elementBits(type);
  const bits = ((value % range) + range) % range;
  return bits < range / 2 ? bits : bits - range;
}

function floatIn(text: string, type: string): number {
  if (!text.startsWith('0x')) return rounded(Number(text), type);
  if (type !== 'f32') return NaN;
  const bytes = new DataView(new ArrayBuffer(4));
  bytes.setUint32(0, Number(text));
  return bytes.getFloat32(0);
}
