// The tables of docs/troubleshooting.md show the decision of the code for an operation of each kind. `npx vitest run test/docs/support.test.ts -u`
// writes them into the page.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { parse, type Operation } from 'mlir-parser-ts';
import { describe, expect, test } from 'vitest';
import { rows as KNOWN } from '../../grammar/src/table.ts';
import { customForm } from '../../grammar/test/fixtures.ts';
import { llvmCpu } from '../../src/backend/llvm-cpu/index.ts';
import { readConvolution, type Convolution } from '../../src/form/convolution.ts';
import { formsOf } from '../../src/form/forms.ts';
import { formsSpec, REWRITE } from '../../src/form/spec.ts';
import { dispatchesOf } from '../../src/input/dispatches.ts';
import { classify, isTunable, type Skipped } from '../../src/input/operation.ts';
import { HOST_FLAGS } from '../../src/site/probe.ts';
import { pipelineFlags, rewritingPasses } from '../../src/spec/pipeline.ts';
import { windowedForm } from '../../src/workload/contraction/windows.ts';
import type { TunedSizes } from '../../src/workload/sizes.ts';
import { mayBecomeWork, rootFormOf, type OperationWork } from '../../src/workload/workload.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { code, pageWith, table } from './tables.ts';
import { hasDispatchesInLinalg, hasDispatchesToNormalise } from '../../src/input/whole-dispatches.ts';

const operationsIn = (text: string): readonly Operation[] => parse(Buffer.from(text)).operations;

function only(text: string): Operation {
  const operations = operationsIn(text);
  if (operations.length !== 1) throw new Error(`${operations.length} operations in ${text}`);
  return operations[0]!;
}

const NO = 'no';

// Tiles of an operation's loops.
const AS_MATMUL = 'tuned as a matmul';
const AS_CONVOLUTION = 'tuned as a convolution';
const ELEMENT_WISE = 'none: element-wise';
const DEFAULT = 'default';

// Contractions.

interface GenericOptions {
  readonly m?: number | '?';
  readonly types?: readonly [lhs: string, rhs: string, result: string];
  readonly body?: string;
  readonly attributes?: string;
}

/** A matrix product, or another operation over the same operands. */
function product({
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

const GENERICS: readonly (readonly [what: string, options: GenericOptions, sizes?: TunedSizes])[] = [
  ['signed integers', { types: IN_I8, body: integer('extsi') }],
  ['unsigned integers', { types: IN_I8, body: integer('extui') }],
  ['maximum of sums', { body: '%p = arith.addf %x, %y : f32\n  %s = arith.maximumf %out, %p : f32' }],
  ['complex numbers', { types: ['complex<f32>', 'complex<f32>', 'complex<f32>'] }],
  ['a dynamic dimension', { m: '?' }],
  ['a dynamic dimension, `--iree-tuned-dim=m=1,16`', { m: '?' }, { m: [1, 16] }],
  ['`compilation_info` of its own', { attributes: ' attrs = {compilation_info = #iree_codegen.x}' }],
];

function contractionCells(operation: Operation, sizes: TunedSizes = {}): [tuned: string, why: string] {
  const [found] = classify([operation], sizes);
  if (isTunable(found!)) return ['yes', ''];
  return mayBecomeWork(operation)
    ? ['yes', 'the compiler takes the zero points apart']
    : [NO, code(found!.skipped.reason)];
}

const contractions = () =>
  table(
    ['operation', 'tuned', 'why not, or how'],
    [
      ...KNOWN.filter(({ kind }) => kind === 'contraction').map(({ name }) => [
        code(name),
        ...contractionCells(only(customForm(name))),
      ]),
      ...GENERICS.map(([what, options, sizes]) => [
        `${code('linalg.generic')}: ${what}`,
        ...contractionCells(only(product(options)), sizes),
      ]),
    ],
  );

// Convolutions. Letters of an operand: n images, g groups, c channels, f filters, m results for a channel; d, h and w.

/** The letters of image, filter or window, and result. */
function layoutOf(name: string): readonly [image: string, filter: string, result: string] {
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

interface Example {
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
const isMoved = (letter: string) => 'dhw'.includes(letter);

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
function asWritten(example: Example): string {
  const { name, stride = 1, types = F32 } = example;
  const [a, b, c] = axesOf(example).map((axes, i) => typeOf(axes, types[i]));
  const rank = axesOf(example)[1]!.filter(([along]) => along.startsWith('k')).length;
  const moves = `{dilations = dense<1> : vector<${rank}xi64>, strides = dense<${stride}> : vector<${rank}xi64>}`;
  const more = name.endsWith('_q') ? [', %u, %v', ', i32, i32'] : ['', ''];
  return `%r = ${name} ${/\dd_|pooling_/.test(name) ? moves : ''} ins(%a, %b${more[0]!} : ${a!}, ${b!}${more[1]!}) outs(%c : ${c!}) -> ${c!}\n`;
}

/** The operation of a dispatch: the compiler drops dimensions of one element and zero points of 0. */
function inDispatch(example: Example): string {
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

/** The kind of tiles of an operation in a dispatch. */
function tilesOf(text: string): string {
  const [operation] = operationsIn(text);
  // A depthwise filter of one element is element-wise.
  const form = operation === undefined ? null : rootFormOf(operation);
  if (form === null || llvmCpu.familiesOf(form.workload, { wholeProgram: false }).length === 0)
    return DEFAULT;
  return windowedForm(operation!) === null ? AS_MATMUL : AS_CONVOLUTION;
}

function convolutionOf(example: Example): Convolution | null {
  const before = example.isTransposed === true ? '  %b = linalg.transpose\n' : '';
  const text = before + asWritten(example);
  return readConvolution(operationsIn(text).at(-1)!, Buffer.from(text));
}

/** The form of a program's convolution; null for none. */
const formOf = (convolution: Convolution | null): string | null =>
  convolution === null ? null : (formsOf(convolution)[0]?.name ?? null);

/** The kind of tiles of a form's operations. */
function tilesInForm(convolution: Convolution, form: string): string {
  const made = operationsIn(formsSpec([{ operation: convolution, form }])).map((operation) => {
    if (operation.kind !== 'convolution')
      return isTunable(classify([operation], {})[0]!) ? AS_MATMUL : DEFAULT;
    const { name, operands } = operation;
    const shapes = operands.map(({ type }) => (type.kind === 'tensor' ? type.shape! : []));
    const letters = layoutOf(name).flatMap((own, i) =>
      Array.from(own, (letter, d) => [letter, shapes[i]![d]!] as const),
    );
    return tilesOf(inDispatch({ name, size: shapes[1]![0]!, sizes: Object.fromEntries(letters) }));
  });
  return made.length === 0 ? ELEMENT_WISE : [...new Set(made)].join(', ');
}

/** The form, and its tiles. */
function convolutionCells(example: Example): [form: string, tiles: string] {
  const convolution = convolutionOf(example);
  const form = formOf(convolution);
  if (form !== null) return [code(form), tilesInForm(convolution!, form)];
  return ['as written', tilesOf(inDispatch(example))];
}

const IN_BOTH_SIZES = KNOWN.filter(({ kind }) => kind === 'convolution').map(({ name }) =>
  [3, 1].map((size): Example => (name.endsWith('_q') ? { name, size, types: IN_I8 } : { name, size })),
);

const convolutions = () =>
  table(
    ['operation', 'filter of 3', 'its tiles', 'filter of 1', 'its tiles'],
    IN_BOTH_SIZES.map((both) => [code(both[0]!.name), ...both.flatMap(convolutionCells)]),
  );

const NCHW = 'linalg.conv_2d_nchw_fchw';
const NGCHW = 'linalg.conv_2d_ngchw_gfchw';
const DEPTHWISE = 'linalg.depthwise_conv_2d_nchw_chw';
const MAXIMUM = 'linalg.pooling_nchw_max';
const SUM = 'linalg.pooling_nchw_sum';

const CHANNELS_FIRST: readonly (readonly [what: string, example: Example])[] = [
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

const channelsFirst = () =>
  table(
    ['operation', 'filter or window', 'form', 'tiles'],
    CHANNELS_FIRST.map(([what, example]) => [code(example.name), what, ...convolutionCells(example)]),
  );

// Front ends.

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
const PRELUDES: Readonly<Record<string, string>> = {
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
function onnx(
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

function stablehlo(
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

function torch(
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

const FRONT_ENDS: readonly FrontEnd[] = [
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

const nameOf = (becomes: string | Example) => (typeof becomes === 'string' ? becomes : becomes.name);

/** Operations that the compiler lowers to linalg first, by dialect. */
function dialects(): [dialect: string, names: string][] {
  const names = KNOWN.filter(({ kind }) => kind === 'to-normalise').map(({ name }) => name);
  return [...Map.groupBy(names, (name) => name.split('.', 1)[0]!)].map(([dialect, own]) => [
    code(dialect),
    own.map((name) => code(name.slice(dialect.length + 1))).join(', '),
  ]);
}

const frontEnds = () =>
  table(
    ['operation', 'layout', 'becomes', 'form', 'tiles'],
    FRONT_ENDS.map(({ name, layout, becomes }) => [
      ...[code(name), layout, code(nameOf(becomes))],
      ...(typeof becomes === 'string' ? ['as written', AS_MATMUL] : convolutionCells(becomes)),
    ]),
  );

// Others.

/** Work that is tuned as a whole, in all its spellings. */
const OTHERS: readonly (readonly [what: string, names: readonly string[]])[] = [
  ['pooling, channels innermost', ['linalg.pooling_nhwc_max', 'linalg.pooling_nhwc_sum']],
  ['softmax', ['linalg.softmax', 'onnx.Softmax', 'torch.aten.softmax.int']],
  ['fused attention', ['iree_linalg_ext.attention', 'torch.aten.scaled_dot_product_attention']],
  ['reductions', ['linalg.reduce', 'stablehlo.reduce', 'torch.aten.sum.dim_IntList', 'onnx.ReduceSum']],
  ['gathers', ['linalg.gather', 'torch.aten.gather', 'onnx.Gather']],
  ['transposes', ['torch.aten.permute', 'onnx.Transpose', 'stablehlo.transpose']],
];

/** Whether a build searches a text with this operation for dispatches. */
function isTunedAsWhole(name: string): boolean {
  const text = Buffer.from(name.startsWith('onnx.') ? `"${name}"` : name);
  return hasDispatchesInLinalg(text) || hasDispatchesToNormalise(text);
}

const others = () =>
  table(
    ['operation', 'such as', 'looked for'],
    OTHERS.map(([what, names]) => [
      ...[what, names.map(code).join(', ')],
      names.every(isTunedAsWhole) ? 'yes' : NO,
    ]),
  );

test('the tables of docs/troubleshooting.md show the decisions of the code', async () => {
  const tables: Readonly<Record<string, string>> = {
    contractions: contractions(),
    convolutions: convolutions(),
    'channels first': channelsFirst(),
    dialects: table(['dialect', 'operations'], dialects()),
    'front ends': frontEnds(),
    others: others(),
  };
  const { path, text: page, placed } = pageWith('docs/troubleshooting.md', tables);
  expect(placed).toEqual(Object.keys(tables));
  // The reason of builds for the default.
  const [untuned] = classify([only(asWritten({ name: 'linalg.conv_1d_nwc_wcf', size: 3 }))], {});
  expect(page).toContain(code((untuned as Skipped).skipped.reason));
  await expect(page).toMatchFileSnapshot(path);
});

/** A function with an operation, a constant filter, and sums that begin at zero. */
function functionOf(example: Example, name: string): string {
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

/** The tunable work in each function of a program at the end of `flow`. */
function tunedIn(flow: Buffer): Map<string, string> {
  const tuned = new Map<string, OperationWork>(
    dispatchesOf(flow).map(({ executable, form }) => [executable, form.workload]),
  );
  const functions = flow.toString('latin1').matchAll(/^ {2}util\.func public @(\w+)\([^]*?^ {2}\}/gm);
  return new Map(
    [...functions].map(([text, name]) => {
      const own = [...text.matchAll(/flow\.dispatch @([\w.$-]+)::/g)].flatMap(
        ([, one]) => tuned.get(one!) ?? [],
      );
      const isMoved = own.some(({ windows }) => windows !== undefined);
      return [name!, own.length === 0 ? DEFAULT : isMoved ? AS_CONVOLUTION : AS_MATMUL];
    }),
  );
}

describe('the real compiler', { tags: ['compiler'] }, () => {
  const outputOf = async (text: string, ...flags: readonly string[]): Promise<Buffer> => {
    const { rememberingCompiler } = await import('../support/remembering-compiler.ts');
    const input = join(temporaryDirectory(), 'input.mlir');
    writeFileSync(input, text);
    const argv = [...HOST_FLAGS, ...flags, input];
    return Buffer.from((await execa(rememberingCompiler, argv, { stdin: 'ignore' })).stdout);
  };

  test('gives convolutions the tiles of the tables', async () => {
    const examples = [...IN_BOTH_SIZES.flat(), ...CHANNELS_FIRST.map(([, example]) => example)];
    const text = examples.map((example, i) => functionOf(example, `f${i}`)).join('');
    const choices = examples.flatMap((example) => {
      const convolution = convolutionOf(example);
      const form = formOf(convolution);
      return form === null ? [] : [{ operation: convolution!, form }];
    });
    const spec = join(temporaryDirectory(), 'forms.mlir');
    writeFileSync(spec, formsSpec(choices));
    const passes = pipelineFlags([rewritingPasses(spec, REWRITE)]);
    const tuned = tunedIn(await outputOf(text, '--compile-to=flow', ...passes));
    const said = examples.map((example) => convolutionCells(example)[1].replace(ELEMENT_WISE, DEFAULT));
    const about = (tiles: readonly (string | undefined)[]) =>
      examples.map((example, i) => `${JSON.stringify(example)}: ${String(tiles[i])}`);
    expect(about(examples.map((_, i) => tuned.get(`f${i}`)))).toEqual(about(said));
  });

  test.each([...Map.groupBy(FRONT_ENDS, ({ name }) => name.split('.', 1)[0]!)])(
    'makes of %s the operation in the table',
    async (dialect, rows) => {
      const functions = rows.map(({ types, text }, i) => {
        const result = types.at(-1)!;
        const parameters = types.slice(0, -1).map((type, d) => `%${'abc'.charAt(d)}: ${type}`);
        const version = dialect === 'onnx' ? ' attributes {torch.onnx_meta.opset_version = 17 : si64}' : '';
        return `func.func @f${i}(${parameters.join(', ')}) -> ${result}${version} {\n${PRELUDES[dialect] ?? ''}\n%r = ${text}\nreturn %r : ${result}\n}\n`;
      });
      const made = operationsIn((await outputOf(functions.join(''), '--compile-to=input')).toString());
      const names = made.map(({ name }) => name).filter((name) => name !== 'linalg.generic');
      expect(names).toEqual(rows.map(({ becomes }) => nameOf(becomes)));
    },
  );
});
