import { skipBalanced, skipElement, skipGroup } from './balanced.ts';
import {
  CLASSES,
  CLOSE_ANGLE,
  CLOSE_BRACKET,
  COMMA,
  DIGIT,
  LOWER_X,
  OPEN_ANGLE,
  OPEN_BRACKET,
  OPEN_PAREN,
  QUESTION,
  SPACE,
  STAR,
} from './characters.ts';
import { hasRawBody, skipRawBody } from './raw-body.ts';
import { ARROW, IDENTIFIER, NUMBER, type Scanner, TYPE_NAME } from './scanner.ts';
import type { Source } from './dictionary.ts';
import type { ShapedType, Type } from './types.ts';

/** Reads a type from the next token on, and leaves the scanner after it. Null for other text. */
// ebnf: type
export function parseType(source: Source): Type | null {
  const { scanner, text, aliases, types } = source;
  const before = scanner.pos;
  const kind = scanner.next();
  const start = scanner.start;
  if (kind === IDENTIFIER) {
    const shaped = shapedKind(scanner);
    if (shaped !== null && scanner.next() === OPEN_ANGLE) {
      const known = types.find(start, scanner.pos, scanner.end);
      if (known !== null) {
        scanner.pos = types.end;
        return known;
      }
      const type = parseShaped(source, shaped);
      if (type !== null) {
        types.keep(type);
        return type;
      }
    }
  } else if (kind === TYPE_NAME) {
    const end = scanner.pos;
    // The name of an alias has no dot, unlike `!dialect.type`, and no body, unlike `!dialect<type>`.
    if (!scanner.hasDot(start, end) && !hasRawBody(scanner)) {
      const type = aliases.type(text.slice(start, end));
      return type ?? { kind: 'opaque', text: text.slice(start, end) };
    }
    const torch = torchKind(scanner);
    const type = torch === null ? null : parseTorchTensor(source, torch);
    if (type !== null) return type;
  } else if (kind !== OPEN_PAREN) {
    return null;
  }
  scanner.pos = before;
  const end = skipType(scanner);
  return end < 0 ? null : { kind: 'opaque', text: text.slice(start, end) };
}

/** Steps over any type from the next token on. Returns the offset after it, or -1 for other text. */
// ebnf: opaque-type
export function skipType(scanner: Scanner): number {
  for (;;) {
    if (scanner.next() !== OPEN_PAREN) return skipNamedType(scanner);
    // A list of result types or a function type. `() -> () -> ()` nests to the right, so a loop is enough.
    const end = skipGroup(scanner);
    if (end < 0) return -1;
    if (scanner.next() !== ARROW) {
      scanner.pos = end;
      return end;
    }
  }
}

// ebnf: named-type
function skipNamedType(scanner: Scanner): number {
  if (scanner.kind !== IDENTIFIER && scanner.kind !== TYPE_NAME) return -1;
  if (scanner.at(TYPE_NAME)) return hasRawBody(scanner) && !skipRawBody(scanner) ? -1 : scanner.pos;
  const end = scanner.pos;
  if (scanner.next() === OPEN_ANGLE) return skipGroup(scanner);
  scanner.pos = end;
  return end;
}

function shapedKind(scanner: Scanner): ShapedType['kind'] | null {
  if (scanner.is('tensor')) return 'tensor';
  if (scanner.is('memref')) return 'memref';
  return scanner.is('vector') ? 'vector' : null;
}

// ebnf: shaped-type
function parseShaped(source: Source, kind: ShapedType['kind']): ShapedType | null {
  const shape = parseShape(source.scanner);
  return shape === undefined ? null : parseElement(source, kind, shape);
}

function torchKind(scanner: Scanner): ShapedType['kind'] | null {
  if (scanner.is('!torch.vtensor')) return 'vtensor';
  return scanner.is('!torch.tensor') ? 'torch-tensor' : null;
}

/** Reads the optional `<[2,?],f32>` after the name. Null when it is not understood. */
// ebnf: torch-type
function parseTorchTensor(source: Source, kind: ShapedType['kind']): ShapedType | null {
  const { scanner, types } = source;
  const { start } = scanner;
  if (!hasRawBody(scanner)) return { kind, shape: null, elementType: 'unk', encoding: null };
  scanner.next();
  const known = types.find(start, scanner.pos, scanner.end);
  if (known !== null) {
    scanner.pos = types.end;
    return known;
  }
  const shape = scanner.next() === STAR ? null : parseSizes(source);
  if (shape === undefined || scanner.next() !== COMMA) return null;
  const type = parseElement(source, kind, shape);
  if (type !== null) types.keep(type);
  return type;
}

/** Reads `[2,?]`, with its `[` as the current token. Undefined for other text. */
function parseSizes({ scanner, text }: Source): number[] | undefined {
  if (!scanner.at(OPEN_BRACKET)) return undefined;
  const sizes: number[] = [];
  for (;;) {
    const kind = scanner.next();
    if (kind === CLOSE_BRACKET && sizes.length === 0) return sizes;
    const word = text.slice(scanner.start, scanner.pos);
    const size = kind === QUESTION ? -1 : kind === NUMBER && /^\d+$/.test(word) ? Number(word) : NaN;
    if (!Number.isSafeInteger(size)) return undefined;
    sizes.push(size);
    if (scanner.next() === CLOSE_BRACKET) return sizes;
    if (!scanner.at(COMMA)) return undefined;
  }
}

/** Reads `f32, #encoding>`, the rest of a shaped type after its shape. Null for malformed text. */
function parseElement(
  source: Source,
  kind: ShapedType['kind'],
  shape: readonly number[] | null,
): ShapedType | null {
  const { scanner, text, aliases } = source;
  const element = scanner.skipTrivia(scanner.pos);

  // The fast path for one word: `f32>`.
  let end = -1;
  if (scanner.next() === IDENTIFIER) {
    end = scanner.pos;
    const after = scanner.next();
    if (after !== CLOSE_ANGLE && after !== COMMA) end = -1;
    scanner.pos = scanner.start;
  }
  if (end < 0) {
    scanner.pos = element;
    end = skipElement(scanner);
    if (end < 0) return null;
  }
  let elementType = text.slice(element, end);
  if (elementType.startsWith('!')) elementType = aliases.typeText(elementType) ?? elementType;

  if (scanner.next() === CLOSE_ANGLE) return { kind, shape, elementType, encoding: null };
  if (scanner.kind !== COMMA) return null;
  const from = scanner.skipTrivia(scanner.pos);
  const to = skipBalanced(scanner);
  if (to <= from || scanner.next() !== CLOSE_ANGLE) return null;
  return { kind, shape, elementType, encoding: text.slice(from, to) };
}

/**
 * Reads the dimensions before an element type, byte by byte, because tokens do not split `4xi8`. Null is unranked,
 * undefined is malformed text.
 */
// ebnf: shape
function parseShape(scanner: Scanner): number[] | null | undefined {
  const { bytes, end } = scanner;
  const shape: number[] = [];
  let pos = scanner.skipTrivia(scanner.pos);
  while (pos < end) {
    const byte = bytes[pos]!;
    let size = -1;
    if ((CLASSES[byte]! & DIGIT) !== 0) {
      size = 0;
      while (pos < end && (CLASSES[bytes[pos]!]! & DIGIT) !== 0) size = size * 10 + bytes[pos++]! - 0x30;
      if (size > Number.MAX_SAFE_INTEGER) return undefined;
    } else if (byte === QUESTION || byte === STAR) {
      pos++;
    } else if (byte === OPEN_BRACKET) {
      // A scalable dimension: `vector<[4]xf32>`.
      do pos++;
      while (pos < end && (CLASSES[bytes[pos]!]! & (DIGIT | SPACE)) !== 0);
      if (pos >= end || bytes[pos] !== CLOSE_BRACKET) return undefined;
      pos++;
    } else {
      break;
    }
    pos = scanner.skipTrivia(pos);
    if (pos >= end || bytes[pos] !== LOWER_X) return undefined;
    pos = scanner.skipTrivia(pos + 1);
    if (byte === STAR) {
      scanner.pos = pos;
      return shape.length === 0 ? null : undefined;
    }
    shape.push(size);
  }
  scanner.pos = pos;
  return shape;
}
