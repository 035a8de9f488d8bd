// A build needs the database alone: with an empty cache folder and budget 0 it gives the same bytes as the home that tuned.
// In full after a change of src/decision/look-up.ts, src/plan/inspected.ts.
import { describe, expect, test } from 'vitest';
import { casesOfTier } from '../support/needs.ts';
import { dialects } from './dialects.ts';
import { HOST, matmulModule, oddMatmul, Workplace } from './support.ts';

const argv = (file: string) => [...HOST, file, '-o', 'out.vmfb'];

const STRIDED = `func.func @main(%x: tensor<1x8x8x16xf32>, %w: tensor<1x1x16x48xf32>) -> tensor<1x4x4x48xf32> {
  %y = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<1x1x16x48xf32>) -> tensor<1x4x4x48xf32>
  return %y : tensor<1x4x4x48xf32>
}
`;

/** The compiler folds the transpose into the matmul. */
const TRANSPOSED = `func.func @main(%a: tensor<71x61xf32>, %b: tensor<71x67xf32>, %init: tensor<61x67xf32>) -> tensor<61x67xf32> {
  %e = tensor.empty() : tensor<61x71xf32>
  %t = linalg.transpose ins(%a : tensor<71x61xf32>) outs(%e : tensor<61x71xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%t, %b : tensor<61x71xf32>, tensor<71x67xf32>) outs(%init : tensor<61x67xf32>) -> tensor<61x67xf32>
  return %r : tensor<61x67xf32>
}
`;

/** Forms and whole dispatches are in channels-first.test.ts and whole-dispatches.test.ts. */
const programs: readonly { name: string; text: string; inject?: string }[] = [
  ...casesOfTier(dialects, 2).map(([name, text]) => ({ name, text })),
  { name: 'weights from memory', text: matmulModule(129, 129, 129) },
  ...['preprocess', 'inline', 'substitute'].map((inject) => ({ name: inject, text: oddMatmul, inject })),
  { name: 'a strided operation', text: STRIDED },
  { name: 'a transposed operand', text: TRANSPOSED },
];

/** Builds a program again in its home, then from the database alone. @returns both outputs */
async function nextAndAlone(place: Workplace, file: string) {
  const { explanation } = await place.explain(argv(file));
  expect(explanation.operations.map(({ outcome }) => outcome)).toContain('hit');
  expect(explanation.reason).toBeNull();
  const output = place.read('out.vmfb');
  place.remove('cache');
  place.remove('out.vmfb');
  const alone = await place.explain(argv(file), { env: { IREE_TUNED_BUDGET: '0' } });
  expect(alone).toMatchObject({ code: 0, stderr: '', explanation: { route: explanation.route } });
  return [output, place.read('out.vmfb')] as const;
}

describe('with the database alone', { timeout: 300_000 }, () => {
  test.each(casesOfTier(programs, 1))(
    '$name is built to the same bytes',
    async ({ text, inject = 'auto' }) => {
      const place = Workplace.simulated({ IREE_TUNED_INJECT: inject });
      const file = place.write('in.mlir', text);
      expect(await place.compile(argv(file))).toMatchObject({ code: 0, stderr: '' });
      // A copy of the one file has all records.
      expect(place.has('data/tuning.db-wal')).toBe(false);
      const stock = await place.stock([...HOST, file, '-o', 'stock.vmfb']);
      expect(stock.code).toBe(0);
      const [next, alone] = await nextAndAlone(place, file);
      expect(next.equals(place.read('stock.vmfb'))).toBe(false);
      expect(alone.equals(next)).toBe(true);
    },
  );

  test(
    'an operation whose text looks like another workload is built to the same bytes',
    { tags: 'full' },
    async () => {
      const place = Workplace.simulated();
      for (const [file, text] of [
        ['matmul.mlir', oddMatmul],
        ['in.mlir', TRANSPOSED],
      ] as const)
        expect(await place.compile(argv(place.write(file, text)))).toMatchObject({ code: 0, stderr: '' });
      // The first build has lost the configuration of the matmul.
      expect((await place.explain(argv('in.mlir'))).code).toBe(0);
      const [next, alone] = await nextAndAlone(place, 'in.mlir');
      expect(alone.equals(next)).toBe(true);
    },
  );
});
