// A database is all that a build needs: with an empty cache folder and no budget it builds what the home builds that tuned.
import { describe, expect, test } from 'vitest';
import { dialects } from './dialects.ts';
import { HOST, matmulModule, oddMatmul, Workplace } from './support.ts';

const argv = (file: string) => [...HOST, file, '-o', 'out.vmfb'];

const STRIDED = `func.func @main(%x: tensor<1x8x8x16xf32>, %w: tensor<1x1x16x48xf32>) -> tensor<1x4x4x48xf32> {
  %y = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<1x1x16x48xf32>) -> tensor<1x4x4x48xf32>
  return %y : tensor<1x4x4x48xf32>
}
`;

/** Forms and whole dispatches are in channels-first.test.ts and whole-dispatches.test.ts. */
const programs: readonly { name: string; text: string; inject?: string }[] = [
  ...dialects.map(([name, text]) => ({ name, text })),
  { name: 'weights from memory', text: matmulModule(129, 129, 129) },
  ...['preprocess', 'inline', 'substitute'].map((inject) => ({ name: inject, text: oddMatmul, inject })),
  { name: 'a strided operation', text: STRIDED },
];

describe('with the database alone', { timeout: 300_000 }, () => {
  test.each(programs)('$name is built to the same bytes', async ({ text, inject = 'auto' }) => {
    const place = Workplace.simulated({ IREE_TUNED_INJECT: inject });
    const file = place.write('in.mlir', text);
    const first = await place.explain(argv(file));
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const { explanation } = await place.explain(argv(file));
    expect(explanation.operations.map(({ outcome }) => outcome)).toContain('hit');
    expect(explanation.reason).toBeNull();
    const output = place.read('out.vmfb');
    const stock = await place.stock([...HOST, file, '-o', 'stock.vmfb']);
    expect(stock.code).toBe(0);
    expect(output.equals(place.read('stock.vmfb'))).toBe(false);
    place.remove('cache');
    place.remove('out.vmfb');
    const alone = await place.explain(argv(file), { env: { IREE_TUNED_BUDGET: '0' } });
    expect(alone).toMatchObject({ code: 0, stderr: '', explanation: { route: explanation.route } });
    expect(place.read('out.vmfb').equals(output)).toBe(true);
  });
});
