// Workloads of convolutions: the roots of the compiler's dispatches.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootsIn } from '../../src/input/dispatches.ts';
import { readFlow } from '../../src/input/flow.ts';
import type { OperationWork } from '../../src/workload/workload.ts';
import { temporaryDirectory } from './folders.ts';
import { rememberingCompiler } from './remembering-compiler.ts';

export interface ConvolutionText {
  /** Name of the linalg operation, without `linalg.`. */
  readonly name: string;
  readonly image: readonly number[];
  readonly filter: readonly number[];
  readonly result: readonly number[];
  /** Along both dimensions of the image; default: 1. */
  readonly stride?: number;
  /** Element types of the operands and of the result; default: f32. */
  readonly types?: readonly [operands: string, result: string];
  /**
   * An operation that uses the result: adds a vector over the innermost dimension and clamps, reverses all dimensions but the first, or
   * puts zeros around the second and third dimension.
   */
  readonly user?: 'bias' | 'transpose' | 'pad';
}

/** Sizes of a square or rectangular extent: rows and columns. */
type Extent = number | readonly [rows: number, columns: number];
const both = (extent: Extent): readonly [number, number] =>
  typeof extent === 'number' ? [extent, extent] : extent;

/** A convolution without padding, as the text of a named operation. */
export function convolution2d(
  layout: 'nhwc' | 'nchw',
  sizes: {
    readonly images?: number;
    readonly image: Extent;
    readonly channels: number;
    readonly filter?: Extent;
    readonly filters: number;
  },
  change: Partial<Pick<ConvolutionText, 'stride' | 'types' | 'user'>> = {},
): ConvolutionText {
  const { images = 1, channels, filters } = sizes;
  const [image, filter] = [both(sizes.image), both(sizes.filter ?? 3)];
  const result = image.map((size, d) => Math.floor((size - filter[d]!) / (change.stride ?? 1)) + 1);
  const inLayout = (depth: number, extent: readonly number[]) =>
    layout === 'nhwc' ? [images, ...extent, depth] : [images, depth, ...extent];
  return {
    name: layout === 'nhwc' ? 'conv_2d_nhwc_hwcf' : 'conv_2d_nchw_fchw',
    image: inLayout(channels, image),
    filter: layout === 'nhwc' ? [...filter, channels, filters] : [filters, channels, ...filter],
    result: inLayout(filters, result),
    ...change,
  };
}

function functionText(
  { name, image, filter, result, stride = 1, types = ['f32', 'f32'], user }: ConvolutionText,
  i: number,
): string {
  const [a, b, c] = [image, filter, result].map(
    (shape, at) => `tensor<${shape.join('x')}x${types[at === 2 ? 1 : 0]}>`,
  ) as [string, string, string];
  const identity = 'affine_map<(a, b, c, d) -> (a, b, c, d)>';
  const [n, x, y, z] = result as [number, number, number, number];
  const vector = `tensor<${z}x${types[1]}>`;
  const reversed = `tensor<${n}x${z}x${y}x${x}x${types[1]}>`;
  const padded = `tensor<${n}x${x + 2}x${y + 2}x${z}x${types[1]}>`;
  const returned = user === 'transpose' ? reversed : user === 'pad' ? padded : c;
  const users = {
    none: '  return %r',
    bias: `  %u = linalg.generic {indexing_maps = [${identity}, affine_map<(a, b, c, d) -> (d)>, ${identity}], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%r, %v : ${c}, ${vector}) outs(%e : ${c}) {
  ^bb0(%x: ${types[1]}, %y: ${types[1]}, %o: ${types[1]}):
    %s = arith.addf %x, %y : ${types[1]}
    %m = arith.maximumf %s, %z : ${types[1]}
    linalg.yield %m : ${types[1]}
  } -> ${c}
  return %u`,
    transpose: `  %t = tensor.empty() : ${reversed}
  %u = linalg.transpose ins(%r : ${c}) outs(%t : ${reversed}) permutation = [0, 3, 2, 1]
  return %u`,
    pad: `  %u = tensor.pad %r low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %x: index, %y: index, %z1: index):
    tensor.yield %z : ${types[1]}
  } : ${c} to ${padded}
  return %u`,
  };
  return `func.func @f${i}(%a: ${a}, %b: ${b}, %v: ${vector}) -> ${returned} {
  %z = arith.constant ${types[1].startsWith('f') ? '0.0' : '0'} : ${types[1]}
  %e = tensor.empty() : ${c}
  %i = linalg.fill ins(%z : ${types[1]}) outs(%e : ${c}) -> ${c}
  %r = linalg.${name} {dilations = dense<1> : tensor<2xi64>, strides = dense<${stride}> : tensor<2xi64>} ins(%a, %b : ${a}, ${b}) outs(%i : ${c}) -> ${c}
${users[user ?? 'none']} : ${returned}
}
`;
}

/**
 * The workloads of convolutions, in the given order.
 * @param flags of the target
 */
export function convolutionWorkloads(
  flags: readonly string[],
  convolutions: readonly ConvolutionText[],
): OperationWork[] {
  const source = join(temporaryDirectory(), 'convolutions.mlir');
  writeFileSync(source, convolutions.map(functionText).join(''));
  const flow = execFileSync(rememberingCompiler, [...flags, '--compile-to=flow', source], {
    maxBuffer: 2 ** 28,
  });
  const found = rootsIn(readFlow(flow));
  return convolutions.map(({ name }, i) => {
    const { workload } = found.get(`f${i}_dispatch_0`) ?? {};
    if (workload === undefined) throw new Error(`${name} has no dispatch`);
    return workload;
  });
}
