import { Aliases } from './aliases.ts';
import { skipMetadata } from './balanced.ts';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PAREN,
  COLON,
  COMMA,
  EQUALS,
  OPEN_ANGLE,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PAREN,
} from './characters.ts';
import { splitChunks } from './chunks.ts';
import { describeConsumer } from './consumer-body.ts';
import type { Source } from './dictionary.ts';
import type { ParseOptions } from './parse.ts';
import {
  ARROW,
  ATTRIBUTE_NAME,
  BLOCK_NAME,
  END,
  IDENTIFIER,
  METADATA_BEGIN,
  NUMBER,
  Scanner,
  STRING,
  TYPE_NAME,
  VALUE,
} from './scanner.ts';
import { DEEPEST } from './scope.ts';
import { OPERATOR } from './table.ts';
import { Text } from './text.ts';
import { TypeCache } from './type-cache.ts';
import type { Consumer, Operation } from './types.ts';
import { type Statement, Uses } from './uses.ts';

/** Longest chain that is followed: a row of operations that feed one another has a chain each. */
const LONGEST_CHAIN = 16;

/**
 * For each operation, the operations that its result goes through, as long as it has a single result with a single use:
 * the user of the result, the user of that one's result, and so on. A chain ends before `return` and other operations
 * without results, at a second use, at a use in a nested region, at whatever is not understood, and after 16 links.
 *
 * The operations come from {@link parse} with the same input and options. Never throws, whatever the bytes, and takes
 * time linear in the input up to the end of the last region that holds one of them.
 */
export function findConsumers(
  input: Uint8Array,
  operations: readonly Operation[],
  options: ParseOptions = {},
): readonly (readonly Consumer[])[] {
  const chains = new Map<number, readonly Consumer[]>();
  const starts = operations.filter(({ results }) => results.length === 1).map(({ start }) => start);
  const chunks = options.splitInputFile === true ? splitChunks(input) : [{ start: 0, end: input.length }];
  const text = new Text(input);
  const types = new TypeCache(input);
  const sorted = starts.toSorted((a, b) => a - b);
  let next = 0;
  for (const { start, end } of chunks) {
    const wanted = new Set<number>();
    for (; next < sorted.length && sorted[next]! < end; next++) wanted.add(sorted[next]!);
    if (wanted.size === 0) continue;
    const { source } = new Aliases(new Scanner(input, start, end), text, types);
    new ConsumerWalk(source, wanted, chains).run();
  }
  return operations.map(({ start }) => chains.get(start) ?? []);
}

/** What one pair of braces holds. */
class Region {
  readonly parent: Region | null;
  /** Open parentheses and square brackets. */
  groups = 0;
  /** What a value that is mentioned now is an operand of; null when the text does not tell. */
  statement: Statement | null = null;
  /** Created when it is needed: most braces are those of dictionaries. */
  uses: Uses | null = null;
  wanted: Statement[] | null = null;

  constructor(parent: Region | null) {
    this.parent = parent;
  }
}

/** Walks over the tokens of one chunk, and notes which operation mentions which value. */
class ConsumerWalk {
  private readonly source: Source;
  private readonly scanner: Scanner;
  private readonly wanted: Set<number>;
  private readonly chains: Map<number, readonly Consumer[]>;
  private readonly described = new Map<Statement, Consumer>();
  /** Bytes that may be read twice to describe operations: nested ones hold one another. */
  private rereads: number;
  private region = new Region(null);
  private depth = 0;

  // The kinds of the last three tokens, the latest first, and where the latest two are.
  private previous = END;
  private second = END;
  private third = END;
  private previousStart = 0;
  private previousEnd = 0;
  private secondStart = 0;
  private secondEnd = 0;
  /** The end of the last `=` after the results of an operation, and the only result, or null. */
  private definedAt = -1;
  private result: string | null = null;

  constructor(source: Source, wanted: Set<number>, chains: Map<number, readonly Consumer[]>) {
    this.source = source;
    this.scanner = source.scanner;
    this.wanted = wanted;
    this.chains = chains;
    this.rereads = 4 * (this.scanner.end - this.scanner.pos) + 4096;
  }

  run(): void {
    const { scanner } = this;
    while (this.wanted.size > 0) {
      const kind = scanner.next();
      const { region } = this;
      switch (kind) {
        case END:
          // Inside of open braces the rest of the region is missing.
          if (region.parent === null) this.settle(region);
          return;
        case VALUE:
          region.uses ??= new Uses();
          region.uses.add(this.valueName(scanner.start, scanner.pos), region.statement, this.depth);
          break;
        case IDENTIFIER:
          if (region.groups === 0) this.word();
          break;
        case BLOCK_NAME:
          if (region.groups === 0) region.statement = null;
          break;
        case OPEN_PAREN:
          if (region.groups++ === 0 && this.previous === STRING) this.quotedName();
          break;
        case OPEN_BRACKET:
          region.groups++;
          break;
        case CLOSE_PAREN:
        case CLOSE_BRACKET:
          if (region.groups > 0) region.groups--;
          break;
        case OPEN_BRACE:
          // Uses further inside would be missed.
          if (++this.depth > DEEPEST) return;
          this.region = new Region(region);
          break;
        case CLOSE_BRACE:
          this.close();
          break;
        case EQUALS:
          if (region.groups === 0) this.equals();
          break;
        case METADATA_BEGIN:
          skipMetadata(scanner);
          break;
        default:
          break;
      }
      this.third = this.second;
      this.second = this.previous;
      this.secondStart = this.previousStart;
      this.secondEnd = this.previousEnd;
      this.previous = scanner.kind;
      this.previousStart = scanner.start;
      this.previousEnd = scanner.pos;
    }
  }

  /** The name of all results of an operation: `%0` for `%0#1`. */
  private valueName(start: number, end: number): string {
    const name = this.source.text.slice(start, end);
    const number = name.indexOf('#');
    return number < 0 ? name : name.slice(0, number);
  }

  /** `%a =`, `%a, %b =` or `%a:2 =`; at the top level also `#alias =` and `!alias =`. */
  private equals(): void {
    const { scanner, region } = this;
    if (this.previous === VALUE) {
      const value = this.valueName(this.previousStart, this.previousEnd);
      region.uses!.define(value);
      this.result = this.second === COMMA ? null : value;
    } else if (this.previous === NUMBER && this.second === COLON && this.third === VALUE) {
      this.result = null;
    } else {
      const isAlias = this.previous === ATTRIBUTE_NAME || this.previous === TYPE_NAME;
      if (isAlias && this.depth === 0)
        this.source.aliases.define(this.previousStart, this.previousEnd, scanner.pos);
      return;
    }
    this.definedAt = scanner.pos;
  }

  /** A word outside of brackets: the name of an operation, a part of its syntax, or what cannot be told apart. */
  private word(): void {
    const { scanner, region, previous } = this;
    const { start, pos } = scanner;
    if (scanner.hasDot(start, pos)) {
      region.statement = null;
      if (previous === EQUALS && this.previousEnd === this.definedAt)
        this.begin(this.source.text.slice(start, pos), start, 'custom');
      return;
    }
    // No operation starts after these. A label ends with a colon too, but its block name said that nothing is known.
    if (previous === COMMA || previous === COLON || previous === ARROW || previous === OPEN_ANGLE) return;
    const after = scanner.bytes[scanner.skipTrivia(pos)];
    if (after === EQUALS || after === COMMA) return;
    if (after === OPEN_PAREN && (scanner.is('ins') || scanner.is('outs'))) return;
    // It may be an operation of the default dialect: `return %0`.
    region.statement = null;
  }

  /** A string before a parenthesis: the name of an operation, or of an operator. */
  private quotedName(): void {
    const { region, previousStart, previousEnd } = this;
    const { statement } = region;
    region.statement = null;
    if (this.second === EQUALS && this.secondEnd === this.definedAt) {
      this.begin(this.source.text.slice(previousStart + 1, previousEnd - 1), previousStart, 'quoted');
    } else if (statement?.name === OPERATOR && statement.start === this.secondStart) {
      const name = this.source.text.slice(previousStart + 1, previousEnd - 1);
      region.statement = { ...statement, name };
    }
  }

  private begin(name: string, start: number, form: Statement['form']): void {
    const { region, result } = this;
    const statement = { name, start, form, result };
    region.statement = statement;
    if (this.wanted.has(start)) (region.wanted ??= []).push(statement);
  }

  private close(): void {
    const { region } = this;
    const { parent } = region;
    if (parent === null) return;
    this.settle(region);
    if (region.uses !== null) {
      parent.uses ??= new Uses();
      parent.uses.absorb(region.uses);
    }
    this.region = parent;
    this.depth--;
  }

  /** Follows the results of the wanted operations of a region that has come to its end. */
  private settle({ wanted, uses }: Region): void {
    for (const { start, result } of wanted ?? []) {
      this.wanted.delete(start);
      const chain: Consumer[] = [];
      for (let value = result; value !== null && chain.length < LONGEST_CHAIN;) {
        const user = uses?.only(value, this.depth) ?? null;
        // In a graph region operations may feed themselves.
        if (user === null || user.start === start || chain.some((link) => link.start === user.start)) break;
        chain.push(this.describe(user));
        value = user.result;
      }
      this.chains.set(start, chain);
    }
  }

  private describe(statement: Statement): Consumer {
    const known = this.described.get(statement);
    if (known !== undefined) return known;
    const { scanner, source } = this;
    const { name, start } = statement;
    let consumer: Consumer = { name, start, elementwise: false, body: null };
    if (this.rereads >= 0) {
      const { pos, start: tokenStart, kind } = scanner;
      consumer = describeConsumer(source, statement);
      this.rereads -= scanner.pos - start;
      scanner.pos = pos;
      scanner.start = tokenStart;
      scanner.kind = kind;
    }
    this.described.set(statement, consumer);
    return consumer;
  }
}
