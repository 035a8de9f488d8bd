// Matmuls by their shapes, such as `512x512x512` or `384x768x768xf16`.
import { UsageError } from './arguments.ts';

/** Accumulator types by element type. */
const ACCUMULATORS = { f32: 'f32', f16: 'f32', bf16: 'f32', i8: 'i32' } as const;
export type ElementType = keyof typeof ACCUMULATORS;

export interface Shape {
  readonly name: string;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly elementType: ElementType;
}

const types = Object.keys(ACCUMULATORS).join(', ');

/** @throws UsageError for an invalid shape */
export function parseShape(text: string): Shape {
  const match = /^([1-9]\d*)x([1-9]\d*)x([1-9]\d*)(?:x([a-z]+\d+))?$/.exec(text);
  if (match === null)
    throw new UsageError(
      `${text}: a shape is MxNxK with sizes from 1 up, such as 512x512x512 or 384x768x768xf16`,
    );
  const elementType = match[4] ?? 'f32';
  if (!isElementType(elementType))
    throw new UsageError(`${text}: the element type ${elementType} is none of ${types}`);
  const [m, n, k] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return { name: `${m}x${n}x${k}${elementType === 'f32' ? '' : `x${elementType}`}`, m, n, k, elementType };
}

const isElementType = (text: string): text is ElementType => Object.hasOwn(ACCUMULATORS, text);

/** Number of multiplications and additions. */
export const operationCount = ({ m, n, k }: Shape): number => 2 * m * n * k;

/** A module with one function `main(lhs, rhs) -> lhs rhs`. */
export function moduleText({ m, n, k, elementType }: Shape): string {
  const accumulator = ACCUMULATORS[elementType];
  const [lhs, rhs] = [`tensor<${m}x${k}x${elementType}>`, `tensor<${k}x${n}x${elementType}>`];
  const result = `tensor<${m}x${n}x${accumulator}>`;
  return `func.func @main(%lhs: ${lhs}, %rhs: ${rhs}) -> ${result} {
  %zero = arith.constant ${accumulator === 'i32' ? '0' : '0.0'} : ${accumulator}
  %empty = tensor.empty() : ${result}
  %init = linalg.fill ins(%zero : ${accumulator}) outs(%empty : ${result}) -> ${result}
  %result = linalg.matmul ins(%lhs, %rhs : ${lhs}, ${rhs}) outs(%init : ${result}) -> ${result}
  return %result : ${result}
}
`;
}

/** Raw bytes of `count` random values: floats between -0.5 and 0.5, or integers from -8 to 7. The same in every run. */
export function operandBytes(elementType: ElementType, count: number): Uint8Array {
  // Xorshift.
  let state = 0x9e3779b9;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  const fill = (array: Float32Array | Uint16Array | Int8Array, value: () => number) => {
    for (let i = 0; i < count; i++) array[i] = value();
    return new Uint8Array(array.buffer);
  };
  const sign = () => (next() < 0.5 ? 0x8000 : 0);
  switch (elementType) {
    case 'f32':
      return fill(new Float32Array(count), () => next() - 0.5);
    case 'i8':
      return fill(new Int8Array(count), () => Math.floor(next() * 16) - 8);
    // Random sign and fraction; the exponent gives 0.25 to 0.5.
    case 'f16':
      return fill(new Uint16Array(count), () => sign() | 0x3400 | Math.floor(next() * 1024));
    case 'bf16':
      return fill(new Uint16Array(count), () => sign() | 0x3e80 | Math.floor(next() * 128));
  }
}
