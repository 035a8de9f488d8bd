// The winner of another device of the class is compared with the default once, instead of a search. The machine is simulated.
import { describe, expect, test } from 'vitest';
import type { Configuration } from '../../src/backend/configuration.ts';
import { userName } from '../../src/store/author.ts';
import type { Store, TuningRecord } from '../../src/store/store.ts';
import { VERIFICATION } from '../../src/tuning/earlier.ts';
import { tuneTogether } from '../../src/tuning/tune-together.ts';
import type { TuningResult } from '../../src/tuning/result.ts';
import { DEFAULT_EFFORT } from '../../src/tuning/search-job.ts';
import { WorkloadSearch } from '../../src/tuning/workload-search.ts';
import { EVIDENCE, MARK, subjectOf } from '../store/samples.ts';
import { matmul } from '../support/workloads.ts';
import { isSame, jobOf, newStore, squareMatmul, tuneWorkload } from './support.ts';
import { syntheticBench, type Machine, type SyntheticBench } from './synthetic-bench.ts';

const { subject, first, second } = squareMatmul();
/** No search starts with this configuration. */
const elsewhere = {
  ...(first as Extract<Configuration, { kind: 'tile' }>),
  vectorReduction: [0, 0, 2],
};

const alike: TuningRecord = {
  ...subject,
  device: 'another device',
  configuration: elsewhere,
  evidence: { ...EVIDENCE, families: ['tile'] },
  failure: null,
  createdAt: '2026-01-01T00:00:00Z',
  createdBy: 'somebody',
  machine: 'another',
  tool: '1.0.0',
  digest: '0'.repeat(64),
};
const plain = jobOf(subject);
const job = jobOf(subject, { alike });

async function tune(machine: Machine, store = newStore(), bench: SyntheticBench = syntheticBench(machine)) {
  return { store, bench, result: (await tuneWorkload(bench, store, job))! };
}

const verifications = (store: Store) =>
  store.trials(subject).filter(({ strategy }) => strategy === VERIFICATION);
const gain =
  (ratio: number): Machine['gainOf'] =>
  (one) =>
    isSame(one, elsewhere) ? ratio : 1;

describe('the winner of another device of the class', () => {
  test('becomes a record of this device, with its own evidence and without a search, if it is faster here', async () => {
    const { store, bench, result } = await tune({ gainOf: gain(1.4), spread: 0.01 });
    expect(bench.batches).toEqual([]);
    expect(result.configuration).toEqual(elsewhere);
    const [record] = store.findRecords([subject.workload], subject.target, subject.compiler);
    expect(record).toMatchObject({ device: subject.device, configuration: elsewhere, createdBy: userName() });
    const { evidence } = record!;
    expect(evidence.ratio).toBeGreaterThan(1.3);
    expect(evidence.ratio).toBeLessThan(1.5);
    // The time is that of this machine.
    expect(evidence.defaultSeconds).toBeCloseTo(0.01, 3);
    // Families and completeness are those of the other device's search.
    expect(evidence).toMatchObject({ families: ['tile'], complete: true, trials: 1 });
    expect(evidence.processes).toBeGreaterThanOrEqual(3);
    // The runs suffice to repeat the decision.
    const runs = store.runs(subject).filter(({ stage }) => stage === 'finals');
    expect(runs.filter(({ configuration }) => isSame(configuration, elsewhere))).toHaveLength(
      evidence.processes,
    );
    expect(verifications(store)).toHaveLength(2);
  });

  test('is tried first by the search if it is no faster here', async () => {
    const machine: Machine = { gainOf: (one) => (isSame(one, second) ? 1.5 : 1) };
    const { store, bench, result } = await tune(machine);
    expect(result.configuration).toEqual(second);
    expect(bench.batches[0]!.some((one) => isSame(one, elsewhere))).toBe(true);
    expect(verifications(store)).toHaveLength(2);
  });

  test('gets no record if it is slower here and nothing else is faster', async () => {
    const { store, result } = await tune({ gainOf: gain(0.8) });
    expect(result.configuration.kind).toBe('default');
    expect(store.allRecords()).toMatchObject([
      { device: subject.device, configuration: { kind: 'default' } },
    ]);
  });

  test('is compared once, even if several searches follow', async () => {
    const store = newStore();
    const lost = syntheticBench({ gainOf: () => 1 });
    const search = () => new WorkloadSearch(lost, store, job);
    expect(search().isVerifiable).toBe(true);
    expect(await search().verify(() => true)).toBeNull();
    expect(search().isVerifiable).toBe(false);
    expect(store.allRecords()).toEqual([]);
    const other = { ...alike, configuration: second };
    expect(new WorkloadSearch(lost, store, { ...job, alike: other }).isVerifiable).toBe(true);
  });

  test('is not compared if it is marked', async () => {
    const store = newStore();
    store.addMarks(subject, [{ ...MARK, configuration: elsewhere }]);
    const { bench, result } = await tune({ gainOf: gain(2) }, store);
    expect(verifications(store)).toEqual([]);
    expect(bench.batches.flat().some((one) => isSame(one, elsewhere))).toBe(false);
    expect(result.configuration.kind).toBe('default');
  });

  test('is marked if its output is wrong here, and the search continues without it', async () => {
    const bench = syntheticBench({ gainOf: gain(2) });
    const wrong: SyntheticBench = {
      ...bench,
      async prepareFinals(entry) {
        const [wrong, right] = [true, false].map((isWrong) =>
          entry.finalists.filter(({ configuration }) => isSame(configuration, elsewhere) === isWrong),
        );
        const finals = await bench.prepareFinals({ ...entry, finalists: right! });
        const failed = wrong!.map(
          ({ configuration }) => ({ configuration, outcome: 'wrong-result', reason: 'it is off' }) as const,
        );
        return finals && { ...finals, failed };
      },
    };
    const { store, result } = await tune({ gainOf: gain(2) }, newStore(), wrong);
    expect(store.marks(subject)).toMatchObject([{ configuration: elsewhere, kind: 'wrong-result' }]);
    expect(verifications(store)).toMatchObject([{ outcome: 'measured' }, { outcome: 'wrong-result' }]);
    expect(result.configuration.kind).toBe('default');
  });

  test('is left to the search if the default cannot be measured', async () => {
    const bench = syntheticBench({ gainOf: gain(2) });
    let asked = 0;
    const late: SyntheticBench = {
      ...bench,
      prepareFinals: (entry) => (asked++ === 0 ? Promise.resolve(null) : bench.prepareFinals(entry)),
    };
    const { store, result } = await tune({ gainOf: gain(2) }, newStore(), late);
    expect(verifications(store)).toEqual([]);
    expect(result.configuration).toEqual(elsewhere);
  });
});

test('workloads without any record keep half of the time', async () => {
  const store = newStore();
  let seconds = 0;
  // Each call of the clock advances it by a second.
  const clock = () => seconds++;
  const parts = Array.from({ length: 40 }, (_, m) => {
    const form = matmul(64 + m, 64, 64);
    const own = subjectOf(64 + m, { workloadForm: form });
    const search = new WorkloadSearch(syntheticBench({ gainOf: () => 1.5 }), store, {
      ...plain,
      subject: own,
      clock,
      ...(m < 39 && { alike: { ...alike, ...own, device: 'another device' } }),
    });
    return { search, count: 1, likelyCost: 1, programSeconds: null, m };
  });
  const known = new Map<number, TuningResult | null>();
  await tuneTogether(
    parts,
    { end: clock() + 200, clock, effort: DEFAULT_EFFORT, leastSeconds: 4, compilesAtOnce: 1, isAlone: false },
    ({ m }, result) => known.set(m, result),
  );
  expect(parts.filter(({ search }) => search.isVerifiable).length).toBeGreaterThan(0);
  expect(parts[39]!.search.batches).toBeGreaterThan(0);
  expect(known.size).toBeGreaterThan(5);
});
