const SLOTS = 4096;
const LONGEST = 48;

/**
 * Turns bytes into strings. MLIR repeats itself (`f32`, `linalg.matmul`, `%cst`), so short strings come from a
 * direct-mapped cache: a collision only costs the decoding.
 */
export class Text {
  private readonly bytes: Uint8Array;
  private readonly slots = new Array<string>(SLOTS).fill('');
  private readonly decoder = new TextDecoder();

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** The text in [start, end); bytes that are not UTF-8 become U+FFFD. */
  slice(start: number, end: number): string {
    const bytes = this.bytes;
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

  /** The content of a string literal or quoted symbol whose text is [start, end), without its quotes, escapes resolved. */
  unquote(start: number, end: number): string {
    const content = this.slice(start + 1, end - 1);
    if (!content.includes('\\')) return content;
    // Hexadecimal escapes are bytes, so that `\C3\BC` is one character.
    const encoded = new TextEncoder().encode(content);
    const decoded: number[] = [];
    for (let index = 0; index < encoded.length; index++) {
      const byte = encoded[index]!;
      if (byte !== 0x5c) {
        decoded.push(byte);
        continue;
      }
      const escape = String.fromCharCode(encoded[index + 1] ?? 0x5c, encoded[index + 2] ?? 0);
      const simple = SIMPLE_ESCAPES[escape.charAt(0)];
      if (simple !== undefined) {
        decoded.push(simple);
        index += 1;
      } else if (/^[0-9a-fA-F]{2}$/.test(escape)) {
        decoded.push(parseInt(escape, 16));
        index += 2;
      } else {
        decoded.push(byte);
      }
    }
    return this.decoder.decode(Uint8Array.from(decoded));
  }

  /** The name of a `@symbol` whose text is [start, end), without the `@` and the quotes. */
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

const SIMPLE_ESCAPES: Readonly<Record<string, number>> = { '"': 0x22, '\\': 0x5c, n: 0x0a, t: 0x09 };
