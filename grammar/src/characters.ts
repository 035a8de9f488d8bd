export const NEWLINE = 0x0a;
export const RETURN = 0x0d;
export const QUOTE = 0x22; // "
export const HASH = 0x23; // #
export const PERCENT = 0x25; // %
export const OPEN_PAREN = 0x28; // (
export const CLOSE_PAREN = 0x29; // )
export const STAR = 0x2a; // *
export const PLUS = 0x2b; // +
export const COMMA = 0x2c; // ,
export const MINUS = 0x2d; // -
export const DOT = 0x2e; // .
export const SLASH = 0x2f; // /
export const COLON = 0x3a; // :
export const OPEN_ANGLE = 0x3c; // <
export const EQUALS = 0x3d; // =
export const CLOSE_ANGLE = 0x3e; // >
export const QUESTION = 0x3f; // ?
export const AT = 0x40; // @
export const OPEN_BRACKET = 0x5b; // [
export const BACKSLASH = 0x5c; // \
export const CLOSE_BRACKET = 0x5d; // ]
export const LOWER_X = 0x78; // x
export const OPEN_BRACE = 0x7b; // {
export const CLOSE_BRACE = 0x7d; // }

/** The closing bracket of each opening one; 0 for all other bytes. */
export const CLOSERS = new Uint8Array(256);
CLOSERS[OPEN_PAREN] = CLOSE_PAREN;
CLOSERS[OPEN_BRACKET] = CLOSE_BRACKET;
CLOSERS[OPEN_BRACE] = CLOSE_BRACE;
CLOSERS[OPEN_ANGLE] = CLOSE_ANGLE;

/** Bits of {@link CLASSES}. */
export const SPACE = 1;
export const DIGIT = 2;
export const ID_START = 4;
/** In a bare identifier. */
export const ID_PART = 8;
/** In a name after % # ! ^, which may also have a `-`. */
export const SUFFIX_PART = 16;

/** The classes of every byte, as bits. */
export const CLASSES: Uint8Array = /* @__PURE__ */ classify();

function classify(): Uint8Array {
  const classes = new Uint8Array(256);
  const add = (characters: string, bits: number): void => {
    for (let index = 0; index < characters.length; index++) {
      classes[characters.charCodeAt(index)]! |= bits;
    }
  };
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  add(letters + letters.toUpperCase() + '_', ID_START | ID_PART | SUFFIX_PART);
  add('0123456789', DIGIT | ID_PART | SUFFIX_PART);
  add('$.', ID_PART | SUFFIX_PART);
  add('-', SUFFIX_PART);
  // MLIR's lexer skips NUL bytes like blanks.
  add(' \t\n\r\0', SPACE);
  return classes;
}
