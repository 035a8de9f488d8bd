// An operation with strided operands is tuned in its dispatch, and only this dispatch gets the tiles.
// In full after a change of src/inject/substitute.ts, src/input/dispatches.ts.
import { beforeEach, describe, expect, test } from 'vitest';
import type { TileConfiguration } from '../../src/backend/llvm-cpu/configuration.ts';
import { DECISION } from '../store/samples.ts';
import { windowSpace } from '../../src/backend/llvm-cpu/window-space.ts';
import { ODD_TILES, SPACE, STRIDED_TILES } from '../support/backend.ts';
import { recordMisses } from './faults/support.ts';
import { STRIDED_PROGRAM } from './programs.ts';
import { decisionsOf, HOST, Workplace } from './support.ts';
import { operationWork } from '../support/operation-work.ts';

const SHAPES = ['1x8x8x16', '1x1x16x32', '1x1x32x48', '1x1x32x16'];

describe('a pointwise convolution with strides', { timeout: 300_000 }, () => {
  let place: Workplace;
  const file = 'strided.mlir';
  const argv = [...HOST, file, '-o', 'tuned.vmfb'];

  beforeEach(async () => {
    place = new Workplace({ IREE_TUNED_ON_MISS: 'record' });
    place.write(file, STRIDED_PROGRAM);
    expect(await place.compile(argv)).toMatchObject({ code: 0 });
  });

  const isStrided = (workload: string) => / in=[0-9a-f]{16}$/.test(workload);

  test('is a workload of its own, whose text is not in the database', () => {
    const workloads = recordMisses(place, () => null).sort();
    expect(workloads).toEqual([
      expect.stringMatching(/^contraction m0=4 m1=4 n=48 k=32 f32,f32->f32 m0m1k,kn->m0m1n in=[0-9a-f]{16}$/),
      'contraction m=64 n=16 k=32 f32,f32->f32 mk,kn->mn',
      'contraction m=64 n=32 k=16 f32,f32->f32 mk,kn->mn',
    ]);
    const subject = place.inStore((store) =>
      store.subject(store.misses().find(({ workload }) => isStrided(workload))!),
    );
    expect(operationWork(subject!.workloadForm).context).toEqual({ digest: workloads[0]!.slice(-16) });
  });

  test.each<[string, string, (workload: string) => TileConfiguration | null]>([
    ['alone', 'substitute', (workload) => (isStrided(workload) ? STRIDED_TILES : null)],
    ['beside others', 'spec', (workload) => (isStrided(workload) ? STRIDED_TILES : ODD_TILES)],
  ])('gets its tiles %s, with the same results', async (_, route, choose) => {
    recordMisses(place, choose);
    const explanation = await place.built(argv);
    expect(explanation).toMatchObject({ route, applied: true, reason: null });
    for (const { workload, configuration, code } of explanation.operations) {
      const expected = choose(workload!);
      expect(configuration).toEqual(expected);
      if (expected !== null) expect(code).toBe('faster');
    }
    expect(await place.isStock('tuned.vmfb', [...HOST, file])).toBe(false);
    const results = await place.outputsOf('tuned.vmfb', SHAPES, 2);
    expect(results).toEqual(await place.outputsOf('stock.vmfb', SHAPES, 2));
    // The next two builds are hits.
    const first = place.read('tuned.vmfb');
    for (let i = 0; i < 2; i++) {
      expect(await place.compile(argv)).toMatchObject({ code: 0, stderr: '' });
      expect(place.read('tuned.vmfb').equals(first)).toBe(true);
    }
    const spec = await place.tuned(['spec', file, '--json', '--', ...HOST]);
    expect(JSON.parse(spec.stdout)).toMatchObject({ code: route === 'spec' ? null : 'no-route' });
  });

  // Times of a few microseconds: other processes can hide the gain.
  test('has the gain of its program in its record', { retry: 2 }, async () => {
    recordMisses(place, (workload) => (isStrided(workload) ? STRIDED_TILES : ODD_TILES));
    const { explanation } = await place.explain(argv, {
      env: { IREE_TUNED_ON_MISS: 'tune', IREE_TUNED_BUDGET: '30' },
    });
    const { reason, speedup } = explanation.operations.find(({ workload }) => isStrided(workload!))!;
    expect(reason).toMatch(/^[\d.]+x faster than the default, as its program shows$/);
    const records = place.inStore((store) => store.allRecords());
    const evidenceOf = (is: boolean) =>
      records.filter(({ workload }) => isStrided(workload) === is).map(({ evidence }) => evidence);
    expect(evidenceOf(true)).toMatchObject([speedup!]);
    expect(evidenceOf(true)[0]!.processes).toBeGreaterThan(DECISION.evidence.processes);
    const { ratio, processes } = DECISION.evidence;
    expect(evidenceOf(false)).toMatchObject([1, 2].map(() => ({ ratio, processes })));
  });
});

/** A 3x3 convolution of a padded image, and a depthwise convolution. */
const WINDOWS = `func.func @main(%x: tensor<1x14x14x16xf32>, %w0: tensor<3x3x16x32xf32>, %w1: tensor<3x3x1x32xf32>) -> tensor<1x6x6x32xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<1x14x14x32xf32>
  %h = stablehlo.convolution(%x, %w0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x14x14x16xf32>, tensor<3x3x16x32xf32>) -> tensor<1x14x14x32xf32>
  %r = stablehlo.maximum %h, %zero : tensor<1x14x14x32xf32>
  %y = stablehlo.convolution(%r, %w1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 32 : i64} : (tensor<1x14x14x32xf32>, tensor<3x3x1x32xf32>) -> tensor<1x6x6x32xf32>
  return %y : tensor<1x6x6x32xf32>
}
`;

test(
  'a convolution that moves its filter gets its tiles, and computes the same',
  { tags: 'full', timeout: 300_000 },
  async () => {
    const place = new Workplace({ IREE_TUNED_ON_MISS: 'record' });
    const argv = [...HOST, 'windows.mlir', '-o', 'tuned.vmfb'];
    place.write('windows.mlir', WINDOWS);
    expect(await place.compile(argv)).toMatchObject({ code: 0 });
    const options = { ...SPACE, nativeVectorBytes: 32, vectorRegisters: 16 };
    place.inStore((store) => {
      const misses = store.misses();
      expect(misses.map(({ workload }) => workload.replace(/ in=.*/, '')).sort()).toEqual([
        'contraction b=32 m0=1 m1=6 m2=6 k0=3 k1=3 f32,f32->f32 m0(m1+k0)(m2+k1)b,k0k1b->m0m1m2b',
        'contraction m0=1 m1=14 m2=14 n=32 k0=3 k1=3 k2=16 f32,f32->f32 m0(m1+k0)(m2+k1)k2,k0k1k2n->m0m1m2n',
      ]);
      for (const miss of misses) {
        const subject = store.subject(miss)!;
        const space = windowSpace(operationWork(subject.workloadForm), options);
        store.putRecord(subject, { ...DECISION, configuration: space.configurationAt(space.starts[0]!)! });
      }
    });
    const { explanation } = await place.explain(argv);
    expect(explanation).toMatchObject({ route: 'substitute', applied: true });
    expect(decisionsOf(explanation)).toEqual(['hit: faster', 'hit: faster']);
    expect(await place.isStock('tuned.vmfb', [...HOST, 'windows.mlir'])).toBe(false);
    const shapes = ['1x14x14x16', '3x3x16x32', '3x3x1x32'];
    const results = await place.outputsOf('tuned.vmfb', shapes);
    expect(results).toEqual(await place.outputsOf('stock.vmfb', shapes));
  },
);

test('a convolution whose dispatch has two results is tuned in it', { timeout: 300_000 }, async () => {
  const place = new Workplace();
  const tensor = 'tensor<1x12x16x32xf32>';
  place.write(
    'in.mlir',
    `func.func @main(%x: tensor<1x14x18x16xf32>, %w: tensor<3x3x16x32xf32>) -> (${tensor}, ${tensor}) {
  %zero = stablehlo.constant dense<0.0> : ${tensor}
  %h = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x14x18x16xf32>, tensor<3x3x16x32xf32>) -> ${tensor}
  %r = stablehlo.maximum %h, %zero : ${tensor}
  %s = stablehlo.multiply %r, %r : ${tensor}
  return %r, %s : ${tensor}, ${tensor}
}
`,
  );
  const { explanation } = await place.explain([...HOST, 'in.mlir', '-o', 'out.vmfb'], {
    env: { IREE_TUNED_BUDGET: '5' },
  });
  expect(explanation.operations).toMatchObject([
    { workload: expect.stringMatching(/ in=[0-9a-f]{16}$/) as string, outcome: 'tuned' },
  ]);
});
