// Trials of similar workloads.
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import type { TileConfiguration } from '../../../src/backend/llvm-cpu/configuration.ts';
import { seededRandom } from '../../../src/search/strategy.ts';
import { siblingsOf } from '../../../src/store/like.ts';
import { preparedOnce } from '../../../src/store/sqlite/connect.ts';
import { Rows } from '../../../src/store/sqlite/write.ts';
import type { Store, Subject, Trial } from '../../../src/store/store.ts';
import { workloadKey, type OperationWork } from '../../../src/workload/workload.ts';
import { matmul, workload } from '../../support/workloads.ts';
import { alter, look, open, SUBJECT, temporaryPath, TILE } from '../support.ts';

const about = (workloadForm: OperationWork, change: Partial<Subject> = {}): Subject => ({
  ...SUBJECT,
  workload: workloadKey(workloadForm),
  workloadForm,
  ...change,
});
const tile = (n: number): TileConfiguration => ({ ...TILE, distribution: [n, 128, 0] });
const trial = (n: number, ratio: number | null): Trial => ({
  ...{ configuration: tile(n), outcome: ratio === null ? 'timeout' : 'measured' },
  ...{ seconds: ratio && 1 / ratio, ratio, message: null, strategy: 'descent' },
});

function storeWith(...subjects: readonly (readonly [Subject, readonly Trial[]])[]): Store {
  const store = open(temporaryPath());
  for (const [subject, trials] of subjects) store.addTrials(subject, trials);
  return store;
}

const own = about(matmul(512, 512, 512));
const found = (store: Store, devices = [own.device]) =>
  store.trialsLike(own, devices).map(({ workload: form, device, compiler, distance, trials }) => ({
    ...{ sizes: form.dimensions.map(({ size }) => size).join('x'), device, compiler },
    ...{
      distance,
      tiles: trials.map(({ configuration }) => (configuration as TileConfiguration).distribution[0]),
    },
  }));

describe('trials of similar workloads', () => {
  test('come from the nearest sizes, the fastest first, without failures and the own subject', () => {
    const store = storeWith(
      [own, [trial(1, 9)]],
      [about(matmul(512, 512, 1024)), [trial(2, 1.5), trial(3, 2), trial(4, null), trial(3, 1.9)]],
      [about(matmul(4096, 512, 512)), [trial(5, 2)]],
      [about(matmul(500, 512, 512)), [trial(6, 2)]],
      [about(matmul(513, 512, 512)), [trial(7, null)]],
    );
    expect(found(store)).toMatchObject([
      { sizes: '500x512x512', tiles: [6] },
      { sizes: '512x512x1024', distance: 1, tiles: [3, 2] },
      { sizes: '4096x512x512', distance: 3, tiles: [5] },
    ]);
  });

  test('have the same types, layout and target', () => {
    const like = matmul(512, 512, 256);
    const transposed = { ...like, rhs: { ...like.rhs, dimensions: [1, 2] } };
    const store = storeWith(
      [about(matmul(512, 512, 256, ['f16', 'f16', 'f32'])), [trial(1, 2)]],
      [about(transposed), [trial(2, 2)]],
      [about(workload({ batch: 2, m: 512, n: 512, k: 512 })), [trial(3, 2)]],
      [about(like, { target: 'llvm-cpu aarch64' }), [trial(4, 2)]],
      // A constant right-hand side and a fused operation have the same tiling.
      [about({ ...like, constantRhs: true }), [trial(5, 2)]],
      [about({ ...like, context: { digest: '0123456789abcdef' } }), [trial(6, 2)]],
    );
    expect(
      found(store)
        .map(({ tiles }) => tiles)
        .sort(),
    ).toEqual([[5], [6]]);
  });

  test('of the same sizes come from other compilers and from devices of the class only', () => {
    const store = storeWith(
      [about(own.workloadForm as OperationWork, { compiler: 'iree 3.10.0' }), [trial(1, 2)]],
      [about(own.workloadForm as OperationWork, { device: 'a sibling' }), [trial(2, 2)]],
      [
        about(own.workloadForm as OperationWork, { device: 'a sibling', compiler: 'iree 3.10.0' }),
        [trial(3, 2)],
      ],
      [about(own.workloadForm as OperationWork, { device: 'a stranger' }), [trial(4, 2)]],
      [about(matmul(512, 512, 600)), [trial(5, 2)]],
    );
    expect(found(store, [own.device, 'a sibling']).map(({ tiles }) => tiles[0])).toEqual([5, 1, 2, 3]);
    expect(
      found(store)
        .map(({ tiles }) => tiles[0])
        .sort(),
    ).toEqual([1, 5]);
  });

  test('of a revoked origin are hidden', () => {
    const path = temporaryPath();
    open(path).addTrials(about(matmul(512, 512, 1024)), [trial(1, 2)]);
    const origin = look(path, 'SELECT created_by FROM trial');
    alter(
      path,
      `INSERT INTO revocation VALUES ('origin', '${String(origin)}', 'no', '2026-01-01T00:00:00Z', 'me', NULL)`,
    );
    expect(open(path).trialsLike(own, [own.device])).toEqual([]);
  });

  test('are found for workloads whose description came later, or was damaged', () => {
    const path = temporaryPath();
    const like = about(matmul(512, 512, 1024));
    open(path).addTrials(like, [trial(1, 2)]);
    alter(path, `UPDATE workload SET form = 'null'; DELETE FROM shape`);
    const store = open(path);
    expect(found(store)).toEqual([]);
    store.addTrials(like, []);
    store.noteMiss(like);
    expect(found(store)).toMatchObject([{ sizes: '512x512x1024' }]);
  });
});

test('the place alone finds most of the nearest among thousands', () => {
  const random = seededRandom(3);
  const size = () => Math.round(2 ** (3 + 9 * random()) / 8) * 8 || 8;
  const forms = Array.from({ length: 3000 }, () => matmul(size(), size(), size()));
  const path = temporaryPath();
  const store = open(path);
  const db = new Database(path);
  const rows = new Rows(preparedOnce(db));
  db.transaction(() => {
    for (const form of forms) rows.insertSubject(about(form));
  })();
  db.close();
  alter(
    path,
    `INSERT INTO trial (id, subject, configuration, outcome, seconds, ratio, strategy, created_at, created_by, machine, tool)
     SELECT lower(hex(randomblob(16))), id, '{"version":1,"kind":"default"}', 'measured', 1, 1, 'x', '2026-01-01T00:00:00Z', 'x', 'x', 'x' FROM subject`,
  );
  const apart = (a: OperationWork, b: OperationWork) =>
    Math.hypot(...a.dimensions.map(({ size }, d) => Math.log2(size / b.dimensions[d]!.size)));
  let [near, nearest] = [0, 0];
  const asked = Array.from({ length: 100 }, () => matmul(size(), size(), size()));
  for (const one of asked) {
    const [first] = store.trialsLike(about(one), [SUBJECT.device]);
    const least = Math.min(...forms.map((form) => apart(one, form)).filter((distance) => distance > 0));
    if (first!.distance <= least + 1e-9) nearest++;
    if (first!.distance <= 2 * least) near++;
  }
  expect([nearest, near]).toEqual([
    expect.toSatisfy((n: number) => n >= 80),
    expect.toSatisfy((n: number) => n >= 95),
  ]);
});

test('siblings are devices of the same class', () => {
  const processor = { architecture: 'x64', vendor: 'A', family: 1, model: 2, threadsPerCore: 2, caches: [] };
  const form = (model: string, threads = 8) => ({
    model,
    driver: 'local-task',
    threads,
    cachesKiB: [],
    processor,
  });
  const known = [
    { key: 'a', form: form('one'), name: null },
    { key: 'b', form: form('other'), name: null },
    { key: 'c', form: form('one', 4), name: null },
  ];
  expect(siblingsOf('a', form('one'), { devices: () => known })).toEqual(['a', 'b']);
  expect(siblingsOf('d', {}, { devices: () => known })).toEqual(['d']);
});
