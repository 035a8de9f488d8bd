// Tensors of static shape.
import type { Type } from 'mlir-parser-ts';
import { hasFields } from '../system/data.ts';
import { isSimpleType } from './element-type.ts';
import { isSize } from './sizes.ts';

export interface Tensor {
  readonly shape: readonly number[];
  readonly elementType: string;
}

/** The MLIR type, such as `tensor<4x8xf32>`. */
export const tensorText = ({ shape, elementType }: Tensor): string =>
  `tensor<${shape.map((size) => `${size}x`).join('')}${elementType}>`;

/** A type as a static tensor; null for dynamic or zero sizes, encodings and element types of several words. */
export function staticTensor(type: Type): Tensor | null {
  if (type.kind !== 'tensor' || type.shape === null || type.encoding !== null) return null;
  const { shape, elementType } = type;
  return shape.every((size) => size > 0) && isSimpleType(elementType) ? { shape, elementType } : null;
}

/** Whether a value is a list of sizes, such as a shape or strides. */
export const isSizes = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every(isSize);

/** Whether a value, for example from a file, is such a tensor. */
export const isTensor = hasFields<Tensor>({ shape: isSizes, elementType: isSimpleType });

/** Number of elements of a shape. */
export const elementsOf = (shape: readonly number[]): number => shape.reduce((all, size) => all * size, 1);

/** A type in keys, such as `1x64x56x56xf32`. */
export const typeName = (tensor: Tensor): string => tensorText(tensor).slice('tensor<'.length, -1);

/** The sizes before an element type in a text, such as `4x?x`; -1 for a dynamic size. */
export const sizesBefore = (text: string): number[] =>
  text
    .split('x')
    .slice(0, -1)
    .map((size) => (size === '?' ? -1 : Number(size)));

/** The type in a text of the compiler as a static tensor; null for other types. */
export function tensorFromText(type: string): Tensor | null {
  const [, shape, elementType] = /^\s*tensor<((?:\d+x)*)(\w+)>\s*$/.exec(type) ?? [];
  return shape === undefined || !isSimpleType(elementType!)
    ? null
    : { shape: sizesBefore(shape), elementType: elementType! };
}
