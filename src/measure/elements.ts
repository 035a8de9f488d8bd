// Raw tensor bytes as numbers.

export type Elements = ArrayLike<number | bigint>;

const ARRAYS = {
  ...{ f64: Float64Array, f32: Float32Array },
  ...{ i64: BigInt64Array, i32: Int32Array, i16: Int16Array, i8: Int8Array },
};

const isPlain = (elementType: string): elementType is keyof typeof ARRAYS =>
  Object.hasOwn(ARRAYS, elementType);

/** Little-endian elements of an MLIR element type; null for types without a byte-sized representation here. */
export function decodeElements(bytes: Uint8Array, elementType: string): Elements | null {
  // Typed arrays need aligned data, so copy. `Buffer.slice` would not copy.
  const { buffer, byteLength } = new Uint8Array(bytes);
  if (isPlain(elementType)) {
    const Elements = ARRAYS[elementType];
    return new Elements(buffer, 0, Math.floor(byteLength / Elements.BYTES_PER_ELEMENT));
  }
  if (elementType !== 'f16' && elementType !== 'bf16') return null;
  const halves = new Uint16Array(buffer, 0, byteLength >> 1);
  if (elementType === 'f16') return Float32Array.from(halves, halfToNumber);
  // A bf16 is the upper half of an f32.
  return new Float32Array(Uint32Array.from(halves, (half) => half << 16).buffer);
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
