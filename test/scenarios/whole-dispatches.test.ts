// Dispatches without contractions are tuned as a whole.
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { DispatchTileConfiguration } from '../../src/backend/llvm-cpu/configuration.ts';
import { DYNAMIC_SOFTMAX } from '../support/dispatch-programs.ts';
import { runtimeTool } from '../support/installed-tools.ts';
import { recordMisses } from './faults/support.ts';
import { HOST, Workplace } from './support.ts';

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

async function outputOf(place: Workplace, module: string, shape = '4x100x150'): Promise<Float32Array> {
  const length = shape.split('x').reduce((product, size) => product * Number(size), 1);
  const file = `x${length}.bin`;
  writeFileSync(
    place.path(file),
    Float32Array.from({ length }, (_, i) => Math.sin(i)),
  );
  await place.run(runtimeTool('iree-run-module'), [
    ...[`--module=${module}`, '--device=local-sync', '--function=main'],
    ...[`--input=${shape}xf32=@${file}`, '--output=@y.bin'],
  ]);
  const bytes = place.read('y.bin');
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

describe('a softmax', { timeout: 300_000 }, () => {
  test('gets its tiles, gives the same results, and is locked with the tiles', async () => {
    const place = workplace();
    expect(await place.compile(argv, { env: { IREE_TUNED_ON_MISS: 'record' } })).toMatchObject({ code: 0 });
    const [workload] = recordMisses(place, () => TILES);
    expect(workload).toMatch(/^dispatch softmax_4x100x150xf32 in=[0-9a-f]{16}$/);
    const { code, stderr, explanation } = await place.explain(argv, {
      env: { IREE_TUNED_ON_MISS: 'record' },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(explanation).toMatchObject({ route: 'substitute', applied: true, reason: null });
    // A loss would be in the reason.
    expect(explanation.operations).toMatchObject([
      { outcome: 'hit', configuration: TILES, reason: '1.83x faster than the default' },
    ]);
    // Another cache folder gives the same bytes, because the output contains no paths of ours.
    const elsewhere = { IREE_TUNED_CACHE: place.path('another-cache') };
    expect(
      await place.compile([...HOST, 'softmax.mlir', '-o', 'again.vmfb'], { env: elsewhere }),
    ).toMatchObject({ code: 0 });
    expect(place.read('again.vmfb').equals(place.read('tuned.vmfb'))).toBe(true);
    expect((await place.stock([...HOST, 'softmax.mlir', '-o', 'stock.vmfb'])).code).toBe(0);
    const tuned = place.read('tuned.vmfb');
    expect(tuned.equals(place.read('stock.vmfb'))).toBe(false);
    const [own, others] = [await outputOf(place, 'tuned.vmfb'), await outputOf(place, 'stock.vmfb')];
    expect(own.every((value, i) => Math.abs(value - others[i]!) < 1e-6)).toBe(true);

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
      expect(skipped.explanation.operations).toMatchObject([
        { outcome: 'skipped', reason: expect.stringMatching(/^dynamic dimensions without sizes/) as string },
      ]);
      const sized = [...argv, '--iree-tuned-dim=m=16,150'];
      const record = { env: { IREE_TUNED_ON_MISS: 'record' } };
      expect(await place.compile(sized, record)).toMatchObject({ code: 0 });
      const [workload] = recordMisses(place, () => ({
        ...TILES,
        distribution: [1, 16, 0],
        vector: [1, 4, 16],
      }));
      expect(workload).toMatch(/^dispatch softmax_4xDxDxf32 in=[0-9a-f]{16} at=16,150$/);
      const { explanation } = await place.explain(sized, record);
      expect(explanation).toMatchObject({ route: 'substitute', applied: true, reason: null });
      expect(explanation.operations).toMatchObject([{ outcome: 'hit', landed: true }]);
      expect((await place.stock([...HOST, 'softmax.mlir', '-o', 'stock.vmfb'])).code).toBe(0);
      expect(place.read('tuned.vmfb').equals(place.read('stock.vmfb'))).toBe(false);
      for (const shape of ['4x100x150', '4x1x15000', '4x3x5', '4x16x16']) {
        const own = await outputOf(place, 'tuned.vmfb', shape);
        const others = await outputOf(place, 'stock.vmfb', shape);
        expect(own.every((value, i) => Math.abs(value - others[i]!) < 1e-6)).toBe(true);
      }
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
    const env = { IREE_TUNED_ON_MISS: 'record' };
    expect(await place.compile(argv, { env })).toMatchObject({ code: 0 });
    recordMisses(place, () => TILES);
    const { explanation } = await place.explain(argv, { env });
    expect(explanation).toMatchObject({ route: 'substitute', applied: true, reason: null });
    expect(explanation.operations.map(({ outcome }) => outcome)).toContain('hit');
  });

  test('gets the default if no executable may be substituted', async () => {
    const place = workplace();
    const { explanation } = await place.explain([...argv, '--iree-tuned-inject=spec']);
    expect(explanation.operations).toMatchObject([
      { outcome: 'skipped', reason: 'dispatches are out of reach (inject=spec)' },
    ]);
  });

  test('is tuned by iree-tuned tune', { tags: 'full' }, async () => {
    const place = workplace();
    const { stdout } = await place.tuned(['tune', 'softmax.mlir', '--budget', '60', '--', ...HOST]);
    expect(stdout.toString()).toMatch(/dispatch softmax_4x100x150xf32 in=[0-9a-f]{16}/);
    const { explanation } = await place.explain([...argv, '--iree-tuned-budget=0']);
    expect(explanation.operations).toMatchObject([{ outcome: 'hit' }]);
  });

  test('has its tiles in a spec, for compiles without the wrapper', { tags: 'full' }, async () => {
    const place = workplace();
    await place.compile(argv, { env: { IREE_TUNED_ON_MISS: 'record' } });
    recordMisses(place, () => TILES);
    const { code, stderr } = await place.tuned(['spec', 'softmax.mlir', '-o', 'spec.mlir', '--', ...HOST]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const flags = Array.from(
      place
        .read('spec.mlir')
        .toString()
        .matchAll(/^\/\/ {3}(--.*)$/gm),
      ([, flag]) => flag!,
    );
    const dump = '--iree-hal-dump-executable-configurations-to=configured';
    await place.stock([...HOST, ...flags, dump, 'softmax.mlir', '-o', 'by-spec.vmfb']);
    const text = place.read('configured/configured_module_main_dispatch_0.mlir').toString();
    expect(text).toContain('distribution = [1, 20, 0], vector_common_parallel = [1, 4, 0]');
    expect((await place.stock([...HOST, 'softmax.mlir', '-o', 'stock.vmfb'])).code).toBe(0);
    const [own, others] = [await outputOf(place, 'by-spec.vmfb'), await outputOf(place, 'stock.vmfb')];
    expect(own.every((value, i) => Math.abs(value - others[i]!) < 1e-6)).toBe(true);
  });
});
