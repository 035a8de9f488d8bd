import { skipGroup } from './balanced.ts';
import { CLOSE_ANGLE, EQUALS, CLOSE_BRACE, OPEN_ANGLE, OPEN_BRACE, OPEN_PAREN } from './characters.ts';
import { type Dictionary, emptyDictionary, parseDictionary, type Source } from './dictionary.ts';
import { ATTRIBUTE_NAME, END, IDENTIFIER, NUMBER, type Scanner, STRING, VALUE } from './scanner.ts';
import { isElementwise } from './table.ts';
import type { Consumer } from './types.ts';
import type { Statement } from './uses.ts';

/** What the name and the text of an operation tell about it; the scanner is left anywhere after its name. */
export function describeConsumer(source: Source, { name, start, form }: Statement): Consumer {
  const { scanner } = source;
  scanner.pos = start;
  scanner.next();
  if (name === 'linalg.generic') {
    const { parallel, region } = form === 'quoted' ? readQuotedGeneric(source) : readGeneric(source);
    return { name, start, elementwise: parallel, body: region < 0 ? null : namesIn(source, region) };
  }
  const body = name === 'linalg.map' ? readMap(source, form) : null;
  return { name, start, elementwise: isElementwise(name), body };
}

interface Generic {
  /** Whether all iterators are parallel. */
  readonly parallel: boolean;
  /** Byte offset of the `{` of the region, or -1. */
  readonly region: number;
}

const UNKNOWN: Generic = { parallel: false, region: -1 };

function isParallel({ iteratorTypes }: Dictionary): boolean {
  return iteratorTypes?.every((type) => type === 'parallel') ?? false;
}

/** Reads `linalg.generic #trait ... ins(...) outs(...) attrs = {...} {region}` from its name on. */
function readGeneric(source: Source): Generic {
  const { scanner, text, aliases } = source;
  const trait =
    scanner.next() === ATTRIBUTE_NAME
      ? aliases.dictionary(text.slice(scanner.start, scanner.pos))
      : parseDictionary(source);
  if (trait === null) return UNKNOWN;
  return { parallel: isParallel(trait), region: regionAfterOperands(scanner) };
}

/** Where the region starts: the first `{` after the operands that no `attrs =` stands before; -1 for other text. */
function regionAfterOperands(scanner: Scanner): number {
  for (let afterOperands = false; ;) {
    const kind = scanner.next();
    if (kind === IDENTIFIER && scanner.is('attrs')) {
      if (scanner.next() !== EQUALS || scanner.next() !== OPEN_BRACE || skipGroup(scanner) < 0) return -1;
    } else if (kind === IDENTIFIER && (scanner.is('ins') || scanner.is('outs'))) {
      afterOperands = true;
    } else if (kind === OPEN_BRACE && afterOperands) {
      return scanner.start;
    } else if (kind === OPEN_PAREN || kind === OPEN_ANGLE || kind === OPEN_BRACE) {
      if (skipGroup(scanner) < 0) return -1;
    } else {
      return -1;
    }
  }
}

/** Reads `"linalg.generic"(...) <{...}> ({region}) {...}` from its name on. */
function readQuotedGeneric(source: Source): Generic {
  const { scanner } = source;
  const dictionary = emptyDictionary();
  if (scanner.next() !== OPEN_PAREN || skipGroup(scanner) < 0) return UNKNOWN;
  if (scanner.next() === OPEN_ANGLE) {
    scanner.next();
    if (parseDictionary(source, dictionary) === null || scanner.next() !== CLOSE_ANGLE) return UNKNOWN;
    scanner.next();
  }
  if (!scanner.at(OPEN_PAREN)) return UNKNOWN;
  const region = scanner.skipTrivia(scanner.pos);
  if (skipGroup(scanner) < 0) return UNKNOWN;
  // Older texts have the dictionary here.
  if (scanner.next() === OPEN_BRACE) parseDictionary(source, dictionary);
  return { parallel: isParallel(dictionary), region };
}

/** The names in `linalg.map { arith.addf } ins(...) outs(...)` or in the region of its longer forms. */
function readMap(source: Source, form: Statement['form']): string[] | null {
  const { scanner, text } = source;
  if (form === 'quoted') {
    const { region } = readQuotedGeneric(source);
    return region < 0 ? null : namesIn(source, region);
  }
  const { pos } = scanner;
  if (
    scanner.next() === OPEN_BRACE &&
    scanner.next() === IDENTIFIER &&
    scanner.hasDot(scanner.start, scanner.pos)
  )
    return [text.slice(scanner.start, scanner.pos)];
  scanner.pos = pos;
  const region = regionAfterOperands(scanner);
  return region < 0 ? null : namesIn(source, region);
}

/**
 * The names of the operations in the region whose `{` is at `open`, but for the one that ends it; null when it does not
 * end, or when one of them has no result, as then its name is hard to tell from the syntax of another.
 */
function namesIn({ scanner, text }: Source, open: number): string[] | null {
  scanner.pos = open;
  if (scanner.next() !== OPEN_BRACE) return null;
  const names: string[] = [];
  let previous = OPEN_BRACE;
  let earlier = END;
  for (let depth = 1; depth > 0;) {
    const kind = scanner.next();
    if (kind === END) return null;
    if (kind === OPEN_BRACE) depth++;
    else if (kind === CLOSE_BRACE) depth--;
    else if (kind === IDENTIFIER || kind === STRING) {
      if (previous === EQUALS && (earlier === VALUE || earlier === NUMBER)) {
        const quotes = kind === STRING ? 1 : 0;
        names.push(text.slice(scanner.start + quotes, scanner.pos - quotes));
      } else if (depth === 1 && isOtherOperation(scanner)) {
        return null;
      }
    }
    earlier = previous;
    previous = kind;
  }
  return names;
}

/** Whether the current word or string is the name of an operation other than `linalg.yield`. */
function isOtherOperation(scanner: Scanner): boolean {
  const { bytes, start, pos } = scanner;
  if (scanner.at(IDENTIFIER)) return scanner.hasDot(start, pos) && !scanner.is('linalg.yield');
  return bytes[scanner.skipTrivia(pos)] === OPEN_PAREN && !scanner.is('"linalg.yield"');
}
