import { Aliases } from './aliases.ts';
import { skipMetadata } from './balanced.ts';
import { CLOSE_BRACE, EQUALS, OPEN_BRACE } from './characters.ts';
import type { Source } from './dictionary.ts';
import { endOfRawBody } from './raw-body.ts';
import { ATTRIBUTE_NAME, END, METADATA_BEGIN, Scanner, TYPE_NAME } from './scanner.ts';
import { Text } from './text.ts';
import { TypeCache } from './type-cache.ts';

/** A source at the beginning of the whole input. */
export function sourceOf(input: Uint8Array): Source {
  return new Aliases(new Scanner(input), new Text(input), new TypeCache(input)).source;
}

/**
 * Goes over all tokens to the end of the text, and notes the aliases.
 * @param visit gets the kind of each token outside of resources, and may read on
 */
export function walk({ scanner, aliases }: Source, visit: (kind: number) => void): void {
  let depth = 0;
  /** Byte offset of the end of the dialect body around the scanner; -1 outside of such bodies. */
  let bodyEnd = -1;
  for (let previous = END, start = 0, end = 0; ;) {
    const kind = scanner.next();
    if (bodyEnd >= 0 && scanner.pos > bodyEnd) {
      // A `//` in the body is no comment, so the token ended behind the body. The budget bounds the time for many bodies on one line.
      scanner.rawBudget -= scanner.pos - bodyEnd;
      scanner.pos = bodyEnd;
      bodyEnd = -1;
      continue;
    }
    if (kind === END) return;
    if (bodyEnd < 0 && (kind === ATTRIBUTE_NAME || kind === TYPE_NAME)) bodyEnd = endOfRawBody(scanner);
    if (kind === OPEN_BRACE) depth++;
    else if (kind === CLOSE_BRACE && depth > 0) depth--;
    else if (kind === METADATA_BEGIN) skipMetadata(scanner);
    else if (kind === EQUALS && depth === 0 && (previous === ATTRIBUTE_NAME || previous === TYPE_NAME))
      aliases.define(start, end, scanner.pos);
    previous = kind;
    ({ start, pos: end } = scanner);
    visit(kind);
  }
}
