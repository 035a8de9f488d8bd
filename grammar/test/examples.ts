// An example for each row of operations.json.

export interface Example {
  /** Types of the operands. `3x5` stands for `tensor<3x5xf32>`, an empty text for `tensor<f32>`. */
  readonly operands: readonly string[];
  /** Types of the results. Default: the type of the last operand. */
  readonly result?: string;
  readonly results?: readonly string[];
  readonly maps?: string;
  readonly traits?: string;
  /** Text between operands and dictionary in the custom form, and the same as properties. */
  readonly clauses?: string;
  readonly properties?: string;
  /** Required attributes of the custom form. */
  readonly attributes?: string;
  /** Whether the custom form has its operands in parentheses. */
  readonly parenthesised?: true;
  /** Whether the operation has no custom form. */
  readonly onlyQuoted?: true;
  /** Region of the quoted form. */
  readonly region?: string;
  /** False for operations that current compilers do not know. */
  readonly known?: false;
}

const quantizedBody = `{
    ^bb0(%x: i8, %y: i8, %v: i32, %w: i32, %z: i32):
      %xe = arith.extsi %x : i8 to i32
      %xs = arith.subi %xe, %v : i32
      %ye = arith.extsi %y : i8 to i32
      %ys = arith.subi %ye, %w : i32
      %p = arith.muli %xs, %ys : i32
      %s = arith.addi %z, %p : i32
      linalg.yield %s : i32
    }`;

const plain = (...operands: [string, string, string]): Example => ({ operands });
const former = (...operands: [string, string, string]): Example => ({ operands, known: false });
const quantized = (lhs: string, rhs: string, out: string): Example => ({
  operands: [`tensor<${lhs}xi8>`, `tensor<${rhs}xi8>`, 'i32', 'i32', `tensor<${out}xi32>`],
  region: quantizedBody,
});
const vtensor = (sizes: string, element = 'f32'): string => `!torch.vtensor<[${sizes}],${element}>`;
const [LIST, BOOL, INT] = ['!torch.list<int>', '!torch.bool', '!torch.int'];

function tosaConvolution(
  operands: readonly string[],
  result: string,
  pad: readonly number[],
  steps: readonly number[] = [1, 1],
): Example {
  const [edges, ones] = [pad.join(', '), steps.join(', ')];
  return {
    operands,
    result,
    clauses: ` pad([${edges}]) stride([${ones}]) dilation([${ones}]) acc_type(f32)`,
    properties: `acc_type = f32, dilation = array<i64: ${ones}>, pad = array<i64: ${edges}>, stride = array<i64: ${ones}>`,
  };
}

/** The image, the filter, no bias, and further operands. */
const torchConvolution = (
  more: readonly string[],
  image = '8,9',
  filter = '3,2',
  result = '6,8',
): Example => ({
  operands: [vtensor(`1,2,${image}`), vtensor(`4,2,${filter}`), '!torch.none', ...more],
  result: vtensor(`1,4,${result}`),
});

function onnxQuantized(lhs: string, rhs: string, result: string): Example {
  const scaled = (sizes: string) => [vtensor(sizes, 'ui8'), vtensor(''), vtensor('', 'ui8')];
  return {
    operands: [...scaled(lhs), ...scaled(rhs), ...scaled('').slice(1)],
    result: vtensor(result, 'ui8'),
  };
}

export const examples: Readonly<Record<string, Example>> = {
  'linalg.matmul': plain('3x5', '5x7', '3x7'),
  'linalg.batch_matmul': plain('2x3x5', '2x5x7', '2x3x7'),
  'linalg.batch_reduce_matmul': plain('2x3x5', '2x5x7', '3x7'),
  'linalg.matvec': plain('3x5', '5', '3'),
  'linalg.vecmat': plain('3', '3x5', '5'),
  'linalg.batch_matvec': plain('2x3x5', '2x5', '2x3'),
  'linalg.batch_vecmat': plain('2x3', '2x3x5', '2x5'),
  'linalg.dot': plain('5', '5', ''),
  'linalg.matmul_transpose_a': former('5x3', '5x7', '3x7'),
  'linalg.matmul_transpose_b': former('3x5', '7x5', '3x7'),
  'linalg.batch_matmul_transpose_a': former('2x5x3', '2x5x7', '2x3x7'),
  'linalg.batch_matmul_transpose_b': former('2x3x5', '2x7x5', '2x3x7'),
  'linalg.mmt4d': plain('2x3x4x5', '6x3x7x5', '2x6x4x7'),
  'linalg.batch_mmt4d': plain('9x2x3x4x5', '9x6x3x7x5', '9x2x6x4x7'),
  'linalg.quantized_matmul': quantized('3x5', '5x7', '3x7'),
  'linalg.quantized_batch_matmul': quantized('2x3x5', '2x5x7', '2x3x7'),
  'linalg.contract': {
    operands: ['3x5', '7x5', '3x7'],
    maps: '[affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>]',
  },
  'linalg.generic': {
    operands: ['3x5', '7x5', '3x7'],
    maps: '[affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]',
    traits: 'parallel parallel reduction',
  },

  'linalg.conv_1d': plain('8', '3', '6'),
  'linalg.conv_1d_ncw_fcw': plain('1x2x8', '4x2x3', '1x4x6'),
  'linalg.conv_1d_nwc_wcf': plain('1x8x2', '3x2x4', '1x6x4'),
  'linalg.conv_2d': plain('8x9', '3x2', '6x8'),
  'linalg.conv_2d_nchw_fchw': plain('1x2x8x9', '4x2x3x2', '1x4x6x8'),
  'linalg.conv_2d_nchw_fchw_q': quantized('1x2x8x9', '4x2x3x2', '1x4x6x8'),
  'linalg.conv_2d_ngchw_fgchw': plain('1x5x2x8x9', '4x5x2x3x2', '1x5x4x6x8'),
  'linalg.conv_2d_ngchw_gfchw': plain('1x5x2x8x9', '5x4x2x3x2', '1x5x4x6x8'),
  'linalg.conv_2d_ngchw_gfchw_q': quantized('1x5x2x8x9', '5x4x2x3x2', '1x5x4x6x8'),
  'linalg.conv_2d_nhwc_fhwc': plain('1x8x9x2', '4x3x2x2', '1x6x8x4'),
  'linalg.conv_2d_nhwc_fhwc_q': quantized('1x8x9x2', '4x3x2x2', '1x6x8x4'),
  'linalg.conv_2d_nhwc_hwcf': plain('1x8x9x2', '3x2x2x4', '1x6x8x4'),
  'linalg.conv_2d_nhwc_hwcf_q': quantized('1x8x9x2', '3x2x2x4', '1x6x8x4'),
  'linalg.conv_2d_nhwgc_gfhwc': plain('1x8x9x5x2', '5x4x3x2x2', '1x6x8x5x4'),
  'linalg.conv_2d_nhwgc_gfhwc_q': quantized('1x8x9x5x2', '5x4x3x2x2', '1x6x8x5x4'),
  'linalg.conv_3d': plain('8x9x7', '3x2x2', '6x8x6'),
  'linalg.conv_3d_ncdhw_fcdhw': plain('1x2x8x9x7', '4x2x3x2x2', '1x4x6x8x6'),
  'linalg.conv_3d_ndhwc_dhwcf': plain('1x8x9x7x2', '3x2x2x2x4', '1x6x8x6x4'),
  'linalg.conv_3d_ndhwc_dhwcf_q': quantized('1x8x9x7x2', '3x2x2x2x4', '1x6x8x6x4'),
  'linalg.depthwise_conv_1d_ncw_cw': plain('1x2x8', '2x3', '1x2x6'),
  'linalg.depthwise_conv_1d_nwc_wc': plain('1x8x2', '3x2', '1x6x2'),
  'linalg.depthwise_conv_1d_nwc_wcm': plain('1x8x2', '3x2x4', '1x6x2x4'),
  'linalg.depthwise_conv_2d_nchw_chw': plain('1x2x8x9', '2x3x2', '1x2x6x8'),
  'linalg.depthwise_conv_2d_nhwc_hwc': plain('1x8x9x2', '3x2x2', '1x6x8x2'),
  'linalg.depthwise_conv_2d_nhwc_hwc_q': quantized('1x8x9x2', '3x2x2', '1x6x8x2'),
  'linalg.depthwise_conv_2d_nhwc_hwcm': plain('1x8x9x2', '3x2x2x4', '1x6x8x2x4'),
  'linalg.depthwise_conv_2d_nhwc_hwcm_q': quantized('1x8x9x2', '3x2x2x4', '1x6x8x2x4'),
  'linalg.depthwise_conv_3d_ncdhw_cdhw': plain('1x2x8x9x7', '2x3x2x2', '1x2x6x8x6'),
  'linalg.depthwise_conv_3d_ndhwc_dhwc': plain('1x8x9x7x2', '3x2x2x2', '1x6x8x6x2'),
  'linalg.depthwise_conv_3d_ndhwc_dhwcm': plain('1x8x9x7x2', '3x2x2x2x4', '1x6x8x6x2x4'),
  'linalg.pooling_nchw_max': plain('1x2x8x9', '3x2', '1x2x6x8'),
  'linalg.pooling_nchw_sum': plain('1x2x8x9', '3x2', '1x2x6x8'),
  'linalg.pooling_ncw_max': plain('1x2x8', '3', '1x2x6'),
  'linalg.pooling_ncw_sum': plain('1x2x8', '3', '1x2x6'),
  'linalg.pooling_ndhwc_max': plain('1x8x9x7x2', '3x2x2', '1x6x8x6x2'),
  'linalg.pooling_ndhwc_min': plain('1x8x9x7x2', '3x2x2', '1x6x8x6x2'),
  'linalg.pooling_ndhwc_sum': plain('1x8x9x7x2', '3x2x2', '1x6x8x6x2'),
  'linalg.pooling_nhwc_max': plain('1x8x9x2', '3x2', '1x6x8x2'),
  'linalg.pooling_nhwc_min': plain('1x8x9x2', '3x2', '1x6x8x2'),
  'linalg.pooling_nhwc_sum': plain('1x8x9x2', '3x2', '1x6x8x2'),
  'linalg.pooling_nwc_max': plain('1x8x2', '3', '1x6x2'),
  'linalg.pooling_nwc_min': plain('1x8x2', '3', '1x6x2'),
  'linalg.pooling_nwc_sum': plain('1x8x2', '3', '1x6x2'),

  'stablehlo.dot': {
    operands: ['3x5', '5x7'],
    result: '3x7',
    clauses: ', precision = [DEFAULT, HIGHEST]',
    properties: 'precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]',
  },
  'stablehlo.dot_general': {
    operands: ['2x3x5', '2x5x7'],
    result: '2x3x7',
    clauses: ', batching_dims = [0] x [0], contracting_dims = [2] x [1]',
    properties:
      'dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>',
  },
  'tosa.matmul': { operands: ['2x3x5', '2x5x7', '1', '1'], result: '2x3x7' },
  'torch.aten.mm': { operands: [vtensor('3,5'), vtensor('5,7')], result: vtensor('3,7') },
  'torch.aten.bmm': {
    operands: [vtensor('2,3,5', 'si8'), vtensor('2,5,7', 'si8')],
    result: vtensor('2,3,7', 'si32'),
  },
  'torch.aten.matmul': { operands: [vtensor('?,3,5'), '!torch.vtensor'], result: '!torch.vtensor<*,f32>' },
  'torch.aten.linear': { operands: [vtensor('3,5'), vtensor('7,5'), '!torch.none'], result: vtensor('3,7') },
  'torch.aten.addmm': {
    operands: [vtensor('7'), vtensor('3,5'), vtensor('5,7'), '!torch.int', '!torch.int'],
    result: vtensor('3,7'),
  },
  'onnx.MatMul': { operands: [vtensor('3,5'), vtensor('5,7')], result: vtensor('3,7', 'unk') },
  'onnx.Gemm': { operands: [vtensor('3,5'), vtensor('5,7'), vtensor('7')], result: vtensor('3,7') },

  'stablehlo.convolution': {
    operands: ['1x8x9x2', '3x2x2x4'],
    result: '1x3x8x4',
    parenthesised: true,
    clauses:
      ' dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[0, 0], [0, 0]]}',
    attributes: 'batch_group_count = 1 : i64, feature_group_count = 1 : i64',
    properties:
      'batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, window_strides = array<i64: 2, 1>',
  },
  'stablehlo.dynamic_conv': {
    operands: ['1x8x9x2', '3x2x2x4', 'tensor<2x2xi64>'],
    result: '1x6x8x4',
    onlyQuoted: true,
    properties:
      'batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, window_strides = array<i64: 1, 1>',
  },
  'stablehlo.einsum': {
    operands: ['3x5', '5x7'],
    result: '3x7',
    clauses: ', config = "mk,kn->mn"',
    properties: 'einsum_config = "mk,kn->mn"',
  },
  'chlo.ragged_dot': {
    operands: ['3x5', '2x5x7', 'tensor<2xi64>'],
    result: '3x7',
    onlyQuoted: true,
    properties:
      'ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>',
  },
  'tosa.conv2d': tosaConvolution(['1x8x9x2', '4x3x2x2', '4', '1', '1'], '1x6x8x4', [0, 0, 0, 0]),
  'tosa.conv3d': tosaConvolution(
    ['1x8x9x7x2', '4x3x2x2x2', '4', '1', '1'],
    '1x6x8x6x4',
    [0, 0, 0, 0, 0, 0],
    [1, 1, 1],
  ),
  'tosa.depthwise_conv2d': tosaConvolution(['1x8x9x2', '3x2x2x4', '8', '1', '1'], '1x6x8x8', [0, 0, 0, 0]),
  'tosa.transpose_conv2d': {
    operands: ['1x8x9x2', '4x3x2x2', '4', '1', '1'],
    result: '1x10x10x4',
    clauses: ' out_pad([0, 0, 0, 0]) stride([1, 1]) acc_type(f32)',
    properties: 'acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>',
  },
  'torch.aten._convolution': torchConvolution([LIST, LIST, LIST, BOOL, LIST, INT, BOOL, BOOL, BOOL, BOOL]),
  'torch.aten._convolution.deprecated': torchConvolution([
    ...[LIST, LIST, LIST, BOOL, LIST, INT, BOOL, BOOL, BOOL],
  ]),
  'torch.aten._int_mm': {
    operands: [vtensor('3,5', 'si8'), vtensor('5,7', 'si8')],
    result: vtensor('3,7', 'si32'),
  },
  'torch.aten._scaled_mm': {
    operands: [
      ...[vtensor('3,16', 'f8E4M3FN'), vtensor('16,32', 'f8E4M3FN'), vtensor(''), vtensor('')],
      ...['!torch.none', '!torch.none', '!torch.none', BOOL],
    ],
    result: vtensor('3,32'),
  },
  'torch.aten.conv1d': torchConvolution([LIST, LIST, LIST, INT], '9', '2', '8'),
  'torch.aten.conv1d.padding': torchConvolution([LIST, '!torch.str', LIST, INT], '9', '2', '8'),
  'torch.aten.conv2d': torchConvolution([LIST, LIST, LIST, INT]),
  'torch.aten.conv2d.padding': torchConvolution([LIST, '!torch.str', LIST, INT]),
  'torch.aten.conv3d': torchConvolution([LIST, LIST, LIST, INT], '8,9,7', '3,2,2', '6,8,6'),
  'torch.aten.conv3d.padding': torchConvolution([LIST, '!torch.str', LIST, INT], '8,9,7', '3,2,2', '6,8,6'),
  'torch.aten.conv_tbc': {
    operands: [vtensor('9,1,2'), vtensor('2,2,4'), vtensor('4'), INT],
    result: vtensor('8,1,4'),
  },
  'torch.aten.conv_transpose1d': torchConvolution([LIST, LIST, LIST, INT, LIST], '9', '2', '10'),
  'torch.aten.conv_transpose2d.input': torchConvolution([LIST, LIST, LIST, INT, LIST]),
  'torch.aten.conv_transpose3d.input': torchConvolution([LIST, LIST, LIST, INT, LIST]),
  'torch.aten.convolution': torchConvolution([LIST, LIST, LIST, BOOL, LIST, INT]),
  'torch.aten.dot': { operands: [vtensor('5'), vtensor('5')], result: vtensor('') },
  'torch.aten.mv': { operands: [vtensor('3,5'), vtensor('5')], result: vtensor('3') },
  'torch.aten.addbmm': {
    operands: [vtensor('3,7'), vtensor('2,3,5'), vtensor('2,5,7'), INT, INT],
    result: vtensor('3,7'),
  },
  'torch.aten.baddbmm': {
    operands: [vtensor('2,3,7'), vtensor('2,3,5'), vtensor('2,5,7'), INT, INT],
    result: vtensor('2,3,7'),
  },
  'torch.aten._trilinear': {
    operands: [vtensor('3,5,1'), vtensor('3,5,7'), vtensor('3,1,7'), LIST, LIST, LIST, LIST, INT],
    result: vtensor('3,5'),
  },
  'torch.aten.bilinear': {
    operands: [vtensor('3,5'), vtensor('3,7'), vtensor('2,5,7'), '!torch.none'],
    result: vtensor('3,2'),
  },
  'torch.aten.convolution_backward': {
    operands: [
      ...[vtensor('1,4,6,8'), vtensor('1,2,8,9'), vtensor('4,2,3,2')],
      ...[LIST, LIST, LIST, LIST, BOOL, LIST, INT, '!torch.list<bool>'],
    ],
    results: [vtensor('1,2,8,9'), vtensor('4,2,3,2'), '!torch.none'],
  },
  'torch.aten.einsum': {
    operands: ['!torch.str', '!torch.list<vtensor>', '!torch.none'],
    result: vtensor('3,7'),
  },
  'onnx.Conv': {
    operands: [vtensor('1,2,8,9'), vtensor('4,2,3,2'), vtensor('4')],
    result: vtensor('1,4,6,8'),
  },
  'onnx.ConvInteger': {
    operands: [vtensor('1,2,8,9', 'ui8'), vtensor('4,2,3,2', 'ui8')],
    result: vtensor('1,4,6,8', 'si32'),
  },
  'onnx.ConvTranspose': {
    operands: [vtensor('1,2,8,9'), vtensor('2,4,3,2')],
    result: vtensor('1,4,10,10'),
  },
  'onnx.FusedMatMul': { operands: [vtensor('3,5'), vtensor('5,7')], result: vtensor('3,7') },
  'onnx.MatMulInteger': {
    operands: [vtensor('3,5', 'si8'), vtensor('5,7', 'si8')],
    result: vtensor('3,7', 'si32'),
  },
  'onnx.QLinearConv': onnxQuantized('1,2,8,9', '4,2,3,2', '1,4,6,8'),
  'onnx.QLinearMatMul': onnxQuantized('3,5', '5,7', '3,7'),
  'onnx.Einsum': { operands: [vtensor('3,5'), vtensor('5,7'), vtensor('7,2')], result: vtensor('3,2') },
  'onnx.GRU': {
    operands: [vtensor('15,2,4'), vtensor('1,9,4'), vtensor('1,9,3')],
    results: [vtensor('15,1,2,3'), vtensor('1,2,3')],
  },
  'onnx.LSTM': {
    operands: [vtensor('15,2,4'), vtensor('1,12,4'), vtensor('1,12,3')],
    results: [vtensor('15,1,2,3'), vtensor('1,2,3'), vtensor('1,2,3')],
  },
  'onnx.RNN': {
    operands: [vtensor('15,2,4'), vtensor('1,3,4'), vtensor('1,3,3')],
    results: [vtensor('15,1,2,3'), vtensor('1,2,3')],
  },
};
