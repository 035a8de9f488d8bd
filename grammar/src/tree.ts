import { skipElement, skipGroup, skipMetadata } from './balanced.ts';
import { isBytecode } from './bytecode.ts';
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
import { emptyDictionary, parseDictionary, parseProperties, type Source } from './dictionary.ts';
import { parseFunctionType, parseValues } from './operation.ts';
import { skipRawBody } from './raw-body.ts';
import { readResultNames } from './result-names.ts';
import {
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

/** An operation of any dialect in the generic form. */
export interface GenericOperation {
  readonly kind: 'operation';
  readonly name: string;
  /** Byte offsets [start, end), from its results to its location. */
  readonly start: number;
  readonly end: number;
  /** `%0`, or `%0#1` of several. Empty if their number differs from that of the types. */
  readonly results: readonly string[];
  readonly operands: readonly string[];
  /** Labels of the successor blocks. */
  readonly successors: readonly string[];
  readonly regions: readonly (readonly Block[])[];
  /** Attributes of the properties and of the dictionary. {@link attributeValue} reads their values. */
  readonly attributes: readonly Attribute[];
  readonly operandTypes: readonly Type[];
  readonly resultTypes: readonly Type[];
  /** The text inside `loc(...)`; null without a location. */
  readonly location: string | null;
}

export interface Block {
  /** `^bb0`; null for a first block without a label. */
  readonly label: string | null;
  readonly arguments: readonly { readonly value: string; readonly type: Type }[];
  readonly nodes: readonly TreeNode[];
}

/** Any other text: operations in a custom form, aliases, resources. */
export interface OpaqueText {
  readonly kind: 'opaque';
  readonly start: number;
  readonly end: number;
  /** The nodes in its braces. */
  readonly nodes: readonly TreeNode[];
}

/** Open braces. A stack of frames replaces recursion, because the text decides the depth. */
interface Frame {
  /** The operation that owns the region; null for braces of opaque text and for the file. */
  readonly owner: Draft | null;
  nodes: TreeNode[];
  /** The opaque text that the next opaque token extends. */
  text: { readonly kind: 'opaque'; readonly start: number; end: number; readonly nodes: TreeNode[] } | null;
  /** Number of open parentheses and square brackets. */
  groups: number;
}

/** An operation, read up to its regions. */
type Draft = Pick<GenericOperation, 'name' | 'start' | 'operands' | 'successors'> & {
  readonly attributes: Attribute[];
  readonly regions: MutableBlock[][];
  /** Byte offset of the end of the result names; equal to `start` without results. */
  readonly resultsEnd: number;
};

interface MutableBlock {
  readonly label: string | null;
  readonly arguments: { readonly value: string; readonly type: Type }[];
  readonly nodes: TreeNode[];
}

/**
 * All operations in the generic form, as `iree-opt --mlir-print-op-generic` prints them, with regions and blocks. Other
 * text is opaque; operations in its braces are its nodes. Nodes are in the order of the text and do not overlap.
 * Bytecode has no nodes. Never throws, and takes time linear in the input.
 */
export function tree(input: Uint8Array): TreeNode[] {
  return isBytecode(input) ? [] : new TreeReader(sourceOf(input)).read();
}

class TreeReader {
  private readonly source: Source;
  private readonly frames: Frame[] = [];
  private frame: Frame = { owner: null, nodes: [], text: null, groups: 0 };
  /** Bytes that may be read twice, after text that only starts like an operation. */
  private rereads: number;
  // The token before the current token.
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

  /** Closes the frame at a `}`. */
  private close(): void {
    const { scanner } = this.source;
    const { owner } = this.frame;
    this.closeFrame();
    if (owner === null) this.frame.text!.end = scanner.pos;
    else this.afterRegion(owner);
  }

  /** Reads on after a region: the next region, or the rest of the operation. */
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

  /** Closes a frame without its `}`: its operation becomes opaque text. */
  private giveUp(end: number): void {
    const { owner } = this.frame;
    this.closeFrame();
    if (owner === null) this.frame.text!.end = end;
    else this.addOpaque(owner, end);
  }

  /** Turns an operation into opaque text, because its end is not understood. Reading goes on at `end`. */
  private addOpaque(draft: Draft, end: number): void {
    this.frame.text = null;
    this.addText(draft.start, end);
    for (const block of draft.regions.flat())
      for (const node of block.nodes) this.frame.text!.nodes.push(node);
    this.source.scanner.pos = end;
  }

  /** Reads an operation that starts at the current token, up to its end or into its first region. False for other text. */
  private readOperation(kind: number): boolean {
    // An operation starts outside of brackets. A value behind a comma is in the middle of a list.
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

  /** Whether the current string is the argument of an operation, right after its name. */
  private isArgument(): boolean {
    const { scanner } = this.source;
    return this.previous === IDENTIFIER && scanner.hasDot(this.previousStart, this.previousEnd);
  }

  /** Reads `%a, %b:2 = "name"(%c)[^bb1] <{...}>`. The token behind is the current token then. */
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
      if (!parseProperties(this.source, dictionary)) return null;
      scanner.next();
    }
    const { attributes } = dictionary;
    return { name, start, operands, successors, attributes, regions: [], resultsEnd };
  }

  /** Reads `{...} : (...) -> ... loc(...)` and adds the operation. False, without an operation, for other text. */
  private finish(draft: Draft): boolean {
    const { source } = this;
    const { scanner, text } = source;
    const { name, start, operands, successors, regions, resultsEnd } = draft;
    const dictionary = { ...emptyDictionary(), attributes: [...draft.attributes] };
    if (scanner.next() === OPEN_BRACE) {
      if (parseDictionary(source, dictionary) === null) return false;
      scanner.next();
    }
    const types = scanner.at(COLON) ? parseFunctionType(source) : null;
    if (types?.arguments.length !== operands.length) return false;
    const { arguments: operandTypes, results: resultTypes } = types;
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
      // An empty region has no block.
      regions: regions.map((blocks) =>
        blocks.filter((block) => block.label !== null || block.nodes.length > 0),
      ),
    });
    scanner.pos = end;
    // The next token has no predecessor in this operation.
    scanner.kind = END;
    return true;
  }

  /** Reads `^bb0(%a: T):` in a region of an operation in the generic form. False for other text. */
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
