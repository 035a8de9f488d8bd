import type { Head } from './table.ts';

/** Deeper braces are stepped over, so that a file of nothing but `{` does not fill the memory with scopes. */
export const DEEPEST = 10_000;

/** How many scopes up a constant is looked for: text decides how deep scopes nest. */
const FARTHEST = 64;

/** A value that is constant: always, or when the global of this name turns out to be immutable. */
export type Constant = true | string;

/**
 * What one pair of braces holds: a region, or a dictionary, which looks the same from outside and does no harm.
 * Also keeps what is known of the statement that is being read in it.
 */
export class Scope {
  readonly parent: Scope | null;
  /** The innermost symbol around the scope, as far as it is known when the scope opens. */
  readonly symbol: string | null;
  /** Open parentheses and square brackets: statements start only outside of them. */
  groups = 0;

  /** The statement being read: what its name says, whether that was quoted, and where its symbol is. */
  head: Head | null = null;
  quoted = false;
  symbolStart = -1;
  symbolEnd = -1;
  /** Where the last quoted name is. */
  quotedStart = -1;
  /** A quoted operation around the scope may still say its symbol. */
  unsettled = false;
  /** The value that the statement defines, noted for the loads of globals. */
  result: string | null = null;

  /** What a dictionary says about the quoted global that it belongs to. */
  globalName: string | null = null;
  globalMutable = false;

  /** The scope whose values are visible here, if any. */
  private readonly outer: Scope | null;
  private constants: Map<string, Constant> | null = null;

  constructor(parent: Scope | null, symbol: string | null) {
    this.parent = parent;
    this.symbol = symbol;
    // Regions of unknown operations may be isolated and use the same names for their own values.
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

  /** What is known of `%value` here; undefined when nothing proves it a constant. */
  lookup(value: string): Constant | undefined {
    // The only result of an operation can be spelled `%0#0` too.
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
