// Copies of functions for known sizes, in the compiler's text.
import { expect, test } from 'vitest';
import { specialised } from '../../src/input/specialised.ts';

const body = `    %0 = hal.buffer_view.dim<%arg0 : !hal.buffer_view>[0] : index loc("in.mlir":1:1)
    %1 = hal.tensor.import %arg0 "input0" : !hal.buffer_view -> tensor<?x8xf32>{%0} loc("in.mlir":1:1)
    %2 = hal.tensor.export %1 "output0" : tensor<?x8xf32>{%0} -> !hal.buffer_view loc("in.mlir":1:1)
    util.return %2 : !hal.buffer_view loc("in.mlir":1:1)
`;
const stub = 'attributes {iree.abi.stub}';
const functionNamed = (symbol: string, own = body) =>
  `  util.func public ${symbol}(%arg0: !hal.buffer_view) -> !hal.buffer_view ${stub} {\n${own}  } loc("in.mlir":1:1)\n`;
const moduleOf = (...functions: string[]) =>
  `module {\n${functions.join('')}} loc("in.mlir":0:0)\n{-#\n  weights\n#-}\n`;

test('a function gets a copy for each size, and its own body stays for all others', () => {
  const text = specialised(moduleOf(functionNamed('@f')), [
    { function: 'f', shapes: [[4, 8]] },
    { function: 'f', shapes: [[1, 8]] },
  ])!;
  expect(text.match(/util\.func \w+ @[\w$]+/g)).toEqual([
    'util.func private @f$sized0',
    'util.func private @f$sized1',
    'util.func private @f$any',
    'util.func public @f',
  ]);
  const partAt = (name: string) => text.slice(text.indexOf(`@${name}(`)).split('\n  }')[0]!;
  expect(partAt('f$sized0')).toContain(
    [
      '    %0 = arith.constant 4 : index loc("in.mlir":1:1)',
      '    %imported_1 = hal.tensor.import %arg0 "input0" : !hal.buffer_view -> tensor<4x8xf32> loc("in.mlir":1:1)',
      '    %1 = tensor.cast %imported_1 : tensor<4x8xf32> to tensor<?x8xf32> loc("in.mlir":1:1)',
    ].join('\n'),
  );
  expect(partAt('f$any')).toContain(body.trimEnd());
  expect(text.endsWith('{-#\n  weights\n#-}\n')).toBe(true);
});

test.each([
  ['of another name', '@g'],
  ['without dynamic sizes', '@f', body.replace('hal.buffer_view.dim', 'other.dim')],
])('a function %s stays as it is', (_, symbol, own = body) => {
  expect(specialised(moduleOf(functionNamed(symbol, own)), [{ function: 'f', shapes: [[4, 8]] }])).toBeNull();
});

test('names that need quotes keep them, and an exporter’s function is found by its twin with fences', () => {
  const text = specialised(moduleOf(functionNamed('@"a-b$async"')), [{ function: 'a-b', shapes: [[4, 8]] }])!;
  expect(text).toContain('util.func private @"a-b$async$sized0"(');
  expect(text).toContain('util.call @"a-b$async$any"(');
});

test('a size that the call does not give leaves the function as it is', () => {
  expect(specialised(moduleOf(functionNamed('@f')), [{ function: 'f', shapes: [null] }])).toBeNull();
});

test('a function of known sizes is marked as the copies are, because forms are for both', () => {
  const fixed = body.replace('hal.buffer_view.dim', 'other.dim').replaceAll('?x8xf32>{%0}', '4x8xf32>');
  const bare = functionNamed('@h', fixed).replace(` ${stub}`, '');
  const whole = moduleOf(functionNamed('@f'), functionNamed('@g', fixed), bare, functionNamed('@d'));
  const text = specialised(whole, [{ function: 'f', shapes: [[4, 8]] }])!;
  const marked = [...text.matchAll(/@([\w$]+)\(.*attributes \{.*iree_tuned\.sized/g)].map(([, name]) => name);
  expect(marked).toEqual(['f$sized0', 'g', 'h']);
  expect(text).toContain(`attributes {iree_tuned.sized, iree.abi.stub} {\n${fixed}`);
  expect(text).toContain(`-> !hal.buffer_view attributes {iree_tuned.sized} {\n${fixed}`);
});
