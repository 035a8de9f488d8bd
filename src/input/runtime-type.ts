// Types of a public function, as IREE's runtime tools spell them.
import { typeText, type ShapedType, type Type } from 'mlir-parser-ts';
import type { Convert } from '../workload/kind.ts';
import { elementsOf } from '../workload/tensor.ts';

/** The type of an argument. */
export interface RuntimeType {
  /** Sizes in elements; `[]` for a tensor of rank 0, null for a scalar. */
  readonly shape: readonly number[] | null;
  /** As in `--input=4x8xf32=...`. */
  readonly elementType: string;
}

export interface ResultType {
  /** In the spelling of `decodeElements` if it knows the type. */
  readonly elementType: string;
  /** Sizes in elements, -1 for a dynamic size; null for a scalar or an unknown rank. */
  readonly shape: readonly number[] | null;
}

/** Element types that the tools read from files and that have a zero. */
const TENSOR_ELEMENTS = new Set([
  ...['f64', 'f32', 'f16', 'bf16', 'f8E4M3FN', 'f8E4M3FNUZ', 'f8E5M2', 'f8E5M2FNUZ'],
  ...['i1', 'i8', 'i16', 'i32', 'i64', 'si8', 'si16', 'si32', 'si64', 'ui8', 'ui16', 'ui32', 'ui64'],
]);

/** Scalar types that the tools pass unchanged. They would pass a 16-bit float as an integer. */
const SCALARS = new Set(['f64', 'f32', 'i1', 'i8', 'i16', 'i32', 'i64', 'index']);

/** Scalar types of the torch dialect, and their types in the program. */
const TORCH_SCALARS: Readonly<Record<string, string>> = {
  '!torch.int': 'i64',
  '!torch.float': 'f64',
  '!torch.bool': 'i1',
};

/** The runtime's type for an argument, or the reason why the argument is not supported. */
export function runtimeTypeOf(type: Type, convert: Convert): RuntimeType | { readonly unsupported: string } {
  const no = (why: string) => ({ unsupported: `an argument of type ${typeText(type)}: ${why}` });
  if (!isTensor(type)) {
    const elementType = scalarType(type, convert);
    return SCALARS.has(elementType)
      ? { shape: null, elementType }
      : no("the runtime's tools cannot make one");
  }
  const { shape } = type;
  if (shape === null) return no('its rank is not known');
  if (type.encoding !== null) return no('it has an encoding');
  const elementType = tensorElement(type, convert);
  if (!TENSOR_ELEMENTS.has(elementType)) return no("the runtime's tools read no such elements");
  return { shape, elementType };
}

export function runtimeResultOf(type: Type, convert: Convert): ResultType {
  const elementType = isTensor(type) ? tensorElement(type, convert) : scalarType(type, convert);
  const shape = isTensor(type) ? type.shape : null;
  if (elementType === 'index') return { elementType: 'i64', shape };
  return { elementType: /^si\d+$/.test(elementType) ? elementType.slice(1) : elementType, shape };
}

/** Bytes of one element in a file. */
export function elementBytes(elementType: string): number {
  if (elementType === 'bf16') return 2;
  const bits = Number(/^(?:[su]?i|f)(\d+)/.exec(elementType)?.[1]);
  return bits < 8 ? 1 : bits / 8;
}

/** Bytes of a tensor or a scalar in a file. */
export const tensorBytes = ({ shape, elementType }: RuntimeType): number =>
  elementsOf(shape ?? []) * elementBytes(elementType);

/** Whether it is a tensor with a known element type. */
const isTensor = (type: Type): type is ShapedType =>
  type.kind === 'tensor' ||
  ((type.kind === 'vtensor' || type.kind === 'torch-tensor') && type.elementType !== 'unk');

/** The runtime checks the element type of a torch tensor before any conversion. */
const tensorElement = ({ kind, elementType }: ShapedType, convert: Convert) =>
  kind === 'tensor' ? convert(elementType) : elementType;

function scalarType(type: Type, convert: Convert): string {
  const text = typeText(type);
  return convert(TORCH_SCALARS[text] ?? text);
}
