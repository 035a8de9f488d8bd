import { describe, expect, test } from 'vitest';
import table from '../operations.json' with { type: 'json' };
import { findConsumers, parse } from '../src/main.ts';
import { bytes } from './fixtures.ts';
import { ireeOpt, reprint, unregistered } from './oracle.ts';

const t = 'tensor<3x7xf32>';
const matmul = `linalg.matmul ins(%a, %b : tensor<3x5xf32>, tensor<5x7xf32>) outs(%c : ${t}) -> ${t}`;
const rows = 'affine_map<(d0, d1) -> (d0, d1)>';
const generic = (inputs: string, region: string, iterators = '"parallel", "parallel"'): string => {
  const values = inputs.split(', ');
  return `linalg.generic {indexing_maps = [${[...values, '%c'].map(() => rows).join(', ')}], iterator_types = [${iterators}]}
    ins(${inputs} : ${values.map(() => t).join(', ')}) outs(%c : ${t}) {
  ^bb0(${values.map((_, index) => `%x${index}: f32`).join(', ')}, %out: f32):
    ${region}
  } -> ${t}`;
};
const bias = generic('%0, %d', '%s = arith.addf %x0, %x1 : f32\n    linalg.yield %s : f32');
const relu = (value: string): string =>
  generic(value, '%z = arith.constant 0.0 : f32 %m = arith.maximumf %x0, %z : f32 linalg.yield %m : f32');
const inFunction = (statements: string): string =>
  `func.func @main(%a: tensor<3x5xf32>, %b: tensor<5x7xf32>, %c: ${t}, %d: ${t}, %p: i1) -> ${t} {\n  ${statements}\n}\n`;

/** The chain of the first operation: each link as its name, with its body, and `!` for one that is elementwise. */
function chain(text: string): string[] {
  const input = bytes(text);
  const { operations } = parse(input);
  const chains = findConsumers(input, operations);
  expect(chains).toHaveLength(operations.length);
  for (const { name, start } of chains.flat())
    expect(text.slice(start).replace('torch.operator ', '')).toMatch(new RegExp(`^"?${name}\\b`));
  return chains[0]!.map(
    ({ name, elementwise, body }) =>
      `${name}${elementwise ? '!' : ''}${body === null ? '' : `(${body.join()})`}`,
  );
}

const add = 'linalg.generic!(arith.addf)';
const max = 'linalg.generic!(arith.constant,arith.maximumf)';

/** What the compiler accepts, with the chain. */
const accepted: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'a bias and a relu',
    inFunction(`%0 = ${matmul}\n  %1 = ${bias}\n  %2 = ${relu('%1')}\n  return %2 : ${t}`),
    [add, max],
  ],
  ['nothing but return', inFunction(`%0 = ${matmul} return %0 : ${t}`), []],
  ['nothing but util.return', `util.${inFunction(`%0 = ${matmul} util.return %0 : ${t}`).slice(5)}`, []],
  ['a result that nobody uses', inFunction(`%0 = ${matmul} return %c : ${t}`), []],
  [
    'two uses',
    inFunction(
      `%0 = ${matmul} %1 = ${bias} %2 = ${relu('%0')} %3 = arith.addf %1, %2 : ${t} return %3 : ${t}`,
    ),
    [],
  ],
  [
    'one operation that uses it twice',
    inFunction(`%0 = ${matmul} %1 = arith.mulf %0, %0 : ${t} return %1 : ${t}`),
    [],
  ],
  [
    'a second use of a link',
    inFunction(
      `%0 = ${matmul} %1 = ${bias} %2 = arith.addf %1, %d : ${t} %3 = arith.mulf %2, %1 : ${t} return %3 : ${t}`,
    ),
    [add],
  ],
  ['a use and a return', inFunction(`%0 = ${matmul} %1 = ${bias} return %0 : ${t}`), []],
  [
    'a use in a nested region',
    inFunction(
      `%0 = ${matmul} %1 = scf.if %p -> ${t} { %2 = arith.negf %0 : ${t} scf.yield %2 : ${t} } else { scf.yield %c : ${t} } return %1 : ${t}`,
    ),
    [],
  ],
  [
    'a chain inside of a nested region',
    inFunction(
      `%1 = scf.if %p -> ${t} { %0 = ${matmul} %2 = arith.negf %0 : ${t} scf.yield %2 : ${t} } else { %0 = arith.addf %c, %d : ${t} %2 = math.exp %0 : ${t} scf.yield %2 : ${t} } return %1 : ${t}`,
    ),
    ['arith.negf!'],
  ],
  [
    'the quoted form',
    inFunction(`%0 = "linalg.matmul"(%a, %b, %c) <{operandSegmentSizes = array<i32: 2, 1>}> ({ ^bb0(%x: f32, %y: f32, %z: f32):
      %q = arith.mulf %x, %y : f32 %s = arith.addf %z, %q : f32 linalg.yield %s : f32 }) : (tensor<3x5xf32>, tensor<5x7xf32>, ${t}) -> ${t}
    %1 = "linalg.generic"(%0, %c) <{indexing_maps = [${rows}, ${rows}], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
      ^bb0(%x: f32, %y: f32): %s = "arith.negf"(%x) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32 "linalg.yield"(%s) : (f32) -> () }) : (${t}, ${t}) -> ${t}
    %2 = "arith.addf"(%1, %d) : (${t}, ${t}) -> ${t}
    "func.return"(%2) : (${t}) -> ()`),
    ['linalg.generic!(arith.negf)', 'arith.addf!'],
  ],
  [
    'results with numbers',
    inFunction(`%0 = ${matmul} %1 = arith.negf %0#0 : ${t} %2:1 = math.exp %1 : ${t} return %2#0 : ${t}`),
    ['arith.negf!', 'math.exp!'],
  ],
  [
    'a link with two results',
    `util.func private @g(${t}) -> (${t}, ${t})\n${inFunction(`%0 = ${matmul} %1:2 = util.call @g(%0) : (${t}) -> (${t}, ${t}) %2 = arith.negf %1#1 : ${t} return %2 : ${t}`)}`,
    ['util.call'],
  ],
  [
    'a link with two names for its results',
    `util.func private @g(${t}) -> (${t}, ${t})\n${inFunction(`%0 = ${matmul} %1, %2 = util.call @g(%0) : (${t}) -> (${t}, ${t}) %3 = arith.negf %2 : ${t} return %3 : ${t}`)}`,
    ['util.call'],
  ],
  [
    'an operation of the default dialect, which nothing marks',
    `func.func private @g(${t}) -> ${t}\n${inFunction(`%0 = ${matmul} %1 = call @g(%0) : (${t}) -> ${t} return %1 : ${t}`)}`,
    [],
  ],
  [
    'comments and strings that mention the value',
    inFunction(
      `%0 /* */ = ${matmul} // %1 = arith.negf %0
      %1 = // linalg.generic
        arith.negf %0 {a = "%0 = foo.bar %0"} : ${t} // %1
      return %1 : ${t}`.replace(' /* */', ''),
    ),
    ['arith.negf!'],
  ],
  [
    'names that another function uses too',
    `${inFunction(`%0 = ${matmul} %1 = arith.negf %0 : ${t} return %1 : ${t}`)}func.func @other(%0: ${t}) -> ${t} { %1 = arith.addf %0, %0 : ${t} return %1 : ${t} }`,
    ['arith.negf!'],
  ],
  [
    'reductions, which are not elementwise',
    inFunction(`%0 = ${matmul} %1 = ${relu('%0').replace('"parallel"]', '"reduction"]')} return %1 : ${t}`),
    ['linalg.generic(arith.constant,arith.maximumf)'],
  ],
  [
    'a trait behind an alias, and attrs',
    `#m = ${rows}\n#trait = {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]}
${inFunction(`%0 = ${matmul} %1 = linalg.generic #trait ins(%0 : ${t}) outs(%c : ${t}) attrs = {a = {b}} { ^bb0(%x: f32, %y: f32): %s = arith.negf %x : f32 linalg.yield %s : f32 } -> ${t} return %1 : ${t}`)}`,
    ['linalg.generic!(arith.negf)'],
  ],
  [
    'all forms of linalg.map, and linalg.elementwise',
    inFunction(`%0 = ${matmul} %1 = linalg.map { math.tanh } ins(%0 : ${t}) outs(%c : ${t})
      %2 = linalg.map ins(%1 : ${t}) outs(%c : ${t}) (%x: f32, %y: f32) { %s = math.absf %x : f32 linalg.yield %s : f32 }
      %3 = linalg.elementwise <exp> ins(%2 : ${t}) outs(%c : ${t}) -> ${t} return %3 : ${t}`),
    ['linalg.map!(math.tanh)', 'linalg.map!(math.absf)', 'linalg.elementwise!'],
  ],
  [
    'words before the operands',
    inFunction(
      `%0 = ${matmul} %1 = arith.cmpf ogt, %0, %c : ${t} %2 = arith.select %1, %c, %d : tensor<3x7xi1>, ${t} return %2 : ${t}`,
    ),
    ['arith.cmpf!', 'arith.select!'],
  ],
  [
    'another contraction, also by its maps',
    inFunction(`%e = tensor.empty() : tensor<7x7xf32> %0 = ${matmul}
      %1 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%0, %e : ${t}, tensor<7x7xf32>) outs(%c : ${t}) -> ${t} return %1 : ${t}`),
    ['linalg.matmul'],
  ],
  [
    'operations without results after a link',
    `util.func private @s(${t})\n${inFunction(`%0 = ${matmul} %1 = arith.negf %d : ${t} util.call @s(%0) : (${t}) -> () return %1 : ${t}`)}`,
    [],
  ],
  [
    'a use in a block that stands before',
    inFunction(
      `cf.br ^second ^first: %1 = arith.negf %0 : ${t} return %1 : ${t} ^second: %0 = ${matmul} %2 = math.exp %0 : ${t} cf.br ^first`,
    ),
    [],
  ],
  [
    'the argument of another block',
    inFunction(`%0 = ${matmul} cf.br ^next(%0 : ${t}) ^next(%1: ${t}): return %1 : ${t}`),
    [],
  ],
  [
    'operations of front ends',
    `func.func @f(%a: !torch.vtensor<[3,5],f32>, %b: !torch.vtensor<[5,7],f32>) -> !torch.vtensor<[3,7],f32> {
      %0 = torch.operator "onnx.MatMul"(%a, %b) : (!torch.vtensor<[3,5],f32>, !torch.vtensor<[5,7],f32>) -> !torch.vtensor<[3,7],f32>
      %1 = torch.operator "onnx.Relu"(%0) : (!torch.vtensor<[3,7],f32>) -> !torch.vtensor<[3,7],f32>
      return %1 : !torch.vtensor<[3,7],f32> }`,
    ['onnx.Relu'],
  ],
  [
    'names of elementwise operations',
    `func.func @f(%a: tensor<3x5xf32>, %b: tensor<5x7xf32>, %c: ${t}) -> ${t} {
      %0 = stablehlo.dot %a, %b : (tensor<3x5xf32>, tensor<5x7xf32>) -> ${t} %1 = stablehlo.add %0, %c : ${t}
      %2 = stablehlo.transpose %1, dims = [0, 1] : (${t}) -> ${t} return %2 : ${t} }`,
    ['stablehlo.add!', 'stablehlo.transpose'],
  ],
];

describe('the chain of consumers', () => {
  test.each(accepted)('of %s', (_, text, expected) => {
    expect(chain(text)).toEqual(expected);
  });

  test.each([
    [
      'an older quoted generic',
      `%0 = ${matmul} %1 = "linalg.generic"(%0) ({ %s = "a.b"(%x) : (f32) -> f32 }) {iterator_types = ["parallel"]} : (T) -> T`,
      ['linalg.generic!(a.b)'],
    ],
    [
      'a generic that does not say its iterators',
      `%0 = ${matmul} %1 = linalg.generic {} ins(%0 : T) outs(%c : T) { } -> T`,
      ['linalg.generic()'],
    ],
    [
      'a generic with an unknown trait',
      `%0 = ${matmul} %1 = linalg.generic #t ins(%0 : T) outs(%c : T) { } -> T`,
      ['linalg.generic'],
    ],
    [
      'a generic without a region',
      `%0 = ${matmul} %1 = linalg.generic {iterator_types = []} ins(%0 : T) outs(%c : T) -> T`,
      ['linalg.generic!'],
    ],
    [
      'a region with an operation that has no result',
      `%0 = ${matmul} %1 = linalg.generic {iterator_types = []} ins(%0 : T) outs(%c : T) { %s = a.b %x {c.d = 1} : T e.f %s linalg.yield %s : T } -> T`,
      ['linalg.generic!'],
    ],
    [
      'a region with a quoted operation that has no result',
      `%0 = ${matmul} %1 = linalg.generic {iterator_types = []} ins(%0 : T) outs(%c : T) { %s = a.b %x : T "e.f"(%s) : (T) -> () "linalg.yield"(%s) : (T) -> () } -> T`,
      ['linalg.generic!'],
    ],
    [
      'a region with what looks like one',
      `%0 = ${matmul} %1 = linalg.generic {iterator_types = []} ins(%0 : T) outs(%c : T) { %s:2 = a.b %x {c.d = 1, e = "f"} : T loc(#a) "linalg.yield"(%s) : (T) -> () } -> T`,
      ['linalg.generic!(a.b)'],
    ],
    ['a circle', `%0 = ${matmul} %1 = a.a %0, %2 : T %2 = b.b %1 : T`, ['a.a', 'b.b']],
    ['a circle through itself', `%0 = ${matmul.replace('%c', '%1')} %1 = a.a %0 : T`, ['a.a']],
    ['a definition before', `%1 = a.a %0 : T %0 = ${matmul}`, ['a.a']],
    ['a use in a region that may be isolated', `%0 = ${matmul} a.b { c.d %0 : T }`, []],
    [
      'a name that is another one inside',
      `%0 = ${matmul} %1 = a.b %0 : T c.d { %0 = e.f : T g.h %0 : T }`,
      ['a.b'],
    ],
    ['a use after a word that may be an operation', `%0 = ${matmul} %1 = a.b %c return %0`, []],
    ['a use after an operation without a result', `%0 = ${matmul} %1 = a.b %c : T c.d %0 : T`, []],
    [
      'a use after a quoted operation without a result',
      `%0 = ${matmul} %1 = a.b %c : T "c.d"(%0) : (T) -> ()`,
      [],
    ],
    [
      'a use by a loop',
      `%0 = ${matmul} %1 = scf.for %i = %l to %u step %s iter_args(%x = %0) -> (T) { scf.yield %x : T }`,
      [],
    ],
    ['buffers', `${matmul.replaceAll('tensor', 'memref').replace(/ ->.*/, '')} %1 = a.b %c : T`, []],
    [
      'a link with a number of results, whatever that is',
      `%0 = ${matmul} %1:1 = a.b %0 : T %2 = c.d %1 : T`,
      ['a.b'],
    ],
    ['resources after it', `%0 = ${matmul} %1 = a.b %0 : T {-# a: { b: "%0" } #-}`, ['a.b']],
  ])('of %s', (_, text, expected) => {
    expect(chain(text)).toEqual(expected);
  });

  test('stops where the text ends inside of the region', () => {
    const input = bytes(`f.f { %0 = ${matmul} %1 = a.b %0 : T`);
    expect(findConsumers(input, parse(input).operations)).toEqual([[]]);
  });

  test('has at most 16 links', () => {
    const links = Array.from({ length: 20 }, (_, index) => `%${index + 1} = a.b %${index} : T`);
    expect(chain(`%0 = ${matmul}\n${links.join('\n')}`)).toHaveLength(16);
  });

  test('is that of its chunk', () => {
    const text = `#i = ["parallel"] %0 = ${matmul} %1 = linalg.generic {iterator_types = #i} ins(%0 : T) outs(%c : T) { } -> T`;
    const both = `${text}\n// -----\n${text.replace('parallel', 'reduction')}`;
    const input = bytes(both);
    const { operations } = parse(input, { splitInputFile: true });
    const chains = findConsumers(input, operations, { splitInputFile: true });
    expect(chains.map((links) => links.map(({ elementwise }) => elementwise))).toEqual([[true], [false]]);
    expect(findConsumers(input, operations.slice(1), { splitInputFile: true })).toEqual(chains.slice(1));
  });

  test('is found for some of the operations, in any order', () => {
    const input = bytes(`%0 = ${matmul} %1 = a.b %0 : T %2 = ${matmul} %3 = c.d %2 : T`);
    const { operations } = parse(input);
    const names = (list: typeof operations): string[][] =>
      findConsumers(input, list).map((links) => links.map(({ name }) => name));
    expect(names(operations)).toEqual([['a.b'], ['c.d']]);
    expect(names(operations.toReversed())).toEqual([['c.d'], ['a.b']]);
    expect(names(operations.slice(1))).toEqual([['c.d']]);
    expect(names([])).toEqual([]);
  });

  test('is empty for operations that are not of this text', () => {
    const { operations } = parse(bytes(`%0 = ${matmul}`));
    expect(findConsumers(bytes('a.b'), operations)).toEqual([[]]);
  });
});

describe.skipIf(ireeOpt === null)('iree-opt', () => {
  test.each(accepted)('accepts %s, and prints what has the same chain', (_, text, expected) => {
    expect(chain(reprint(text))).toEqual(expected);
  });

  test('knows the elementwise operations, but for those of linalg that linalg.elementwise stands for now', () => {
    const unknown = unregistered(table.elementwise.operations);
    expect(unknown.filter((name) => !name.startsWith('linalg.'))).toEqual([]);
    expect(unknown).not.toContain('linalg.elementwise');
  });
});
