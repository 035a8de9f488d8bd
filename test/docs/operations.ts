// Texts of the operations in the tables of docs/troubleshooting.md.
import { parse, type Operation } from 'mlir-parser-ts';
import { rows as KNOWN } from '../../grammar/src/table.ts';
import type { TunedSizes } from '../../src/workload/sizes.ts';

export const operationsIn = (text: string): readonly Operation[] => parse(Buffer.from(text)).operations;

export function only(text: string): Operation {
  const operations = operationsIn(text);
  if (operations.length !== 1) throw new Error(`${operations.length} operations in ${text}`);
  return operations[0]!;
}

interface GenericOptions {
  readonly m?: number | '?';
  readonly types?: readonly [lhs: string, rhs: string, result: string];
  readonly body?: string;
  readonly attributes?: string;
}

/** A matrix product, or another operation over the same operands. */
export function product({
  m = 8,
  types = ['f32', 'f32', 'f32'],
  body = FLOAT,
  attributes = '',
}: GenericOptions): string {
  const [lhs, rhs, result] = [
    `tensor<${m}x32x${types[0]}>`,
    `tensor<32x16x${types[1]}>`,
    `tensor<${m}x16x${types[2]}>`,
  ];
  return `%r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : ${lhs}, ${rhs}) outs(%c : ${result})${attributes} {
^bb0(%x: ${types[0]}, %y: ${types[1]}, %out: ${types[2]}):
  ${body}
  linalg.yield %s : ${types[2]}
} -> ${result}
`;
}

const FLOAT = '%p = arith.mulf %x, %y : f32\n  %s = arith.addf %out, %p : f32';

const integer = (cast: string) =>
  `%v = arith.${cast} %x : i8 to i32\n  %w = arith.${cast} %y : i8 to i32\n  %p = arith.muli %v, %w : i32\n  %s = arith.addi %out, %p : i32`;

const IN_I8 = ['i8', 'i8', 'i32'] as const;

export const GENERICS: readonly (readonly [what: string, options: GenericOptions, sizes?: TunedSizes])[] = [
  ['signed integers', { types: IN_I8, body: integer('extsi') }],
  ['unsigned integers', { types: IN_I8, body: integer('extui') }],
  ['maximum of sums', { body: '%p = arith.addf %x, %y : f32\n  %s = arith.maximumf %out, %p : f32' }],
  ['complex numbers', { types: ['complex<f32>', 'complex<f32>', 'complex<f32>'] }],
  ['a dynamic dimension', { m: '?' }],
  ['a dynamic dimension, `--iree-tuned-dim=m=1,16`', { m: '?' }, { m: [1, 16] }],
  ['`compilation_info` of its own', { attributes: ' attrs = {compilation_info = #iree_codegen.x}' }],
];

// Convolutions. Letters of an operand: n images, g groups, c channels, f filters, m results for a channel; d, h and w.

/** The letters of image, filter or window, and result. */
export function layoutOf(name: string): readonly [image: string, filter: string, result: string] {
  const pooled = /^linalg\.pooling_([a-z]+)_/.exec(name)?.[1];
  if (pooled !== undefined) return [pooled, pooled.replace(/[nc]/g, ''), pooled];
  const match = /^linalg\.(depthwise_)?conv_(\d)d(?:_([a-z]+)_([a-z]+))?(?:_q)?$/.exec(name);
  if (match === null) throw new Error(`${name} is no convolution`);
  const [, depthwise, rank, image, filter] = match;
  const bare = 'dhw'.slice(-Number(rank));
  if (image === undefined || filter === undefined) return [bare, bare, bare];
  if (depthwise === undefined) return [image, filter, image.replace('c', 'f')];
  return [image, filter, filter.includes('m') ? `${image}m` : image];
}

export interface Example {
  readonly name: string;
  /** Elements of the filter along each dimension of the image. */
  readonly size: number;
  /** Sizes by letter; the others are those of `SIZES`. */
  readonly sizes?: Readonly<Record<string, number>>;
  readonly stride?: number;
  readonly types?: readonly [image: string, filter: string, result: string];
  /** Whether the program transposes the filter to the layout of the operation. */
  readonly isTransposed?: boolean;
}

const SIZES: Readonly<Record<string, number>> = { n: 1, g: 4, c: 16, f: 24, m: 2 };
const F32 = ['f32', 'f32', 'f32'] as const;
const RESULT = 11;
export const isMoved = (letter: string) => 'dhw'.includes(letter);

/** Letter and size of each dimension of an operand. */
type Axes = readonly (readonly [along: string, size: number])[];

function axesOf({ name, size, sizes = {}, stride = 1 }: Example): readonly Axes[] {
  const [image, filter, result] = layoutOf(name);
  const axes = (letters: string, moved: (letter: string) => readonly [string, number]): Axes =>
    Array.from(letters, (one) => (isMoved(one) ? moved(one) : [one, sizes[one] ?? SIZES[one]!]));
  const step = stride === 1 ? '' : ` * ${stride}`;
  return [
    axes(image, (one) => [`${one}${step}${size === 1 ? '' : ` + k${one}`}`, RESULT * stride + size - 1]),
    axes(filter, (one) => [`k${one}`, size]),
    axes(result, (one) => [one, RESULT]),
  ];
}

const typeOf = (axes: Axes, type: string | undefined) =>
  `tensor<${axes.map(([, size]) => `${size}x`).join('')}${type!}>`;

/** The operation of a program; its operands are `%a`, `%b`, `%c` and zero points `%u` and `%v`. */
export function asWritten(example: Example): string {
  const { name, stride = 1, types = F32 } = example;
  const [a, b, c] = axesOf(example).map((axes, i) => typeOf(axes, types[i]));
  const rank = axesOf(example)[1]!.filter(([along]) => along.startsWith('k')).length;
  const moves = `{dilations = dense<1> : vector<${rank}xi64>, strides = dense<${stride}> : vector<${rank}xi64>}`;
  const more = name.endsWith('_q') ? [', %u, %v', ', i32, i32'] : ['', ''];
  return `%r = ${name} ${/\dd_|pooling_/.test(name) ? moves : ''} ins(%a, %b${more[0]!} : ${a!}, ${b!}${more[1]!}) outs(%c : ${c!}) -> ${c!}\n`;
}

/** The operation of a dispatch: the compiler drops dimensions of one element and zero points of 0. */
export function inDispatch(example: Example): string {
  const { types = F32 } = example;
  const [image, filter, result] = axesOf(example).map((axes) => axes.filter(([, size]) => size > 1));
  const parallel = result!.map(([along]) => along);
  const reduced = filter!.map(([along]) => along).filter((one) => !parallel.includes(one));
  const loops = [...parallel, ...reduced].join(', ');
  const maps = [image!, filter!, result!].map(
    (axes) => `affine_map<(${loops}) -> (${axes.map(([along]) => along).join(', ')})>`,
  );
  const iterators = [...parallel.map(() => '"parallel"'), ...reduced.map(() => '"reduction"')].join(', ');
  const [a, b, c] = [image!, filter!, result!].map((axes, i) => typeOf(axes, types[i]));
  return `%r = linalg.generic {indexing_maps = [${maps.join(', ')}], iterator_types = [${iterators}]} ins(%a, %b : ${a!}, ${b!}) outs(%c : ${c!}) {
^bb0(%x: ${types[0]}, %y: ${types[1]}, %out: ${types[2]}):
  ${types[0] === 'f32' ? FLOAT : integer('extsi')}
  linalg.yield %s : ${types[2]}
} -> ${c!}
`;
}

export const IN_BOTH_SIZES = KNOWN.filter(({ kind }) => kind === 'convolution').map(({ name }) =>
  [3, 1].map((size): Example => (name.endsWith('_q') ? { name, size, types: IN_I8 } : { name, size })),
);

export const NCHW = 'linalg.conv_2d_nchw_fchw';
const NGCHW = 'linalg.conv_2d_ngchw_gfchw';
const DEPTHWISE = 'linalg.depthwise_conv_2d_nchw_chw';
const MAXIMUM = 'linalg.pooling_nchw_max';
const SUM = 'linalg.pooling_nchw_sum';

export const CHANNELS_FIRST: readonly (readonly [what: string, example: Example])[] = [
  ['1x1', { name: NCHW, size: 1 }],
  ['1x1, stride 2', { name: NCHW, size: 1, stride: 2 }],
  ['1x1, i8', { name: NCHW, size: 1, types: IN_I8 }],
  ['3x3', { name: NCHW, size: 3 }],
  ['3x3, i8', { name: NCHW, size: 3, types: IN_I8 }],
  ['7x7, stride 2, 3 channels', { name: NCHW, size: 7, stride: 2, sizes: { c: 3 } }],
  ['3x3', { name: DEPTHWISE, size: 3 }],
  ['3x3, i8', { name: DEPTHWISE, size: 3, types: IN_I8 }],
  ['7x7', { name: DEPTHWISE, size: 7 }],
  ['9x9', { name: DEPTHWISE, size: 9 }],
  ['1x1, 4 groups of 16 channels', { name: NGCHW, size: 1 }],
  ['3x3, 32 groups of 4 channels', { name: NGCHW, size: 3, sizes: { g: 32, c: 4, f: 4 } }],
  ['3x3, 8 groups of 16 channels', { name: NGCHW, size: 3, sizes: { g: 8 } }],
  ['3x3, 8 groups of 16 channels, 4 filters each', { name: NGCHW, size: 3, sizes: { g: 8, f: 4 } }],
  ['3x3, 16 groups of 16 channels', { name: NGCHW, size: 3, sizes: { g: 16 } }],
  ['3x3', { name: MAXIMUM, size: 3 }],
  ['3x3, stride 2', { name: SUM, size: 3, stride: 2 }],
  ['3x3, i8', { name: MAXIMUM, size: 3, types: ['i8', 'i8', 'i8'] }],
];

/** A function with an operation, a constant filter, and sums that begin at zero. */
export function functionOf(example: Example, name: string): string {
  const { types = F32 } = example;
  const [a, b, c] = axesOf(example).map((axes, i) => typeOf(axes, types[i]));
  const type = types[2];
  // The compiler splits off zero points other than 0 in these two only.
  const zeroPoint = /_nhwc_(?:hwcf|hwc)_q$/.test(example.name) ? 3 : 0;
  return `util.global private @filter_${name} = #flow.parameter.named<"${name}"> : ${b!}
func.func @${name}(%a: ${a!}) -> ${c!} {
  %b = util.global.load @filter_${name} : ${b!}
  %z = arith.constant ${type === 'f32' ? '0.0' : '0'} : ${type}
  %u = arith.constant ${zeroPoint} : i32
  %v = arith.constant 0 : i32
  %e = tensor.empty() : ${c!}
  %c = linalg.fill ins(%z : ${type}) outs(%e : ${c!}) -> ${c!}
  ${asWritten(example)}
  return %r : ${c!}
}
`;
}
