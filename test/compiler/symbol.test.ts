import { expect, test } from 'vitest';
import { nameOfSymbol, SYMBOL } from '../../src/compiler/symbol.ts';

test.each([
  ['@main_dispatch_0', 'main_dispatch_0'],
  ['@main$async', 'main$async'],
  ['@"torch-jit-export"', 'torch-jit-export'],
  ['@"Model from PaddlePaddle."', 'Model from PaddlePaddle.'],
  ['@"a (b) {c}"', 'a (b) {c}'],
  [String.raw`@"gr\C3\B6\C3\9Fe"`, 'größe'],
  [String.raw`@"a\22b\\c"`, 'a"b\\c'],
  [String.raw`@"a\"b"`, 'a"b'],
])('%s is the symbol of a name', (symbol, name) => {
  const [found] = new RegExp(SYMBOL).exec(`util.func public ${symbol}(%x: i32) -> "@other"`)!;
  expect(found).toBe(symbol);
  expect(nameOfSymbol(found)).toBe(name);
});
