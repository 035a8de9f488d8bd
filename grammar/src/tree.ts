import { skipElement, skipGroup, skipMetadata } from './balanced.ts';
import { isBytecode } from './bytecode.ts';
import {
  CLOSE_ANGLE,
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
import { emptyDictionary, parseDictionary, type Source } from './dictionary.ts';
import { parseResults, parseTypes, parseValues } from './operation.ts';
import { skipRawBody } from './raw-body.ts';
import { readResultNames } from './result-names.ts';
import {
  ARROW,
  ATTRIBUTE_NAME,
  BLOCK_NAME,
  END,
  IDENTIFIER,
  METADATA_BEGIN,
  NUMBER,
  STRING,
  TYPE_NAME,
  VALUE,
} from './scanner.ts';
import { sourceOf } from './source.ts';
import { parseType } from './type.ts';
import type { Attribute, Type } from './types.ts';

export type TreeNode = GenericOperation | OpaqueText;

/** An operation in the form that every operation has, of any dialect. */
export interface GenericOperation {
  readonly kind: 'operation';
  readonly name: string;
  /** Byte offsets [start, end), from its results to its location. */
  readonly start: number;
  readonly end: number;
  /** `%0`, or `%0#1` of several; empty also where they are not as many as the types. */
  readonly results: readonly string[];
  readonly operands: readonly string[];
  /** The blocks that it may go on at. */
  readonly successors: readonly string[];
  readonly regions: readonly (readonly Block[])[];
  /** Of its properties and its dictionary; {@link attributeValue} reads their values. */
  readonly attributes: readonly Attribute[];
  readonly operandTypes: readonly Type[];
  readonly resultTypes: readonly Type[];
  /** The text within its `loc(...)`. */
  readonly location: string | null;
}

export interface Block {
  /** `^bb0`; null for the first one of a region without a label. */
  readonly label: string | null;
  readonly arguments: readonly { readonly value: string; readonly type: Type }[];
  readonly nodes: readonly TreeNode[];
}

/** Text in another form: operations in the syntax of their dialects, aliases, resources. */
export interface OpaqueText {
  readonly kind: 'opaque';
  readonly start: number;
  readonly end: number;
  /** The nodes in its braces. */
  readonly nodes: readonly TreeNode[];
}

/** What is open while the scanner is in it: text decides how deep, so that it is no recursion. */
interface Frame {
  /** The operation whose region it is; null for braces of opaque text, and the file. */
  readonly owner: Draft | null;
  nodes: TreeNode[];
  /** The opaque text that goes on. */
  text: { readonly kind: 'opaque'; readonly start: number; end: number; readonly nodes: TreeNode[] } | null;
  /** Open parentheses and square brackets of it. */
  groups: number;
}

/** An operation that has been read up to its regions. */
type Draft = Pick<GenericOperation, 'name' | 'start' | 'operands' | 'successors'> & {
  readonly attributes: Attribute[];
  readonly regions: MutableBlock[][];
  /** Where the names of its results end; its start if there are none. */
  readonly resultsEnd: number;
};

interface MutableBlock {
  readonly label: string | null;
  readonly arguments: { readonly value: string; readonly type: Type }[];
  readonly nodes: TreeNode[];
}

/**
 * All operations in the generic form, of whatever dialect, as `iree-opt --mlir-print-op-generic` prints them, with regions
 * and blocks. Everything else is opaque, with the operations in its braces. The nodes of a text, and of each block, are in
 * its order and do not overlap. Never throws, and takes time linear in the text; bytecode has none.
 */
export function tree(input: Uint8Array): TreeNode[] {
  return isBytecode(input) ? [] : new TreeReader(sourceOf(input)).read();
}

class TreeReader {
  private readonly source: Source;
  private readonly frames: Frame[] = [];
  private frame: Frame = { owner: null, nodes: [], text: null, groups: 0 };
  /** Bytes that may be read again where an operation turned out to be none. */
  private rereads: number;
  // The token before the current one.
  private previous = END;
  private previousStart = 0;
  private previousEnd = 0;

  constructor(source: Source) {
    this.source = source;
    this.rereads = 4 * source.scanner.end + 4096;
  }

  read(): TreeNode[] {
    const { scanner, aliases } = this.source;
    for (;;) {
      const kind = scanner.next();
      const { start } = scanner;
      if (kind === END) break;
      if (kind === CLOSE_BRACE && this.frames.length > 0) {
        this.close();
      } else if (!this.readOperation(kind) && !this.readLabel(kind)) {
        if (kind === METADATA_BEGIN) skipMetadata(scanner);
        else if (kind === ATTRIBUTE_NAME || kind === TYPE_NAME) skipRawBody(scanner);
        else if (
          kind === EQUALS &&
          this.frames.length === 0 &&
          (this.previous === ATTRIBUTE_NAME || this.previous === TYPE_NAME)
        )
          aliases.define(this.previousStart, this.previousEnd, scanner.pos);
        this.addText(start, scanner.pos);
        if (kind === OPEN_PAREN || kind === OPEN_BRACKET) this.frame.groups++;
        else if ((kind === CLOSE_PAREN || kind === CLOSE_BRACKET) && this.frame.groups > 0)
          this.frame.groups--;
        else if (kind === OPEN_BRACE) this.open(null, this.frame.text!.nodes);
      }
      this.previous = scanner.kind;
      this.previousStart = scanner.start;
      this.previousEnd = scanner.pos;
    }
    while (this.frames.length > 0) this.giveUp(scanner.pos);
    return this.frame.nodes;
  }

  private addText(start: number, end: number): void {
    const { frame } = this;
    if (frame.text === null) {
      frame.text = { kind: 'opaque', start, end, nodes: [] };
      frame.nodes.push(frame.text);
    }
    frame.text.end = end;
  }

  private open(owner: Draft | null, nodes: TreeNode[]): void {
    this.frames.push(this.frame);
    this.frame = { owner, nodes, text: null, groups: 0 };
  }

  private closeFrame(): void {
    this.frame = this.frames.pop()!;
  }

  /** At a `}`. */
  private close(): void {
    const { scanner } = this.source;
    const { owner } = this.frame;
    this.closeFrame();
    if (owner === null) this.frame.text!.end = scanner.pos;
    else this.afterRegion(owner);
  }

  /** Reads on after a region: another one, or the rest of the operation. */
  private afterRegion(draft: Draft): void {
    const { scanner } = this.source;
    const from = scanner.pos;
    const kind = scanner.next();
    if (kind === COMMA && scanner.next() === OPEN_BRACE) this.openRegion(draft);
    else if (kind !== CLOSE_PAREN || !this.finish(draft)) this.addOpaque(draft, from);
  }

  private openRegion(draft: Draft): void {
    const first: MutableBlock = { label: null, arguments: [], nodes: [] };
    draft.regions.push([first]);
    this.open(draft, first.nodes);
  }

  /** The operation whose region is open is none after all, or has no end. */
  private giveUp(end: number): void {
    const { owner } = this.frame;
    this.closeFrame();
    if (owner === null) this.frame.text!.end = end;
    else this.addOpaque(owner, end);
  }

  /** Makes opaque text of an operation that is not understood after its regions; reading goes on at `end`. */
  private addOpaque(draft: Draft, end: number): void {
    this.frame.text = null;
    this.addText(draft.start, end);
    for (const block of draft.regions.flat())
      for (const node of block.nodes) this.frame.text!.nodes.push(node);
    this.source.scanner.pos = end;
  }

  /** Reads an operation up to its end or into its first region, if one starts at the current token. */
  private readOperation(kind: number): boolean {
    // An operation starts outside of brackets; a value behind a comma is in the middle of a list.
    if (this.frame.groups > 0 || (kind !== VALUE && kind !== STRING)) return false;
    if (kind === VALUE ? this.previous === COMMA : this.isArgument()) return false;
    const { scanner } = this.source;
    const { start, pos } = scanner;
    const draft = this.rereads < 0 ? null : this.readHead();
    if (draft !== null) {
      if (scanner.at(OPEN_PAREN)) {
        if (scanner.next() === OPEN_BRACE) {
          this.openRegion(draft);
          return true;
        }
      } else {
        scanner.pos = scanner.start;
        if (this.finish(draft)) return true;
      }
    }
    this.rereads -= scanner.pos - pos;
    scanner.start = start;
    scanner.pos = pos;
    scanner.kind = kind;
    return false;
  }

  /** A string right after the name of an operation. */
  private isArgument(): boolean {
    const { scanner } = this.source;
    return this.previous === IDENTIFIER && scanner.hasDot(this.previousStart, this.previousEnd);
  }

  /** Reads `%a, %b:2 = "name"(%c)[^bb1] <{...}>`; the token behind it is current then. */
  private readHead(): Draft | null {
    const { scanner, text } = this.source;
    const { start } = scanner;
    let resultsEnd = start;
    while (scanner.at(VALUE)) {
      resultsEnd = scanner.pos;
      if (scanner.next() === COLON) {
        if (scanner.next() !== NUMBER) return null;
        resultsEnd = scanner.pos;
        scanner.next();
      }
      if (!scanner.at(COMMA) && !scanner.at(EQUALS)) return null;
      scanner.next();
    }
    if (!scanner.at(STRING)) return null;
    const name = text.unquote(scanner.start, scanner.pos);
    if (scanner.next() !== OPEN_PAREN) return null;
    const operands: string[] = [];
    parseValues(this.source, operands);
    if (!scanner.at(CLOSE_PAREN)) return null;
    const successors: string[] = [];
    if (scanner.next() === OPEN_BRACKET) {
      while (scanner.next() === BLOCK_NAME) {
        successors.push(text.slice(scanner.start, scanner.pos));
        if (scanner.next() !== COMMA) break;
      }
      if (!scanner.at(CLOSE_BRACKET)) return null;
      scanner.next();
    }
    const dictionary = emptyDictionary();
    if (scanner.at(OPEN_ANGLE)) {
      scanner.next();
      if (parseDictionary(this.source, dictionary) === null || scanner.next() !== CLOSE_ANGLE) return null;
      scanner.next();
    }
    const { attributes } = dictionary;
    return { name, start, operands, successors, attributes, regions: [], resultsEnd };
  }

  /** Reads `{...} : (...) -> ... loc(...)` and adds the operation; false, without anything added, when it goes on otherwise. */
  private finish(draft: Draft): boolean {
    const { source } = this;
    const { scanner, text } = source;
    const { name, start, operands, successors, regions, resultsEnd } = draft;
    const dictionary = { ...emptyDictionary(), attributes: [...draft.attributes] };
    if (scanner.next() === OPEN_BRACE) {
      if (parseDictionary(source, dictionary) === null) return false;
      scanner.next();
    }
    const operandTypes: Type[] = [];
    if (!scanner.at(COLON) || scanner.next() !== OPEN_PAREN || !parseTypes(source, operandTypes))
      return false;
    const resultTypes = scanner.next() === ARROW ? parseResults(source) : null;
    if (resultTypes === null || operandTypes.length !== operands.length) return false;
    let { pos: end } = scanner;
    let location: string | null = null;
    if (scanner.next() === IDENTIFIER && scanner.is('loc') && scanner.next() === OPEN_PAREN) {
      const from = scanner.pos;
      const to = skipGroup(scanner);
      if (to < 0) return false;
      location = text.slice(from, to - 1).trim();
      end = to;
    }
    const results = resultsEnd > start ? readResultNames(source, start, resultsEnd, resultTypes.length) : [];
    const { attributes } = dictionary;
    this.frame.text = null;
    this.frame.nodes.push({
      ...{
        kind: 'operation',
        name,
        start,
        end,
        operands,
        successors,
        attributes,
        operandTypes,
        resultTypes,
        location,
      },
      results: results.length === resultTypes.length ? results : [],
      // A region without anything in it has no block.
      regions: regions.map((blocks) =>
        blocks.filter((block) => block.label !== null || block.nodes.length > 0),
      ),
    });
    scanner.pos = end;
    // What comes next follows no token of this operation.
    scanner.kind = END;
    return true;
  }

  /** Reads `^bb0(%a: T):` in a region of an operation in the generic form. */
  private readLabel(kind: number): boolean {
    const { frame, source } = this;
    const { scanner, text } = source;
    if (kind !== BLOCK_NAME || frame.owner === null || frame.groups > 0) return false;
    const { start, pos } = scanner;
    const block: MutableBlock = { label: text.slice(start, pos), arguments: [], nodes: [] };
    if (this.rereads >= 0 && this.readArguments(block)) {
      frame.owner.regions.at(-1)!.push(block);
      frame.nodes = block.nodes;
      frame.text = null;
      return true;
    }
    this.rereads -= scanner.pos - pos;
    scanner.start = start;
    scanner.pos = pos;
    scanner.kind = kind;
    return false;
  }

  /** Reads `(%a: T loc(...), %b: T):` or `:`. */
  private readArguments(block: MutableBlock): boolean {
    const { source } = this;
    const { scanner, text } = source;
    if (scanner.next() === OPEN_PAREN) {
      do {
        if (scanner.next() !== VALUE) break;
        const value = text.slice(scanner.start, scanner.pos);
        if (scanner.next() !== COLON) return false;
        const { pos } = scanner;
        if (skipElement(scanner) < 0) return false;
        const { pos: end } = scanner;
        scanner.pos = pos;
        const type = parseType(source);
        if (type === null || scanner.pos > end) return false;
        scanner.pos = end;
        block.arguments.push({ value, type });
      } while (scanner.next() === COMMA);
      if (!scanner.at(CLOSE_PAREN)) return false;
      scanner.next();
    }
    return scanner.at(COLON);
  }
}
