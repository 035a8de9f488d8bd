// Repeated searches of one workload with earlier claims.
import { beforeEach, describe, expect, test } from 'vitest';
import type { SpaceOptions } from '../../src/backend/backend.ts';
import { DEFAULT_CONFIGURATION, type Configuration } from '../../src/backend/configuration.ts';
import { llvmCpu } from '../../src/backend/llvm-cpu/index.ts';
import { lacksFamily } from '../../src/store/choose.ts';
import type { Evidence, Store } from '../../src/store/store.ts';
import { recordOf } from '../../src/tuning/earlier.ts';
import { finalsOf } from '../../src/tuning/search-notes.ts';
import { isUnfinished } from '../../src/tuning/undecided.ts';
import { DEFAULT_EFFORT } from '../../src/tuning/search-job.ts';
import { DECISION, EVIDENCE, MARK, RUN, TILE } from '../store/samples.ts';
import { SPACE } from '../support/backend.ts';
import { isSame, jobOf, newStore, squareMatmul, tuneWorkload } from './support.ts';
import { syntheticBench, type Machine } from './synthetic-bench.ts';

const options = { ...SPACE, wholeProgram: true };
const { shape, subject, first, second } = squareMatmul(options);
const families = llvmCpu.tuning(shape).families(options);
const NOTHING = { ratio: 1, low: 1, high: 1 };

let store: Store;
beforeEach(() => {
  store = newStore();
});

let seconds = 0;
const job = jobOf(subject, {
  options,
  effort: { ...DEFAULT_EFFORT, trialsPerBatch: 8, maxTrials: 40 },
  clock: () => (seconds += 0.1),
});
const tune = async (machine: Machine) => (await tuneWorkload(syntheticBench(machine), store, job))!;
const put = (configuration: Configuration, evidence: Partial<Evidence>) => {
  store.putRecord(subject, { ...DECISION, configuration, evidence: { ...EVIDENCE, ...evidence } });
};
const record = () => recordOf(store, subject)!;

test('a search of all families counts, even if an earlier claim wins', async () => {
  // The earlier search had only tiles. Its gain is surer than any gain here.
  put(first, { families: ['tile'], low: 5, ratio: 6, high: 7, processes: 99 });
  expect(lacksFamily(record().evidence, families)).toBe(true);
  const result = await tune({ gainOf: () => 1 });
  expect(result.configuration).toEqual(first);
  expect(lacksFamily(record().evidence, families)).toBe(false);
});

describe('a search of a space that the user restricts', () => {
  const only = { vector_m: [4, 8], data_tiling: [0] };
  const restricted: SpaceOptions = { ...options, only };
  const within = (machine: Machine) =>
    tuneWorkload(syntheticBench(machine), store, { ...job, options: restricted });

  test('decides among the allowed values, and is no search of the whole space', async () => {
    const result = (await within({ gainOf: (one) => (one.kind === 'tile' ? 1.5 : 2) }))!;
    expect(result.evidence).toMatchObject({ families: [], complete: false });
    const rows = result.configuration.kind === 'tile' ? result.configuration.vectorCommonParallel[0] : 0;
    expect([4, 8]).toContain(rows);
    expect(lacksFamily(record().evidence, families)).toBe(true);
    // For the same restriction the search is complete.
    expect(lacksFamily(record().evidence, llvmCpu.tuning(shape).families(restricted))).toBe(false);
    await tune({ gainOf: (one) => (one.kind === 'tile' ? 1.5 : 2) });
    expect(lacksFamily(record().evidence, families)).toBe(false);
    expect(record().configuration.kind).toBe('data-tile');
  });

  test('that finds nothing leaves the search unfinished for builds', async () => {
    await within({ gainOf: () => 1 });
    expect(record()).toMatchObject({ configuration: DEFAULT_CONFIGURATION, evidence: { complete: false } });
    expect(isUnfinished(record(), 1000)).toBe(true);
  });

  test('tries all allowed values again if the user asks again', async () => {
    const count = () => store.trials(subject).length;
    await within({ gainOf: () => 1 });
    const before = count();
    await within({ gainOf: () => 1 });
    expect(count()).toBeGreaterThan(before + 8);
  });
});

test('the result is the record of the next build', async () => {
  put({ ...TILE, peeling: false }, { low: 9, ratio: 9, high: 9 });
  const result = await tune({ gainOf: (one) => (isSame(one, second) ? 1.5 : 1) });
  expect(result.evidence.low).toBe(9);
  expect(result.configuration).toEqual(record().configuration);
});

describe('a default without a faster configuration', () => {
  const unfinished = () => isUnfinished(record(), 1000);

  test('is searched further until the searches together had the time of the build, even if older evidence is better', async () => {
    put(DEFAULT_CONFIGURATION, { ...NOTHING, complete: false, processes: 99, tuningSeconds: 5 });
    const before = record();
    let searches = 0;
    // No search ends, because the time is up after each batch.
    while (isUnfinished(record(), 20)) {
      const spent = record().evidence.tuningSeconds;
      await tuneWorkload(syntheticBench({ gainOf: () => 1 }), store, { ...job, budgetSeconds: 2 });
      expect(record().evidence.tuningSeconds).toBeGreaterThan(spent);
      expect(++searches).toBeLessThan(30);
    }
    expect(searches).toBeGreaterThan(1);
    expect(record().evidence.trials).toBeGreaterThan(before.evidence.trials);
  });

  test('is final after a search that came to its end, even with few processes', async () => {
    put(DEFAULT_CONFIGURATION, { ...NOTHING, complete: false, processes: 99 });
    expect(unfinished()).toBe(true);
    await tune({ gainOf: () => 1 });
    expect(record()).toMatchObject({ configuration: DEFAULT_CONFIGURATION, evidence: { complete: true } });
    expect(unfinished()).toBe(false);
  });
});

describe('an earlier winner', () => {
  const winsThen = (one: Configuration) => (isSame(one, first) ? 1.5 : 1);

  test('that is no faster in new finals loses its record', async () => {
    const won = await tune({ gainOf: winsThen });
    expect(won.configuration).toEqual(first);
    const machine: Machine = {
      gainOf: (one, occasion) => {
        if (!isSame(one, first)) return 1;
        return 'batch' in occasion ? 1.2 : 0.5;
      },
    };
    const again = await tune(machine);
    expect(again.configuration).toEqual(DEFAULT_CONFIGURATION);
    expect(record()).toMatchObject({ configuration: DEFAULT_CONFIGURATION });
  });

  test('is judged by all its finals', async () => {
    const won = await tune({ gainOf: winsThen });
    const again = await tune({
      gainOf: (one, occasion) => {
        if (isSame(one, second)) return 'batch' in occasion ? 1.6 : 1.7;
        return isSame(one, first) ? 1.5 : 1;
      },
    });
    expect(again.configuration).toEqual(second);
    const finals = finalsOf(store.runs(subject), first);
    expect(finals.length).toBeGreaterThan(won.evidence.processes);
    expect(new Set(finals.map(({ stratum }) => stratum.split(' ')[0]))).toEqual(new Set(['0', '1']));
    store.addMarks(subject, [{ ...MARK, configuration: second }]);
    expect(record()).toMatchObject({ configuration: first, evidence: { processes: finals.length } });
  });
});

test('finals of several searches are separated by the numbers of their processes', () => {
  const other = { ...RUN, configuration: DEFAULT_CONFIGURATION };
  const runs = [0, 1, 2, 0, 1].map(
    (batch, i) => ({ ...RUN, batch, placement: i % 2 ? 'packed' : 'apart', build: 0 }) as const,
  );
  const search = { ...RUN, stage: 'search' } as const;
  const found = finalsOf(
    [search, ...runs.slice(0, 2), other, ...runs.slice(2), { ...RUN, batch: 2, defaultSeconds: null }],
    TILE,
  );
  expect(found.map(({ stratum }) => stratum)).toEqual([
    ...['0 apart 0', '0 packed 0', '0 apart 0', '1 packed 0', '1 apart 0'],
  ]);
  expect(found[0]!.gains).toEqual([Math.log(2), Math.log(1.5)]);
});
