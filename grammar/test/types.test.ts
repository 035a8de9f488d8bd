import { describe, expect, test } from 'vitest';
import { elements, only, types } from './fixtures.ts';

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
