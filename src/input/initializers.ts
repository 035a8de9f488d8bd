// Removes initializers from a program after the phase `flow`: they run only once, when the program is loaded.
import { SYMBOL } from '../compiler/symbol.ts';
import { EXECUTABLE } from './dispatches.ts';

/** A module-level block, up to its closing line. */
const INITIALIZER = /^ {2}util\.initializer\b[^]*?^ {2}\}[^\n]*\n/gm;
const EXECUTABLES = new RegExp(String.raw`${EXECUTABLE}[^]*?^ {2}\}[^\n]*\n`, 'gm');
const DISPATCHED = new RegExp(String.raw`\bflow\.dispatch (${SYMBOL})::`, 'g');

/** The text without initializers, and without executables that only initializers dispatch. */
export function withoutInitializers(flow: Uint8Array): Uint8Array {
  const text = Buffer.from(flow.buffer, flow.byteOffset, flow.byteLength).toString('latin1');
  const rest = text.replace(INITIALIZER, '');
  if (rest.length === text.length) return flow;
  const dispatched = new Set([...rest.matchAll(DISPATCHED)].map(([, symbol]) => symbol));
  const own = rest.replace(EXECUTABLES, (executable, symbol: string) =>
    dispatched.has(symbol) ? executable : '',
  );
  return Buffer.from(own, 'latin1');
}
