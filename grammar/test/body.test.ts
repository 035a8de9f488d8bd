import { expect, test } from 'vitest';
import { only } from './fixtures.ts';

function bodyOf(statements: string, args = '%x: f16, %y: f16, %z: f32'): string {
  return only(`%0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
    affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<3x5xf16>, tensor<5x7xf16>) outs(%c : tensor<3x7xf32>) {
    ^bb0(${args}): ${statements}
  } -> tensor<3x7xf32>`).body;
}

const ending = '%s = arith.addf %z, %p : f32 linalg.yield %s : f32';

test.each([
  [
    'operands either way round',
    '%p = arith.mulf %y, %x : f32 %s = arith.addf %p, %z : f32 linalg.yield %s : f32',
  ],
  [
    'casts',
    `%i = arith.extf %x : f16 to f32 %j = arith.extf %y : f16 to f32 %p = arith.mulf %i, %j : f32 ${ending}`,
  ],
  ['a cast of one input', `%i = arith.sitofp %x : i8 to f32 %p = arith.mulf %i, %y : f32 ${ending}`],
  ['fast math', `%p = arith.mulf %x, %y fastmath<contract> {a = "%q"} : f32 ${ending}`],
  [
    'integers',
    '%p = arith.muli %x, %y overflow<nsw> : i32 %s = arith.addi %z, %p : i32 linalg.yield %s : i32',
  ],
  [
    'the quoted form',
    `%p = "arith.mulf"(%x, %y) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32 loc(#loc)
     %s = "arith.addf"(%z, %p) : (f32, f32) -> f32 "linalg.yield"(%s) : (f32) -> ()`,
  ],
])('multiply-add with %s', (_, statements) => {
  expect(bodyOf(statements)).toBe('multiply-add');
});

test.each([
  ['both', `%i = arith.extui %x : i8 to i32 %j = arith.extui %y : i8 to i32 %p = arith.muli %i, %j : i32`],
  ['the one that needs it', `%i = arith.uitofp %x : i8 to f32 %p = arith.mulf %i, %y : f32`],
])('multiply-add-unsigned with unsigned casts of %s', (_, statements) => {
  expect(bodyOf(`${statements} %s = arith.addi %z, %p : i32 linalg.yield %s : i32`)).toBe(
    'multiply-add-unsigned',
  );
});

test.each([
  [
    'casts of both signs',
    `%i = arith.extui %x : i8 to i32 %j = arith.extsi %y : i8 to i32 %p = arith.muli %i, %j : i32 ${ending}`,
  ],
  ['a product that is cast', `%q = arith.mulf %x, %y : f16 %p = arith.extf %q : f16 to f32 ${ending}`],
  [
    'two casts of an input',
    `%i = arith.truncf %x : f32 to f16 %j = arith.extf %i : f16 to f32 %p = arith.mulf %j, %y : f32 ${ending}`,
  ],
  [
    'a result that is cast',
    '%p = arith.mulf %x, %y : f32 %s = arith.addf %z, %p : f32 %t = arith.truncf %s : f32 to f16 linalg.yield %t : f16',
  ],
  [
    'an accumulator that is cast',
    `%p = arith.mulf %x, %y : f32 %o = arith.extf %z : f16 to f32 %s = arith.addf %o, %p : f32
     %t = arith.truncf %s : f32 to f16 linalg.yield %t : f16`,
  ],
  ['an input that is negated', `%i = arith.negf %x : f32 %p = arith.mulf %i, %y : f32 ${ending}`],
  ['bits', '%p = arith.andi %x, %y : i8 %s = arith.ori %z, %p : i8 linalg.yield %s : i8'],
])('multiply-add-like, which matchers take for a contraction, with %s', (_, statements) => {
  expect(bodyOf(statements)).toBe('multiply-add-like');
});

test.each([
  ['a square', `%p = arith.mulf %x, %x : f32 ${ending}`],
  [
    'the accumulator multiplied',
    '%p = arith.mulf %x, %z : f32 %s = arith.addf %p, %y : f32 linalg.yield %s : f32',
  ],
  ['bits that are added', '%p = arith.andi %x, %y : i8 %s = arith.addi %z, %p : i8 linalg.yield %s : i8'],
  ['a maximum', '%p = arith.mulf %x, %y : f32 %s = arith.maximumf %z, %p : f32 linalg.yield %s : f32'],
  [
    'only the product yielded',
    '%p = arith.mulf %x, %y : f32 %s = arith.addf %z, %p : f32 linalg.yield %p : f32',
  ],
  ['an outer value', '%p = arith.mulf %x, %outer : f32 %s = arith.addf %z, %p : f32 linalg.yield %s : f32'],
  [
    'an operation without a result',
    `%p = arith.mulf %x, %y : f32 memref.store %p, %m[] : memref<f32> ${ending}`,
  ],
  [
    'the same at the end',
    `%p = arith.mulf %x, %y : f32 ${ending.replace('linalg', '"a.b"() : () -> () linalg')}`,
  ],
  ['the same after the end', `%p = arith.mulf %x, %y : f32 ${ending} a.b`],
  ['a zero point', `%i = arith.subi %x, %zp : i32 %p = arith.muli %i, %y : i32 ${ending}`],
])('anything else, such as %s, is other', (_, statements) => {
  expect(bodyOf(statements)).toBe('other');
});

test('without block arguments it is other', () => {
  expect(bodyOf('linalg.yield %a : f32', '')).toBe('other');
});
