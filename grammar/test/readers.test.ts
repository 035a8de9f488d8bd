// Readers of attributes, locations, numbers, strings and symbols.
import { describe, expect, test } from 'vitest';
import { dialectAttributes, integerOf, locationsOf, parse, stringOf, symbolsOf } from '../src/main.ts';
import { bytes } from './fixtures.ts';

describe('attributes of a dialect', () => {
  const read = (text: string) =>
    dialectAttributes(bytes(text), '#a.b').map(({ values, entries }) => [
      ...values,
      Object.fromEntries(entries),
    ]);

  test.each<[string, string, unknown[]]>([
    ['values', '#a.b<"x", [1, 2], #c.d<"y">>', [['"x"', '[1, 2]', '#c.d<"y">', {}]]],
    ['nothing', '#a.b<>', [[{}]]],
    ['names', '#a.b<k = "v", l = 64 : i64>', [[{ k: '"v"', l: '64 : i64' }]]],
    [
      'a dictionary',
      '#a.b<"x", {k = "v", "l m" = {n = 1}, o}>',
      [['"x"', { k: '"v"', 'l m': '{n = 1}', o: 'unit' }]],
    ],
    [
      'brackets in brackets',
      '#a.b<{k = #c.d<e = <f|g, h = {i = [<J>, <K>]}>>, l = affine_map<(d0) -> (d0)>, m = 1}>',
      [[{ k: '#c.d<e = <f|g, h = {i = [<J>, <K>]}>>', l: 'affine_map<(d0) -> (d0)>', m: '1' }]],
    ],
    ['brackets in strings', '#a.b<{k = "}>", l = "\\"{<"}>', [[{ k: '"}>"', l: '"\\"{<"' }]]],
    ['comments and line ends', '#a.b< // >\r\n "x", {k = // }\r\n 1}\r\n>', [['"x"', { k: '1' }]]],
    ['in a comment', '// #a.b<1>\n#a.b<2>', [['2', {}]]],
    ['in a string', '"#a.b<1>" #a.b<2>', [['2', {}]]],
    ['in resources', '{-# "#a.b<1>" #a.b<2> #-} #a.b<3>', [['3', {}]]],
    ['longer names', '#a.bc<1> #a.b.c<2> !a.b<3> #a.b<4>', [['4', {}]]],
    ['an alias of one', '#x = #a.b<1>\nfoo {k = #x, l = [#x]}', [['1', {}]]],
    [
      'one in another',
      '#a.b<#a.b<1>> #c.d<#a.b<2>>',
      [
        ['#a.b<1>', {}],
        ['2', {}],
      ],
    ],
    [
      'values behind aliases, defined anywhere',
      '#y = {n = "}"}\nfoo #a.b<#x, {k = #y, l = #z, m = [#y], o = #c.d}>\n#x = #w\n#w = -1 : i64',
      [['-1 : i64', { k: '{n = "}"}', l: '#z', m: '[#y]', o: '#c.d' }]],
    ],
    ['an alias of itself', '#x = #x\n#a.b<#x>', [['#x', {}]]],
    ['without an end', '#a.b<1> #a.b<"x", {k = 1', [['1', {}]]],
    ['with the wrong end', '#a.b<{k = (]}> #a.b<1>', [['1', {}]]],
    ['with nothing between commas', '#a.b<1,,2> #a.b<3>', [['3', {}]]],
    ['without angles', '#a.b foo', []],
  ])('%s', (_, text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  test('have their byte offsets', () => {
    const input = bytes('"ü" #a.b < "x" > foo');
    const [found] = dialectAttributes(input, '#a.b');
    expect(new TextDecoder().decode(input.subarray(found!.start, found!.end))).toBe('#a.b < "x" >');
  });
});

describe('locations', () => {
  const matmul =
    'linalg.matmul ins(%a, %b : tensor<2x2xf32>, tensor<2x2xf32>) outs(%c : tensor<2x2xf32>) -> tensor<2x2xf32>';
  const read = (location: string, definitions = '') => {
    const input = bytes(
      `func.func @f() { %0 = ${matmul} ${location}\n return } loc("f":9:9)\n${definitions}`,
    );
    const { operations } = parse(input);
    expect(operations).toHaveLength(1);
    return locationsOf(input, operations)[0]!.map(({ file, line, column }) => `${file}:${line}:${column}`);
  };

  test.each<[string, string, string[], string?]>([
    ['none', '', []],
    ['unknown', 'loc(unknown)', []],
    ['a place', 'loc("a b.mlir":12:34)', ['a b.mlir:12:34']],
    ['a range', 'loc("a":1:2 to 3:4)', ['a:1:2']],
    ['a name', 'loc("x"("a":1:2))', ['a:1:2']],
    ['a name alone', 'loc("x")', []],
    ['several', 'loc(fused<"p">["a":1:2, "x"("b":3:4)])', ['a:1:2', 'b:3:4']],
    ['a call site', 'loc(callsite("a":1:2 at "b":3:4))', ['a:1:2', 'b:3:4']],
    ['brackets and escapes in the name', String.raw`loc("a)\22\\:1:1":2:3)`, ['a)"\\:1:1:2:3']],
    ['comments and blanks', 'loc // (\r\n ( "a" : 1 : 2 )', ['a:1:2']],
    ['an alias', 'loc(#loc3)', ['a:1:2'], '#loc3 = loc("a":1:2)'],
    [
      'aliases in aliases, each once',
      'loc(fused[#l1, "c":5:6, #l2])',
      ['a:1:2', 'b:3:4', 'c:5:6'],
      '#l0 = loc("a":1:2)\n#l1 = loc(callsite(#l0 at #l2))\n#l2 = loc("b":3:4)',
    ],
    ['an alias of itself', 'loc(#l)', ['a:1:2'], '#l = loc(fused[#l, "a":1:2])'],
    ['an alias that is not there', 'loc(fused[#l, "a":1:2])', ['a:1:2']],
    ['an alias of something else', 'loc(fused[#l, "a":1:2])', ['a:1:2'], '#l = 1'],
    ['no end', 'loc("a":1:2', ['a:1:2', 'f:9:9']],
  ])('%s', (_, location, expected, definitions) => {
    expect(read(location, definitions)).toEqual(expected);
  });

  test('with exponentially many places end', () => {
    const lines = Array.from(
      { length: 5000 },
      (_, index) => `#l${index + 1} = loc(fused[#l${index}, #l${index}, "a":1:${index}])`,
    );
    const found = read('loc(#l5000)', lines.join('\n'));
    expect(found.length).toBeLessThan(1000);
  });
});

test.each<[string, number | null]>([
  ['mark = 7', 7],
  ['mark = 7 : i64', 7],
  ['"mark" = -7 : si8', -7],
  ['mark // = 1\n = // 2\n 3', 3],
  ['mark = 0x1F', 31],
  ['mark = 9007199254740993', null],
  ['mark = 1.5', null],
  ['mark = 1e+5', null],
  ['mark = true', null],
  ['mark = "7"', null],
  ['mark = [7]', null],
  ['mark', null],
])('the number of %j is %j', (text, expected) => {
  const input = bytes(`{${text}, x = 1}`);
  expect(integerOf(input, { name: 'mark', start: 1, end: 1 + bytes(text).length })).toBe(expected);
});

test.each<[string, string | null]>([
  ['"a b"', 'a b'],
  ['""', ''],
  [String.raw`"\22\C3\BC\\"`, '"ü\\'],
  ['a', null],
  ['"a', null],
  ['"a" "b"', null],
  [' "a"', null],
  ['@"a"', null],
  ['', null],
])('the string %j is %j', (literal, expected) => {
  expect(stringOf(literal)).toBe(expected);
});

test.each<[string, string, string[]]>([
  [
    'with a visibility',
    'hal.executable public @a { }\nhal.executable private @b { } hal.executable @c',
    ['a', 'b', 'c'],
  ],
  ['quoted', 'hal.executable @"a b" { }', ['a b']],
  ['of other operations', 'hal.executable.variant @a hal.executable.export public @b', []],
  ['that are only used', 'hal.executable @a { x @b } "hal.executable @c" // hal.executable @d', ['a']],
  ['without an end', 'hal.executable @a { hal.executable public', ['a']],
])('symbols %s', (_, text, expected) => {
  expect(symbolsOf(bytes(text), 'hal.executable')).toEqual(expected);
});
