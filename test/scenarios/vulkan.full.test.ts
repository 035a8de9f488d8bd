// A build for Vulkan: a miss, a search on the device, and builds that use a record.
// In full after a change of src/backend/vulkan.
import { beforeAll, describe, expect, test } from 'vitest';
import { loadBackend } from '../../src/backend/index.ts';
import { isWithout } from '../support/needs.ts';
import { LLVMPIPE_FLAGS, VULKAN_TILE, whyNoVulkan } from '../support/vulkan.ts';
import { record } from './faults/support.ts';
import { matmulModule, rowsOf, runMatmul, Workplace } from './support.ts';

const argv = [...LLVMPIPE_FLAGS, 'in.mlir', '-o', 'out.vmfb'];

function placeFor(env: Record<string, string> = {}): Workplace {
  const place = new Workplace({ IREE_TUNED_DEVICE: 'vulkan', ...env });
  place.write('in.mlir', matmulModule(100, 100, 100));
  return place;
}

beforeAll(() => loadBackend('vulkan-spirv'));

describe.skipIf(isWithout(whyNoVulkan()))('a build for Vulkan', () => {
  test('uses a record, which lands, and gives the result of a stock build', async () => {
    const place = placeFor();
    await record(place, () => VULKAN_TILE, argv);
    const explanation = await place.built(argv, {
      env: { IREE_TUNED_BUDGET: '0', IREE_TUNED_REQUIRE: 'landed' },
    });
    expect(explanation).toMatchObject({
      device: { driver: 'vulkan', gpu: { subgroup: 8, isSoftware: true } },
      ...{ route: 'spec', applied: true },
      operations: [{ outcome: 'hit', configuration: VULKAN_TILE, landed: true }],
    });
    await place.stock([...LLVMPIPE_FLAGS, 'in.mlir', '-o', 'stock.vmfb']);
    const run = (module: string) => runMatmul(place, module, 100, 100, 100, { device: 'vulkan' });
    const stock = await run('stock.vmfb');
    expect(stock.code).toBe(0);
    expect((await run('out.vmfb')).stdout).toEqual(stock.stdout);
  });
  test('without a record tries candidates on the device', async () => {
    const place = placeFor({ IREE_TUNED_BUDGET: '20' });
    const explanation = await place.built(argv);
    const [operation] = explanation.operations;
    // The number of trials depends on the machine. No trial has wrong results.
    expect(rowsOf(place, "trial WHERE outcome LIKE '%error' OR outcome LIKE 'wrong%'")).toBe(0);
    expect(operation!.landed).not.toBe(false);
  });
  test('skips a matmul in bf16, as every command says', async () => {
    const place = placeFor();
    place.write('in.mlir', matmulModule(100, 100, 100).replaceAll('xf32', 'xbf16'));
    const skipped = {
      ...{ outcome: 'skipped', code: 'workload-unsupported' },
      reason: 'vulkan-spirv does not tune bf16',
    };
    const { explanation } = await place.explain(argv, { env: { IREE_TUNED_REQUIRE: 'tuned' } });
    expect(explanation.operations).toMatchObject([skipped]);
    for (const command of ['explain', 'tune']) {
      const answer = await place.asked([command, 'in.mlir', '--json', '--', ...LLVMPIPE_FLAGS]);
      expect(answer).toMatchObject({ operations: [skipped] });
    }
    const planned = await place.tuned(['tune', 'in.mlir', '--dry-run', '--', ...LLVMPIPE_FLAGS]);
    expect(planned.stdout).toContain(skipped.reason);
    const { stdout } = await place.tuned(['stats']);
    expect(stdout).toContain('workload-unsupported: the backend tunes no workloads of this type or shape');
  });
  test('is compiled untuned for a device of another kind', async () => {
    const place = placeFor({ IREE_TUNED_DEVICE: 'local-task' });
    const explanation = await place.built(argv);
    expect(explanation.operations[0]!.reason).toBe(
      'device local-task runs no code for vulkan-spirv: set device to vulkan',
    );
  });
});
