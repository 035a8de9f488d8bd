// Types of a public function as IREE's runtime tools spell them.

/** One argument. Without a shape it is a scalar, which the tools take as a plain number. */
export interface RuntimeType {
  /** Sizes in elements; `[]` for a tensor of rank 0, null for a scalar. */
  readonly shape: readonly number[] | null;
  /** As in `--input=4x8xf32=...`. */
  readonly elementType: string;
}

/** What a compile makes of an element type, as `elementTypeConversion` says. */
export type Convert = (elementType: string) => string;

/** Elements that the tools read from files and that have a zero. */
const TENSOR_ELEMENTS = new Set([
  ...['f64', 'f32', 'f16', 'bf16', 'f8E4M3FN', 'f8E4M3FNUZ', 'f8E5M2', 'f8E5M2FNUZ'],
  ...['i1', 'i8', 'i16', 'i32', 'i64', 'si8', 'si16', 'si32', 'si64', 'ui8', 'ui16', 'ui32', 'ui64'],
]);

/** Scalars that the tools pass as what they are: a 16-bit float would arrive as an integer. */
const SCALARS = new Set(['f64', 'f32', 'i1', 'i8', 'i16', 'i32', 'i64', 'index']);

/** Scalars of the torch dialect, and what they become. */
const TORCH_SCALARS: Readonly<Record<string, string>> = {
  '!torch.int': 'i64',
  '!torch.float': 'f64',
  '!torch.bool': 'i1',
};

/** Node writes no larger files at once. */
const MOST_BYTES = 2 ** 31 - 4096;

/** A tensor in text without blanks: sizes, element type, and an encoding if any. */
const BUILTIN = /^tensor<((?:\d+x|\?x)*|\*x)([a-z]\w*(?:<.*>)?)(,.*)?>$/;
/** Immutable, or overwritten in place. */
const TORCH = /^!torch\.v?tensor<(?:\[([\d,?]*)\]|\*),([^,]+)(,.*)?>$/;

/** The type that the runtime wants for an argument of this MLIR type without blanks, or why there is none. */
export function argumentType(type: string, convert: Convert): RuntimeType | { readonly unsupported: string } {
  const no = (why: string) => ({ unsupported: `an argument of type ${type}: ${why}` });
  const builtin = BUILTIN.exec(type);
  const [, sizes, element, encoding] = builtin ?? TORCH.exec(type) ?? [];
  if (element === undefined) {
    const elementType = scalarType(type, convert);
    return SCALARS.has(elementType)
      ? { shape: null, elementType }
      : no("the runtime's tools cannot make one");
  }
  if (sizes === undefined || sizes === '*x') return no('its rank is not known');
  if (sizes.includes('?')) return no('its sizes are dynamic');
  if (encoding !== undefined) return no('it has an encoding');
  const elementType = builtin === null ? element : convert(element);
  if (!TENSOR_ELEMENTS.has(elementType)) return no("the runtime's tools read no such elements");
  const shape = sizes
    .split(/[x,]/)
    .filter((size) => size !== '')
    .map(Number);
  if (shape.reduce((product, size) => product * size, elementBytes(elementType)) > MOST_BYTES)
    return no('it takes more than 2 GiB');
  return { shape, elementType };
}

/** The type of a result's elements, as `decodeElements` knows it; any other text for what it does not know. */
export function resultElementType(type: string, convert: Convert): string {
  const builtin = BUILTIN.exec(type)?.[2];
  const torch = TORCH.exec(type)?.[2];
  // Buffers keep the element type that the torch dialect gives them; conversions come later, and the runtime checks.
  const elementType = builtin !== undefined ? convert(builtin) : (torch ?? scalarType(type, convert));
  if (elementType === 'index') return 'i64';
  return /^si\d+$/.test(elementType) ? elementType.slice(1) : elementType;
}

/** Bytes of one element in a file. */
export function elementBytes(elementType: string): number {
  if (elementType === 'bf16') return 2;
  const bits = Number(/^(?:[su]?i|f)(\d+)/.exec(elementType)?.[1]);
  return bits < 8 ? 1 : bits / 8;
}

const scalarType = (type: string, convert: Convert) => convert(TORCH_SCALARS[type] ?? type);
