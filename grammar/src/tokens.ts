import * as scanner from './scanner.ts';

const { Scanner } = scanner;

/** `punctuation` is one byte or `->`. A `broken-string` reaches from an unterminated quote to the end of its line. */
export type TokenKind =
  | 'identifier'
  | 'string'
  | 'broken-string'
  | 'number'
  | 'value'
  | 'symbol'
  | 'attribute'
  | 'type'
  | 'block'
  | 'metadata-begin'
  | 'metadata-end'
  | 'punctuation';

/** Byte offsets [start, end). */
export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
}

const KINDS = new Map<number, TokenKind>([
  [scanner.IDENTIFIER, 'identifier'],
  [scanner.STRING, 'string'],
  [scanner.BROKEN_STRING, 'broken-string'],
  [scanner.NUMBER, 'number'],
  [scanner.VALUE, 'value'],
  [scanner.SYMBOL, 'symbol'],
  [scanner.ATTRIBUTE_NAME, 'attribute'],
  [scanner.TYPE_NAME, 'type'],
  [scanner.BLOCK_NAME, 'block'],
  [scanner.METADATA_BEGIN, 'metadata-begin'],
  [scanner.METADATA_END, 'metadata-end'],
]);

/** The tokens of a text, without blanks and comments. Never throws, and takes time linear in the input. */
export function* tokens(input: Uint8Array): Generator<Token, void> {
  const source = new Scanner(input);
  for (let kind; (kind = source.next()) !== scanner.END;)
    yield { kind: KINDS.get(kind) ?? 'punctuation', start: source.start, end: source.pos };
}
