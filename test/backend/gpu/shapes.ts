// Workloads of all kinds on GPUs, with and without remainders.
import type { OperationWork } from '../../../src/workload/workload.ts';
import { matmul, workload } from '../../support/workloads.ts';

type Types = readonly [lhs: string, rhs: string, accumulator: string];
const F32: Types = ['f32', 'f32', 'f32'];
const F16: Types = ['f16', 'f16', 'f32'];

/** A dense convolution of `images` images, as `windowedForm` reads it. */
export function convolution(
  layout: 'nhwc' | 'nchw',
  images: number,
  pixels: number,
  [outputs, inputs]: readonly [outputs: number, inputs: number],
  filter: number,
  [lhs, rhs, accumulator]: Types,
): OperationWork {
  const [image, row, column, output, filterRow, filterColumn, input] = [0, 1, 2, 3, 4, 5, 6];
  const isLast = layout === 'nhwc';
  return {
    kind: 'contraction',
    dimensions: [
      { kind: 'm', size: images },
      { kind: 'm', size: pixels },
      { kind: 'm', size: pixels },
      { kind: 'n', size: outputs },
      { kind: 'k', size: filter },
      { kind: 'k', size: filter },
      { kind: 'k', size: inputs },
    ],
    lhs: {
      elementType: lhs,
      dimensions: isLast
        ? [image, row, filterRow, column, filterColumn, input]
        : [image, input, row, filterRow, column, filterColumn],
    },
    rhs: {
      elementType: rhs,
      dimensions: isLast
        ? [filterRow, filterColumn, input, output]
        : [output, input, filterRow, filterColumn],
    },
    accumulator: {
      elementType: accumulator,
      dimensions: isLast ? [image, row, column, output] : [image, output, row, column],
    },
    constantRhs: false,
    windows: [
      [row, filterRow],
      [column, filterColumn],
    ],
  };
}

export const SHAPES: Readonly<Record<string, OperationWork>> = {
  'matmul f32': matmul(512, 512, 512),
  'matmul f32 odd': matmul(500, 500, 500),
  'matmul f32 prime': matmul(127, 509, 251),
  'matmul f16': matmul(512, 512, 512, F16),
  'matmul f16 odd': matmul(500, 500, 500, F16),
  'matmul f16 long': matmul(4096, 4096, 1000, F16),
  'matmul bf16': matmul(512, 1024, 512, ['bf16', 'bf16', 'f32']),
  'matmul f16 f16': matmul(512, 512, 512, ['f16', 'f16', 'f16']),
  'matmul i8': matmul(512, 512, 512, ['i8', 'i8', 'i32']),
  'batch matmul f32': workload({ batch: 8, m: 128, n: 256, k: 64 }),
  'batch matmul f16': workload({ batch: 12, m: 384, n: 384, k: 64 }, F16),
  'matvec f32': workload({ m: 4096, k: 4096 }),
  'matvec f16': workload({ m: 4096, k: 4096 }, ['f16', 'f16', 'f16']),
  'vecmat f32': workload({ n: 3072, k: 768 }),
  'batch matvec f32': workload({ batch: 8, m: 512, k: 512 }),
  'one row f32': matmul(1, 4096, 4096),
  'one row f16': matmul(1, 1000, 2048, F16),
  'nhwc f32': convolution('nhwc', 2, 32, [128, 64], 3, F32),
  'nhwc f16': convolution('nhwc', 2, 32, [128, 64], 3, F16),
  'nhwc f16 odd': convolution('nhwc', 2, 14, [200, 64], 3, F16),
  'nhwc f32 odd': convolution('nhwc', 2, 14, [256, 3], 3, F32),
  'nchw f32': convolution('nchw', 2, 32, [128, 64], 3, F32),
  'nchw f32 odd': convolution('nchw', 16, 14, [256, 256], 3, F32),
  'nchw f16': convolution('nchw', 2, 28, [128, 64], 3, F16),
};
