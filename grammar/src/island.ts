import { Aliases } from './aliases.ts';
import { skipBraces, skipMetadata } from './balanced.ts';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PAREN,
  COLON,
  COMMA,
  EQUALS,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PAREN,
  QUOTE,
} from './characters.ts';
import { noteAttribute, noteConstant, noteOperator } from './constants.ts';
import { parseCustomForm } from './custom-form.ts';
import type { Source } from './dictionary.ts';
import { Globals } from './globals.ts';
import type { Draft } from './operation.ts';
import { parseOperator, parseQuotedForm } from './quoted-form.ts';
import {
  ATTRIBUTE_NAME,
  BROKEN_STRING,
  END,
  IDENTIFIER,
  METADATA_BEGIN,
  NUMBER,
  Scanner,
  STRING,
  SYMBOL,
  TYPE_NAME,
  VALUE,
} from './scanner.ts';
import { DEEPEST, Scope } from './scope.ts';
import { findHead, type Head, OPERATOR, type OperationRow } from './table.ts';
import { skipRawBody } from './raw-body.ts';
import { readResultNames } from './result-names.ts';
import type { Text } from './text.ts';
import type { TypeCache } from './type-cache.ts';
import type { Operation, Problem } from './types.ts';

/** The state that all chunks of an input share. */
export interface Input {
  readonly bytes: Uint8Array;
  readonly text: Text;
  readonly types: TypeCache;
  readonly operations: Operation[];
  readonly problems: Problem[];
}

/**
 * Finds the operations in one chunk. A walk over all tokens tracks the braces. At the name of a known operation, it reads
 * an island of known syntax.
 */
// ebnf: chunk
export class IslandParser {
  private readonly operations: Operation[];
  private readonly problems: Problem[];
  private readonly chunk: number;
  private readonly scanner: Scanner;
  private readonly source: Source;
  private readonly globals = new Globals();
  private scope = new Scope(null, null);
  private depth = 0;
  /** Bytes that may still be read twice. Without a limit, failed attempts would take quadratic time. */
  private rereads: number;

  // The two tokens before the current token.
  private previous = END;
  private previousStart = 0;
  private previousEnd = 0;
  private earlier = END;
  private earlierStart = 0;
  private earlierEnd = 0;
  /** Operations in a region of a quoted operation whose symbol may follow the region, in the order of the text. */
  private readonly unsettled: Draft[] = [];
  /** Byte offset of the last list of values. */
  private listStart = 0;
  /** Byte offsets of the result names in the last `%a, %b:2 =`, and of its `=`. */
  private resultStart = 0;
  private resultEnd = 0;
  private resultEquals = -1;

  constructor(input: Input, from: number, to: number, chunk: number) {
    this.scanner = new Scanner(input.bytes, from, to);
    this.source = new Aliases(this.scanner, input.text, input.types).source;
    this.chunk = chunk;
    this.operations = input.operations;
    this.problems = input.problems;
    this.rereads = 4 * (to - from) + 4096;
  }

  /** Reads the whole chunk. */
  run(): void {
    const { scanner } = this;
    for (;;) {
      const kind = scanner.next();
      switch (kind) {
        case END:
          this.globals.settle();
          if (this.depth > 0) this.problem(scanner.pos, `the text ends inside ${this.depth} open braces`);
          return;
        case IDENTIFIER:
          if (this.scope.groups === 0) this.identifier();
          break;
        case OPEN_PAREN:
          if (this.previous === STRING && this.scope.groups === 0 && this.quotedName()) break;
          this.scope.groups++;
          break;
        case OPEN_BRACKET:
          this.scope.groups++;
          break;
        case CLOSE_PAREN:
        case CLOSE_BRACKET:
          if (this.scope.groups > 0) this.scope.groups--;
          break;
        case OPEN_BRACE:
          this.open();
          break;
        case CLOSE_BRACE:
          this.close();
          break;
        case EQUALS:
          this.equals();
          break;
        case VALUE:
          if (this.previous !== COMMA) this.listStart = scanner.start;
          break;
        case SYMBOL:
          this.symbol();
          break;
        case METADATA_BEGIN:
          if (!skipMetadata(scanner)) this.problem(scanner.start, "a '{-#' without its '#-}'");
          break;
        case ATTRIBUTE_NAME:
        case TYPE_NAME:
          skipRawBody(scanner);
          break;
        case BROKEN_STRING:
          this.problem(scanner.start, 'a string without an end');
          break;
        default:
          break;
      }
      this.earlier = this.previous;
      this.earlierStart = this.previousStart;
      this.earlierEnd = this.previousEnd;
      this.previous = scanner.kind;
      this.previousStart = scanner.start;
      this.previousEnd = scanner.pos;
    }
  }

  private problem(offset: number, message: string): void {
    this.problems.push({ offset, message });
  }

  private open(): void {
    const { scanner, scope } = this;
    const tooDeep = this.depth >= DEEPEST;
    if (tooDeep || scope.head?.kind === 'opaque-region') {
      const { start } = scanner;
      if (tooDeep) this.problem(start, `braces nest deeper than ${DEEPEST}`);
      if (!skipBraces(scanner)) this.problem(start, "a '{' without its '}'");
      return;
    }
    const { symbolStart } = scope;
    const symbol = symbolStart < 0 ? scope.symbol : this.symbolText(symbolStart, scope.symbolEnd);
    this.scope = new Scope(scope, symbol);
    this.scope.unsettled = symbolStart < 0 && (scope.quoted || scope.unsettled);
    this.depth++;
  }

  private symbolText(start: number, end: number): string {
    const { text } = this.source;
    return this.scanner.bytes[start] === QUOTE ? text.unquote(start, end) : text.symbol(start, end);
  }

  private close(): void {
    const { scope } = this;
    const { parent } = scope;
    if (parent === null) {
      this.problem(this.scanner.start, "a '}' without its '{'");
      return;
    }
    if (scope.globalName !== null && parent.head?.kind === 'global') {
      this.globals.define(scope.globalName, scope.globalMutable);
    }
    this.scope = parent;
    this.depth--;
  }

  /** Notes `%values =` and, at the top level, `#alias =` and `!alias =`. */
  private equals(): void {
    if (this.scope.groups > 0) return;
    if (this.previous === VALUE || (this.previous === NUMBER && this.earlier === COLON)) {
      this.resultStart = this.listStart;
      this.resultEnd = this.previousEnd;
      this.resultEquals = this.scanner.start;
    } else if (this.depth === 0 && (this.previous === ATTRIBUTE_NAME || this.previous === TYPE_NAME)) {
      this.source.aliases.define(this.previousStart, this.previousEnd, this.scanner.pos);
    }
  }

  /** Notes `@name` right after the name of an operation or after its visibility. */
  private symbol(): void {
    const { scope } = this;
    if (scope.groups > 0 || scope.symbolStart >= 0 || scope.quoted || this.previous !== IDENTIFIER) return;
    scope.symbolStart = this.scanner.start;
    scope.symbolEnd = this.scanner.pos;
  }

  private identifier(): void {
    const { scanner, scope } = this;
    const { start, pos } = scanner;
    if (!scanner.hasDot(start, pos)) {
      if (scope.parent?.quoted === true) {
        if (noteAttribute(this.source, scope, scope.parent)) this.settleSymbols(scope.parent);
      } else if (scanner.is('module')) scope.begin(null, false);
      return;
    }
    const head = findHead(scanner.bytes, start, pos);
    if (head !== null && this.isDictionaryKey()) return;
    scope.begin(head, false);
    if (head === null) return;
    if (head.kind === 'operation') {
      this.attempt(head.row, false);
    } else if (head.kind === 'operator') {
      this.attempt(null, false);
    } else {
      this.note(head, false);
    }
  }

  /** Sets the symbol of operations that were read before it: older texts write the dictionary after the region. */
  private settleSymbols({ quotedStart, symbolStart, symbolEnd }: Scope): void {
    const { unsettled } = this;
    while (unsettled.length > 0 && unsettled[unsettled.length - 1]!.start > quotedStart)
      unsettled.pop()!.symbol = this.symbolText(symbolStart, symbolEnd);
  }

  /** Whether the name is a key, as in `{linalg.matmul = 1}`. */
  private isDictionaryKey(): boolean {
    const { scanner } = this;
    return scanner.lookAhead(() => scanner.next() === EQUALS);
  }

  /** At the parenthesis after a string: reads the operation if the string is a known name. False for other strings. */
  private quotedName(): boolean {
    const { scanner, scope } = this;
    const { previousStart: start, previousEnd: end } = this;
    if (this.isArgument()) return false;
    const head = findHead(scanner.bytes, start + 1, end - 1);
    scope.begin(head, true);
    scope.quotedStart = start;
    if (head === null) return false;
    if (head.kind === 'operation' || head.kind === 'operator') {
      scanner.start = start;
      scanner.pos = end;
      scanner.kind = STRING;
      this.attempt(head.kind === 'operation' ? head.row : null, true);
      return true;
    }
    this.note(head, true);
    return false;
  }

  /**
   * Whether the string is an argument of the name before it, as in `pdl.operation "linalg.matmul" (...)`. A `bare`
   * operation takes no string.
   */
  private isArgument(): boolean {
    const { bytes } = this.scanner;
    if (this.earlier !== IDENTIFIER || !this.scanner.hasDot(this.earlierStart, this.earlierEnd)) return false;
    return findHead(bytes, this.earlierStart, this.earlierEnd)?.kind !== 'bare';
  }

  /** The values that the current statement defines; none for more than `most`. */
  private resultNames(quoted: boolean, most: number): string[] {
    const equals = quoted ? this.earlierStart : this.previousStart;
    if (equals !== this.resultEquals) return [];
    return readResultNames(this.source, this.resultStart, this.resultEnd, most);
  }

  private note(head: Head, quoted: boolean): void {
    const { source, scope, globals } = this;
    scope.result = this.resultNames(quoted, 1)[0] ?? null;
    noteConstant(source, scope, globals, head);
  }

  /**
   * Reads an operation from its name as the current token; goes on right after the name if that fails.
   * @param row null for a `torch.operator`
   */
  private attempt(row: OperationRow | null, quoted: boolean): void {
    const { scanner, scope, source } = this;
    const { start, pos } = scanner;
    const outcome = quoted
      ? parseQuotedForm(source, row)
      : row === null
        ? parseOperator(source)
        : parseCustomForm(source, row);
    if ('end' in outcome) {
      outcome.resultNames = this.resultNames(quoted, outcome.results.length);
      this.add(outcome, scope);
      return;
    }
    if (outcome.operator !== undefined) {
      const [result] = this.resultNames(quoted, 1);
      if (result !== undefined) noteOperator(scope, result, outcome.operator);
    }
    if (outcome.message !== null) this.problem(start, `${row?.name ?? OPERATOR}: ${outcome.message}`);
    const resume = outcome.resume < 0 ? pos : outcome.resume;
    this.rereads -= Math.max(0, scanner.pos - resume);
    if (this.rereads >= 0) {
      scanner.pos = resume;
    } else {
      this.problem(resume, 'too much text that is not understood: a part of it is skipped');
    }
    // The next token must not follow a value or a string.
    scanner.kind = END;
  }

  private add(draft: Draft, scope: Scope): void {
    draft.chunk = this.chunk;
    draft.symbol = scope.symbol;
    for (const operand of draft.operands) {
      const constant = scope.lookup(operand.value);
      if (constant === true) operand.constant = true;
      else if (constant !== undefined) this.globals.wait(operand, constant);
    }
    this.operations.push(draft);
    if (scope.unsettled) this.unsettled.push(draft);
    this.scanner.kind = END;
  }
}
