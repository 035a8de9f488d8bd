import type { Head } from './table.ts';

/** Deeper braces are stepped over. Otherwise a file of `{` would fill the memory with scopes. */
export const DEEPEST = 10_000;

/** A look-up of a constant goes through at most so many outer scopes, because the text decides the depth. */
const FARTHEST = 64;

/** `true` for a constant value; the name of a global if the value is constant for an immutable global. */
export type Constant = true | string;

/**
 * The content of one pair of braces, and the state of the current statement in it. The braces enclose a region or a
 * dictionary: both are walked alike.
 */
export class Scope {
  readonly parent: Scope | null;
  /** The innermost symbol around the scope that is known when the scope opens. */
  readonly symbol: string | null;
  /** Open parentheses and square brackets: statements start only outside of them. */
  groups = 0;

  /** The current statement: the head of its name, the form of the name, and the byte offsets of its symbol. */
  head: Head | null = null;
  quoted = false;
  symbolStart = -1;
  symbolEnd = -1;
  /** Byte offset of the last quoted name. */
  quotedStart = -1;
  /** Whether the symbol of a quoted operation around the scope may follow the scope. */
  unsettled = false;
  /** The value that the statement defines, for loads of globals. */
  result: string | null = null;

  /** The name and the mutability of a quoted global, from its dictionary. */
  globalName: string | null = null;
  globalMutable = false;

  /** The outer scope whose values are visible here, if any. */
  private readonly outer: Scope | null;
  private constants: Map<string, Constant> | null = null;

  constructor(parent: Scope | null, symbol: string | null) {
    this.parent = parent;
    this.symbol = symbol;
    // The region of an unknown operation may be isolated from above and reuse the names of outer values.
    this.outer = parent?.head?.kind === 'transparent-region' ? parent : null;
  }

  /** Starts a new statement. */
  begin(head: Head | null, quoted: boolean): void {
    this.head = head;
    this.quoted = quoted;
    this.symbolStart = -1;
    this.result = null;
  }

  define(value: string, constant: Constant): void {
    this.constants ??= new Map<string, Constant>();
    this.constants.set(value, constant);
  }

  /** The constant that `%value` is here; undefined without a proof. */
  lookup(value: string): Constant | undefined {
    // `%0#0` is another spelling of the only result of an operation.
    const name = value.endsWith('#0') ? value.slice(0, -2) : value;
    let constant = this.constants?.get(name);
    let scope = this.outer;
    for (let step = 0; constant === undefined && scope !== null && step < FARTHEST; step++) {
      constant = scope.constants?.get(name);
      scope = scope.outer;
    }
    return constant;
  }
}
