// Types of a public function as IREE's runtime tools spell them.
import type { ShapedType, Type } from 'mlir-parser-ts';

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

/** The type that the runtime wants for an argument of this type, or why there is none. */
export function tensorText(type: Type, convert: Convert): RuntimeType | { readonly unsupported: string } {
  const no = (why: string) => ({ unsupported: `an argument of type ${spell(type)}: ${why}` });
  if (!isTensor(type)) {
    const elementType = scalarType(type, convert);
    return SCALARS.has(elementType)
      ? { shape: null, elementType }
      : no("the runtime's tools cannot make one");
  }
  const { shape } = type;
  if (shape === null) return no('its rank is not known');
  if (shape.includes(-1)) return no('its sizes are dynamic, and --iree-tuned-dim gives none');
  if (type.encoding !== null) return no('it has an encoding');
  const elementType = tensorElement(type, convert);
  if (!TENSOR_ELEMENTS.has(elementType)) return no("the runtime's tools read no such elements");
  if (shape.reduce((product, size) => product * size, elementBytes(elementType)) > MOST_BYTES)
    return no('it takes more than 2 GiB');
  return { shape, elementType };
}

/** The type of a result's elements, as `decodeElements` knows it; any other text for what it does not know. */
export function resultElementType(type: Type, convert: Convert): string {
  const elementType = isTensor(type) ? tensorElement(type, convert) : scalarType(type, convert);
  if (elementType === 'index') return 'i64';
  return /^si\d+$/.test(elementType) ? elementType.slice(1) : elementType;
}

/** Bytes of one element in a file. */
export function elementBytes(elementType: string): number {
  if (elementType === 'bf16') return 2;
  const bits = Number(/^(?:[su]?i|f)(\d+)/.exec(elementType)?.[1]);
  return bits < 8 ? 1 : bits / 8;
}

/** Whether the tools have values of it that have a shape; a tensor of the torch dialect has it when it says something. */
const isTensor = (type: Type): type is ShapedType =>
  type.kind === 'tensor' ||
  ((type.kind === 'vtensor' || type.kind === 'torch-tensor') && type.elementType !== 'unk');

/** Buffers keep the element type that the torch dialect gives them; conversions come later, and the runtime checks. */
const tensorElement = ({ kind, elementType }: ShapedType, convert: Convert) =>
  kind === 'tensor' ? convert(elementType) : elementType;

function scalarType(type: Type, convert: Convert): string {
  const text = spell(type);
  return convert(TORCH_SCALARS[text] ?? text);
}

/** As in MLIR's text. */
function spell(type: Type): string {
  if (type.kind === 'opaque') return type.text;
  const { kind, shape, elementType, encoding } = type;
  const sizes = shape?.map((size) => (size < 0 ? '?' : String(size)));
  const end = `${elementType}${encoding === null ? '' : `, ${encoding}`}>`;
  if (kind !== 'vtensor' && kind !== 'torch-tensor') return `${kind}<${[...(sizes ?? ['*']), end].join('x')}`;
  return `!torch.${kind === 'vtensor' ? kind : 'tensor'}<${sizes === undefined ? '*' : `[${sizes.join(',')}]`},${end}`;
}
