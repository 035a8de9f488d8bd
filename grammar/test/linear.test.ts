import { expect, test } from 'vitest';
import { findConsumers, type Operation, parse } from '../src/main.ts';
import { bytes } from './fixtures.ts';

const SMALL = 1 << 16;
const GROWTH = 8;

function seconds(
  unit: string,
  size: number,
  end: string,
  before = '',
  work: (input: Uint8Array) => unknown = (input) => parse(input, { splitInputFile: unit.includes('-----') }),
): number {
  const input = bytes(before + unit.repeat(Math.ceil(size / unit.length)) + end);
  let best = Infinity;
  for (let run = 0; run < 3; run++) {
    const start = performance.now();
    work(input);
    best = Math.min(best, performance.now() - start);
  }
  return best / 1000;
}

// What makes a careless parser go over the same text again and again, or recurse.
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
  ['front ends with open types', 'torch.aten.mm %a, %b : !torch.vtensor<[2,', ''],
  ['front ends with more and more types', 'torch.aten.mm %a : f32, ', ''],
  ['quoted operators in open regions', '"torch.operator"(%a) <{name = "x"}> ({ ', ''],
  ['quoted operators without names in open regions', '"torch.operator"(%a) ({ ', ''],
  ['operators', 'torch.operator "x"(', ''],
  ['separators', '// -----"', ''],
  ['open comments', '//', ''],
  ['resources', '{-#', ''],
])('%s take time in proportion to their length', (_, unit, end) => {
  const small = seconds(unit, SMALL, end);
  const large = seconds(unit, SMALL * GROWTH, end);
  // Quadratic time would be 64 times as long; a fixed allowance covers what short runs are uncertain by.
  expect(large).toBeLessThan(small * GROWTH * 3 + 0.25);
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
  const long = (count: number): string => before + unit.repeat(count) + after;
  const time = (count: number): number => seconds(`${use}\n`, count * use.length, '', `${long(count)}\n`);
  expect(time(24_000)).toBeLessThan(time(3000) * GROWTH * 3 + 0.25);
});

test('a chain of aliases of any length is not followed for ever', () => {
  const lines = Array.from({ length: 50_000 }, (_, index) => `!a${index + 1} = !a${index}`);
  const text = `!a0 = f32\n${lines.join('\n')}\nlinalg.dot ins(%x, %y : !a50000, !a3) outs(%z : f32)`;
  const { operations } = parse(bytes(text));
  expect(operations[0]!.operands.map(({ type }) => type)).toEqual([
    { kind: 'opaque', text: '!a50000' },
    { kind: 'opaque', text: 'f32' },
    { kind: 'opaque', text: 'f32' },
  ]);
});

const user = '%1 = linalg.generic {iterator_types = [] } ins(%0 : f32) outs(%c : f32) {';
test.each([
  ['in one region', '%0 = linalg.matmul %0 ', ''],
  ['with other names', '%a = a.b %b, %c ', ''],
  ['in open braces', '{ %0 = a.b %1 ', ''],
  ['in open braces up to the depth that is allowed', '{ %0 ', '} '.repeat(9000)],
  ['in users that nest', `%0 = linalg.matmul ins() ${user}`, ''],
  ['in users that nest and end', `%0 = linalg.matmul ins() ${user} `, '}'.repeat(9000)],
  [
    'in dictionaries that nest and end',
    '%0 = linalg.matmul %1 = linalg.generic {a = { %0 ',
    '}'.repeat(18_000),
  ],
  ['in rows of users', '%0 = linalg.matmul %1 = linalg.generic {} ins(%0 : f32) ', ''],
  ['after commas', '%a, ', ''],
  ['with numbers', '%0#1 ', ''],
  ['in comments after words', 'a // x\n', ''],
])('consumers %s take time in proportion to the text', (_, unit, end) => {
  // Every place that could be an operation is asked about: parse() would not return most of them.
  const work = (input: Uint8Array): void => {
    const text = new TextDecoder().decode(input);
    const operations = [...text.matchAll(/linalg\.matmul/g)].map(
      ({ index }) => ({ start: index, results: [{ kind: 'opaque', text: 'f32' }] }) as unknown as Operation,
    );
    const last = { start: input.length - 1, results: [{}] } as unknown as Operation;
    findConsumers(input, [...operations, last]);
  };
  const small = seconds(unit, SMALL, end, '', work);
  const large = seconds(unit, SMALL * GROWTH, end, '', work);
  expect(large).toBeLessThan(small * GROWTH * 3 + 0.25);
});
