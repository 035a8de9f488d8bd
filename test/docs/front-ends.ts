// Operations of front ends in the table of docs/troubleshooting.md, with the operation that the compiler makes of each first.
import { type Example } from './operations.ts';

interface FrontEnd {
  readonly name: string;
  readonly layout: string;
  /** The compiler's first lowering: `linalg.` and a name, or a convolution. */
  readonly becomes: string | Example;
  readonly types: readonly string[];
  /** The operation; its operands are `%a`, `%b`, `%c` and those of `PRELUDES`. */
  readonly text: string;
}

/** Constants of a function, by dialect. */
export const PRELUDES: Readonly<Record<string, string>> = {
  tosa: '%z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>',
  torch: `%none = torch.constant.none
%0 = torch.constant.int 0
%1 = torch.constant.int 1
%ones = torch.prim.ListConstruct %1, %1 : (!torch.int, !torch.int) -> !torch.list<int>
%zeros = torch.prim.ListConstruct %0, %0 : (!torch.int, !torch.int) -> !torch.list<int>`,
};

const inTorch = (...all: readonly string[]) => all.map((sizes) => `!torch.vtensor<[${sizes}],f32>`);
const inTensors = (...all: readonly string[]) => all.map((sizes) => `tensor<${sizes}xf32>`);

/** @param types of both operands and of the result */
export function onnx(
  layout: string,
  becomes: string | Example,
  name: string,
  types: readonly string[],
  groups = 1,
): FrontEnd {
  const [a, b, result] = types;
  const attributes = groups === 1 ? '' : ` {torch.onnx.group = ${groups} : si64}`;
  const text = `torch.operator "${name}"(%a, %b)${attributes} : (${a!}, ${b!}) -> ${result!}`;
  return { name, layout, becomes, types, text };
}

export function stablehlo(
  layout: string,
  becomes: Example,
  dims: string,
  types: readonly string[],
  groups = 1,
): FrontEnd {
  const [a, b, result] = types;
  const text = `stablehlo.convolution(%a, %b) dim_numbers = ${dims}, window = {} {batch_group_count = 1 : i64, feature_group_count = ${groups} : i64} : (${a!}, ${b!}) -> ${result!}`;
  return { name: 'stablehlo.convolution', layout, becomes, types, text };
}

function tosa(name: string, layout: string, becomes: Example, types: readonly string[]): FrontEnd {
  const [a, b, c, result] = types;
  const text = `"${name}"(%a, %b, %c, %z, %z) <{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}> : (${a!}, ${b!}, ${c!}, tensor<1xf32>, tensor<1xf32>) -> ${result!}`;
  return { name, layout, becomes, types, text };
}

export function torch(
  name: string,
  becomes: string | Example,
  types: readonly string[],
  more: readonly (readonly [value: string, type: string])[] = [],
): FrontEnd {
  const [a, b, result] = types;
  const operands = ['%a', '%b', ...more.map(([value]) => value)].join(', ');
  const all = [a!, b!, ...more.map(([, type]) => `!torch.${type}`)].join(', ');
  const layout = typeof becomes === 'string' ? '' : 'NCHW';
  return { name, layout, becomes, types, text: `${name} ${operands} : ${all} -> ${result!}` };
}

const named = (name: string, more: Partial<Example> = {}): Example => ({
  name: `linalg.${name}`,
  size: 3,
  ...more,
});
const HWCF = named('conv_2d_nhwc_hwcf');
const NHWC = ['1x13x13x16', '3x3x16x24', '1x11x11x24'] as const;

export const FRONT_ENDS: readonly FrontEnd[] = [
  torch('torch.aten.mm', 'linalg.matmul', inTorch('8,16', '16,32', '8,32')),
  torch('torch.aten.bmm', 'linalg.batch_matmul', inTorch('4,8,16', '4,16,32', '4,8,32')),
  torch('torch.aten.conv2d', named('conv_2d_nchw_fchw'), inTorch('1,16,13,13', '24,16,3,3', '1,24,11,11'), [
    ['%none', 'none'],
    ['%ones', 'list<int>'],
    ['%zeros', 'list<int>'],
    ['%ones', 'list<int>'],
    ['%1', 'int'],
  ]),
  onnx('', 'linalg.matmul', 'onnx.MatMul', inTorch('8,16', '16,32', '8,32')),
  onnx('NCW', named('conv_1d_ncw_fcw'), 'onnx.Conv', inTorch('1,16,13', '24,16,3', '1,24,11')),
  onnx('NCHW', named('conv_2d_nchw_fchw'), 'onnx.Conv', inTorch('1,16,13,13', '24,16,3,3', '1,24,11,11')),
  onnx(
    'NCDHW',
    named('conv_3d_ncdhw_fcdhw'),
    'onnx.Conv',
    inTorch('1,16,13,13,13', '24,16,3,3,3', '1,24,11,11,11'),
  ),
  onnx(
    'NCHW, depthwise',
    named('depthwise_conv_2d_nchw_chw'),
    'onnx.Conv',
    inTorch('1,16,13,13', '16,1,3,3', '1,16,11,11'),
    16,
  ),
  onnx(
    'NCHW, 4 groups',
    named('conv_2d_ngchw_gfchw'),
    'onnx.Conv',
    inTorch('1,64,13,13', '96,16,3,3', '1,96,11,11'),
    4,
  ),
  onnx(
    'NCHW',
    named('conv_2d_nchw_fchw'),
    'onnx.ConvTranspose',
    inTorch('1,16,13,13', '16,24,3,3', '1,24,15,15'),
  ),
  stablehlo('NHWC', HWCF, '[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]', inTensors(...NHWC)),
  stablehlo(
    'NHWC, depthwise',
    named('depthwise_conv_2d_nhwc_hwc'),
    '[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]',
    inTensors('1x13x13x16', '3x3x1x16', '1x11x11x16'),
    16,
  ),
  stablehlo(
    'NCHW',
    { ...HWCF, isTransposed: true },
    '[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]',
    inTensors('1x16x13x13', '24x16x3x3', '1x24x11x11'),
  ),
  tosa('tosa.conv2d', 'NHWC', HWCF, inTensors(NHWC[0], '24x3x3x16', '24', NHWC[2])),
  tosa(
    'tosa.depthwise_conv2d',
    'NHWC',
    named('depthwise_conv_2d_nhwc_hwcm', { sizes: { m: 1 } }),
    inTensors('1x13x13x16', '3x3x16x1', '16', '1x11x11x16'),
  ),
];

export const nameOf = (becomes: string | Example) => (typeof becomes === 'string' ? becomes : becomes.name);
