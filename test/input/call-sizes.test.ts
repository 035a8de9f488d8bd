import { describe, expect, test } from 'vitest';
import { dynamicFunctions } from '../../src/input/sizes-at-calls.ts';
import { callName, programSignature } from '../../src/input/signature.ts';
import { parseSizes } from '../../src/settings/wanted-sizes.ts';

/** As PyTorch's exporter writes it. */
const DECODER = `#map = affine_map<()[s0, s1] -> (s0, 4, s1 * 2 + 1, 64)>
module {
  func.func @prefill(%arg0: !torch.vtensor<[?,?],si64>, %arg1: !torch.vtensor<[?,4,?,64],f32>) -> !torch.vtensor<[?,?],f32> {
    %0 = torch.symbolic_int "batch" {min_val = 1, max_val = 16} : !torch.int
    %1 = torch.symbolic_int "seq" {min_val = 2, max_val = 9223372036854775806} : !torch.int
    torch.bind_symbolic_shape %arg0, [%0, %1], affine_map<()[s0, s1] -> (s0, s1)> : !torch.vtensor<[?,?],si64>
    torch.bind_symbolic_shape %arg1, [%0, %1], #map : !torch.vtensor<[?,4,?,64],f32>
  }
  func.func @decode(%arg0: !torch.vtensor<[?,1],si64>) -> !torch.vtensor<[?,1],f32> {
    %0 = torch.symbolic_int "batch" {min_val = 1, max_val = 16} : !torch.int
    torch.bind_symbolic_shape %arg0, [%0], affine_map<()[s0] -> (s0, 1)> : !torch.vtensor<[?,1],si64>
  }
}
`;

const callsAt = (text: string, sizes: string) =>
  programSignature(Buffer.from(text), (type) => type, parseSizes(sizes)!).map((one) =>
    one.unsupported === null
      ? `${callName(one)}: ${one.arguments.map(({ shape }) => shape?.join('x')).join(', ')}${one.call?.isExtra ? ' extra' : ''}`
      : `${one.name}: ${one.unsupported}`,
  );

test('sizes of a program have the names that its exporter gives', () => {
  const [prefill, decode] = dynamicFunctions(Buffer.from(DECODER), []);
  expect(prefill?.dimensions.sizes).toEqual([
    { name: 'batch', places: ['arg0.0', 'arg1.0'], range: [1, 16] },
    { name: 'seq', places: ['arg0.1'], range: [2, Infinity] },
  ]);
  expect(decode?.dimensions.sizes.map(({ name }) => name)).toEqual(['batch']);
});

describe('calls by names', () => {
  const CALLS: [string, string, string[]][] = [
    [
      'have every combination of a set',
      'batch=1,4 seq=8',
      [
        'prefill at batch=1 seq=8: 1x8, 1x4x17x64',
        'prefill at batch=4 seq=8: 4x8, 4x4x17x64',
        'prefill at batch=4 seq=7: 4x7, 4x4x15x64 extra',
        'decode at batch=1: 1x1',
        'decode at batch=4: 4x1',
        'decode at batch=3: 3x1 extra',
      ],
    ],
    [
      'do not combine sets',
      'batch=1 seq=64 / batch=4 seq=3',
      [
        'prefill at batch=1 seq=64: 1x64, 1x4x129x64',
        'prefill at batch=4 seq=3: 4x3, 4x4x7x64',
        'prefill at batch=3 seq=3: 3x3, 3x4x7x64 extra',
        'decode at batch=1: 1x1',
        'decode at batch=4: 4x1',
        'decode at batch=3: 3x1 extra',
      ],
    ],
    [
      'have the sizes of their function first',
      'batch=3 seq=7 decode.batch=16',
      [
        'prefill at batch=3 seq=7: 3x7, 3x4x15x64',
        'prefill at batch=3 seq=5: 3x5, 3x4x11x64 extra',
        'decode at batch=16: 16x1',
        'decode at batch=13: 13x1 extra',
      ],
    ],
    [
      'have sizes by places',
      'arg0.0=3 arg0.1=3',
      ['prefill at arg0.0=3 arg0.1=3: 3x3, 3x4x7x64', 'decode at arg0.0=3: 3x1'],
    ],
    [
      'need a size for each name',
      'batch=3',
      ['prefill: its sizes are dynamic, and --iree-tuned-dim gives none for seq', 'decode at batch=3: 3x1'],
    ],
    [
      'are few',
      'batch=1,2,3,4,5,6,7,8,9 seq=3,5 decode.batch=3',
      [
        'prefill: --iree-tuned-dim gives it 18 combinations of sizes, of 16 at most',
        'decode at batch=3: 3x1',
      ],
    ],
  ];
  test.each(CALLS)('%s', (_, sizes, expected) => {
    expect(callsAt(DECODER, sizes)).toEqual(expected);
    // Names mean nothing, so other names give the same calls.
    const renamed = (text: string) => text.replaceAll('batch', 's77').replaceAll('seq', 's13');
    expect(callsAt(renamed(DECODER), renamed(sizes))).toEqual(expected.map(renamed));
  });

  test('have one size for the same dimension of all arguments', () => {
    const text =
      'func.func @f(%arg0: tensor<?x8xf32>, %arg1: tensor<?x?xi64>, %arg2: tensor<?xi64>) -> f32 { }';
    expect(callsAt(text, 'arg*.0=1,5 arg1.1=3 f.arg2.0=2')).toEqual([
      'f at arg*.0=1 arg1.1=3 arg2.0=2: 1x8, 1x3, 2',
      'f at arg*.0=5 arg1.1=3 arg2.0=2: 5x8, 5x3, 2',
      'f at arg*.0=3 arg1.1=3 arg2.0=2: 3x8, 3x3, 2 extra',
    ]);
  });

  test('have the places of a program without names', () => {
    const text = 'func.func @f(%arg0: tensor<?x8xf32>, %arg1: tensor<?xi64>) -> f32 { }';
    expect(callsAt(text, 'arg0.0=3 f.arg1.0=5')).toEqual([
      'f at arg0.0=3 arg1.0=5: 3x8, 5',
      'f at arg0.0=3 arg1.0=3: 3x8, 3 extra',
    ]);
  });
});
