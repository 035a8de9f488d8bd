// Sizes of calls with dynamic dimensions.
import { functions } from 'mlir-parser-ts';
import { expect, test } from 'vitest';
import { callSizes, callText } from '../../src/input/call-sizes.ts';
import { programSignature } from '../../src/input/signature.ts';
import { parseSizes } from '../../src/workload/sizes.ts';

const calls = (types: readonly string[], sizes: string) =>
  callSizes(
    functions(Buffer.from(`func.func @f(${types.map((type, i) => `%a${i}: ${type}`).join(', ')}) {}`))[0]!
      .arguments,
    parseSizes(sizes)!,
  )?.map((call) => `${callText(call)}${call.isExtra ? ' extra' : ''}`);

test.each([
  [
    'each length, and one that no tile divides',
    ['tensor<12x?x64xf32>'],
    'm=1,128,512',
    ['1', '128', '512', '509 extra'],
  ],
  ['one length', ['tensor<?xf32>'], 'm=1', ['1', '3 extra']],
  ['a length that is the odd one already', ['tensor<?xf32>'], 'm=3,4', ['3', '4']],
  ['whatever letter is given, where there is one', ['tensor<?x8xf32>'], 'b=2', ['2', '3 extra']],
  ['a batch and a length', ['tensor<?x?xi64>'], 'b=1,4 m=16', ['1x16', '4x16', '4x13 extra']],
  [
    'no batch where no argument has two dynamic dimensions',
    ['tensor<?x8xf32>'],
    'b=1,4 m=16',
    ['16', '13 extra'],
  ],
])('%s', (_, types, sizes, expected) => {
  expect(calls(types, sizes)).toEqual(expected);
});

test('there are no calls without dynamic dimensions, without sizes, or for too many sizes', () => {
  expect(calls(['tensor<4xf32>'], 'm=8')).toBeUndefined();
  expect(calls(['tensor<?xf32>'], '')).toBeUndefined();
  expect(calls(['tensor<?x?xf32>'], 'b=1,2,3,4 m=1,2,3,4')).toBeUndefined();
});

test('a function has an entry for each call', () => {
  const text = Buffer.from('func.func @f(%a: tensor<?x8xf32>, %b: i32) -> f32 { }');
  const found = programSignature(text, (type) => type, { m: [2, 16] });
  expect(found.map(({ name, arguments: types }) => [name, types[0]!.shape])).toEqual([
    ['f', [2, 8]],
    ['f', [16, 8]],
    ['f', [13, 8]],
  ]);
  const [unsupported] = programSignature(text, (type) => type);
  expect(unsupported!.unsupported).toBe(
    'an argument of type tensor<?x8xf32>: its sizes are dynamic, and --iree-tuned-dim gives none',
  );
});
