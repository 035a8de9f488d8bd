// Programs that need the user's data: on generated inputs their results say nothing.
// In full after a change of src/program/own-data.ts, src/settings/own-data.ts.
import { expect, test } from 'vitest';
import { npy } from '../program/npy.ts';
import { record } from './faults/support.ts';
import { Workplace, argv } from './support.ts';
import { tiles } from '../support/backend.ts';

/** For one row: several times as fast as the compiler's choice. */
const fast = tiles([1, 1024, 0], [1, 64, 0], [0, 0, 2]);

/** Looks up a row of the table, from 100 on, and multiplies it. A row that does not exist is NaN, as in frameworks that fill such rows. */
const lookup = `
func.func @main(%table: tensor<64x1024xf32>, %tokens: tensor<1xi32>, %rhs: tensor<1024x1024xf32>, %init: tensor<1x1024xf32>)
    -> tensor<1x1024xf32> {
  %first = arith.constant 100 : i32
  %count = arith.constant 64 : i32
  %zero = arith.constant 0 : i32
  %nan = arith.constant 0x7FC00000 : f32
  %empty = tensor.empty() : tensor<1x1024xf32>
  %rows = linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%tokens : tensor<1xi32>) outs(%empty : tensor<1x1024xf32>) {
  ^bb0(%token: i32, %out: f32):
    %row = arith.subi %token, %first : i32
    %exists = arith.cmpi ult, %row, %count : i32
    %safe = arith.select %exists, %row, %zero : i32
    %at = arith.index_cast %safe : i32 to index
    %column = linalg.index 1 : index
    %value = tensor.extract %table[%at, %column] : tensor<64x1024xf32>
    %found = arith.select %exists, %value, %nan : f32
    linalg.yield %found : f32
  } -> tensor<1x1024xf32>
  %0 = linalg.matmul ins(%rows, %rhs : tensor<1x1024xf32>, tensor<1024x1024xf32>)
    outs(%init : tensor<1x1024xf32>) -> tensor<1x1024xf32>
  return %0 : tensor<1x1024xf32>
}`;

async function lookupPlace(): Promise<Workplace> {
  const place = Workplace.simulated({}, { programs: 'real' });
  place.write('in.mlir', lookup);
  place.write('tokens.npy', npy('<i4', [1], new Int32Array([107])));
  await record(place, (workload) => (workload.startsWith('contraction') ? fast : null));
  return place;
}

test("a program whose results are NaN on generated inputs is verified on the user's data, and again after a change of the data", async () => {
  const place = await lookupPlace();
  expect((await place.built(argv)).program).toMatchObject({ code: 'results-unknown' });

  const withData = [...argv, '--iree-tuned-input=arg1=@tokens.npy'];
  const first = await place.built(withData);
  expect(first.program).toMatchObject({ functions: [{ equal: true }], injected: true, code: null });
  expect((await place.built(withData)).program).toBeNull();

  place.write('tokens.npy', npy('<i4', [1], new Int32Array([163])));
  expect((await place.built(withData)).program).toMatchObject({ functions: [{ equal: true }] });
});

test(
  'data that the program cannot take are a message of the build, which runs on no other data',
  { tags: 'full' },
  async () => {
    const place = await lookupPlace();
    const problem = 'the setting input cannot be used: arg4: @main has the arguments arg0 to arg3';
    const wrong = [...argv, '--iree-tuned-input=arg4=@tokens.npy'];
    for (let build = 0; build < 2; build++) {
      const { code, explanation } = await place.explain(wrong, { env: { IREE_TUNED_LOG: 'log' } });
      expect(code).toBe(0);
      expect(explanation.program).toMatchObject({ functions: [], code: 'data-unusable', reason: problem });
    }
    expect(place.read('log').toString().split(`the program was not run: ${problem}`)).toHaveLength(3);
    const { code, stderr } = await place.tuned(['tune', 'in.mlir', '--verify-program'], {
      env: { IREE_TUNED_INPUT: 'arg4=@tokens.npy' },
    });
    expect({ code, stderr }).toEqual({ code: 1, stderr: `iree-tuned: ${problem}\n` });
  },
);
