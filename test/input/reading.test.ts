import { expect, test } from 'vitest';
import { readArguments } from '../../src/compiler/arguments.ts';
import { elementTypeConversion } from '../../src/input/input.ts';

const types = ['f64', 'f32', 'f16', 'bf16', 'i64', 'i8'];

test.each<[string, string[], string[]]>([
  ['by default only f64 is demoted', [], ['f32', 'f32', 'f16', 'bf16', 'i64', 'i8']],
  ['not when told so', ['--iree-input-demote-f64-to-f32=false'], types],
  ['i64 when asked for', ['--iree-input-demote-i64-to-i32'], ['f32', 'f32', 'f16', 'bf16', 'i32', 'i8']],
  ['one after the other', ['--iree-input-demote-f32-to-f16'], ['f16', 'f16', 'f16', 'bf16', 'i64', 'i8']],
  [
    'promotions',
    ['--iree-input-promote-f16-to-f32', '--iree-input-promote-bf16-to-f32=true'],
    ['f32', 'f32', 'f32', 'f32', 'i64', 'i8'],
  ],
])('element types are converted: %s', (_, argv, expected) => {
  const convert = elementTypeConversion(readArguments(argv, () => 'flag'));
  expect(types.map(convert)).toEqual(expected);
});
