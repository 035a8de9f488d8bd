import { describe, expect, test } from 'vitest';
import { typeText } from '../src/main.ts';
import { body, elements, only, parseText, types } from './fixtures.ts';

const lists = 'ins(%a, %b : tensor<3x5xf32>, tensor<5x7xf32>) outs(%c : tensor<3x7xf32>)';
const maps =
  '[affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>]';
const generic = (dictionary: string, after = '', region = body): string =>
  `linalg.generic ${dictionary} ${lists} ${after} ${region} -> tensor<3x7xf32>`;
const iterators = 'iterator_types = ["parallel", "parallel", "reduction"]';

describe('custom form', () => {
  test('takes explicit indexing maps', () => {
    const operation = only(`%0 = linalg.matmul indexing_maps = ${maps} ${lists} -> tensor<3x7xf32>`);
    expect(operation.indexingMaps.map(({ results }) => results)).toEqual([
      [0, 2],
      [1, 2],
      [0, 1],
    ]);
    expect(operation.attributes.map(({ name }) => name)).toEqual(['indexing_maps']);
  });

  test('is read on buffers, which have no results, also several on one line', () => {
    const one =
      'linalg.matmul ins(%a, %b : memref<3x5xf32>, memref<5x7xf32>) outs(%c : memref<3x7xf32, strided<[7, 1], offset: ?>, 1>)';
    const { operations, problems } = parseText(`${one} ${one} return`);
    expect(problems).toEqual([]);
    expect(operations).toHaveLength(2);
    expect(operations[0]!.end).toBe(one.length);
    expect(types(operations[1]!)[2]).toBe('memref<3x7xf32, strided<[7, 1], offset: ?>, 1>');
  });

  test('allows blanks and comments between any two tokens', () => {
    const operation = only(`%0 = linalg.matmul // one
      { // two { }
        foo } ins ( %a , %b : tensor< 3 x 5 x f32 // three
      > , tensor<5 x7xf32> ) outs(%c:tensor<3x7xf32>)->tensor<3x7xf32>`);
    expect(types(operation)).toEqual(['tensor<3x5xf32>', 'tensor<5x7xf32>', 'tensor<3x7xf32>']);
    expect(operation.attributes.map(({ name }) => name)).toEqual(['foo']);
  });

  test('lists the attributes of all dictionaries with their extent', () => {
    const text = `linalg.matmul <{cast = #linalg.type_fn<cast_signed>}> {a = "}", "b c" = [1, 2]} ${lists} {d, e = 3 // end\n }`;
    const operation = only(text);
    expect(operation.attributes.map(({ name, start, end }) => [name, text.slice(start, end)])).toEqual([
      ['cast', 'cast = #linalg.type_fn<cast_signed>'],
      ['a', 'a = "}"'],
      ['b c', '"b c" = [1, 2]'],
      ['d', 'd'],
      ['e', 'e = 3'],
    ]);
  });

  test('an unsigned cast gives the unsigned body', () => {
    expect(only(`linalg.matmul <{cast = #linalg.type_fn<cast_unsigned>}> ${lists}`).body).toBe(
      'multiply-add-unsigned',
    );
    expect(only(`linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ${lists}`).body).toBe(
      'multiply-add-unsigned',
    );
  });

  test('an unsigned cast may be behind an alias', () => {
    const text = `#u = #linalg.type_fn<cast_unsigned>\n#v = #u\nlinalg.matmul {cast = #v} ${lists}`;
    expect(only(text).body).toBe('multiply-add-unsigned');
  });

  test('linalg.contract sums over the dimensions that its output lacks', () => {
    expect(only(`linalg.contract indexing_maps = ${maps} ${lists}`).iteratorTypes).toEqual([
      'parallel',
      'parallel',
      'reduction',
    ]);
  });

  test.each([
    ['a wrong number of operands', 'linalg.matmul ins(%a : tensor<3x5xf32>) outs(%c : tensor<3x7xf32>)'],
    ['missing types', 'linalg.matmul ins(%a, %b) outs(%c : tensor<3x7xf32>)'],
    ['fewer types than operands', 'linalg.matmul ins(%a, %b : tensor<3x5xf32>) outs(%c : tensor<3x7xf32>)'],
    ['maps behind an unknown alias', `linalg.matmul indexing_maps = [#x, #y, #z] ${lists}`],
    ['maps that are missing', `linalg.contract ${lists}`],
    [
      'maps with too few dimensions',
      `linalg.matmul indexing_maps = ${maps.replaceAll(', d2)', ')').replaceAll('d2', 'd1')} ${lists}`,
    ],
    ['an unknown trait', `linalg.generic #trait ${lists} ${body}`],
    ['a truncated dictionary', 'linalg.matmul {a = '],
  ])('%s is a problem, not an operation', (_, text) => {
    const { operations, problems } = parseText(text);
    expect(operations).toEqual([]);
    expect(problems[0]).toMatchObject({ offset: 0, message: expect.stringMatching(/^linalg\./) as string });
  });
});

describe('linalg.generic', () => {
  test('takes its dictionary from a trait alias', () => {
    const text = `#map = affine_map<(m, n, k) -> (m, k)>
#maps = [#map, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
#trait = {indexing_maps = #maps, ${iterators}}
%0 = ${generic('#trait', 'attrs = {foo}')}`;
    const operation = only(text);
    expect(operation.indexingMaps.map(({ results }) => results)).toEqual([
      [0, 2],
      [2, 1],
      [0, 1],
    ]);
    expect(operation.attributes.map(({ name }) => name)).toEqual(['indexing_maps', 'iterator_types', 'foo']);
  });

  test('takes properties and a second dictionary before the operands', () => {
    const operation = only(generic(`{indexing_maps = ${maps}, ${iterators}} <{doc = "x"}> {foo}`));
    expect(operation.attributes.map(({ name }) => name)).toEqual([
      'indexing_maps',
      'iterator_types',
      'doc',
      'foo',
    ]);
  });

  test('results of maps that are no plain dimensions are null', () => {
    const convolution =
      '[affine_map<(d0, d1)[s0] -> (d0 + d1, 0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>]';
    const text = `linalg.generic {indexing_maps = ${convolution}, iterator_types = ["parallel", "reduction"]}
      ins(%a, %b : tensor<9x1xf32>, tensor<3xf32>) outs(%c : tensor<7xf32>) ${body}`;
    const windows = [
      {
        result: 0,
        terms: [
          { dimension: 0, stride: 1 },
          { dimension: 1, stride: 1 },
        ],
      },
    ];
    expect(only(text).indexingMaps[0]).toEqual({ dimensions: 2, results: [null, null], windows });
  });

  test.each([
    ['d0 * 2 + d1', [0, 2], [1, 1]],
    ['d1 + d0 * 3', [1, 1], [0, 3]],
    ['d0 + d1 + d0', null, null],
    ['d0 + 1', null, null],
    ['d0 - d1', null, null],
    ['(d0 + d1)', null, null],
  ] as const)('of %s say whether a window is moved', (result, one, other) => {
    const maps = `[affine_map<(d0, d1) -> (${result})>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>]`;
    const text = `linalg.generic {indexing_maps = ${maps}, iterator_types = ["parallel", "reduction"]}
      ins(%a, %b : tensor<9xf32>, tensor<3xf32>) outs(%c : tensor<7xf32>) ${body}`;
    const terms = one && [one, other].map(([dimension, stride]) => ({ dimension, stride }));
    expect(only(text).indexingMaps[0]).toEqual({
      dimensions: 2,
      results: [null],
      ...(terms && { windows: [{ result: 0, terms }] }),
    });
  });

  test.each([
    [
      'd0 * 2, d1 * 12',
      [null, null],
      [
        { result: 0, dimension: 0, stride: 2 },
        { result: 1, dimension: 1, stride: 12 },
      ],
    ],
    ['d1, d0*3', [1, null], [{ result: 1, dimension: 0, stride: 3 }]],
    ['d0 * 2 + 1, d1', [null, 1], undefined],
    ['d0 * s0, d1', [null, 1], undefined],
    ['d0 * 0, d1', [null, 1], undefined],
    ['d0 * 0x10, d1', [null, 1], undefined],
    ['d0 * 99999999999999999999, d1', [null, 1], undefined],
  ])('of %s say which dimensions have strides', (results, plain, strided) => {
    const maps = `[affine_map<(d0, d1)[s0] -> (${results})>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>]`;
    const text = `linalg.generic {indexing_maps = ${maps}, iterator_types = ["parallel", "reduction"]}
      ins(%a, %b : tensor<9x1xf32>, tensor<3xf32>) outs(%c : tensor<7xf32>) ${body}`;
    expect(only(text).indexingMaps[0]).toEqual({
      dimensions: 2,
      results: plain,
      ...(strided && { strided }),
    });
  });

  test.each([
    ['no reduction', 'iterator_types = ["parallel", "parallel", "parallel"]', lists],
    ['one input', iterators, 'ins(%a : tensor<3x5xf32>) outs(%c : tensor<3x7xf32>)'],
    ['two outputs', iterators, 'ins(%a : tensor<3x5xf32>) outs(%b, %c : tensor<3x7xf32>, tensor<3x7xf32>)'],
    ['no inputs', iterators, 'outs(%c : tensor<3x7xf32>)'],
  ])('is of no interest with %s', (_, types, operands) => {
    const text = `linalg.generic {indexing_maps = ${maps}, ${types}} ${operands} ${body}`;
    expect(parseText(text)).toEqual({ operations: [], problems: [] });
  });

  test('operations in the region of an uninteresting generic are found', () => {
    const text = `linalg.generic {indexing_maps = [], iterator_types = []} outs(%c : tensor<3xf32>) { linalg.matmul ${lists} }`;
    expect(only(text).name).toBe('linalg.matmul');
  });

  test.each([
    ['properties', '<{iterator_types = []}> ({ MATMUL })'],
    ['a dictionary after the region', '({ MATMUL }) {iterator_types = []}'],
  ])('the same in the quoted form with %s', (_, rest) => {
    const quoted = `%0 = "linalg.generic"(%c) ${rest} : (tensor<3xf32>) -> tensor<3xf32>`;
    const text = quoted.replace('MATMUL', `linalg.matmul ${lists}`);
    expect(only(text).name).toBe('linalg.matmul');
  });

  test('operations in the region of a returned operation are not found', () => {
    const region = body.replace('linalg.yield', `linalg.matmul ${lists} linalg.yield`);
    expect(only(generic(`{indexing_maps = ${maps}, ${iterators}}`, '', region))).toMatchObject({
      name: 'linalg.generic',
      body: 'other',
    });
  });
});

describe('front ends', () => {
  const t = 'tensor<2x3x5xf32>, tensor<2x5x7xf32>';

  test('the clauses after the operands are attributes', () => {
    const text = `%0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, b = 1> {foo} : (${t}) -> tensor<2x3x7xf32>`;
    const operation = only(text);
    expect(operation.attributes.map(({ start, end }) => text.slice(start, end))).toEqual([
      'batching_dims = [0] x [0]',
      'contracting_dims = [2] x [1]',
      'precision = [DEFAULT, DEFAULT]',
      'algorithm = <lhs_precision_type = tf32, b = 1>',
      'foo',
    ]);
    expect(operation).toMatchObject({
      kind: 'to-normalise',
      body: 'other',
      indexingMaps: [],
      iteratorTypes: [],
    });
    expect(operation.results.map(typeText)).toEqual(['tensor<2x3x7xf32>']);
  });

  test('operands may be in parentheses, and braces in a clause are not the dictionary', () => {
    const text = `%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[0, 0]]} {feature_group_count = 1 : i64} : (${t}) -> tensor<2x3x7xf32>`;
    const operation = only(text);
    expect(operation.attributes.map(({ start, end }) => text.slice(start, end))).toEqual([
      'dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f]',
      'window = {stride = [1], pad = [[0, 0]]}',
      'feature_group_count = 1 : i64',
    ]);
    expect(operation.operands.map(({ role, value }) => [role, value])).toEqual([
      ['lhs', '%a'],
      ['rhs', '%b'],
    ]);
    expect(operation.end).toBe(text.length);
  });

  test('clauses may be in parentheses, without commas', () => {
    const text = `%0 = tosa.conv2d %a, %b, %c pad([0, 0]) acc_type(f32) {foo} : (${t}, f32) -> tensor<2x3x7xf32>`;
    const operation = only(text);
    expect(operation.attributes.map(({ start, end }) => text.slice(start, end))).toEqual([
      'pad([0, 0])',
      'acc_type(f32)',
      'foo',
    ]);
    expect(operation.operands.map(({ role }) => role)).toEqual(['lhs', 'rhs', 'input']);
  });

  test('several results need no parentheses', () => {
    const operation = only(
      '%0, %1, %2 = torch.aten.convolution_backward %a, %b : f32, f32 -> !torch.vtensor<[3],f32>, i1, !torch.none loc(unknown)',
    );
    expect(operation.results.map(typeText)).toEqual(['!torch.vtensor<[3],f32>', 'i1', '!torch.none']);
  });

  test('operands at the end may be missing', () => {
    const roles = (text: string): string[] => only(text).operands.map(({ role }) => role);
    expect(roles(`tosa.matmul %a, %b : (${t}) -> tensor<2x3x7xf32>`)).toEqual(['lhs', 'rhs']);
    expect(roles(`torch.operator "onnx.Gemm"(%a, %b) : (${t}) -> f32`)).toEqual(['lhs', 'rhs']);
    expect(roles(`torch.operator "onnx.Gemm"(%a, %b, %c) : (${t}, f32) -> f32`)).toEqual([
      'lhs',
      'rhs',
      'input',
    ]);
    expect(roles(`torch.aten.addmm %c, %a, %b, %x, %y : f32, ${t}, i1, i1 -> f32`)).toEqual([
      'input',
      'lhs',
      'rhs',
      'input',
      'input',
    ]);
  });

  test('constant operands are known', () => {
    const text =
      '%b = torch.vtensor.literal(dense<1.0> : tensor<5x7xf32>) : !torch.vtensor<[5,7],f32>\n%0 = torch.aten.mm %a, %b : !torch.vtensor<[3,5],f32>, !torch.vtensor<[5,7],f32> -> !torch.vtensor';
    expect(only(text).operands.map(({ constant }) => constant)).toEqual([false, true]);
  });

  test.each([
    ['another operator', 'torch.operator "onnx.Relu"(%a) : (T) -> T'],
    ['another quoted operator', '"torch.operator"(%a) <{name = "onnx.Relu"}> : (T) -> T'],
    ['a quoted operator without a name', '"torch.operator"(%a) {a} : (T) -> T'],
    ['an operator that no torch.operator is', '"onnx.MatMul"(%a, %b) : (T, T) -> T'],
    ['longer names', 'torch.aten.mm.out %a, %b : T, T -> T torch.aten.matmul$x %a, %b : T, T -> T'],
    ['attributes', 'foo.bar {stablehlo.dot = #stablehlo.dot<a = [0]>, torch.aten.mm}'],
    ['a symbol', 'func.func @torch.aten.mm(%a: f32) { }'],
  ])('%s is of no interest', (_, text) => {
    expect(parseText(text)).toEqual({ operations: [], problems: [] });
  });

  test('an older operator has its name in the dictionary', () => {
    expect(only('"torch.operator"(%a, %b) {name = "onnx.MatMul"} : (T, T) -> T').name).toBe('onnx.MatMul');
  });

  test.each([
    ['operands without types', 'torch.aten.mm %a, %b'],
    ['too few operands', 'torch.aten.mm %a : T -> T'],
    ['more operands than types', 'stablehlo.dot %a, %b : (T) -> T'],
    ['no result', 'stablehlo.dot %a, %b : (T, T)'],
    ['a clause that does not end', 'stablehlo.dot %a, %b, precision = [ : (T, T) -> T'],
    ['a clause without a value', 'stablehlo.dot %a, %b, precision : (T, T) -> T'],
    ['operands whose parenthesis does not end', 'stablehlo.convolution(%a, %b : (T, T) -> T'],
    ['a result that is none', 'stablehlo.dot %a, %b : (T, T) -> T, )'],
    ['too few zero points', 'linalg.quantized_matmul ins(%a, %b, %z : T, T, i32) outs(%c : T) -> T'],
  ])('%s: a problem, not an operation', (_, text) => {
    const { operations, problems } = parseText(text);
    expect(operations).toEqual([]);
    expect(problems.map(({ offset }) => offset)).toEqual([0]);
  });

  test('operations in the regions of other operators are found', () => {
    const inner = '%1 = torch.operator "onnx.MatMul"(%a, %b) : (T, T) -> T';
    expect(only(`%0 = torch.operator "onnx.If"(%c) : (T) -> T { ${inner} }`).name).toBe('onnx.MatMul');
    expect(only(`%0 = "torch.operator"(%c) <{name = "onnx.If"}> ({ ${inner} }) : (T) -> T`).name).toBe(
      'onnx.MatMul',
    );
  });
});

describe('quoted form', () => {
  const quoted = (rest: string): string =>
    `%0 = "linalg.matmul"(%a, %b, %c) ${rest} : (tensor<3x5xf32>, tensor<5x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>`;

  test('reads older dictionaries that also hold the properties', () => {
    const operation = only(quoted(`(${body}) {operand_segment_sizes = dense<[2, 1]> : vector<2xi32>, foo}`));
    expect(operation.attributes.map(({ name }) => name)).toEqual(['operand_segment_sizes', 'foo']);
  });

  test('ends after its types, before its location', () => {
    const text = `${quoted(`(${body})`)} loc("linalg.matmul"("f.mlir":1:2))`;
    expect(text.slice(only(text).end)).toBe(' loc("linalg.matmul"("f.mlir":1:2))');
  });

  test('operand segments that do not fit are a problem', () => {
    const { operations, problems } = parseText(quoted('<{operandSegmentSizes = array<i32: 1, 2>}>'));
    expect([operations.length, problems.length]).toEqual([0, 1]);
  });
});

describe('types', () => {
  const withType = (type: string): string =>
    types(only(`linalg.matmul ins(%a, %b : ${type}, tensor<5x7xf32>) outs(%c : tensor<3x7xf32>)`))[0]!;

  test.each([
    'tensor<f32>',
    'tensor<0x8xf32>',
    'tensor<?x?xi8>',
    'tensor<*xf32>',
    'tensor<4x4xcomplex<f32>>',
    'tensor<4x!quant.uniform<i8:f32, 0.1>>',
    'tensor<4x4xf32, #iree_encoding.encoding<operand_index = 0, user_indexing_maps = [#map, [#map1]]>>',
    'memref<4x4xf32, affine_map<(d0, d1) -> (d0 * 4 + d1)>, #hal.descriptor_type<storage_buffer>>',
    'vector<4x8xbf16>',
    ...elements.flatMap((element) => [
      `tensor<4x0x?x${element}>`,
      `tensor<${element}>`,
      `tensor<2x${element}, #a.b<c>>`,
    ]),
    'tensor<4x4xf32, "encoding">',
    'tensor<4xf32, {a = 1, b = [2]}>',
    'memref<4x4xf8E4M3FN, strided<[?, 1], offset: ?>, 3>',
    '!torch.vtensor<[3,5],f32>',
    '!torch.vtensor<[],si64>',
    '!torch.vtensor<[2,?],!torch.qint8>',
    '!torch.vtensor<[2,3],unk>',
    '!torch.vtensor<*,f32>',
    '!torch.vtensor<[2,3],complex<f32>>',
    '!torch.vtensor<[2,3],f32, #sparse<a, b>>',
    '!torch.vtensor',
    '!torch.vtensor<[0x2],f32>',
    '!torch.vtensor<[a],f32>',
    '!torch.tensor<[2,3],f32>',
    '!torch.tensor',
    'opaque<"dialect", "type">',
    '!unknown',
    'index',
    '(tensor<3xf32>) -> (tensor<3xf32>, () -> f32)',
  ])('%s', (type) => {
    expect(withType(type)).toBe(type);
  });

  test.each(elements)('%s is an element type as it is written', (element) => {
    const operation = only(
      `%0 = tosa.matmul %a, %b : (tensor<2x3x${element}>, !torch.vtensor<[2,?],${element}>) -> memref<?x7x${element}, 1>`,
    );
    expect([...operation.operands.map(({ type }) => type), ...operation.results]).toEqual([
      { kind: 'tensor', shape: [2, 3], elementType: element, encoding: null },
      { kind: 'vtensor', shape: [2, -1], elementType: element, encoding: null },
      { kind: 'memref', shape: [-1, 7], elementType: element, encoding: '1' },
    ]);
  });

  test.each([
    ['!torch.vtensor', null, 'unk'],
    ['!torch.vtensor<*,f32>', null, 'f32'],
    ['!torch.vtensor< [ 2 , ? ] , f32 >', [2, -1], 'f32'],
    ['!torch.vtensor<[],f64>', [], 'f64'],
  ])('%s has its shape and element type', (type, shape, elementType) => {
    const operation = only(`%0 = torch.aten.mm %a, %b : ${type}, ${type} -> ${type}`);
    const expected = { kind: 'vtensor', shape, elementType, encoding: null };
    expect(operation.operands.map((operand) => operand.type)).toEqual([expected, expected]);
    expect(operation.results).toEqual([expected]);
  });

  test('aliases stand for their types, also as elements and through other aliases', () => {
    const text = `!T = tensor<3x5xf32>
!U = !T
!e = f16
%0 = linalg.matmul ins(%a, %b : !U, tensor<5x7x!e>) outs(%c : tensor<3x7xf32>) -> tensor<3x7xf32>`;
    expect(types(only(text))).toEqual(['tensor<3x5xf32>', 'tensor<5x7xf16>', 'tensor<3x7xf32>']);
  });

  test('circular aliases stay opaque', () => {
    const text = `!T = !U
!U = !T
#m = #m
linalg.matmul ins(%a, %b : !U, tensor<5x7xf32>) outs(%c : tensor<3x7xf32>)`;
    expect(types(only(text))[0]).toBe('!U');
  });
});

test('values can have all names that the lexer allows', () => {
  const operation = only(
    'linalg.matmul ins(%0#1, %a-b.c$_ : tensor<3x5xf32>, tensor<5x7xf32>) outs(%_ : tensor<3x7xf32>)',
  );
  expect(operation.operands.map(({ value }) => value)).toEqual(['%0#1', '%a-b.c$_', '%_']);
});
