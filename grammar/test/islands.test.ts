import { describe, expect, test } from 'vitest';
import { bytes, only, parseText } from './fixtures.ts';
import { parse } from '../src/main.ts';

const lists = 'ins(%a, %b : tensor<3x5xf32>, tensor<5x7xf32>) outs(%c : tensor<3x7xf32>)';
const matmul = `linalg.matmul ${lists} -> tensor<3x7xf32>`;
const quoted =
  '"linalg.matmul"(%a, %b, %c) : (tensor<3x5xf32>, tensor<5x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>';

describe('not operations', () => {
  test.each([
    ['comments', `// ${matmul}\n//${quoted}`],
    ['strings', `foo.bar {a = "${matmul}", b = "\\"${matmul}", c = "\\\\"} : i32`],
    ['lists of names', 'transform.structured.match ops{["linalg.matmul"]} in %x'],
    [
      'names of dictionary entries',
      'foo.bar {linalg.matmul = 1 : i32, x} foo.baz {linalg.matmul, y} foo.baz {linalg.matmul}',
    ],
    [
      'what pdl talks about',
      '%o = pdl.operation "linalg.matmul" (%0, %1 : !pdl.value, !pdl.value) -> (%t : !pdl.type)',
    ],
    ['the same on the next line', '%o = pdl.operation\n "linalg.matmul" (%0, %1 : !pdl.value, !pdl.value)'],
    [
      'callees on lines of their own',
      '%0 = emitc.call_opaque\n "linalg.matmul"\n (%a, %b, %c) : (i32, i32, i32) -> i32',
    ],
    ['callees', 'emitc.call_opaque "linalg.matmul"(%a, %b, %c) : (i32, i32, i32) -> i32'],
    [
      'locations',
      '#loc = loc("linalg.matmul"(#loc1))\nfoo.bar loc(callsite("linalg.matmul"("f":1:2) at #loc))',
    ],
    ['symbols', 'func.call @linalg.matmul(%a) : (i32) -> () func.call @"linalg.matmul"(%a) : (i32) -> ()'],
    ['longer names', `linalg.matmul_like ${lists} my.linalg.matmul ${lists}`],
    ['resources', `{-# dialect_resources: { builtin: { a: "0x00", b: "#-}", c: ${matmul} } } #-}`],
    [
      'bodies of transform sequences',
      `module { transform.named_sequence @m(%x: !transform.any_op {transform.readonly}) attributes {a} {
         %0 = ${matmul} transform.foo { ^bb0: %1 = ${quoted} } transform.yield }
         transform.sequence failures(propagate) { ^bb0(%y: i32): %0 = ${matmul} }
         "transform.named_sequence"() <{sym_name = "q"}> ({ %2 = ${quoted} }) : () -> () }`,
    ],
  ])('%s', (_, text) => {
    expect(parseText(text)).toEqual({ operations: [], problems: [] });
  });
});

describe('operations', () => {
  test.each([
    [
      'after a transform sequence',
      `transform.named_sequence @m() { ${matmul} }\nfunc.func @f() { ${matmul} }`,
    ],
    ['after resources', `{-# a: { b: "}{" } #-} ${matmul}`],
    ['after an unbalanced symbol', `func.func @"a { // b"() { ${matmul} }`],
    ['after names that end in a dash', `func.func private @f(!T->!T) func.func @g() { ${matmul} }`],
    ['after comparisons', `affine.if affine_set<(d0) : (d0 - 3 >= 0, 5 - d0 >= 0)>(%i) { ${matmul} }`],
    ['after a type, on one line', `%0 = foo.bar : f32 ${matmul}`],
    ['in quoted form after a type, on one line', `%0 = foo.bar : f32 ${quoted}`],
    ['in quoted form after an operation without anything', `gpu.barrier\n${quoted}`],
    ['in quoted form after such an operation, on one line', `gpu.barrier ${quoted}`],
    ['after comment marks in the attribute of a dialect', `foo.bar {a = #foo.bar<http://x/{y}>} ${matmul}`],
    ['after comment marks in an attribute without a dot', `foo.bar {a = #foo<"}" // {} ->>} ${matmul}`],
    ['after an attribute of a dialect without an end', `foo.bar #foo.bar< ${matmul}`],
    ['in the regions of quoted operations', `"scf.if"(%x) ({ ${matmul} }, { }) : (i1) -> ()`],
    [
      'after a dense constant of any length',
      `%0 = arith.constant dense<"0x${'AB'.repeat(100)}"> : tensor<f32> ${matmul}`,
    ],
    ['after escapes in long strings', `foo.bar "${'\\22\\"'.repeat(100)}" ${matmul}`],
    ['in lines that end with a carriage return', `// one\r${matmul}\r\n`],
  ])('%s', (_, text) => {
    expect(only(text).name).toBe('linalg.matmul');
  });
});

test('a result of several has a number, also behind blanks and comments', () => {
  const values = ['%a #1', '%b // #2\n#0', '%c#12'];
  const text = matmul.replace('%a, %b', values.slice(0, 2).join()).replace('%c', values[2]!);
  expect(only(text).operands.map(({ value }) => value)).toEqual(['%a#1', '%b#0', '%c#12']);
});

test('operations behind an unterminated resource section are found', () => {
  const { operations } = parseText(`{-# a\n${matmul}\n{-# ${matmul}`);
  expect(operations).toHaveLength(2);
});

describe('the names of results', () => {
  const mm = 'torch.aten.mm %a, %b : !torch.vtensor, !torch.vtensor -> !torch.vtensor';
  test.each([
    [`%0 = ${matmul}`, ['%0']],
    [`%x, // b\n%y = ${mm}, i1`, ['%x', '%y']],
    [`%x:2, %y = ${mm}, i1, i8`, ['%x#0', '%x#1', '%y']],
    [`foo.bar %z, %w %0:1 = ${quoted}`, ['%0']],
    [`%0:2 = ${quoted}`, []],
    [`%0:99999999999999999999 = ${quoted}`, []],
    [`foo.bar %0 ${matmul}`, []],
  ])('%s', (text, names) => {
    expect(only(text).resultNames).toEqual(names);
  });
});

describe('the symbol', () => {
  test.each([
    [`func.func @main(%x: f32 {a.b}) -> (f32 {c}) attributes {d = @no} { ${matmul} }`, 'main'],
    [`util.func public @f(%x: f32) { scf.if %c { ${matmul} } }`, 'f'],
    [
      `module @m { func.func private @d() func.func @f() { func.call @g() : () -> () scf.for %i { ${matmul} } } }`,
      'f',
    ],
    [`module @m { func.func @f() { } %0 = ${matmul} }`, 'm'],
    [`module @m { } module { %0 = ${matmul} }`, null],
    [`func.func @"a b\\22\\C3\\BC"() { ${matmul} }`, 'a b"ü'],
    [`"func.func"() <{function_type = () -> (), sym_name = "q"}> ({ %0 = ${quoted} }) : () -> ()`, 'q'],
    [`"func.func"() ({ %0 = ${quoted} }) {function_type = () -> (), sym_name = "q"} : () -> ()`, 'q'],
    [
      `"m.m"() ({ "func.func"() ({ "scf.if"(%x) ({ ${matmul} }) : (i1) -> () }) {sym_name = "q"} : () -> () }) {sym_name = "m"} : () -> ()`,
      'q',
    ],
    [
      `"m.m"() ({ "foo.bar"() ({ ${matmul} }) {a = {sym_name = "no"}} : () -> () "x.y"() {sym_name = "no"} : () -> () }) {sym_name = "m"} : () -> ()`,
      'm',
    ],
    [`"func.func"() ({ func.func @f() { ${matmul} } }) {sym_name = "q"} : () -> ()`, 'f'],
    [`"foo.bar"() ({ ${matmul} }) : () -> () "x.y"() {sym_name = "no"} : () -> ()`, null],
    [`func.func @f() { call @g() : () -> () } func.func @h() { } foo.bar { ${matmul} }`, null],
    [matmul, null],
  ])('%s', (text, symbol) => {
    expect(only(text).symbol).toBe(symbol);
  });
});

describe('chunks', () => {
  const text = `!T = tensor<3x5xf32>
func.func @f() { linalg.matmul ins(%a, %b : !T, tensor<5x7xf32>) outs(%c : tensor<3x7xf32>) }
// -----
func.func @g() { linalg.matmul ins(%a, %b : !T, tensor<5x7xf32>) outs(%c : tensor<3x7xf32>) }`;

  test('are read separately on request', () => {
    const { operations } = parseText(text, true);
    expect(operations.map(({ chunk, symbol, operands }) => [chunk, symbol, operands[0]!.type.kind])).toEqual([
      [0, 'f', 'tensor'],
      [1, 'g', 'opaque'],
    ]);
    expect(text.slice(operations[1]!.start, operations[1]!.start + 13)).toBe('linalg.matmul');
  });

  test('are one text by default', () => {
    const { operations } = parseText(text);
    expect(operations.map(({ chunk, operands }) => [chunk, operands[0]!.type.kind])).toEqual([
      [0, 'tensor'],
      [0, 'tensor'],
    ]);
  });

  test('are split at each separator in the bytes, as by the compiler', () => {
    const { operations, problems } = parseText(`foo.bar "// -----" ${matmul}`, true);
    expect(operations).toEqual([]);
    expect(problems.map(({ message }) => message)).toEqual([
      'a string without an end',
      'a string without an end',
    ]);
    expect(only(`foo.bar "// -----" ${matmul}`).chunk).toBe(0);
  });
});

describe('problems', () => {
  test.each([
    ['a byte order mark', `\uFEFFfoo.bar`, 0],
    ['braces that stay open', 'foo.bar { foo.baz {', 19],
    ['a brace that closes nothing', 'foo.bar }', 8],
    ['a string without an end', 'foo.bar "abc', 8],
    ['resources without an end', '{-# a: { b: "c" }', 0],
    ['a string over two lines', `foo.bar "${'a'.repeat(100)}\nb`, 8],
  ])('%s', (_, text, offset) => {
    expect(parseText(text)).toMatchObject({ operations: [], problems: [{ offset }] });
  });

  test('for bytecode', () => {
    expect(parse(Uint8Array.of(0x4d, 0x4c, 0xef, 0x52, 0x0d)).problems).toHaveLength(1);
  });

  test('an empty input has none', () => {
    expect(parse(bytes(''), { splitInputFile: true })).toEqual({ operations: [], problems: [] });
  });
});
