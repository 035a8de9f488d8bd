/** An operation with results whose name and extent are clear: `%a = name ...`. */
export interface Statement {
  readonly name: string;
  /** Byte offset of its name. */
  readonly start: number;
  readonly form: 'custom' | 'quoted';
  /** Its only result, or null when it has several. */
  readonly result: string | null;
}

interface Mentions {
  /** How often the value is mentioned, other than where it is defined. */
  count: number;
  /** Where the first one is; null when the text does not tell which operation it belongs to. */
  statement: Statement | null;
  /** How many braces are open there. */
  depth: number;
}

/**
 * Who mentions which value between one pair of braces. Values are visible in the whole region, also before their
 * definition where blocks stand in another order, so nothing is known before the region ends.
 */
export class Uses {
  private mentions = new Map<string, Mentions>();
  private readonly defined: string[] = [];

  /** Counts a mention of `value`. */
  add(value: string, statement: Statement | null, depth: number): void {
    const known = this.mentions.get(value);
    if (known === undefined) this.mentions.set(value, { count: 1, statement, depth });
    else if (known.count++ === 0) Object.assign(known, { statement, depth });
  }

  /** Says that the last mention of `value` was its definition. */
  define(value: string): void {
    const known = this.mentions.get(value);
    if (known !== undefined) known.count--;
    this.defined.push(value);
  }

  /** The operation that uses `value`, when it is the only one and not inside of deeper braces; null otherwise. */
  only(value: string, depth: number): Statement | null {
    const mentions = this.mentions.get(value);
    return mentions?.count === 1 && mentions.depth === depth ? mentions.statement : null;
  }

  /** Adds what was mentioned between deeper braces, which have come to their end. */
  absorb(inner: Uses): void {
    // A value that is defined inside is another one than that of the same name outside.
    for (const value of inner.defined) inner.mentions.delete(value);
    // The smaller map goes into the larger one: nesting must not multiply the work.
    const swap = inner.mentions.size > this.mentions.size;
    const [target, others] = swap ? [inner.mentions, this.mentions] : [this.mentions, inner.mentions];
    for (const [value, mentions] of others) {
      const known = target.get(value);
      if (known === undefined) target.set(value, mentions);
      else target.set(value, merged(known, mentions));
    }
    this.mentions = target;
  }
}

function merged(one: Mentions, other: Mentions): Mentions {
  const { statement, depth } = one.count > 0 ? one : other;
  return { count: one.count + other.count, statement, depth };
}
