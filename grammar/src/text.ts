import { BACKSLASH } from './characters.ts';

const SLOTS = 4096;
const LONGEST = 48;

/** In bytes. V8 limits a string to 512 Mi characters, on 32-bit systems to 256 Mi. */
export const LONGEST_TEXT = 2 ** 28 - 32;

/**
 * Decodes bytes to strings. Short strings come from a direct-mapped cache, because MLIR repeats words such as `f32` and
 * `%cst`. A collision costs one decoding.
 */
export class Text {
  private readonly bytes: Uint8Array;
  private readonly slots = new Array<string>(SLOTS).fill('');
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /**
   * The text in [start, end). Bytes that are not UTF-8 become U+FFFD. For text beyond the longest string, the result is a
   * unique placeholder with the two offsets.
   */
  slice(start: number, end: number): string {
    const bytes = this.bytes;
    if (end - start > LONGEST_TEXT) return `<bytes ${start} to ${end}>`;
    if (end - start > LONGEST) return this.decoder.decode(bytes.subarray(start, end));
    let hash = 0;
    let all = 0;
    for (let index = start; index < end; index++) {
      const byte = bytes[index]!;
      hash = (Math.imul(hash, 31) + byte) | 0;
      all |= byte;
    }
    if (all > 0x7f) return this.decoder.decode(bytes.subarray(start, end));
    const slot = (hash ^ (hash >>> 12)) & (SLOTS - 1);
    const cached = this.slots[slot]!;
    if (this.equals(start, end, cached)) return cached;
    const text = String.fromCharCode.apply(null, bytes.subarray(start, end) as unknown as number[]);
    this.slots[slot] = text;
    return text;
  }

  /** The content of the string literal in [start, end): without quotes, escapes resolved. */
  unquote(start: number, end: number): string {
    const content = this.slice(start + 1, end - 1);
    if (!content.includes('\\')) return content;
    // Hexadecimal escapes are bytes: `\C3\BC` is one character.
    const { bytes } = this;
    const decoded = new Uint8Array(end - start);
    let length = 0;
    for (let index = start + 1; index < end - 1; index++) {
      const byte = bytes[index]!;
      const next = bytes[index + 1]!;
      const simple = byte === BACKSLASH ? SIMPLE_ESCAPES.indexOf(next) : -1;
      const value = byte === BACKSLASH && index + 3 < end ? hexadecimal(next, bytes[index + 2]!) : -1;
      if (simple >= 0) index += 1;
      else if (value >= 0) index += 2;
      decoded[length++] = simple >= 0 ? ESCAPED[simple]! : value >= 0 ? value : byte;
    }
    return this.decoder.decode(decoded.subarray(0, length));
  }

  /** The `%value` in [start, end), without blanks and comments before the number of a result: `%0 #1` is `%0#1`. */
  value(start: number, end: number): string {
    const text = this.slice(start, end);
    return text.includes('#') && !/^%[\w$.-]*#\d+$/.test(text)
      ? text.replace(/^(%[\w$.-]*)[^]*(#\d+)$/, '$1$2')
      : text;
  }

  /** The name of the `@symbol` in [start, end), without the `@` and the quotes. */
  symbol(start: number, end: number): string {
    return this.bytes[start + 1] === 0x22 ? this.unquote(start + 1, end) : this.slice(start + 1, end);
  }

  private equals(start: number, end: number, text: string): boolean {
    if (text.length !== end - start) return false;
    for (let index = 0; index < text.length; index++) {
      if (this.bytes[start + index] !== text.charCodeAt(index)) return false;
    }
    return true;
  }
}

/** `"`, `\`, `n` and `t` after a backslash, and their values. */
const SIMPLE_ESCAPES = [0x22, BACKSLASH, 0x6e, 0x74];
const ESCAPED = [0x22, BACKSLASH, 0x0a, 0x09];

/** The byte of two hexadecimal digits; -1 for other characters. */
function hexadecimal(high: number, low: number): number {
  const digits = String.fromCharCode(high, low);
  return /^[0-9a-fA-F]{2}$/.test(digits) ? parseInt(digits, 16) : -1;
}
