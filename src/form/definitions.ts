// Definitions of values in a text of the compiler.
import { withoutLocations } from '../compiler/locations.ts';
import { bufferOf } from '../system/bytes.ts';

/** Characters of a definition that are read. */
const MOST_CHARACTERS = 2000;

/** Where the name of the operation begins that defines a value in a text; null if there is none before `end`. */
function definitionAt(text: Uint8Array, value: string, end: number): number | null {
  const defined = ` ${value} = `;
  const at = bufferOf(text).lastIndexOf(defined, end);
  return at < 0 ? null : at + defined.length;
}

/** The definition of a constant. */
export const CONSTANT = /^(?:arith\.constant|util\.global\.load) /;

/** The operation that defines a value in a text, from its name on; null if there is none before `end`. */
export function definitionIn(text: Uint8Array, value: string, end: number): string | null {
  const from = definitionAt(text, value, end);
  return from === null
    ? null
    : bufferOf(text).toString('latin1', from, Math.min(end, from + MOST_CHARACTERS));
}

/** The same without locations; empty if there is none. */
export const plainDefinitionIn = (text: Uint8Array, value: string, end: number): string =>
  withoutLocations(definitionIn(text, value, end) ?? '');

/**
 * Whether all values are arguments of the function, or defined before the loop whose body has the operation at `end`. Reads the indentation of a
 * text of the compiler. False outside of loops, and for arguments of loops.
 */
export function areBeforeLoop(text: Uint8Array, values: readonly string[], end: number): boolean {
  const bytes = bufferOf(text);
  const lineOf = (at: number) => bytes.lastIndexOf('\n', at) + 1;
  const depthAt = (line: number) =>
    /^ */.exec(bytes.toString('latin1', line, line + MOST_CHARACTERS))![0].length;
  const headAt = (line: number) => bytes.toString('latin1', line, bytes.indexOf('\n', line));
  let line = lineOf(end);
  const own = depthAt(line);
  while (line > 1 && depthAt(line) >= own) line = lineOf(line - 2);
  if (!LOOP.test(headAt(line))) return false;
  const signature = headAt(lineOf(bytes.lastIndexOf('func ', end)));
  const isArgument = (value: string) =>
    ['(', ', '].some((before) => signature.includes(`${before}${value}: `));
  return values.every((value) => {
    const at = definitionAt(text, value, end);
    return at === null ? isArgument(value) : at < line;
  });
}

const LOOP = /\bscf\.(?:for|while)\b|\} do \{/;
