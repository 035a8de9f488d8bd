// @module-tag slow
import { expect, test } from 'vitest';
import { dialectAttributes, functions, locationsOf, parse, tree } from '../src/main.ts';
import { bytes } from './fixtures.ts';

const SMALL = 1 << 15;
const GROWTH = 8;

/** Seconds of processor time, which other processes do not change. */
function seconds(work: (input: Uint8Array) => unknown, input: Uint8Array): number {
  const start = process.threadCpuUsage();
  work(input);
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1e6;
}

/** Expects that `GROWTH` times as much text takes about `GROWTH` times as long. */
function expectLinear(work: (input: Uint8Array) => unknown, textOf: (growth: number) => string): void {
  const input = bytes(textOf(1));
  const small = Math.min(...Array.from({ length: 3 }, () => seconds(work, input)));
  // Quadratic time is a factor of 64. The constant covers the noise of short runs.
  const limit = small * GROWTH * 3 + 0.1;
  const large = bytes(textOf(GROWTH));
  // A garbage collection can slow a run down, so there are several tries.
  let best = Infinity;
  for (let run = 0; run < 5 && best >= limit; run++) best = Math.min(best, seconds(work, large));
  expect(best).toBeLessThan(limit);
}

const repeated = (unit: string, size: number): string => unit.repeat(Math.ceil(size / unit.length));

// Texts on which a naive parser rereads or recurses.
test.each([
  ['open braces', '{', ''],
  ['open parentheses', '(', ''],
  ['open angles', '<', ''],
  ['closing brackets', ')]>}', ''],
  ['quotes', '"\n', ''],
  ['backslashes', '\\', ''],
  ['a string of escapes', '\\0A', '"'],
  ['operations in open dictionaries', 'linalg.matmul {a = ', ''],
  ['operations in open lists', 'linalg.matmul {a = [[', ''],
  ['operations in open operands', 'linalg.matmul ins(', ''],
  ['operations in open types', 'linalg.matmul ins(%a : tensor<', ''],
  ['operations in open shapes', 'linalg.matmul ins(%a : tensor<3x[', ''],
  [
    'operations in shapes with a bracket that something else closes',
    'linalg.matmul ins(%a : tensor<3x[}',
    '',
  ],
  ['quoted operations in open regions', '"linalg.matmul"(%a) ({ ', ''],
  ['quoted generics in open regions', '"linalg.generic"(%a) <{iterator_types = ["parallel"]}> ({ ', ''],
  [
    'generics in open regions',
    'linalg.generic {iterator_types = ["reduction"]} ins(%a, %b : f32, f32) outs(%c : f32) { ',
    '',
  ],
  ['generics of no interest', 'linalg.generic {iterator_types = []} outs(%c : f32) { ', ''],
  ['quoted globals in open dictionaries', '"util.global"() <{', ''],
  ['open strings after operations', `linalg.matmul {a = "${'x'.repeat(80)}`, ''],
  ['alias chains', '#a = #a\nlinalg.generic #a ', ''],
  ['open affine maps', 'linalg.matmul indexing_maps = [affine_map<(d0, ', ''],
  [
    'loops in loops with constants',
    'scf.for { %c = arith.constant 1 linalg.dot ins(%x, %y : f32, f32) outs(%z : f32) ',
    '',
  ],
  ['unfinished globals', 'util.global ', ''],
  ['unfinished casts', '%a = tensor.cast ', ''],
  ['front ends with open clauses', 'stablehlo.dot %a, %b, c = [ x ', ''],
  ['front ends with clauses', 'stablehlo.dot %a, c = [] x ', ''],
  ['front ends with open braces', 'stablehlo.convolution(%a) c = {', ''],
  ['front ends with open parentheses', 'tosa.conv2d %a, %b pad(', ''],
  ['front ends with more and more results', 'torch.aten.mm %a, %b : f32, f32 -> f32, ', ''],
  ['front ends with open types', 'torch.aten.mm %a, %b : !torch.vtensor<[2,', ''],
  ['front ends with more and more types', 'torch.aten.mm %a : f32, ', ''],
  ['quoted operators in open regions', '"torch.operator"(%a) <{name = "x"}> ({ ', ''],
  ['quoted operators without names in open regions', '"torch.operator"(%a) ({ ', ''],
  ['operators', 'torch.operator "x"(', ''],
  ['separators', '// -----"', ''],
  ['open comments', '//', ''],
  ['resources', '{-#', ''],
  ['attributes of dialects without an end', '#a.b<', ''],
  ['attributes of dialects that something else closes', '#a.b<(', ']'],
  ['types of dialects without an end', 'linalg.dot ins(%a : !a.b<"', ''],
  ['values with comments behind them', '%a // #1', '\n#0'],
])('%s take time in proportion to their length', (_, unit, end) => {
  expectLinear(
    (input) => parse(input, { splitInputFile: unit.includes('-----') }),
    (growth) => repeated(unit, SMALL * growth) + end,
  );
});

test.each([
  ['dictionaries', '#a = {', 'a, ', 'b}', 'linalg.generic #a outs(%c : f32) {}'],
  [
    'iterator lists',
    '#a = [',
    '"parallel", ',
    '"parallel"]',
    'linalg.generic {iterator_types = #a} outs(%c : f32) {}',
  ],
  [
    'map lists',
    '#a = [',
    'affine_map<() -> ()>, ',
    'affine_map<() -> ()>]',
    'linalg.matmul indexing_maps = #a outs(%c : f32)',
  ],
  ['maps', '#a = affine_map<(d) -> (', 'd, ', 'd)>', 'linalg.contract indexing_maps = [#a] outs(%c : f32)'],
  ['types', '!a = tuple<', 'f32, ', 'f32>', 'linalg.dot ins(%a, %b : !a, tensor<!a>) outs(%c : !a)'],
  ['sizes', '!a = !torch.vtensor<[', '1,', '1],f32>', 'torch.aten.mm %a, %b : !a, !a -> !a'],
  ['shapes', '!a = tensor<', '1x', 'f32>', 'linalg.dot ins(%a, %b : !a, tensor<!a>) outs(%c : !a)'],
])('%s behind aliases that are long and often used are read once', (_, before, unit, after, use) => {
  expectLinear(parse, (growth) => {
    const count = 1500 * growth;
    return `${before}${unit.repeat(count)}${after}\n${repeated(`${use}\n`, count * use.length)}`;
  });
});

test('tokens beyond the longest string are opaque', { tags: 'full' }, () => {
  // V8 throws for a string of more than 512 Mi characters.
  const size = 2 ** 29 + 100;
  const before = bytes('linalg.dot {a = "x"} ins(%a, %b : tensor<4xf32>, tuple<"');
  const after = bytes('">) outs(%c : tensor<f32>) -> tensor<f32>');
  const input = Buffer.alloc(before.length + size + after.length, 'x');
  input.set(before);
  input.set(after, before.length + size);
  const { operations, problems } = parse(input);
  expect(problems).toEqual([]);
  const start = before.length - 'tuple<"'.length;
  expect(operations[0]!.operands[1]!.type).toEqual({
    kind: 'opaque',
    text: `<bytes ${start} to ${before.length + size + '">'.length}>`,
  });
  // The same for a string, an attribute and a symbol.
  input.fill('#a.b<"', 0, before.length);
  expect(() => [functions(input), dialectAttributes(input, '#a.b'), tree(input)]).not.toThrow();
});

test('many unterminated aliases take linear time', () => {
  expectLinear(parse, (growth) => {
    const lines = (line: (index: number) => string): string =>
      Array.from({ length: 250 * growth }, (_, index) => line(index)).join('\n');
    return `${lines((index) => `!a${index} = tuple<`)}\n${lines((index) => `linalg.dot ins(%x : !a${index})`)}`;
  });
});

test('a long chain of aliases is followed only up to a limit', () => {
  const lines = Array.from({ length: 50_000 }, (_, index) => `!a${index + 1} = !a${index}`);
  const text = `!a0 = f32\n${lines.join('\n')}\nlinalg.dot ins(%x, %y : !a50000, !a3) outs(%z : f32)`;
  const { operations } = parse(bytes(text));
  expect(operations[0]!.operands.map(({ type }) => type)).toEqual([
    { kind: 'opaque', text: '!a50000' },
    { kind: 'opaque', text: 'f32' },
    { kind: 'opaque', text: 'f32' },
  ]);
});

test.each([
  ['open types', 'func.func @f(%a: tensor<', ''],
  ['types with a bracket that something else closes', 'func.func @f(%a: tensor<3x[}', ''],
  ['types that something else closes', 'func.func @f(%a: tuple<]', ''],
  ['open attributes', 'func.func @f(%a: i8 {', ''],
  ['open bodies', 'func.func @f() {', ''],
  ['more and more results', 'func.func @f() -> (i8, ', ''],
  ['open modules', 'module attributes {', ''],
  ['open attributes of a dialect', '#a.b<', ''],
  ['attributes of a dialect with comment marks', '#a.b<//> ', ''],
  ['functions in the generic form with open dictionaries', '"func.func"() <{a = ', ''],
  ['functions in the generic form with open regions', '"func.func"() ({ ', ''],
  ['functions in the generic form', '"func.func"() ({a}) {sym_name = "f", function_type = (i8', ''],
  ['open dictionaries of a dialect', '#a.b<{a = <', ''],
  ['open lists of a dialect', '#a.b<"x", [', ''],
  ['aliases of themselves', '#a = #a #a.b<#a, {a = #a}> ', ''],
  ['operations in open regions', '"a.b"() ({ ', ''],
  ['operations in regions that something else closes', '"a.b"() ({ } ', ''],
  ['operations without types', '"a.b"(%a) {a = [', ''],
  ['values', '%a, %b:2 ', ''],
  ['open locations', 'loc(fused["a":1:2, #a, ', ''],
])('functions, attributes and locations with %s take time in proportion to the text', (_, unit, end) => {
  const work = (input: Uint8Array): void => {
    functions(input);
    tree(input);
    dialectAttributes(input, '#a.b');
    const ends = Array.from(
      { length: Math.ceil(input.length / unit.length) },
      (_, index) => index * unit.length,
    );
    locationsOf(
      input,
      ends.map((end) => ({ end })),
    );
  };
  expectLinear(work, (growth) => repeated(unit, SMALL * growth) + end);
});
