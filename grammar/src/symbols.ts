import { isBytecode } from './bytecode.ts';
import { IDENTIFIER, SYMBOL } from './scanner.ts';
import { sourceOf, walk } from './source.ts';

/**
 * The symbols that operations of one name define, in the order of the text, without the `@`: `main` for
 * `hal.executable public @main {...}`. Ignores operations in the quoted form. Never throws, and takes time linear in the
 * input.
 */
// ebnf: symbol-definition
export function symbolsOf(input: Uint8Array, operation: string): string[] {
  const symbols: string[] = [];
  if (isBytecode(input)) return symbols;
  const source = sourceOf(input);
  const { scanner, text } = source;
  let isAfterName = false;
  walk(source, (kind) => {
    if (isAfterName && kind === SYMBOL) symbols.push(text.symbol(scanner.start, scanner.pos));
    isAfterName = kind === IDENTIFIER && (scanner.is(operation) || (isAfterName && isVisibility()));
  });
  return symbols;

  function isVisibility(): boolean {
    return scanner.is('public') || scanner.is('private') || scanner.is('nested');
  }
}
