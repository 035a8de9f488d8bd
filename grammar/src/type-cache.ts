import { CLASSES, CLOSE_ANGLE, CLOSE_BRACKET, COMMA, OPEN_BRACKET, QUESTION, SPACE } from './characters.ts';
import type { ShapedType } from './types.ts';

const SLOTS = 1024;

/**
 * Remembers shaped types by their bytes: a file has few of them and writes each many times. Direct-mapped, and a hit is
 * compared with the bytes that were read before, so a collision only costs the reading.
 */
export class TypeCache {
  private readonly bytes: Uint8Array;
  /** Offsets may lie beyond what 32 bits hold. */
  private readonly starts = new Float64Array(SLOTS);
  private readonly lengths = new Int32Array(SLOTS);
  private readonly types = new Array<ShapedType | null>(SLOTS).fill(null);
  /** The slot and extent of the last type that was not found. */
  private slot = -1;
  private start = 0;
  /** The offset after the type that find() last saw. */
  end = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /**
   * The type whose text starts at `start` and has its `<` before `inner`, or null; its end, which is not after `limit`,
   * is in `end`.
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
      // Only plain `tensor<4x?xf32>` or `vtensor<[4,?],f32>`: no nesting, no comments, and no aliases, which a chunk may define later.
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

  /** Remembers what the last text that find() did not know turned out to be. */
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
