// Programs of one operation for GPUs, and their inputs.

export interface Case {
  /** Name in the linalg dialect. */
  readonly operation: string;
  /** Shapes. */
  readonly lhs: readonly number[];
  readonly rhs: readonly number[];
  readonly result: readonly number[];
  /** Element type of the operands; the result is f32. */
  readonly type: 'f16' | 'f32';
}

const matmul = (m: number, n: number, k: number, type: Case['type'] = 'f32'): Case => ({
  ...{ operation: 'matmul', lhs: [m, k], rhs: [k, n], result: [m, n], type },
});
const batch = (b: number, m: number, n: number, k: number): Case => ({
  ...{ operation: 'batch_matmul', lhs: [b, m, k], rhs: [b, k, n], result: [b, m, n], type: 'f32' },
});
const nhwc = (n: number, size: number, filter: number, inputs: number, outputs: number): Case => ({
  operation: 'conv_2d_nhwc_hwcf',
  lhs: [n, size + filter - 1, size + filter - 1, inputs],
  rhs: [filter, filter, inputs, outputs],
  result: [n, size, size, outputs],
  type: 'f32',
});
const nchw = (n: number, size: number, filter: number, inputs: number, outputs: number): Case => ({
  operation: 'conv_2d_nchw_fchw',
  lhs: [n, inputs, size + filter - 1, size + filter - 1],
  rhs: [outputs, inputs, filter, filter],
  result: [n, outputs, size, size],
  type: 'f32',
});

export const CASES: Readonly<Record<string, Case>> = {
  '64': matmul(64, 64, 64),
  '128': matmul(128, 128, 128),
  '256': matmul(256, 256, 256),
  '512': matmul(512, 512, 512),
  '500': matmul(500, 500, 500),
  '127x255x511': matmul(127, 255, 511),
  '1x1024x1024': matmul(1, 1024, 1024),
  'f16-512': matmul(512, 512, 512, 'f16'),
  batch: batch(8, 64, 64, 64),
  'odd-batch': batch(6, 50, 77, 33),
  nhwc: nhwc(1, 16, 3, 16, 32),
  'nhwc-2': nhwc(2, 14, 3, 32, 32),
  'nhwc-odd': nhwc(1, 15, 3, 21, 35),
  nchw: nchw(1, 16, 3, 16, 32),
  'nchw-2': nchw(2, 14, 3, 32, 32),
  'nchw-odd': nchw(1, 15, 3, 21, 35),
};

/** Text of a program with the function `main(lhs, rhs) -> result`. */
export function moduleText({ operation, lhs, rhs, result, type }: Case): string {
  const [a, b, c] = (
    [
      [lhs, type],
      [rhs, type],
      [result, 'f32'],
    ] as const
  ).map(([shape, element]) => `tensor<${shape.join('x')}x${element}>`) as [string, string, string];
  const steps = operation.startsWith('conv')
    ? ' {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}'
    : '';
  return `func.func @main(%a: ${a}, %b: ${b}) -> ${c} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : ${c}
  %init = linalg.fill ins(%zero : f32) outs(%empty : ${c}) -> ${c}
  %result = linalg.${operation}${steps} ins(%a, %b : ${a}, ${b}) outs(%init : ${c}) -> ${c}
  return %result : ${c}
}
`;
}

/** Bits of 0, 1, 2 and 3 in f16; the highest bit is the sign. */
const F16 = [0, 0x3c00, 0x4000, 0x4200];

/** Integers from -3 to 3, whose sums are exact in any order. */
export function operandBytes(shape: readonly number[], type: Case['type'], step: number): Uint8Array {
  const values = Array.from(
    { length: shape.reduce((all, size) => all * size, 1) },
    (_, i) => ((i * step) % 7) - 3,
  );
  const array =
    type === 'f32'
      ? Float32Array.from(values)
      : Uint16Array.from(values, (value) => F16[Math.abs(value)]! + (value < 0 ? 0x8000 : 0));
  return new Uint8Array(array.buffer);
}
