// Raw tensor bytes as numbers, and numbers as raw bytes. Little-endian.

export interface Elements {
  readonly length: number;
  readonly buffer: ArrayBufferLike;
  [index: number]: number | bigint;
}

const ARRAYS = {
  ...{ f64: Float64Array, f32: Float32Array },
  ...{ i64: BigInt64Array, i32: Int32Array, i16: Int16Array, i8: Int8Array },
  // An i1 takes one byte.
  i1: Int8Array,
};

/** Floats narrower than 32 bits: bits of the fraction, and bias of the exponent. */
const NARROW: Readonly<Record<string, readonly [fraction: number, bias: number]>> = {
  ...{ f16: [10, 15], bf16: [7, 127] },
  ...{ f8E4M3FN: [3, 7], f8E4M3FNUZ: [3, 8], f8E5M2: [2, 15], f8E5M2FNUZ: [2, 16] },
};

/** Largest relative distance of two neighbouring numbers of a float type. */
export const SPACING: Readonly<Record<string, number>> = {
  ...{ f64: 2 ** -52, f32: 2 ** -23, f16: 2 ** -10, bf16: 2 ** -7 },
};

const isPlain = (type: string): type is keyof typeof ARRAYS => Object.hasOwn(ARRAYS, type);

/** Elements of an MLIR element type; null for floats of 8 bits and types that are not here. */
export function decodeElements(bytes: Uint8Array, elementType: string): Elements | null {
  // Typed arrays need aligned data, so copy. `Buffer.slice` would not copy.
  const { buffer, byteLength } = new Uint8Array(bytes);
  if (isPlain(elementType)) {
    const Elements = ARRAYS[elementType];
    return new Elements(buffer, 0, Math.floor(byteLength / Elements.BYTES_PER_ELEMENT));
  }
  if (elementType !== 'f16' && elementType !== 'bf16') return null;
  const halves = new Uint16Array(buffer, 0, byteLength >> 1);
  if (elementType === 'f16') return new Float32Array(numbers(halves.length, (i) => halfToNumber(halves[i]!)));
  // A bf16 is the upper half of an f32.
  return new Float32Array(Uint32Array.from(halves, (half) => half << 16).buffer);
}

/** Numbers by index. `Float64Array.from` takes ten times as long. */
export function numbers(length: number, valueAt: (i: number) => number): Float64Array<ArrayBuffer> {
  const values = new Float64Array(length);
  for (let i = 0; i < length; i++) values[i] = valueAt(i);
  return values;
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

export const isEncodable = (elementType: string): boolean =>
  elementType in NARROW || isPlain(signless(elementType));

const signless = (elementType: string) => elementType.replace(/^[su]i/, 'i');

/** Zeros of an MLIR element type; a narrow float as its bits. */
export function zeroElements(length: number, elementType: string): Elements {
  if (elementType in NARROW)
    return elementType.startsWith('f8') ? new Uint8Array(length) : new Uint16Array(length);
  const type = signless(elementType);
  if (!isPlain(type)) throw new Error(`elements of type ${elementType} cannot be written`);
  return new ARRAYS[type](length);
}

/** Numbers as elements. Floats are rounded to the nearest; all numbers have to be finite and in the range of the type. */
export function encodeElements(values: ArrayLike<number>, elementType: string): Elements {
  const elements = zeroElements(values.length, elementType);
  const narrow = NARROW[elementType];
  const isWide = elements instanceof BigInt64Array;
  if (!narrow && !isWide) {
    // A loop would take ten times as long.
    (elements as Float64Array).set(values);
    return elements;
  }
  const sign = elementType.startsWith('f8') ? 0x80 : 0x8000;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    elements[i] = narrow ? narrowBits(value, ...narrow, sign) : isWide ? BigInt(value) : value;
  }
  return elements;
}

function narrowBits(value: number, fraction: number, bias: number, sign: number): number {
  const size = Math.abs(value);
  if (size === 0) return 0;
  const exponent = Math.max(1 - bias, Math.floor(Math.log2(size)));
  const bits = ((exponent + bias - 1) << fraction) + Math.round(size / 2 ** (exponent - fraction));
  return value < 0 ? sign + bits : bits;
}
