import { describe, expect, test } from 'vitest';
import { body, only, parseText, types } from './fixtures.ts';

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

  /** A window that result 0 moves, as pairs of a dimension and its stride. */
  const window = (...terms: readonly (readonly [dimension: number, stride: number])[]) => ({
    windows: [{ result: 0, terms: terms.map(([dimension, stride]) => ({ dimension, stride })) }],
  });
  const strided = (...all: readonly (readonly [result: number, dimension: number, stride: number])[]) => ({
    strided: all.map(([result, dimension, stride]) => ({ result, dimension, stride })),
  });

  test.each([
    ['d0 + d1, 0', [null, null], window([0, 1], [1, 1])],
    ['d0 * 2 + d1, d1', [null, 1], window([0, 2], [1, 1])],
    ['d1 + d0 * 3, d1', [null, 1], window([1, 1], [0, 3])],
    ['d0 + d1 + d0, d1', [null, 1], {}],
    ['d0 + 1, d1', [null, 1], {}],
    ['d0 - d1, d1', [null, 1], {}],
    ['(d0 + d1), d1', [null, 1], {}],
    ['d0 * 2, d1 * 12', [null, null], strided([0, 0, 2], [1, 1, 12])],
    ['d1, d0*3', [1, null], strided([1, 0, 3])],
    ['d0 * 2 + 1, d1', [null, 1], {}],
    ['d0 * s0, d1', [null, 1], {}],
    ['d0 * 0, d1', [null, 1], {}],
    ['d0 * 0x10, d1', [null, 1], {}],
    ['d0 * 99999999999999999999, d1', [null, 1], {}],
  ])('results %s say which dimensions they move over, and with which strides', (written, results, more) => {
    const maps = `[affine_map<(d0, d1)[s0] -> (${written})>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>]`;
    const text = `linalg.generic {indexing_maps = ${maps}, iterator_types = ["parallel", "reduction"]}
      ins(%a, %b : tensor<9x1xf32>, tensor<3xf32>) outs(%c : tensor<7xf32>) ${body}`;
    expect(only(text).indexingMaps[0]).toEqual({ dimensions: 2, results, ...more });
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

test('values can have all names that the lexer allows', () => {
  const operation = only(
    'linalg.matmul ins(%0#1, %a-b.c$_ : tensor<3x5xf32>, tensor<5x7xf32>) outs(%_ : tensor<3x7xf32>)',
  );
  expect(operation.operands.map(({ value }) => value)).toEqual(['%0#1', '%a-b.c$_', '%_']);
});
