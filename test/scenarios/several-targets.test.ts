// A build for several targets: the code for each target gets the configurations of that target.
import { beforeAll, describe, expect, test } from 'vitest';
import type { Configuration } from '../../src/backend/configuration.ts';
import { backendNamed, loadBackend } from '../../src/backend/index.ts';
import { DATA_TILE_CONFIGURATION } from '../../src/backend/llvm-cpu/configuration.ts';
import { readLock } from '../../src/decision/lock/file.ts';
import { DECISION, EVIDENCE } from '../store/samples.ts';
import { isWithout } from '../support/needs.ts';
import { VULKAN_TILE, whyNoVulkan } from '../support/vulkan.ts';
import { HOST, matmulModule, runMatmul, Workplace } from './support.ts';
import { tiles } from '../support/backend.ts';

const CPU = ['--iree-hal-target-backends=llvm-cpu', '--iree-llvmcpu-target-cpu=host'];
const VULKAN = ['--iree-hal-target-backends=vulkan-spirv', '--iree-vulkan-target=llvmpipe'];
const files = ['in.mlir', '-o', 'out.vmfb'];
const both = [...CPU, ...VULKAN, ...files];

const ON_CPU = tiles([50, 100, 0], [5, 20, 0], [0, 0, 4]);
const RECORDS = { 'llvm-cpu': ON_CPU, 'vulkan-spirv': VULKAN_TILE };
const HITS = [
  { target: 'llvm-cpu', outcome: 'hit', configuration: ON_CPU, landed: true },
  { target: 'vulkan-spirv', outcome: 'hit', configuration: VULKAN_TILE, landed: true },
];

const LANDED = { env: { IREE_TUNED_BUDGET: '0', IREE_TUNED_REQUIRE: 'landed' } };

/** A workplace with a matmul, and with a record for each of these backends. The misses come from a build for both targets. */
async function placeWith(records: Readonly<Record<string, Configuration>>): Promise<Workplace> {
  const place = new Workplace();
  place.write('in.mlir', matmulModule(100, 100, 100));
  const { code, stderr } = await place.compile(both, { env: { IREE_TUNED_ON_MISS: 'record' } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  place.inStore((store) => {
    const misses = store.misses();
    expect(misses.map(({ target }) => target.split(' ')[0]).sort()).toEqual(['llvm-cpu', 'vulkan-spirv']);
    for (const miss of misses) {
      const backend = backendNamed(miss.target)!;
      const configuration = records[backend.name];
      if (configuration === undefined) continue;
      const subject = store.subject(miss)!;
      // Without all families of its backend, `tune` would search again.
      const families = backend.tuning(subject.workloadForm).families({ wholeProgram: true });
      store.putRecord(subject, { ...DECISION, configuration, evidence: { ...EVIDENCE, families } });
    }
  });
  return place;
}

/** Expects the results of the stock module on both devices. */
async function expectStockResults(place: Workplace): Promise<void> {
  await place.stock([...both.slice(0, -1), 'stock.vmfb']);
  for (const device of ['local-sync', 'vulkan']) {
    const run = (module: string) => runMatmul(place, module, 100, 100, 100, { device });
    const stock = await run('stock.vmfb');
    expect(stock.code).toBe(0);
    expect((await run('out.vmfb')).stdout).toEqual(stock.stdout);
  }
}

beforeAll(() => loadBackend('vulkan-spirv'));

describe.skipIf(isWithout(whyNoVulkan()))('a build for a CPU and a GPU', () => {
  test('uses the records of both targets, each in the code of its target', async () => {
    const place = await placeWith(RECORDS);
    const explanation = await place.built(both, LANDED);
    expect(explanation).toMatchObject({ route: 'substitute', applied: true, operations: HITS });
    await expectStockResults(place);
    // Builds for one target use the same records.
    const { explanation: forOne } = await place.explain([...HOST, ...files], LANDED);
    expect(forOne.operations).toMatchObject([{ outcome: 'hit', configuration: ON_CPU, landed: true }]);
    expect(forOne.operations[0]).not.toHaveProperty('target');
  });

  test(
    'has the same decisions in previews, searches, repeated builds and a lock file',
    { tags: 'full' },
    async () => {
      const place = await placeWith(RECORDS);
      const targets = ['--', ...CPU, ...VULKAN];
      expect(await place.asked(['explain', 'in.mlir', '--json', ...targets])).toMatchObject({
        ...{ route: 'substitute', operations: HITS },
      });
      expect(await place.said(['explain', 'in.mlir', ...targets])).toMatch(
        /^For llvm-cpu:\n[^]*^For vulkan-spirv:\n/m,
      );
      expect((await place.tuned(['tune', 'in.mlir', ...targets])).stdout).toMatch(
        /^For llvm-cpu:\n[^]*^in\.mlir:2:13 .*tile dist=50,100,0[^]*^For vulkan-spirv:\n[^]*^in\.mlir:2:13 .*spirv-tile wg=20,50,0 /m,
      );

      const { compiler, ran } = place.watchedTools();
      const env = { IREE_TUNED_COMPILER: compiler, IREE_TUNED_BUDGET: '0' };
      expect((await place.compile(both, { env })).code).toBe(0);
      const first = place.read('out.vmfb');
      expect(ran()).not.toEqual([]);
      const again = await place.built(both, { env });
      expect(ran()).toEqual([]);
      expect(again.operations.map(({ outcome }) => outcome)).toEqual(['hit', 'hit']);
      expect(place.read('out.vmfb').equals(first)).toBe(true);

      await place.said(['lock', 'in.mlir', ...targets]);
      const { programs } = (await readLock(place.path('iree-tuned.lock')))!.lock;
      expect(programs.map(({ target, workloads }) => [target.split(' ')[0], workloads.size])).toEqual([
        ['llvm-cpu', 1],
        ['vulkan-spirv', 1],
      ]);
      place.remove('data');
      const { explanation } = await place.explain(both, { env: { ...LANDED.env, IREE_TUNED_FROZEN: '1' } });
      expect(explanation).toMatchObject({ lock: { used: true, problem: null }, operations: HITS });
      expect(await place.tuned(['lock', '--check'])).toMatchObject({ code: 0 });
    },
  );

  test(
    'with a record of one target leaves the code of the other target as it is',
    { tags: 'full' },
    async () => {
      const place = await placeWith({ 'vulkan-spirv': VULKAN_TILE });
      const explanation = await place.built(both, { env: { IREE_TUNED_BUDGET: '0' } });
      expect(explanation.operations).toMatchObject([
        { target: 'llvm-cpu', outcome: 'default', configuration: null },
        { target: 'vulkan-spirv', outcome: 'hit', configuration: VULKAN_TILE },
      ]);
      await expectStockResults(place);
    },
  );

  test('tunes the misses of each target', { tags: 'full' }, async () => {
    const place = new Workplace({ IREE_TUNED_BUDGET: '16' });
    place.write('in.mlir', matmulModule(100, 100, 100));
    const explanation = await place.built(both);
    expect(explanation.operations.map(({ target }) => target)).toEqual(['llvm-cpu', 'vulkan-spirv']);
    // The number of trials depends on the machine.
    const untried = explanation.operations.filter((one) => one.code === 'no-record' || one.landed === false);
    expect(untried).toEqual([]);
    await expectStockResults(place);
  });
});

test('a configuration that changes the whole program is left out', { tags: 'full' }, async () => {
  const place = await placeWith({ ...RECORDS, 'llvm-cpu': DATA_TILE_CONFIGURATION });
  const explanation = await place.built(both, { env: { IREE_TUNED_BUDGET: '1' } });
  expect(explanation).toMatchObject({
    applied: true,
    operations: [
      { target: 'llvm-cpu', code: 'no-route', configuration: null },
      { target: 'vulkan-spirv', configuration: VULKAN_TILE, landed: true },
    ],
  });
  expect(await place.asked(['explain', 'in.mlir', '--json', '--', ...CPU, ...VULKAN])).toMatchObject({
    operations: [{ target: 'llvm-cpu', code: 'no-route' }, { target: 'vulkan-spirv' }],
  });
});

test(
  'a target without a tuner stays untuned, and the CPU gets its configuration',
  { tags: 'full' },
  async () => {
    const place = await placeWith(RECORDS);
    const build = [...CPU, '--iree-hal-target-backends=metal-spirv', ...files];
    const explanation = await place.built(build, LANDED);
    expect(explanation.operations).toMatchObject([
      { target: 'llvm-cpu', outcome: 'hit', configuration: ON_CPU, landed: true },
      { target: 'metal-spirv', outcome: 'skipped', code: 'backend-unsupported' },
    ]);
  },
);

test('a route that reaches the code of every target is not used', async () => {
  const place = await placeWith(RECORDS);
  const explanation = await place.built(both, { env: { IREE_TUNED_INJECT: 'inline' } });
  expect(explanation).toMatchObject({ route: 'none', code: 'no-route' });
  await place.stock([...both.slice(0, -1), 'stock.vmfb']);
  expect(place.read('out.vmfb').equals(place.read('stock.vmfb'))).toBe(true);
});

test(
  'a second device gets no code, so the build is tuned for the default device',
  { tags: 'full' },
  async () => {
    const place = await placeWith(RECORDS);
    const devices = ['--iree-hal-target-device=cpu=local', '--iree-hal-target-device=gpu=vulkan'];
    const local = HOST.filter((flag) => !flag.includes('target-device='));
    const explanation = await place.built([...devices, ...local, ...VULKAN.slice(1), ...files], LANDED);
    expect(explanation.operations).toMatchObject([{ outcome: 'hit', configuration: ON_CPU, landed: true }]);
  },
);
