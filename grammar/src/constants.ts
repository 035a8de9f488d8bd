import { EQUALS, OPEN_PAREN } from './characters.ts';
import type { Source } from './dictionary.ts';
import type { Globals } from './globals.ts';
import { IDENTIFIER, STRING, SYMBOL, VALUE } from './scanner.ts';
import type { Scope } from './scope.ts';
import type { Operator } from './operation.ts';
import { constantOperators, type Head, operatorsThrough } from './table.ts';

/** One more than the words that can stand between the name of a global operation and its symbol. */
const MOST_WORDS = 4;

/** Notes whether a statement defines a constant or a global. The scanner is right after its name, and stays there. */
// ebnf: constant
export function noteConstant(source: Source, scope: Scope, globals: Globals, head: Head): void {
  source.scanner.lookAhead(() => {
    note(source, scope, globals, head);
  });
}

function note({ scanner, text }: Source, scope: Scope, globals: Globals, head: Head): void {
  const { result } = scope;
  if (head.kind === 'constant') {
    if (result !== null) scope.define(result, true);
  } else if (head.kind === 'through') {
    let token = scanner.next();
    if (token === IDENTIFIER && scanner.is('ins') && scanner.next() === OPEN_PAREN) token = scanner.next();
    if (result !== null && token === VALUE) {
      const constant = scope.lookup(text.value(scanner.start, scanner.pos));
      if (constant !== undefined) scope.define(result, constant);
    }
  } else if (head.kind === 'load' || head.kind === 'global') {
    // `util.global private mutable @name`, `util.global.load immutable @name`
    let mutable = false;
    for (let word = 0; word < MOST_WORDS && scanner.next() === IDENTIFIER; word++)
      mutable ||= scanner.is('mutable');
    if (scanner.at(SYMBOL)) {
      const name = text.symbol(scanner.start, scanner.pos);
      if (head.kind === 'global') globals.define(name, mutable);
      else if (result !== null) scope.define(result, name);
    }
  }
}

/** Notes whether a `torch.operator` with one result defines a constant. */
export function noteOperator(scope: Scope, result: string, { name, operand }: Operator): void {
  if (constantOperators.has(name)) scope.define(result, true);
  else if (operand !== undefined && operatorsThrough.has(name)) {
    const constant = scope.lookup(operand);
    if (constant !== undefined) scope.define(result, constant);
  }
}

/**
 * Notes an attribute of a quoted operation, with its name as the current token: the operation's symbol, the mutability
 * of a global, or the global of a load. True for the symbol.
 */
export function noteAttribute({ scanner, text }: Source, scope: Scope, parent: Scope): boolean {
  if (scanner.is('is_mutable')) {
    scope.globalMutable = true;
  } else if (scanner.is('sym_name')) {
    if (scanner.next() !== EQUALS || scanner.next() !== STRING) return false;
    parent.symbolStart = scanner.start;
    parent.symbolEnd = scanner.pos;
    scope.globalName = text.unquote(scanner.start, scanner.pos);
    return true;
  } else if (scanner.is('global')) {
    if (scanner.next() !== EQUALS || scanner.next() !== SYMBOL) return false;
    if (parent.head?.kind === 'load' && parent.result !== null) {
      parent.define(parent.result, text.symbol(scanner.start, scanner.pos));
    }
  }
  return false;
}
