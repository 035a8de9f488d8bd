import { CLASSES, CLOSE_ANGLE, CLOSE_BRACKET, COMMA, OPEN_BRACKET, QUESTION, SPACE } from './characters.ts';
import type { ShapedType } from './types.ts';

const SLOTS = 1024;

/**
 * A direct-mapped cache of shaped types by their bytes: a file repeats few types many times. A hit compares all bytes, so a
 * collision costs one reading.
 */
export class TypeCache {
  private readonly bytes: Uint8Array;
  /** Byte offsets, which may exceed 32 bits. */
  private readonly starts = new Float64Array(SLOTS);
  private readonly lengths = new Int32Array(SLOTS);
  private readonly types = new Array<ShapedType | null>(SLOTS).fill(null);
  /** The slot and the start of the last miss; slot -1 for a type that is not cached. */
  private slot = -1;
  private start = 0;
  /** The offset after the last type that `find` read. */
  end = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /**
   * The cached type of the text that starts at `start` and has its `<` right before `inner`; null for a miss. Sets `end`.
   * @param limit the end of the readable text
   */
  find(start: number, inner: number, limit: number): ShapedType | null {
    const { bytes } = this;
    this.slot = -1;
    let hash = bytes[start]!;
    let pos = inner;
    for (; ; pos++) {
      if (pos >= limit) return null;
      const byte = bytes[pos]!;
      if (byte === CLOSE_ANGLE) break;
      // Caches only `tensor<4x?xf32>` and `vtensor<[4,?],f32>`. Aliases are left out: a later definition may change the type.
      if (!isPlain(byte)) return null;
      hash = (Math.imul(hash, 31) + byte) | 0;
    }
    const slot = (hash ^ (hash >>> 10)) & (SLOTS - 1);
    this.end = pos + 1;
    const type = this.types[slot] ?? null;
    if (type !== null && this.lengths[slot] === this.end - start && this.same(this.starts[slot]!, start))
      return type;
    this.slot = slot;
    this.start = start;
    return null;
  }

  /** Caches the type of the last miss of `find`. */
  keep(type: ShapedType): void {
    if (this.slot < 0) return;
    this.starts[this.slot] = this.start;
    this.lengths[this.slot] = this.end - this.start;
    this.types[this.slot] = type;
  }

  private same(known: number, start: number): boolean {
    const { bytes, end } = this;
    for (let pos = start; pos < end; pos++) {
      if (bytes[pos] !== bytes[known + pos - start]) return false;
    }
    return true;
  }
}

function isPlain(byte: number): boolean {
  if ((CLASSES[byte]! & ~SPACE) !== 0) return true;
  return byte === QUESTION || byte === COMMA || byte === OPEN_BRACKET || byte === CLOSE_BRACKET;
}
