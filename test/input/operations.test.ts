// The operations of an input with the real compiler, also of operations that become contractions.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../support/folders.ts';
import { inspector } from '../support/inspector.ts';
import { casesOfTier } from '../support/needs.ts';

const CONVOLUTION = 'convolutions of this form are not tuned yet';

const fn = (parameters: readonly string[], result: string, ...lines: string[]) => {
  const list = parameters.map((type, i) => `%${'abcde'.charAt(i)}: ${type}`).join(', ');
  return `func.func @main(${list}) -> ${result} {\n  ${lines.join('\n  ')}\n  return %r : ${result}\n}\n`;
};
const f32 = (...sizes: (number | '?')[]) => `tensor<${sizes.join('x')}xf32>`;
const vtensor = (...sizes: number[]) => `!torch.vtensor<[${sizes.join(',')}],f32>`;
const ones = 'dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>';
const onnx = (text: string) =>
  text.replace(
    ' {\n',
    ' attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64} {\n',
  );

const [image, filter, result] = [f32(1, 14, 14, 32), f32(1, 1, 32, 48), f32(1, 14, 14, 48)];
const [imageTorch, filterTorch, resultTorch] = [
  vtensor(1, 32, 14, 14),
  vtensor(48, 32, 1, 1),
  vtensor(1, 48, 14, 14),
];
const integers = (text: string) => text.replaceAll('f32', 'i8');

/** A convolution of an image and a filter. @param attributes strides and dilations */
const inLinalg = ([x, y, z]: readonly [string, string, string], attributes = ones) =>
  fn(
    [x, y, z],
    z,
    `%r = linalg.conv_2d_nhwc_hwcf {${attributes}} ins(%a, %b : ${x}, ${y}) outs(%c : ${z}) -> ${z}`,
  );
/** The line of a convolution. */
const stablehlo = (name: string, operands: string, [x, y, z]: readonly [string, string, string]) =>
  `${name} = stablehlo.convolution(${operands}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (${x}, ${y}) -> ${z}`;
const genericConvolution = fn(
  [image, filter, result],
  result,
  `%r = linalg.generic {indexing_maps = [affine_map<(n, h, w, f, i, j, c) -> (n, h + i, w + j, c)>, affine_map<(n, h, w, f, i, j, c) -> (i, j, c, f)>, affine_map<(n, h, w, f, i, j, c) -> (n, h, w, f)>],`,
  `  iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%a, %b : ${image}, ${filter}) outs(%c : ${result}) {`,
  '  ^bb0(%x: f32, %y: f32, %z: f32):',
  '    %p = arith.mulf %x, %y : f32',
  '    %s = arith.addf %z, %p : f32',
  `    linalg.yield %s : f32`,
  `  } -> ${result}`,
);
const quantized = (operation: string, attributes: string, lhs: string, rhs: string, out: string) =>
  fn(
    [integers(lhs), integers(rhs), out.replace('f32', 'i32'), 'i32', 'i32'],
    out.replace('f32', 'i32'),
    `%r = linalg.${operation} {${attributes}} ins(%a, %b, %d, %e : ${integers(lhs)}, ${integers(rhs)}, i32, i32) outs(%c : ${out.replace('f32', 'i32')}) -> ${out.replace('f32', 'i32')}`,
  );
const torchConstants = [
  '%false = torch.constant.bool false',
  '%none = torch.constant.none',
  '%0 = torch.constant.int 0',
  '%1 = torch.constant.int 1',
  '%l = torch.prim.ListConstruct %1, %1 : (!torch.int, !torch.int) -> !torch.list<int>',
  '%o = torch.prim.ListConstruct %0, %0 : (!torch.int, !torch.int) -> !torch.list<int>',
];
const inTorch = (operation: string, operands: string, types: readonly string[]) =>
  fn(
    [imageTorch, filterTorch],
    resultTorch,
    ...torchConstants,
    `%r = torch.aten.${operation} %a, %b, ${operands} : ${[imageTorch, filterTorch, ...types].join(', ')} -> ${resultTorch}`,
  );
const [LIST, NONE, BOOL, INT] = ['!torch.list<int>', '!torch.none', '!torch.bool', '!torch.int'];
const tosaZero = '%z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>';

/** Layouts of image, filter and result after the compiler's normalisation. */
const NHWC = 'contraction m=196 n=48 k=32 f32,f32->f32 mk,kn->mn';
const NHWC_BY_RESULT = 'contraction m=196 n=48 k=32 f32,f32->f32 mk,nk->mn';
const NCHW = 'contraction m=196 n=48 k=32 f32,f32->f32 km,nk->nm';

const ONNX_CONV = onnx(
  fn(
    [imageTorch, filterTorch],
    resultTorch,
    `%r = torch.operator "onnx.Conv"(%a, %b) {torch.onnx.kernel_shape = [1 : si64, 1 : si64]} : (${imageTorch}, ${filterTorch}) -> ${resultTorch}`,
  ),
);

describe('a contraction that the compiler makes is found once, at its operation', () => {
  const operations: [string, string, string, string][] = [
    ['a pointwise linalg.conv', inLinalg([image, filter, result]), 'linalg.conv_2d_nhwc_hwcf', NHWC],
    ['a convolution that is a generic', genericConvolution, 'linalg.generic', NHWC],
    [
      'a quantized convolution',
      quantized('conv_2d_nhwc_hwcf_q', ones, image, filter, result),
      'linalg.conv_2d_nhwc_hwcf_q',
      'contraction m=196 n=48 k=32 i8,i8->i32 mk,kn->mn',
    ],
    [
      'a quantized matmul',
      quantized('quantized_matmul', '', f32(61, 71), f32(71, 67), f32(61, 67)),
      'linalg.quantized_matmul',
      'contraction m=61 n=67 k=71 i8,i8->i32 mk,kn->mn',
    ],
    [
      'a pointwise convolution that takes steps',
      inLinalg([image, filter, f32(1, 7, 7, 48)], ones.replace('strides = dense<1>', 'strides = dense<2>')),
      'linalg.conv_2d_nhwc_hwcf',
      'contraction m0=7 m1=7 n=48 k=32 f32,f32->f32 m0m1k,kn->m0m1n',
    ],
    [
      'a filter as large as the image',
      inLinalg([f32(4, 7, 7, 8), f32(7, 7, 8, 48), f32(4, 1, 1, 48)]),
      'linalg.conv_2d_nhwc_hwcf',
      'contraction m=4 n=48 k=392 f32,f32->f32 mk,kn->mn',
    ],
    [
      'stablehlo.convolution',
      fn(
        [image, filter],
        result,
        `%r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (${image}, ${filter}) -> ${result}`,
      ),
      'linalg.conv_2d_nhwc_hwcf',
      NHWC,
    ],
    [
      'tosa.conv2d',
      fn(
        [image, f32(48, 1, 1, 32), f32(48)],
        result,
        tosaZero,
        `%r = tosa.conv2d %a, %b, %c, %z, %z pad([0, 0, 0, 0]) stride([1, 1]) dilation([1, 1]) acc_type(f32) : (${image}, ${f32(48, 1, 1, 32)}, ${f32(48)}, tensor<1xf32>, tensor<1xf32>) -> ${result}`,
      ),
      'linalg.conv_2d_nhwc_hwcf',
      NHWC_BY_RESULT,
    ],
    [
      'torch.aten.convolution',
      inTorch('convolution', '%none, %l, %o, %l, %false, %o, %1', [NONE, LIST, LIST, LIST, BOOL, LIST, INT]),
      'linalg.conv_2d_nchw_fchw',
      NCHW,
    ],
    ['onnx.Conv', ONNX_CONV, 'linalg.conv_2d_nchw_fchw', NCHW],
    // Other spellings.
    [
      'stablehlo.einsum',
      fn(
        [f32(61, 71), f32(71, 67)],
        f32(61, 67),
        `%r = stablehlo.einsum %a, %b, config = "mk,kn->mn" : (${f32(61, 71)}, ${f32(71, 67)}) -> ${f32(61, 67)}`,
      ),
      'linalg.matmul',
      'contraction m=61 n=67 k=71 f32,f32->f32 mk,kn->mn',
    ],
    [
      'torch.aten.conv2d',
      inTorch('conv2d', '%none, %l, %o, %l, %1', [NONE, LIST, LIST, LIST, INT]),
      'linalg.conv_2d_nchw_fchw',
      NCHW,
    ],
    [
      'torch.aten.bilinear',
      fn(
        [vtensor(61, 71), vtensor(61, 67), vtensor(5, 71, 67)],
        vtensor(61, 5),
        '%none = torch.constant.none',
        `%r = torch.aten.bilinear %a, %b, %c, %none : ${vtensor(61, 71)}, ${vtensor(61, 67)}, ${vtensor(5, 71, 67)}, !torch.none -> ${vtensor(61, 5)}`,
      ),
      'linalg.generic',
      'contraction b=61 m=355 k=67 f32,f32->f32 bmk,bk->bm',
    ],
    [
      'onnx.Einsum',
      onnx(
        fn(
          [vtensor(3, 61, 71), vtensor(3, 71, 67)],
          vtensor(3, 61, 67),
          `%r = torch.operator "onnx.Einsum"(%a, %b) {torch.onnx.equation = "bmk,bkn->bmn"} : (${vtensor(3, 61, 71)}, ${vtensor(3, 71, 67)}) -> ${vtensor(3, 61, 67)}`,
        ),
      ),
      'linalg.batch_matmul',
      'contraction b=3 m=61 n=67 k=71 f32,f32->f32 bmk,bkn->bmn',
    ],
  ];
  test.each(casesOfTier(operations, 4))('of %s', async (_, text, name, workload) => {
    const { pass, surveyed, found } = await inspector(text)();
    // Other dispatches are tuned as a whole.
    const own = found.filter(([, what]) => !what.startsWith('dispatch '));
    expect({ pass, surveyed, own }).toEqual({ pass: null, surveyed: true, own: [[name, workload]] });
  });
});

test('the survey of a program with other forms ends at its convolutions, unless it keeps its forms', async () => {
  const again = inspector(ONNX_CONV);
  expect(await again()).toMatchObject({ isLook: true, pass: null, surveyed: true });
  // Now the survey is remembered.
  expect(await again()).toMatchObject({ isLook: false, surveyed: true, asked: 0 });
  expect(
    await inspector(ONNX_CONV)(['--iree-preprocessing-pass-pipeline=builtin.module(canonicalize)']),
  ).toMatchObject({
    isLook: false,
    surveyed: true,
  });
});

const wide = f32(3, 3, 48, 16);
const MOVED =
  /^contraction m0=1 m1=12 m2=12 n=16 k0=3 k1=3 k2=48 f32,f32->f32 m0\(m1\+k0\)\(m2\+k1\)k2,k0k1k2n->m0m1m2n in=[0-9a-f]{16}$/;
const chain = fn(
  [image, filter, wide],
  f32(1, 12, 12, 16),
  stablehlo('%p', '%a, %b', [image, filter, result]),
  stablehlo('%r', '%p, %c', [result, wide, f32(1, 12, 12, 16)]),
);

test('a convolution with a larger filter is tuned in its dispatch, another becomes a matmul', async () => {
  const { found, sites } = await inspector(chain)();
  expect(found).toEqual([
    ['linalg.conv_2d_nhwc_hwcf', NHWC],
    ['linalg.conv_2d_nhwc_hwcf', expect.stringMatching(MOVED) as string],
  ]);
  expect(sites).toEqual([
    expect.stringMatching(/in\.mlir:2:8$/) as string,
    expect.stringMatching(/in\.mlir:3:8$/) as string,
  ]);
});

test('convolutions of one form differ by their locations', async () => {
  const own = f32(1, 1, 32, 32);
  const again = fn(
    [image, own, own],
    image,
    stablehlo('%p', '%a, %b', [image, own, image]),
    stablehlo('%r', '%p, %c', [image, own, image]),
  );
  const { found, sites } = await inspector(again)();
  const square = 'contraction m=196 n=32 k=32 f32,f32->f32 mk,kn->mn';
  expect(found.map(([, what]) => what)).toEqual([square, square]);
  expect(new Set(sites).size).toBe(2);
});

test('a text with only a convolution that stays one has no workload', async () => {
  const inspected = inspector(inLinalg([f32(1, 14, 14, 8), f32(3, 3, 8, 16), f32(1, 12, 12, 16)]));
  for (const asked of [3, 0])
    expect(await inspected()).toMatchObject({
      pass: 'nothing to tune in the input',
      found: [['linalg.conv_2d_nhwc_hwcf', CONVOLUTION]],
      asked,
    });
});

test('operations can have other forms whatever the spelling of the input', async () => {
  const [stored, floats] = ['tensor<96x192xi8>', 'tensor<96x192xf32>'];
  const maps = '[affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]';
  const usual = `func.func @main(%x: tensor<3x192xf32>) -> tensor<3x96xf32> {
  %w = arith.constant dense<3> : ${stored}
  %e = tensor.empty() : ${floats}
  %f = linalg.generic {indexing_maps = ${maps}, iterator_types = ["parallel", "parallel"]} ins(%w : ${stored}) outs(%e : ${floats}) {
  ^bb0(%in: i8, %out: f32):
    %0 = arith.sitofp %in : i8 to f32
    linalg.yield %0 : f32
  } -> ${floats}
  %n = tensor.empty() : tensor<192x96xf32>
  %t = linalg.transpose ins(%f : ${floats}) outs(%n : tensor<192x96xf32>) permutation = [1, 0]
  %zero = arith.constant 0.0 : f32
  %i = tensor.empty() : tensor<3x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%i : tensor<3x96xf32>) -> tensor<3x96xf32>
  %r = linalg.matmul ins(%x, %t : tensor<3x192xf32>, tensor<192x96xf32>) outs(%z : tensor<3x96xf32>) -> tensor<3x96xf32>
  return %r : tensor<3x96xf32>
}
`;
  const alias = '#same = affine_map<(a, b)->(a,b)>\n';
  const other = `${alias}${usual.replace(maps, '[#same,#same]')}`
    .replaceAll('%w', '%the.weights')
    .replaceAll(' : tensor', ':tensor')
    .replaceAll('%in', '%element');
  const keys = ['stored product 3x192xf32,96x192xi8(d0, d1) by sitofp 0 f32 transposed of 8 bits->3x96xf32'];
  for (const text of [usual, other]) expect(await (await inspector(text)()).rewritables()).toEqual(keys);
});

describe('a matmul next to a convolution', () => {
  const input = fn(
    [image, filter, result, f32(61, 71), f32(67, 71)],
    f32(61, 67),
    `%v = linalg.conv_2d_nhwc_hwcf {${ones}} ins(%a, %b : ${image}, ${filter}) outs(%c : ${result}) -> ${result}`,
    `util.optimization_barrier %v : ${result}`,
    `%n = tensor.empty() : ${f32(71, 67)}`,
    `%t = linalg.transpose ins(%e : ${f32(67, 71)}) outs(%n : ${f32(71, 67)}) permutation = [1, 0]`,
    `%z = arith.constant 0.0 : f32`,
    `%i = tensor.empty() : ${f32(61, 67)}`,
    `%f = linalg.fill ins(%z : f32) outs(%i : ${f32(61, 67)}) -> ${f32(61, 67)}`,
    `%r = linalg.matmul ins(%d, %t : ${f32(61, 71)}, ${f32(71, 67)}) outs(%f : ${f32(61, 67)}) -> ${f32(61, 67)}`,
  );

  test('is looked up by its generated form', async () => {
    const inspected = inspector(input);
    const expected = {
      pass: null,
      surveyed: true,
      // Data tiling takes effect before there is a contraction.
      dataTiled: [false, true],
      found: [
        ['linalg.conv_2d_nhwc_hwcf', NHWC],
        ['linalg.matmul', 'contraction m=61 n=67 k=71 f32,f32->f32 mk,nk->mn'],
      ],
    };
    expect(await inspected()).toMatchObject({ ...expected, asked: 3 });
    expect(await inspected()).toMatchObject({ ...expected, asked: 0 });
  });

  test('is looked up by its text if a preprocessing spec of the user prevents a survey', async () => {
    const inspected = inspector(input);
    const spec = join(temporaryDirectory(), 'spec.mlir');
    writeFileSync(
      spec,
      `module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.yield
  }
}
`,
    );
    expect(await inspected([`--iree-preprocessing-transform-spec-filename=${spec}`])).toMatchObject({
      surveyed: false,
      found: [
        ['linalg.conv_2d_nhwc_hwcf', CONVOLUTION],
        ['linalg.matmul', 'contraction m=61 n=67 k=71 f32,f32->f32 mk,kn->mn'],
      ],
      asked: 0,
    });
  });
});

describe('an input without possible contractions is not surveyed', () => {
  const vector = vtensor(8);
  test.each([
    ['linalg', fn([f32(8)], f32(8), `%r = arith.addf %a, %a : ${f32(8)}`)],
    [
      'stablehlo',
      fn(
        [f32(8), f32(8)],
        f32(8),
        `%m = stablehlo.multiply %a, %b : ${f32(8)}`,
        `%r = stablehlo.exponential %m : ${f32(8)}`,
      ),
    ],
    ['tosa', fn([f32(8)], f32(8), `%r = tosa.tanh %a : (${f32(8)}) -> ${f32(8)}`)],
    ['torch', fn([vector], vector, `%r = torch.aten.relu %a : ${vector} -> ${vector}`)],
    ['onnx', onnx(fn([vector], vector, `%r = torch.operator "onnx.Relu"(%a) : (${vector}) -> ${vector}`))],
  ])('in %s', async (_, text) => {
    expect(await inspector(text)()).toMatchObject({ pass: 'nothing to tune in the input', asked: 0 });
  });

  test('nor is a plain matmul', async () => {
    const matmul = fn(
      [f32(61, 71), f32(71, 67), f32(61, 67)],
      f32(61, 67),
      `%r = linalg.matmul ins(%a, %b : ${f32(61, 71)}, ${f32(71, 67)}) outs(%c : ${f32(61, 67)}) -> ${f32(61, 67)}`,
    );
    expect(await inspector(matmul)()).toMatchObject({ pass: null, surveyed: false, asked: 0 });
  });
});
