// Parameters in a program's text.
import { expect, test } from 'vitest';
import { parametersOf } from '../../src/input/parameters.ts';

const read = (text: string) => parametersOf(Buffer.from(text));

test('every parameter is found once, with its scope, its key and its type', () => {
  const text = `
util.global private @a = #flow.parameter.named<"model"::"layer.0/w"> : tensor<4x8xf32>
util.global private @b = #stream.parameter.named<"model"::"layer.0/w"> : tensor<4x8xf32>
util.global private @c = #flow.parameter.named<"bias"> : tensor<f16>
"#flow.parameter" is text`;
  expect(read(text)).toEqual([
    { scope: 'model', key: 'layer.0/w', shape: [4, 8], elementType: 'f32' },
    { scope: null, key: 'bias', shape: [], elementType: 'f16' },
  ]);
  expect(read('func.func @main() { return }')).toEqual([]);
});

test.each([
  ['a type that is not a tensor', '#flow.parameter.named<"a"::"b"> : vector<4xf32>'],
  ['dynamic sizes', '#flow.parameter.named<"a"::"b"> : tensor<?xf32>'],
  ['a name with escapes', '#flow.parameter.named<"a"::"b\\22"> : tensor<4xf32>'],
  ['more than a name', '#flow.parameter.named<"a"::"b", {x = 1}> : tensor<4xf32>'],
  ['an end', '#flow.parameter.named<"a'],
])('%s gives no parameters', (_, text) => {
  expect(read(`#flow.parameter.named<"a"::"ok"> : tensor<4xf32>\n${text}`)).toBeNull();
});

test('bytecode has the same texts', () => {
  const parameter = '#flow.parameter.named<"model"::"w"> : tensor<4x8xf32>\0';
  expect(parametersOf(Buffer.from(`ML\u00efR\0${parameter}\0more`, 'latin1'))).toEqual([
    { scope: 'model', key: 'w', shape: [4, 8], elementType: 'f32' },
  ]);
});
