// Dispatches without contractions are tuned as a whole.
// In full after a change of src/workload/dispatch.
import { describe, expect, test } from 'vitest';
import type { DispatchTileConfiguration } from '../../src/backend/llvm-cpu/configuration.ts';
import { DYNAMIC_SOFTMAX } from '../support/dispatch-programs.ts';
import { recordMisses } from './faults/support.ts';
import { decisionsOf, flagsOfSpec, HOST, Workplace } from './support.ts';

const TYPE = 'tensor<4x100x150xf32>';
const SOFTMAX = `func.func @main(%x: ${TYPE}) -> ${TYPE} {
  %empty = tensor.empty() : ${TYPE}
  %r = linalg.softmax dimension(2) ins(%x : ${TYPE}) outs(%empty : ${TYPE}) -> ${TYPE}
  return %r : ${TYPE}
}
`;

const TILES: DispatchTileConfiguration = {
  version: 1,
  kind: 'dispatch-tile',
  distribution: [1, 20, 0],
  vector: [1, 4, 50],
};

const argv = [...HOST, 'softmax.mlir', '-o', 'tuned.vmfb'];

function workplace(): Workplace {
  const place = new Workplace();
  place.write('softmax.mlir', SOFTMAX);
  return place;
}

/** The results of two modules are the same but for rounding. */
async function expectSameResults(place: Workplace, one: string, other: string, shape = '4x100x150') {
  const [own, others] = [
    await place.outputsOf(one, [shape], 1, Math.sin),
    await place.outputsOf(other, [shape], 1, Math.sin),
  ].map(([bytes]) => new Float32Array(new Uint8Array(bytes!).buffer));
  expect(own!.every((value, i) => Math.abs(value - others![i]!) < 1e-6)).toBe(true);
}

const RECORDING = { env: { IREE_TUNED_ON_MISS: 'record' } };
const STOCK = [...HOST, 'softmax.mlir'];

describe('a softmax', { timeout: 300_000 }, () => {
  test('gets its tiles, gives the same results, and is locked with the tiles', async () => {
    const place = workplace();
    expect(await place.compile(argv, RECORDING)).toMatchObject({ code: 0 });
    const [workload] = recordMisses(place, () => TILES);
    expect(workload).toMatch(/^dispatch softmax_4x100x150xf32 in=[0-9a-f]{16}$/);
    const explanation = await place.built(argv, RECORDING);
    expect(explanation).toMatchObject({ route: 'substitute', applied: true, reason: null });
    expect(explanation.operations).toMatchObject([{ outcome: 'hit', code: 'faster', configuration: TILES }]);
    // Another cache folder gives the same bytes, because the output contains no paths of ours.
    const elsewhere = { IREE_TUNED_CACHE: place.path('another-cache') };
    const again = await place.compile([...STOCK, '-o', 'again.vmfb'], { env: elsewhere });
    expect(again).toMatchObject({ code: 0 });
    expect(place.read('again.vmfb').equals(place.read('tuned.vmfb'))).toBe(true);
    const tuned = place.read('tuned.vmfb');
    expect(await place.isStock('tuned.vmfb', STOCK)).toBe(false);
    await expectSameResults(place, 'tuned.vmfb', 'stock.vmfb');

    await place.tuned(['lock', 'softmax.mlir', '--', ...HOST]);
    for (const name of ['cache', 'data']) place.remove(name);
    expect(await place.compile([...argv, '--iree-tuned-frozen'])).toMatchObject({ code: 0, stderr: '' });
    expect(place.read('tuned.vmfb').equals(tuned)).toBe(true);
  });

  test(
    'of dynamic size is tuned at the sizes of the user, and correct at others',
    { tags: 'full' },
    async () => {
      const place = new Workplace();
      place.write('softmax.mlir', DYNAMIC_SOFTMAX);
      const skipped = await place.explain([...argv, '--iree-tuned-budget=0']);
      expect(decisionsOf(skipped.explanation)).toEqual(['skipped: sizes-missing']);
      const sized = [...argv, '--iree-tuned-dim=m=16,150'];
      expect(await place.compile(sized, RECORDING)).toMatchObject({ code: 0 });
      const [workload] = recordMisses(place, () => ({
        ...TILES,
        distribution: [1, 16, 0],
        vector: [1, 4, 16],
      }));
      expect(workload).toMatch(/^dispatch softmax_4xDxDxf32 in=[0-9a-f]{16} at=16,150$/);
      const { explanation } = await place.explain(sized, RECORDING);
      expect(explanation).toMatchObject({ route: 'substitute', applied: true, reason: null });
      expect(explanation.operations).toMatchObject([{ outcome: 'hit', landed: true }]);
      expect(await place.isStock('tuned.vmfb', STOCK)).toBe(false);
      for (const shape of ['4x100x150', '4x1x15000', '4x3x5', '4x16x16'])
        await expectSameResults(place, 'tuned.vmfb', 'stock.vmfb', shape);
      // Other sizes make another workload.
      const other = [...argv, '--iree-tuned-dim=m=150', '--iree-tuned-budget=0'];
      expect((await place.explain(other)).explanation.operations).toMatchObject([{ outcome: 'default' }]);
      // The program is run at these sizes, and at a size that no tile divides.
      const judged = await place.explain([...sized, '--iree-tuned-budget=30']);
      const { functions, leftOut } = judged.explanation.program!;
      const called = functions.map(({ name, equal }) => [name, equal]);
      if (leftOut.length === 0)
        expect(called).toEqual(['main at 16', 'main at 150', 'main at 149'].map((name) => [name, true]));
      else
        expect(leftOut).toMatchObject([
          { workload, reason: expect.stringMatching(/slower|instead of/) as string },
        ]);
    },
  );

  test('and a maximum of the same input both land', { tags: 'full' }, async () => {
    const place = new Workplace();
    place.write(
      'softmax.mlir',
      `func.func @main(%x: ${TYPE}) -> (${TYPE}, tensor<4x100xf32>) {
  %empty = tensor.empty() : ${TYPE}
  %r = linalg.softmax dimension(2) ins(%x : ${TYPE}) outs(%empty : ${TYPE}) -> ${TYPE}
  %least = arith.constant 0xFF800000 : f32
  %row = tensor.empty() : tensor<4x100xf32>
  %filled = linalg.fill ins(%least : f32) outs(%row : tensor<4x100xf32>) -> tensor<4x100xf32>
  %m = linalg.reduce {arith.maximumf} ins(%x : ${TYPE}) outs(%filled : tensor<4x100xf32>) dimensions = [2]
  return %r, %m : ${TYPE}, tensor<4x100xf32>
}
`,
    );
    expect(await place.compile(argv, RECORDING)).toMatchObject({ code: 0 });
    recordMisses(place, () => TILES);
    const { explanation } = await place.explain(argv, RECORDING);
    expect(explanation).toMatchObject({ route: 'substitute', applied: true, reason: null });
    expect(explanation.operations.map(({ outcome }) => outcome)).toContain('hit');
  });

  test('gets the default if no executable may be substituted', async () => {
    const place = workplace();
    const { explanation } = await place.explain([...argv, '--iree-tuned-inject=spec']);
    expect(decisionsOf(explanation)).toEqual(['skipped: route-excludes']);
  });

  test('has its tiles in a spec, for compiles without the wrapper', { tags: 'full' }, async () => {
    const place = workplace();
    await place.compile(argv, RECORDING);
    recordMisses(place, () => TILES);
    const { code, stderr } = await place.tuned(['spec', 'softmax.mlir', '-o', 'spec.mlir', '--', ...HOST]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const flags = flagsOfSpec(place.read('spec.mlir'));
    const dump = '--iree-hal-dump-executable-configurations-to=configured';
    await place.stock([...HOST, ...flags, dump, 'softmax.mlir', '-o', 'by-spec.vmfb']);
    const text = place.read('configured/configured_module_main_dispatch_0.mlir').toString();
    expect(text).toContain('distribution = [1, 20, 0], vector_common_parallel = [1, 4, 0]');
    expect(await place.isStock('by-spec.vmfb', STOCK)).toBe(false);
    await expectSameResults(place, 'by-spec.vmfb', 'stock.vmfb');
  });
});
