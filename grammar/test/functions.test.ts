import { describe, expect, test } from 'vitest';
import { functions, type Type } from '../src/main.ts';
import { bytes } from './fixtures.ts';

const typeText = (type: Type): string =>
  type.kind === 'opaque' ? type.text : `${type.kind} ${type.shape?.join('x') ?? '*'} ${type.elementType}`;

const read = (text: string): string[] =>
  functions(bytes(text)).map(
    ({ name, arguments: types, results }) =>
      `${name}(${types.map(typeText).join('; ')}) -> ${results.map(typeText).join('; ')}`,
  );

const MATRIX = 'tensor<2x3xf32>';

test.each<[string, string, string[]]>([
  ['public', `func.func @f(%a: ${MATRIX}) -> i8 { }`, ['f(tensor 2x3 f32) -> i8']],
  ['private', `func.func private @f(%a: ${MATRIX}) -> i8 { }`, []],
  ['a declaration', 'func.func @f(i8) -> i8\nfunc.func @g() { }', ['g() -> ']],
  ['a quoted symbol with an escape', String.raw`func.func @"a\22 {\C3\BC" () { }`, ['a" {ü() -> ']],
  [
    'line ends of two bytes',
    `module {\r\n  func.func @f( // one )\r\n    %a: ${MATRIX}\r\n  ) -> i8 {\r\n  }\r\n}`,
    ['f(tensor 2x3 f32) -> i8'],
  ],
  ['a comment in the head', `func.func @f(%a: // ) {\n ${MATRIX}) { }`, ['f(tensor 2x3 f32) -> ']],
  [
    'strings with brackets',
    `func.func @f(%a: i8 {x = "}, )", y = [{z = ">"}]}, %b: i1) attributes {w = "{"} { "{"() : () -> () }\nfunc.func @g() { }`,
    ['f(i8; i1) -> ', 'g() -> '],
  ],
  [
    'brackets in types',
    'func.func @f(%a: !x.y<"a, b", <[1, 2]>, (i8) -> i1>, %b: (i8, i1) -> (i8)) -> tuple<i1, tuple<i8>> { }',
    ['f(!x.y<"a, b", <[1, 2]>, (i8) -> i1>; (i8, i1) -> (i8)) -> tuple<i1, tuple<i8>>'],
  ],
  [
    'aliases, also of elements and through others',
    '!e = f16\n!t = tensor<4x!e>\n!u = !t\nfunc.func @f(%a: !u) -> (!t, !v) { }',
    ['f(tensor 4 f16) -> tensor 4 f16; !v'],
  ],
  ['an alias inside of a module is none', 'module { !t = i8 func.func @f(!t) { } }', ['f(!t) -> ']],
  [
    'tensors of the torch dialect',
    'func.func @f(%a: !torch.vtensor<[2,?],f32>, %b: !torch.tensor<[],si8>, %c: !torch.tensor<*,f16>) { }',
    ['f(vtensor 2x-1 f32; torch-tensor  si8; torch-tensor * f16) -> '],
  ],
  [
    'results that are arguments',
    `util.func public @f(%a: ${MATRIX}, %b: i8) -> (%a as ${MATRIX}, i1) { }`,
    ['f(tensor 2x3 f32; i8) -> tensor 2x3 f32; i1'],
  ],
  ['no type', 'func.func @f(%a: , i8) -> { }', []],
  ['no type of an argument', 'func.func @f(%a: , i8) { }', ['f(; i8) -> ']],
  [
    'in a module of a module',
    'module { builtin.module @m { func.func @f() { } } func.func @g() { } }',
    ['g() -> '],
  ],
  [
    'in the generic form',
    `"builtin.module"() <{sym_name = "m"}> ({
       "func.func"() <{function_type = (${MATRIX}, i1) -> (i8, ${MATRIX}), sym_name = "f"}> ({
       ^bb0(%a: ${MATRIX}, %b: i1): "func.return"() : () -> ()
       }) : () -> ()
       "util.func"() <{function_type = () -> i8, sym_name = "g", sym_visibility = "private"}> ({ "a.b"() : () -> () }) : () -> ()
       "func.func"() <{function_type = () -> i8, sym_name = "h"}> ({ }) : () -> ()
       "func.func"() ({ "a.b"() : () -> () }) {function_type = (!t) -> (), sym_name = "i"} : () -> ()
     }) : () -> ()
     func.func @j() { }`.replace('"builtin', '!t = i64 "builtin'),
    ['f(tensor 2x3 f32; i1) -> i8; tensor 2x3 f32', 'i(i64) -> ', 'j() -> '],
  ],
  ['after comment marks in a dialect’s attribute', '#a = #b.c<{//}>\nfunc.func @f() { }', ['f() -> ']],
  ['types of a dialect without a dot', 'func.func @f(%a: !b<c, (d) // e>) { }', ['f(!b<c, (d) // e>) -> ']],
  ['in another region', 'hal.executable @e { func.func @f() { } }\nfunc.func @g() { }', ['g() -> ']],
  [
    'in resources',
    '{-# dialect_resources: { b: { f: "func.func @f() { }" } } #-} func.func @g() { }',
    ['g() -> '],
  ],
  ['a body without an end', 'func.func @f() { } func.func @g() { {', ['f() -> ']],
  [
    'a string without an end, which ends with its line',
    'func.func @f() { } func.func @g(%a: i8 {x = "\n}) { }',
    ['f() -> ', 'g(i8) -> '],
  ],
])('%s', (_, text, expected) => {
  expect(read(text)).toEqual(expected);
});

test('bytecode has none', () => {
  expect(functions(Uint8Array.of(0x4d, 0x4c, 0xef, 0x52, ...bytes('\nfunc.func @f() { }')))).toEqual([]);
});

test('functions have their byte offsets', () => {
  const text = '// ü\nmodule {\n  func.func public @f() { "}"() : () -> () }\n  func.func @g() { }\n}\n';
  const input = bytes(text);
  const spelled = functions(input).map(({ start, end }) =>
    new TextDecoder().decode(input.subarray(start, end)),
  );
  expect(spelled).toEqual(['func.func public @f() { "}"() : () -> () }', 'func.func @g() { }']);
});

test('blobs of any length are skipped', () => {
  const blob = Buffer.alloc(2 ** 26, 'A');
  const input = Buffer.concat([
    bytes('func.func @f() -> i8 { %c = arith.constant dense<"0x'),
    blob,
    bytes('"> : tensor<1xi8> }\n{-# dialect_resources: { builtin: { w: "0x'),
    blob,
    bytes('" } } #-}\nfunc.func @g() { }'),
  ]);
  expect(functions(input).map(({ name }) => name)).toEqual(['f', 'g']);
});

describe('every prefix of a program', () => {
  const text = `!t = tensor<4x8xf32, #e<{a = "}"}>>
module @m attributes {a = {b = "{"}} {
  func.func @"f g"(%a: !t {x}, %b: tuple<i8>) -> (!t {y}) attributes {z} { %0 = a.b { } }
  util.func public @h(%a: i8) -> (%a as i8) { }
}`;
  test('has the functions that have ended in it', () => {
    const all = functions(bytes(text));
    expect(all).toHaveLength(2);
    for (let length = 0; length <= text.length; length++) {
      const found = functions(bytes(text.slice(0, length)));
      expect(found).toEqual(all.filter(({ end }) => end <= length));
    }
  });
});
