// A chain of operations on scalars that makes one integer of 8 bits of another one: its result for each of the 256 integers.
import { areSteps, TO_INTEGER, type Step } from './body.ts';
import { evaluating, wrapped } from './evaluate.ts';

/** Those that take long. */
const SLOW = ['math.erf', 'math.exp', 'math.log', 'math.log1p', 'math.tanh'];

const BYTE = 'i8';
/** Types that are computed here. */
const TYPES = [BYTE, 'i16', 'i32', 'f32', 'i1'];

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
  const evaluate = evaluating(steps, [BYTE]);
  const all = Array.from({ length: 256 }, (_, bits) => evaluate([wrapped(bits, BYTE)]));
  return all.every((values) => values.every(Number.isFinite)) ? all.map((values) => values.at(-1)!) : null;
}
