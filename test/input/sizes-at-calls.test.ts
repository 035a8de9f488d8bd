// The sizes of operations in the calls of a program, with the real compiler.
import { describe, expect, test } from 'vitest';
import { inspector } from '../support/inspector.ts';

describe('sizes by names of the program', () => {
  /** Exported by PyTorch: rows of two sizes, products along one and along both, and a softmax. */
  const decoder = (batch = 'batch', seq = 'seq') => `
    func.func @prefill(%arg0: !torch.vtensor<[?,?,256],f32>, %arg1: !torch.vtensor<[256,256],f32>) -> !torch.vtensor<[?,?,256],f32> {
      %0 = torch.symbolic_int "${batch}" {min_val = 1, max_val = 16} : !torch.int
      %1 = torch.symbolic_int "${seq}" {min_val = 2, max_val = 512} : !torch.int
      torch.bind_symbolic_shape %arg0, [%0, %1], affine_map<()[s0, s1] -> (s0, s1, 256)> : !torch.vtensor<[?,?,256],f32>
      %2 = torch.aten.matmul %arg0, %arg1 : !torch.vtensor<[?,?,256],f32>, !torch.vtensor<[256,256],f32> -> !torch.vtensor<[?,?,256],f32>
      %int-1 = torch.constant.int -1
      %none = torch.constant.none
      %3 = torch.aten.softmax.int %2, %int-1, %none : !torch.vtensor<[?,?,256],f32>, !torch.int, !torch.none -> !torch.vtensor<[?,?,256],f32>
      %int1 = torch.constant.int 1
      %int2 = torch.constant.int 2
      %4 = torch.aten.transpose.int %2, %int1, %int2 : !torch.vtensor<[?,?,256],f32>, !torch.int, !torch.int -> !torch.vtensor<[?,256,?],f32>
      %5 = torch.aten.matmul %3, %4 : !torch.vtensor<[?,?,256],f32>, !torch.vtensor<[?,256,?],f32> -> !torch.vtensor<[?,?,?],f32>
      %6 = torch.aten.matmul %5, %2 : !torch.vtensor<[?,?,?],f32>, !torch.vtensor<[?,?,256],f32> -> !torch.vtensor<[?,?,256],f32>
      return %6 : !torch.vtensor<[?,?,256],f32>
    }
  `;
  const keysOf = async (text: string, sizes: string) => {
    const { found } = await inspector(text, sizes)();
    return found.flatMap(([, key]) => /^(?:contraction|dispatch) (.*)/.exec(key)?.[1] ?? []);
  };

  test('are those of each operation in the calls', async () => {
    const keys = await keysOf(decoder(), 'batch=1 seq=64 / batch=4 seq=8');
    expect(keys).toEqual([
      expect.stringContaining('b=?(1,4) m=?(8,64) n=?(8,64) k=256'),
      expect.stringContaining('b=?(1,4) m=?(8,64) n=256 k=?(8,64)'),
      // Not the product of all sizes: no call has 4 x 64 rows.
      expect.stringContaining('m=?(32,64) n=256 k=256'),
      expect.stringMatching(/softmax.* at=1,4,8,64$/),
    ]);
    expect(await keysOf(decoder('s77', 's3'), 's77=1 s3=64 / s77=4 s3=8')).toEqual(keys);
    expect(await keysOf(decoder(), 'arg0.0=1 prefill.arg0.1=64 / prefill.batch=4 seq=8')).toEqual(keys);
  });

  test('are named by a program that has too few', async () => {
    const { pass } = await inspector(decoder(), 'sequence=8')();
    expect(pass).toBe(
      'nothing to tune in the input: --iree-tuned-dim: the program has no size sequence; it has batch, seq',
    );
    expect((await inspector(decoder())()).pass).toContain(
      'need sizes, such as --iree-tuned-dim="batch=1,16 seq=2,128"',
    );
  });
});
