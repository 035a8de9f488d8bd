import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  callName,
  declaredSignature,
  programSignature,
  type ProgramFunction,
} from '../../src/input/signature.ts';
import { parseSizes } from '../../src/settings/wanted-sizes.ts';
import { root } from '../support/real-tools.ts';

const same = (elementType: string) => elementType;
const demoted = (elementType: string) => (elementType === 'f64' ? 'f32' : elementType);
const read = (text: string, convert = same) => programSignature(Buffer.from(text), convert);

/** `@main(4x8xf32, i32) -> f32`, or the reason. */
function spell({ name, arguments: types, results, unsupported }: ProgramFunction): string {
  if (unsupported !== null) return `@${name}: ${unsupported}`;
  const inputs = types.map(({ shape, elementType }) => [...(shape ?? ['']), elementType].join('x'));
  return `@${name}(${inputs.join(', ')}) -> ${results.map(({ elementType }) => elementType).join(', ')}`;
}
const spellAll = (text: string, convert = same) => read(text, convert).map(spell);

describe('functions', () => {
  test.each<[string, string, string[]]>([
    ['public without a word', 'func.func @f(%a: tensor<2xf32>) -> tensor<2xi8> { }', ['@f(2xf32) -> i8']],
    ['public', 'func.func public @f(%a: tensor<2xf32>) -> tensor<2xi8> { }', ['@f(2xf32) -> i8']],
    ['private', 'func.func private @f(%a: tensor<2xf32>) -> tensor<2xi8> { }', []],
    ['nested', 'func.func nested @f(%a: tensor<2xf32>) -> tensor<2xi8> { }', []],
    ['a declaration', 'func.func public @f(%a: tensor<2xf32>) -> tensor<2xi8>', []],
    ['util', 'util.func public @f(%a: tensor<2xf32>) -> tensor<2xi8> { }', ['@f(2xf32) -> i8']],
    [
      'a result in place of an argument',
      'util.func public @f(%a: tensor<2xf32>) -> (%a as tensor<2xf32>) { }',
      ['@f(2xf32) -> f32'],
    ],
    ['several', 'func.func @f() -> i1 { }\nfunc.func @g() -> i8 { }', ['@f() -> i1', '@g() -> i8']],
    ['no results', 'func.func @f(%a: i32) { }', ['@f: it returns nothing that could be looked at']],
    ['several results', 'func.func @f() -> (i8, tensor<f32>) { }', ['@f() -> i8, f32']],
    [
      'attributes and locations',
      'func.func @f(%a: tensor<2xf32> {a.b = "x, y)"} loc("here"), %b: i8) -> (f32 {c.d}) attributes {e = {f}} { }',
      ['@f(2xf32, xi8) -> f32'],
    ],
    [
      'inside of a module',
      'module @m attributes {a = {}} {\n func.func @f() -> i1 { %0 = x { } }\n func.func @g() -> i1 { }\n}',
      ['@f() -> i1', '@g() -> i1'],
    ],
    ['inside of two modules', 'module { module @m { func.func @f() -> i1 { } } }', []],
    ['in a region of something else', 'hal.executable { func.func @f() -> i1 { } }', []],
    ['in a comment', '// func.func @f() -> i1 { }', []],
    ['in a string', '#a = "func.func @f() -> i1 { }"', []],
    ['a quoted name', 'func.func @"a \u00fc"() -> i1 { }', ['@a \u00fc() -> i1']],
    ['comments and blanks', 'func.func// (\n@f ( %a : tensor < 2 x f32 > ) -> i1 {}', ['@f(2xf32) -> i1']],
    ['cut off', 'func.func @f(%a: tensor<2xf32>', []],
    ['after something cut off', 'func.func @f(\nfunc.func @g() -> i1 { }', []],
  ])('%s', (_, text, expected) => {
    expect(spellAll(text)).toEqual(expected);
  });
});

describe('types of arguments', () => {
  test.each([
    ['tensor<4x8xf32>', '4x8xf32'],
    ['tensor<0x8xf32>', '0x8xf32'],
    ['tensor<f16>', 'f16'],
    ['tensor<2xbf16>', '2xbf16'],
    ['tensor<2xf8E4M3FNUZ>', '2xf8E4M3FNUZ'],
    ['tensor<2xf64>', '2xf32'],
    ['!torch.vtensor<[4,8],si64>', '4x8xsi64'],
    ['!torch.vtensor<[],f32>', 'f32'],
    ['!torch.tensor<[2],ui8>', '2xui8'],
    // The runtime checks its buffer before any demotion.
    ['!torch.vtensor<[2],f64>', '2xf64'],
    ['!torch.int', 'xi64'],
    ['!torch.float', 'xf32'],
    ['!torch.bool', 'xi1'],
    ['index', 'xindex'],
    ['f64', 'xf32'],
    ['!alias', '4xi8'],
    ['!chain', '4xi8'],
  ])('%s', (type, expected) => {
    const text = `!alias = tensor<4xi8>\n!chain = !alias\nfunc.func @f(%a: ${type}, %b: i1) -> i1 { }`;
    expect(spellAll(text, demoted)).toEqual([`@f(${expected}, xi1) -> i1`]);
  });

  test.each([
    ['tensor<4x?xf32>', 'its sizes are dynamic'],
    ['!torch.vtensor<[?,4],f32>', 'its sizes are dynamic'],
    ['tensor<*xf32>', 'its rank is not known'],
    ['!torch.vtensor<*,f32>', 'its rank is not known'],
    ['tensor<4xf32, #enc<{a = 1}>>', 'it has an encoding'],
    ['tensor<4xi4>', 'read no such elements'],
    ['tensor<4xcomplex<f32>>', 'read no such elements'],
    ['tensor<4xindex>', 'read no such elements'],
    ['!torch.vtensor<[4],!torch.qint8>', 'read no such elements'],
    ['memref<4xf32>', 'cannot make one'],
    ['!hal.buffer_view', 'cannot make one'],
    ['!torch.vtensor', 'cannot make one'],
    ['!endless', 'cannot make one'],
    ['bf16', 'cannot make one'],
    ['', 'cannot make one'],
  ])('unsupported: %s', (type, expected) => {
    const [found] = read(`!endless = !endless\nfunc.func @f(%a: ${type}) -> i1 { }`);
    expect(found?.unsupported).toContain(expected);
  });

  test('results have the spelling of decodeElements', () => {
    const text = 'func.func @f() -> (index, tensor<?xsi8>, !torch.vtensor<[?],f64>, tensor<2xf64>, !x.y) { }';
    expect(read(text, demoted)[0]?.results).toEqual([
      { elementType: 'i64', shape: null },
      { elementType: 'i8', shape: [-1] },
      { elementType: 'f64', shape: [-1] },
      { elementType: 'f32', shape: [2] },
      { elementType: '!x.y', shape: null },
    ]);
  });
});

test('declarations in the output of iree-dump-module are read', () => {
  const dump = `Exported Functions:
  [  0] main(!vm.ref<?>, i32) -> (!vm.ref<?>)
        iree.abi.declaration: sync func @main(%input0: tensor<2xf32>, %input1: i32) -> (%output0: tensor<2xf32>)
  [  1] other() -> (!vm.ref<?>)
  [  2] last(!vm.ref<?>) -> (!vm.ref<?>)
        iree.abi.declaration: async func @last(%input0: tensor<?xf32>) -> (%output0: tensor<?xf32>)
`;
  expect(declaredSignature(dump).map(spell)).toEqual([
    '@main(2xf32, xi32) -> f32',
    '@last: its sizes are dynamic, and --iree-tuned-dim gives none for arg0.0',
  ]);
});

describe('never throws', () => {
  test('on random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        programSignature(bytes, same);
      }),
    );
  });
  test('on any order of the parts of functions', () => {
    const parts = [
      'func.func',
      '@f',
      '(',
      ')',
      '->',
      '{',
      '}',
      '<',
      '>',
      ',',
      ':',
      '%a',
      '"',
      '\\',
      '=',
      '//',
      '\n',
    ];
    const token = fc.constantFrom(
      ...parts,
      '!a',
      'tensor',
      'module',
      'attributes',
      'as',
      '@"',
      ' ',
      '[',
      ']',
      'f32',
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 60 }), (tokens) => {
        programSignature(Buffer.from(tokens.join('')), same);
        declaredSignature(`iree.abi.declaration: sync func ${tokens.join('')}`);
      }),
      { numRuns: 1000 },
    );
  });
  test('on a program with a part missing', () => {
    const text = readFileSync(join(root, 'examples', 'mlp.mlir'));
    expect(programSignature(text, same).map(spell)).toHaveLength(1);
    fc.assert(
      fc.property(fc.nat(text.length), fc.nat(200), (start, length) => {
        programSignature(Buffer.concat([text.subarray(0, start), text.subarray(start + length)]), same);
      }),
    );
  });
  test.each([' ', 'a', '"', '\\', '{', '(', '<', '//', '%a'])('on megabytes of %j', (text) => {
    expect(read(`func.func @f(%a: tensor<${text.repeat(2e6)}`)).toEqual([]);
  });
});

describe('calls of a function with dynamic dimensions', () => {
  const calls = (types: readonly string[], sizes: string) => {
    const text = `func.func @f(${types.map((type, i) => `%a${i}: ${type}`).join(', ')}) {}`;
    return programSignature(Buffer.from(text), same, parseSizes(sizes)!).map(
      (one) => `${callName(one)}${one.call?.isExtra === true ? ' extra' : ''}`,
    );
  };

  test.each([
    [
      'have each length, and one that no tile divides',
      ['tensor<12x?x64xf32>'],
      'm=1,128',
      ['1', '128', '127 extra'],
    ],
    ['have one length', ['tensor<?xf32>'], 'm=1', ['1', '3 extra']],
    ['have no extra length if the user gives it', ['tensor<?xf32>'], 'm=3,4', ['3', '4']],
    ['have the only sizes, whatever their letter', ['tensor<?x8xf32>'], 'b=2', ['2', '3 extra']],
    ['have a batch and a length', ['tensor<?x?xi64>'], 'b=1,4 m=16', ['1x16', '4x16', '4x13 extra']],
    [
      'have no batch without an argument of two dynamic dimensions',
      ['tensor<?x8xf32>'],
      'b=1,4 m=16',
      ['16', '13 extra'],
    ],
  ])('%s', (_, types, sizes, expected) => {
    expect(calls(types, sizes)).toEqual(expected.map((call) => `f at ${call}`));
  });

  test.each([
    ['dynamic dimensions', ['tensor<4xf32>'], 'm=8'],
    ['sizes', ['tensor<?xf32>'], ''],
    ['few enough sizes', ['tensor<?x?xf32>'], 'b=1,2,3,4 m=1,2,3,4,5'],
  ])('do not exist without %s', (_, types, sizes) => {
    expect(calls(types, sizes)).toEqual(['f']);
  });

  test('have the sizes in the types of the arguments', () => {
    const text = Buffer.from('func.func @f(%a: tensor<?x8xf32>, %b: i32) -> f32 { }');
    const shapes = programSignature(text, same, parseSizes('m=2,16')!).map((one) => one.arguments[0]!.shape);
    expect(shapes).toEqual([
      [2, 8],
      [16, 8],
      [13, 8],
    ]);
    expect(programSignature(text, same)[0]!.unsupported).toBe(
      'its sizes are dynamic, and --iree-tuned-dim gives none for arg0.0',
    );
  });
});
