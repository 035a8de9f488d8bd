// Values that a program computes of constants alone. The compiler evaluates what is made of them.
import { VALUE } from '../compiler/symbol.ts';
import { CONSTANT } from './definitions.ts';

/** The definition of a value in a text, without locations; empty for a value that has none. */
export type Definitions = (value: string) => string;

const VALUES = `(${VALUE}(?:, ${VALUE})*)`;

/** Operations that give the elements of other values in another order, shape or type, or combine them. */
const MADE = [
  String.raw`tensor\.(?:expand|collapse)_shape `,
  String.raw`tensor\.concat dim\(\d+\) `,
  String.raw`flow\.tensor\.bitcast `,
  String.raw`linalg\.transpose ins\(`,
  String.raw`linalg\.generic\b(?:(?!\^bb0)[^])*? ins\(`,
].map((one) => new RegExp(`^${one}${VALUES} `));

/** Most operations between a value and its constants. */
const MOST_STEPS = 16;

/** Whether a value is a constant, or made of constants. */
export function isConstant(value: string, definitionOf: Definitions, most = MOST_STEPS): boolean {
  const definition = definitionOf(value);
  if (CONSTANT.test(definition)) return true;
  const before = beforeOf(definition);
  return before.length > 0 && most > 0 && before.every((one) => isConstant(one, definitionOf, most - 1));
}

/** The values that another one is made of; none for other operations. */
function beforeOf(definition: string): string[] {
  for (const pattern of MADE) {
    const found = pattern.exec(definition)?.[1];
    if (found !== undefined) return found.split(', ');
  }
  return [];
}

const CUT = new RegExp(
  String.raw`^linalg\.generic\b(?:(?!\^bb0)[^])*\^bb0\((%\w+): i8, %\w+: i8\):\s*(%\w+) = arith\.(?:(andi)|shrui) \1, (${VALUE}) : i8\s*linalg\.yield \2 : `,
);

const [LOW, SHIFT] = [15, 4];

/** Whether the integers of 8 bits of a value are halves of bytes: what the program cuts out of them, in any order. */
export function isHalfByte(value: string, definitionOf: Definitions): boolean {
  const definition = definitionOf(value);
  const [, , , isMask, by] = CUT.exec(definition) ?? [];
  if (by !== undefined)
    return definitionOf(by).startsWith(`arith.constant ${isMask === undefined ? SHIFT : LOW} : i8`);
  const before = definition.startsWith('linalg.generic') ? [] : beforeOf(definition);
  return before.length > 0 && before.every((one) => isHalfByte(one, definitionOf));
}
