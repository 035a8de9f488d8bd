import { describe, expect, test } from 'vitest';
import { applyInsertions, insertionFor, parse, typeText } from '../src/main.ts';
import { rows } from '../src/table.ts';
import { examples } from './examples.ts';
import { body, bytes, customForm, elements, parseText, quotedForm, types } from './fixtures.ts';
import { ireeOpt, readGenericPrint, readGenerics, reprint } from './oracle.ts';

const names = rows.map(({ name }) => name);
const known = rows.filter(({ name }) => examples[name]!.known !== false);
const inModules = (modules: readonly string[]): string =>
  modules.map((text) => `module {\n${text}}\n`).join('');
const maps =
  '[affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]';
const iterators = 'iterator_types = ["parallel", "parallel", "reduction"]';
const ins = 'ins(%a, %b : tensor<3x5xf32>, tensor<5x7xf32>) outs(%c : tensor<3x7xf32>)';
const result = '-> tensor<3x7xf32>';
const inFunction = (operation: string): string =>
  `func.func @main(%a: tensor<3x5xf32>, %b: tensor<5x7xf32>, %c: tensor<3x7xf32>) { ${operation} return }\n`;

const texts: readonly (readonly [string, string])[] = [
  // All rows in one text, because the start of the compiler takes most of the time.
  ...['', '{}', '{a = "}{", b}'].flatMap((attributes) => [
    [
      `the custom form of all rows with ${attributes || 'nothing'}`,
      inModules(known.map(({ name }) => customForm(name, attributes))),
    ] as const,
    [
      `the quoted form of all rows with ${attributes || 'nothing'}`,
      inModules(known.map(({ name }) => quotedForm(name, attributes))),
    ] as const,
  ]),
  [
    'element types',
    inModules(
      elements
        .filter((element) => !/^(?:tuple|none)/.test(element))
        .map((element) => {
          const [lhs, rhs, out] = [
            `tensor<3x?x${element}>`,
            `tensor<0x?x${element}>`,
            `tensor<3x0x${element}>`,
          ];
          return `func.func @main(%a: ${lhs}, %b: ${rhs}, %c: ${out}) {
  %0 = linalg.generic {indexing_maps = ${maps.replace('(d2, d1)', '(d1, d2)')}, ${iterators}} ins(%a, %b : ${lhs}, ${rhs}) outs(%c : ${out}) {
    ^bb0(%x: ${element}, %y: ${element}, %z: ${element}): linalg.yield %z : ${element} } -> ${out}
  return }`;
        }),
    ),
  ],
  [
    'front ends',
    `func.func @main(%a: tensor<2x3x5xf32>, %b: tensor<2x5x7xf32>, %x: !torch.vtensor<[3,5],f32>, %y: !torch.vtensor) {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT],
    algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1,
    rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> // {
    : (tensor<2x3x5xf32>, tensor<2x5x7xf32>) -> tensor<2x3x7xf32>
  %1 = "stablehlo.dot_general"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0],
    rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}
    : (tensor<2x3x5xf32>, tensor<2x5x7xf32>) -> tensor<2x3x7xf32>
  %2 = torch.aten.mm %x, %y : !torch.vtensor< [ 3 , 5 ] , f32 >, !torch.vtensor -> !torch.vtensor<*,f32>
  %3 = torch.operator "onnx.Gemm"(%x, %2) {torch.onnx.transB = 1 : si64} : (!torch.vtensor<[3,5],f32>, !torch.vtensor<*,f32>) -> (!torch.vtensor<[?,?],unk>)
  %4 = torch.operator "onnx.Relu"(%3) : (!torch.vtensor<[?,?],unk>) -> !torch.vtensor<[],f32>
  return }`,
  ],
  ['maps', inFunction(`%0 = linalg.matmul indexing_maps = ${maps} ${ins} ${result}`)],
  [
    'maps, properties and dictionaries',
    inFunction(
      `%0 = linalg.matmul indexing_maps = ${maps} <{cast = #linalg.type_fn<cast_unsigned>}> {a} ${ins} {b} ${result}`,
    ),
  ],
  ['properties', inFunction(`%0 = linalg.matmul <{cast = #linalg.type_fn<cast_signed>}> ${ins} ${result}`)],
  ['a trailing dictionary', inFunction(`%0 = linalg.matmul ${ins} {a} ${result}`)],
  ['result types in parentheses', inFunction(`%0 = linalg.matmul ${ins} -> (tensor<3x7xf32>)`)],
  [
    'comments and blanks',
    inFunction(`%0 = linalg.matmul // {
      { // }
        a // ,
      } ins ( %a , %b : tensor< 3 x 5 x f32 // >
      > , tensor<5 x7xf32> ) outs(%c:tensor<3x7xf32>)->tensor<3x7xf32>`),
  ],
  [
    'aliases',
    `#m = affine_map<(m, n, k) -> (m, k)>
#maps = [#m, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
#trait = {indexing_maps = #maps, ${iterators}}
!A = tensor<3x5xf32>
func.func @main(%a: !A, %b: tensor<5x7xf32>, %c: tensor<3x7xf32>) {
  %0 = linalg.generic #trait ins(%a, %b : !A, tensor<5x7xf32>) outs(%c : tensor<3x7xf32>) ${body} ${result}
  %1 = linalg.matmul indexing_maps = #maps ins(%a, %b : !A, tensor<5x7xf32>) outs(%0 : tensor<3x7xf32>) ${result}
  return
}`,
  ],
  [
    'two dictionaries of a generic',
    inFunction(
      `%0 = linalg.generic {indexing_maps = ${maps}, ${iterators}} <{doc = "x"}> {a} ${ins} ${body} ${result}`,
    ),
  ],
  [
    'the attrs of a generic',
    inFunction(
      `%0 = linalg.generic {indexing_maps = ${maps}, ${iterators}} {a} ${ins} attrs = {} ${body} ${result}`,
    ),
  ],
  [
    'an older dictionary',
    inFunction(`%0 = "linalg.matmul"(%a, %b, %c) (${body}) {a, operandSegmentSizes = array<i32: 2, 1>}
      : (tensor<3x5xf32>, tensor<5x7xf32>, tensor<3x7xf32>) ${result} loc("linalg.matmul"("f":1:2))`),
  ],
  [
    'functions that say their names after their regions',
    `"builtin.module"() ({ "func.func"() ({ ^bb0(%a: tensor<3x5xf32>, %b: tensor<5x7xf32>, %c: tensor<3x7xf32>):
      %0 = linalg.matmul ${ins} ${result} "func.return"() : () -> ()
    }) {function_type = (tensor<3x5xf32>, tensor<5x7xf32>, tensor<3x7xf32>) -> (), sym_name = "f"} : () -> () }) {sym_name = "m"} : () -> ()`,
  ],
  [
    'buffers',
    `func.func @main(%a: memref<?x5xf32, strided<[?, 1], offset: ?>>, %b: memref<5x0x8xi8, 1>, %c: memref<?x0x8xi32>) {
  linalg.contract indexing_maps = [affine_map<(m, n, o, k) -> (m, k)>, affine_map<(m, n, o, k) -> (k, n, o)>,
    affine_map<(m, n, o, k) -> (m, n, o)>] ins(%a, %b : memref<?x5xf32, strided<[?, 1], offset: ?>>, memref<5x0x8xi8, 1>)
    outs(%c : memref<?x0x8xi32>) return }`,
  ],
  [
    'what is no operation',
    `module attributes {transform.with_named_sequence, a.b = "linalg.matmul(", c.d = ["linalg.matmul"]} {
  // linalg.matmul ${ins}
  transform.named_sequence @m(%x: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.matmul"]} in %x : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
  func.func @"a { // b"(%a: tensor<3x5xf32>, %b: tensor<5x7xf32>, %c: tensor<3x7xf32>) {
    %0 = linalg.matmul ${ins} ${result}
    %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%d, %d : tensor<3xf32>, tensor<3xf32>) outs(%d : tensor<3xf32>) ${body} -> tensor<3xf32>
    return
  }
}
{-# dialect_resources: { builtin: { linalg.matmul: "0x0000000100" } } #-}`.replace(
      '%1 =',
      '%d = tensor.empty() : tensor<3xf32> %1 =',
    ),
  ],
];

describe.skipIf(ireeOpt === null)('iree-opt agrees', { tags: ['compiler'] }, () => {
  test.each(texts)('on %s', (_, text) => {
    const { operations, problems } = parseText(text);
    const printed = reprint(text, '--mlir-print-op-generic');
    const expected = readGenericPrint(printed, names);
    expect(problems).toEqual([]);
    expect(operations.map(({ name }) => name)).toEqual(expected.map(({ name }) => name));
    expect(operations.map(types)).toEqual(expected.map((operation) => operation.types));

    // The compiler's output in either form has the same operations as its input.
    const essence = (input: string): unknown =>
      parseText(input).operations.map((operation) => [
        operation.name,
        types(operation),
        operation.indexingMaps,
        operation.iteratorTypes,
        operation.body,
        operation.symbol,
        operation.kind,
        operation.results.map(typeText),
      ]);
    expect(essence(printed)).toEqual(essence(text));
    expect(essence(reprint(text))).toEqual(essence(text));
  });

  test.each(texts)('that attributes can be added to %s', (_, text) => {
    const { operations } = parseText(text);
    const insertions = operations.map((operation, index) =>
      insertionFor(operation, `tuned.id = ${index} : i32`),
    );
    const edited = new TextDecoder().decode(applyInsertions(bytes(text), insertions));
    const expected = readGenericPrint(
      reprint(edited, '--mlir-print-op-generic', '--allow-unregistered-dialect'),
      names,
    );
    // The tail has the discardable attributes, the head the properties.
    expect(expected.map(({ tail }) => /tuned\.id = (\d+) : i32/.exec(tail)?.[1])).toEqual(
      operations.map((_, index) => String(index)),
    );
  });

  test('on the default maps and iterator types of all named operations', () => {
    const named = known.filter(({ defaultMaps }) => defaultMaps !== null);
    const text = inModules(named.map(({ name }) => customForm(name)));
    const generics = readGenerics(reprint(text, '--linalg-generalize-named-ops'));
    expect(
      named.map(({ name, defaultMaps, iteratorTypes }) => ({
        name,
        maps: defaultMaps!.map(({ results }) => results.map((dimension) => `d${dimension}`).join(', ')),
        iterators: iteratorTypes,
      })),
    ).toEqual(generics.map((generic, index) => ({ name: named[index]?.name, ...generic })));
  });

  test('that older operations are gone', () => {
    const former = rows.filter((row) => !known.includes(row));
    expect(former).not.toEqual([]);
    for (const { name } of former) {
      expect(() => reprint(customForm(name))).toThrow(`custom op '${name}' is unknown`);
    }
  });

  test('that separators split even strings', () => {
    const text = inFunction(`%0 = linalg.matmul {a = "// -----"} ${ins} ${result}`);
    expect(() => reprint(text)).not.toThrow();
    // The compiler may crash while it reports the unterminated string.
    expect(() => reprint(text, '--split-input-file')).toThrow(/error: |Stack dump:/);
    expect(parse(bytes(text)).operations).toHaveLength(1);
    expect(parse(bytes(text), { splitInputFile: true }).operations).toHaveLength(0);
  });

  test.each([
    ['a byte order mark', '\uFEFFmodule {}'],
    ['names of values in quotes', 'func.func @f() { %"a b" = arith.constant 1 : i32 return }'],
  ])('that %s is an error', (_, text) => {
    expect(() => reprint(text)).toThrow(/error: /);
  });
});
