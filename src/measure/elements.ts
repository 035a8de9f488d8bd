// Raw tensor bytes as numbers.

export type Elements = ArrayLike<number | bigint>;

/** Little-endian elements of an MLIR element type; null for types without a byte-sized representation here. */
export function decodeElements(bytes: Uint8Array, elementType: string): Elements | null {
  // Typed arrays need aligned data, so copy. `Buffer.slice` would not copy.
  const { buffer, byteLength } = new Uint8Array(bytes);
  switch (elementType) {
    case 'f64':
      return new Float64Array(buffer, 0, byteLength >> 3);
    case 'f32':
      return new Float32Array(buffer, 0, byteLength >> 2);
    case 'bf16': {
      // A bf16 is the upper half of an f32.
      const halves = new Uint16Array(buffer, 0, byteLength >> 1);
      return new Float32Array(Uint32Array.from(halves, (half) => half << 16).buffer);
    }
    case 'f16':
      return Float32Array.from(new Uint16Array(buffer, 0, byteLength >> 1), halfToNumber);
    case 'i64':
      return new BigInt64Array(buffer, 0, byteLength >> 3);
    case 'i32':
      return new Int32Array(buffer, 0, byteLength >> 2);
    case 'i16':
      return new Int16Array(buffer, 0, byteLength >> 1);
    case 'i8':
      return new Int8Array(buffer);
    default:
      return null;
  }
}

/** IEEE 754 binary16. */
function halfToNumber(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
