// Plans of runs and their order, and interrupted runs that continue, on a synthetic bench.
import { describe, expect, test } from 'vitest';
import type { Configuration } from '../../src/backend/configuration.ts';
import { llvmCpu } from '../../src/backend/llvm-cpu/index.ts';
import {
  isUnfinished,
  likelyGains,
  planPopulation,
  secondsOfSearch,
  type Answer,
  type Asked,
  type Plan,
  type Planned,
  type Standing,
} from '../../src/populate/plan.ts';
import { populate, type Executor, type PopulateOptions } from '../../src/populate/populate.ts';
import { contractionOf } from '../../src/populate/shape.ts';
import { shapesOf } from '../../src/populate/sweep.ts';
import { coordinateDescent } from '../../src/search/descent.ts';
import type { Store, Subject, TuningRecord } from '../../src/store/store.ts';
import type { Known } from '../../src/tuning/tune-workloads.ts';
import type { Effort } from '../../src/tuning/search-job.ts';
import { workloadFlops, workloadKey } from '../../src/workload/workload.ts';
import { EVIDENCE, open, SUBJECT, temporaryPath, TILE } from '../store/support.ts';
import { SPACE } from '../support/backend.ts';
import { tuneWorkload } from '../tuning/support.ts';
import { syntheticBench } from '../tuning/synthetic-bench.ts';
import { because } from '../../src/system/reason.ts';

/** Five by five by two. */
const shapes = shapesOf({ m: '64:321:64', n: '32:161:32', k: '128,256', rhsConstant: 'no' });

const place = { target: SUBJECT.target, device: SUBJECT.device, compiler: SUBJECT.compiler };

const subjectFor = ({ work: { key, workload } }: Pick<Asked, 'work'>): Subject => ({
  ...SUBJECT,
  workload: key,
  workloadForm: workload,
});

const NEW: Standing = { kind: 'new' };

function askedOf(standingOf: (key: string) => Standing = () => NEW, source = 'sweep'): Asked[] {
  return shapes.map((shape) => {
    const workload = contractionOf(shape);
    const key = workloadKey(workload);
    const work = { key, workload, count: shape.count, options: SPACE };
    return { work, site: 0, source, standing: standingOf(key), result: null, shape };
  });
}

const planOf = (asked = askedOf(), records: readonly TuningRecord[] = []): Plan =>
  planPopulation(asked, () => records);

const record = (key: string, ratio: number, configuration: Configuration = TILE): TuningRecord => ({
  ...{ ...place, workload: key, configuration, failure: null, createdAt: '2026-01-01T00:00:00.000Z' },
  ...{ createdBy: 'test', machine: 'test', tool: '0', digest: '' },
  evidence: { ...EVIDENCE, ratio, tuningSeconds: 12 },
});

const keyOf = (m: number, n: number, k: number) => `contraction m=${m} n=${n} k=${k} f32,f32->f32 mk,kn->mn`;

describe('a plan', () => {
  test('begins with the largest saving: work times count times the estimated gain', () => {
    const plan = planOf();
    expect(plan.todo).toHaveLength(50);
    const work = plan.todo.map(({ work: { workload } }) => workloadFlops(workload));
    expect(work).toEqual(work.toSorted((a, b) => b - a));
    expect(plan.isMeasured).toBe(false);
  });

  test('gains of neighbours move a shape forward, and defaults that are best move it back', () => {
    const records = [record(keyOf(64, 32, 128), 8), record(keyOf(320, 160, 256), 1)];
    const plan = planOf(askedOf(), records);
    const position = (key: string) => plan.todo.findIndex(({ work }) => work.key === key);
    expect(position(keyOf(320, 160, 256))).toBeGreaterThan(position(keyOf(256, 96, 256)));
    expect(plan.todo.find(({ work }) => work.key === keyOf(64, 32, 128))!.likelyGain).toBeGreaterThan(4);
    expect(plan).toMatchObject({ secondsEach: 12, isMeasured: true });
  });

  test('a repeated request is tuned once and counts twice', () => {
    const again = askedOf(() => NEW, 'list').slice(0, 3);
    const plan = planOf([...askedOf(), ...again]);
    expect(plan).toMatchObject({ duplicates: 3 });
    expect(plan.todo).toHaveLength(50);
    expect(plan.todo.filter(({ work }) => work.count === 2)).toHaveLength(3);
  });

  test('the same workload at another site is planned separately', () => {
    const elsewhere = askedOf().map((one) => ({ ...one, site: 1 }));
    expect(planOf([...askedOf(), ...elsewhere]).todo).toHaveLength(100);
  });

  test('known workloads are not tuned, unfinished ones continue, and skipped ones have a reason', () => {
    const standings = new Map<string, Standing>([
      [keyOf(64, 32, 128), { kind: 'known' }],
      [keyOf(64, 32, 256), { kind: 'unfinished' }],
      [keyOf(64, 64, 128), { kind: 'skipped', reason: 'the default does not run' }],
    ]);
    const plan = planOf(askedOf((key) => standings.get(key) ?? NEW));
    expect(plan.known.map(({ work }) => work.key)).toEqual([keyOf(64, 32, 128)]);
    expect(plan.todo.filter(isUnfinished)).toHaveLength(1);
    expect(plan.todo).toHaveLength(48);
    expect(plan.skipped).toEqual([
      { what: keyOf(64, 64, 128), site: 0, source: 'sweep', reason: 'the default does not run' },
    ]);
  });
});

describe('the estimated seconds of a search', () => {
  const plan = { secondsEach: 12, trialsEach: 100 };
  test('come from earlier records, until the run has measured three', () => {
    expect(secondsOfSearch(plan, { measured: 0, trials: 0, seconds: 5 })).toBe(12);
    expect(secondsOfSearch(plan, { measured: 3, trials: 240, seconds: 60 })).toBe(20);
  });
  test('follow the batches of the run if a busy machine makes them slower', () => {
    expect(secondsOfSearch(plan, { measured: 0, trials: 64, seconds: 32 })).toBe(50);
    expect(secondsOfSearch(plan, { measured: 0, trials: 64, seconds: 2 })).toBe(12);
    // The first batches have the set-up and the default in their time.
    expect(secondsOfSearch(plan, { measured: 0, trials: 16, seconds: 32 })).toBe(12);
  });
  test('have the trials of the records', () => {
    const evidence = { ...EVIDENCE, trials: 77 };
    const records = [{ ...record(keyOf(1, 2, 3), 2), evidence }];
    expect(planOf(askedOf(), records)).toMatchObject({ trialsEach: 77 });
  });
});

describe('the estimated gain', () => {
  test('comes from neighbours of equal types and form', () => {
    const gain = likelyGains([record(keyOf(64, 64, 64), 3), record(keyOf(4096, 4096, 4096), 1.2)]);
    expect(gain(keyOf(64, 64, 64))).toBe(3);
    expect(gain(keyOf(128, 64, 64))).toBe(3);
    expect(gain(keyOf(4096, 4096, 2048))).toBeCloseTo(1.2);
    // Without neighbours: the median.
    expect(gain(keyOf(64, 64, 64).replaceAll('f32', 'f16'))).toBe(1.2);
  });

  test('is a guess without records', () => {
    expect(likelyGains([])(keyOf(1, 2, 3))).toBeGreaterThan(1);
  });
});

/** Enough to see an end. */
const LITTLE: Effort = { trialsPerBatch: 2, maxTrials: 4, patience: 1, finalists: 1 };

/** An executor on a synthetic bench, and the keys that it tuned. */
function madeUp(store: Store, onTune: (key: string) => void = () => undefined) {
  const tuned: string[] = [];
  const executor: Executor = {
    prepare: (planned) => Promise.resolve(planned),
    async tune(works, _again, _site, { budgetSeconds }) {
      const results = new Map<string, Known>();
      for (const work of works) {
        onTune(work.key);
        tuned.push(work.key);
        const bench = syntheticBench({ gainOf: (one) => (one.kind === 'default' ? 1 : 1.5) });
        const result = await tuneWorkload(bench, store, {
          ...{ subject: subjectFor({ work }), backend: llvmCpu, options: SPACE, strategy: coordinateDescent },
          ...{ effort: LITTLE, budgetSeconds, clock: () => 0, createdBy: 'test' },
        });
        results.set(work.key, { ...result!, outcome: 'tuned' });
      }
      return { results, undecided: new Map(), whyNot: because('budget-spent') };
    },
  };
  return { executor, tuned };
}

function planFor(store: Store): Plan {
  const isKnown = (key: string) => store.findRecords([key], place.target, place.compiler).length > 0;
  return planOf(
    askedOf((key) => (isKnown(key) ? { kind: 'known' } : NEW)),
    store.allRecords(),
  );
}

const options = (change: Partial<PopulateOptions> = {}): PopulateOptions => ({
  atOnce: 2,
  finishEarly: new AbortController().signal,
  signal: new AbortController().signal,
  clock: () => 0,
  ...change,
});

describe('a run', () => {
  test('tunes everything in the order of the plan, and a second run tunes nothing', async () => {
    const store = open(temporaryPath());
    const plan = planFor(store);
    const { executor, tuned } = madeUp(store);
    const results = await populate(plan, executor, options());
    expect(tuned).toEqual(plan.todo.map(({ work }) => work.key));
    expect(results.every(({ result }) => result?.configuration.kind !== 'default')).toBe(true);
    const again = planFor(store);
    expect(again.todo).toEqual([]);
    expect(again.known).toHaveLength(50);
  });

  test('that is killed continues without measuring anything twice', async () => {
    const store = open(temporaryPath());
    const first = madeUp(store, () => {
      if (first.tuned.length === 21) throw new Error('killed');
    });
    await expect(populate(planFor(store), first.executor, options())).rejects.toThrow('killed');
    expect(store.allRecords()).toHaveLength(21);
    const second = madeUp(store);
    const plan = planFor(store);
    expect(plan.todo).toHaveLength(29);
    await populate(plan, second.executor, options());
    expect(second.tuned).toHaveLength(29);
    expect(new Set([...first.tuned, ...second.tuned]).size).toBe(50);
    expect(store.allRecords()).toHaveLength(50);
  });

  test('that is interrupted decides the current work, and reports the rest as interrupted', async () => {
    const store = open(temporaryPath());
    const finishEarly = new AbortController();
    const { executor, tuned } = madeUp(store, () => {
      finishEarly.abort();
    });
    const told: string[] = [];
    const telling = options({ finishEarly: finishEarly.signal, onDone: ({ key }) => told.push(key) });
    const results = await populate(planFor(store), executor, telling);
    expect(tuned).toHaveLength(2);
    expect(results.filter(({ result }) => result !== null)).toHaveLength(2);
    expect(results.at(-1)!.reason).toMatch(/the same command resumes/);
    expect(told).toHaveLength(50);
  });

  test('reports each result once', async () => {
    const store = open(temporaryPath());
    const plan = planFor(store);
    const told: string[] = [];
    const telling = options({ atOnce: Infinity, onDone: ({ key }) => told.push(key) });
    await populate(plan, madeUp(store).executor, telling);
    expect(told).toEqual(plan.todo.map(({ work }) => work.key));
  });

  test('shares its budget among all workloads, and reports workloads beyond it', async () => {
    const store = open(temporaryPath());
    let now = 0;
    const budgets: number[] = [];
    const { executor } = madeUp(store);
    const slow: Executor = {
      ...executor,
      tune(works, again, site, group) {
        budgets.push(group.budgetSeconds);
        now += 40;
        return executor.tune(works, again, site, group);
      },
    };
    const results = await populate(planFor(store), slow, options({ budgetSeconds: 100, clock: () => now }));
    // Ten seconds for each of a group: a few good searches are better than many short ones.
    expect(budgets).toEqual([20, 20, 20]);
    expect(results.filter(({ result }) => result !== null)).toHaveLength(6);
    expect(results.at(-1)!.reason).toMatch(/budget of the run is spent/);
  });

  test('shapes that a survey finds equal are tuned once, and known ones are not tuned', async () => {
    const store = open(temporaryPath());
    const { executor, tuned } = madeUp(store);
    const plan = planFor(store);
    const [a, b, c, d] = plan.todo;
    const reason = 'the compiler makes something else of it';
    const result = { configuration: TILE, evidence: EVIDENCE };
    const answers = new Map<Planned, Answer>([
      [c!, { ...c!, standing: { kind: 'known' }, result }],
      [d!, { ...d!, standing: { kind: 'skipped', reason } }],
    ]);
    const equal: Answer = { work: a!.work, standing: NEW, result: null };
    const surveying: Executor = {
      ...executor,
      prepare: (planned) =>
        Promise.resolve(planned.map((one) => ({ ...one, ...(answers.get(one) ?? equal) }))),
    };
    const results = await populate({ todo: [a!, b!, c!, d!] }, surveying, options());
    expect(tuned).toEqual([a!.work.key]);
    expect(results.map(({ key, wasKnown }) => [key, wasKnown])).toEqual([
      [a!.work.key, false],
      [a!.work.key, false],
      [c!.work.key, true],
      [d!.work.key, false],
    ]);
    expect(results[3]!.reason).toBe(reason);
  });
});
