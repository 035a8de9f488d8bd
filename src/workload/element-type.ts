// Sizes and exactness of element types, in MLIR's spelling.

const FLOAT = /^(?:bf16|tf32|f(\d+)(?:E\w+)?)$/;
const INTEGER = /^[su]?i(\d+)$/;

/** Whether a value is a type of a single word, such as `f32`. Other types, such as `complex<f32>`, are not tuned. */
export const isSimpleType = (type: unknown): boolean =>
  typeof type === 'string' && /^[A-Za-z][A-Za-z0-9]{0,31}$/.test(type);

/** Bits of one element; 32 for `index` and for unknown types. */
export function elementBits(type: string): number {
  if (type === 'bf16') return 16;
  const width = FLOAT.exec(type)?.[1] ?? INTEGER.exec(type)?.[1];
  return width === undefined ? 32 : Number(width);
}

export const isFloat = (type: string): boolean => FLOAT.test(type);
export const isInteger = (type: string): boolean => INTEGER.test(type);

/** Whether a float type has 16 bits or fewer: integers are exact in bf16 up to 256, in f16 up to 2048. */
export const isNarrowFloat = (type: string): boolean => isFloat(type) && elementBits(type) <= 16;

export const factorType = (lhs: string, rhs: string): string => (lhs === rhs ? lhs : `${lhs},${rhs}`);
