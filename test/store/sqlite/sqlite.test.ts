import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { userName } from '../../../src/store/author.ts';
import { DEFAULT_CONFIGURATION } from '../../../src/backend/configuration.ts';
import { packageVersion } from '../../../src/system/package-root.ts';
import type { Run, Trial, Store, Subject } from '../../../src/store/store.ts';
import { keysOf } from '../../../src/store/subject.ts';
import { FIND_RECORDS } from '../../../src/store/sqlite/statements.ts';
import {
  DECISION,
  EVIDENCE,
  MARK,
  RUN,
  SUBJECT,
  TILE,
  look,
  open,
  subjectOf,
  temporaryFolder,
  temporaryPath,
} from '../support.ts';

const KEY = keysOf(SUBJECT);

const TRIALS: readonly Trial[] = [
  { configuration: TILE, outcome: 'measured', seconds: 0.001, ratio: 1.8, message: null, strategy: 'random' },
  {
    configuration: { version: 1, kind: 'data-tile' },
    outcome: 'compile-error',
    seconds: null,
    ratio: null,
    message: "it's no use",
    strategy: 'portfolio',
  },
];

/** An empty store. */
let store: Store;
beforeEach(() => {
  store = open(temporaryPath());
});

describe('a new database', () => {
  it('is created with its parent folders', () => {
    const path = join(temporaryFolder(), 'some', 'where', 'tuning.db');
    open(path);
    expect(existsSync(path)).toBe(true);
  });

  it('is empty', () => {
    const lists = [store.allRecords(), store.misses(), store.trials(KEY), store.marks(KEY)];
    expect([...lists, store.findUndecided([KEY.workload], KEY)]).toEqual(Array(5).fill([]));
    expect(store.subject(KEY)).toBeUndefined();
  });
});

describe('records', () => {
  it('come back unchanged, even from a reopened database', () => {
    const path = temporaryPath();
    const first = open(path);
    first.putRecord(SUBJECT, DECISION);
    first.close();
    const [record, ...others] = open(path).allRecords();
    expect(others).toEqual([]);
    const { digest, createdBy, machine, tool, ...rest } = record!;
    expect(rest).toEqual({ ...KEY, ...DECISION, failure: null });
    expect([createdBy, machine, tool]).toEqual([userName(), hostname(), packageVersion()]);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each([
    DEFAULT_CONFIGURATION,
    { version: 1, kind: 'data-tile' } as const,
    { ...TILE, cacheParallel: [0, 0, 0], cacheReduction: [0, 0, 64], vectorInnerParallel: [0, 0, 0] },
  ])('keep a configuration of kind $kind', (configuration) => {
    store.putRecord(SUBJECT, { ...DECISION, configuration });
    expect(store.allRecords()[0]?.configuration).toEqual(configuration);
  });

  it('are found by workloads, target and compiler, on any device', () => {
    for (const subject of [
      SUBJECT,
      subjectOf(512, { device: 'other device' }),
      subjectOf(512, { target: 'other target' }),
      subjectOf(512, { compiler: 'other compiler' }),
      subjectOf(256),
      subjectOf(128),
    ]) {
      store.putRecord(subject, DECISION);
    }
    const wanted = [SUBJECT.workload, subjectOf(256).workload, 'no such workload'];
    const found = store.findRecords(wanted, SUBJECT.target, SUBJECT.compiler);
    expect(found.map(({ workload, device }) => `${workload} on ${device}`).sort()).toEqual(
      [
        `${subjectOf(256).workload} on ${SUBJECT.device}`,
        `${SUBJECT.workload} on ${SUBJECT.device}`,
        `${SUBJECT.workload} on other device`,
      ].sort(),
    );
  });

  it('are found for thousands of workloads in one call', () => {
    store.putRecord(SUBJECT, DECISION);
    const wanted = Array.from({ length: 50_000 }, (_, i) => `workload ${i}`).concat(SUBJECT.workload);
    expect(store.findRecords(wanted, SUBJECT.target, SUBJECT.compiler)).toHaveLength(1);
  });

  it.each([2 ** 20 + 1, 2 ** 31])('are found again where a dimension is %d', (m) => {
    const subject = subjectOf(m);
    store.putRecord(subject, DECISION);
    expect(store.findRecords([subject.workload], subject.target, subject.compiler)).toHaveLength(1);
    expect(store.subject(subject)).toEqual(subject);
  });

  it('are found through indexes only', () => {
    const path = temporaryPath();
    open(path).putRecord(SUBJECT, DECISION);
    const db = new Database(path);
    const steps = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${FIND_RECORDS}`);
    const details = steps.all({ workloads: '[]', target: '', compiler: '' }).map(({ detail }) => detail);
    db.close();
    expect(details.filter((detail) => detail.startsWith('SEARCH')).length).toBeGreaterThan(5);
    expect(
      details.filter((detail) => detail.startsWith('SCAN')).map((detail) => detail.split(' ')[1]),
      // The EXISTS on revocations.
    ).toEqual(['asked', 'revocation']);
  });

  it('keep the better evidence for the same configuration, and the effort of both', () => {
    store.putRecord(SUBJECT, DECISION);
    const worse = { ...EVIDENCE, ratio: 1.8, complete: false, trials: 500, families: ['later', 'tile'] };
    store.putRecord(SUBJECT, { ...DECISION, evidence: worse });
    const families = ['data-tile', 'later', 'tile'];
    expect(store.allRecords()).toMatchObject([{ evidence: { ...EVIDENCE, trials: 500, families } }]);
    const better = { ...EVIDENCE, processes: 6, ratio: 1.8 };
    store.putRecord(SUBJECT, { ...DECISION, evidence: better });
    expect(store.allRecords()).toMatchObject([{ evidence: { ...better, trials: 500, families } }]);
  });

  it('are listed newest first', () => {
    const years = ['2025', '2027', '2026'];
    years.forEach((year, i) => {
      store.putRecord(subjectOf(i + 1), { ...DECISION, createdAt: `${year}-01-01T00:00:00.000Z` });
    });
    expect(store.allRecords().map(({ createdAt }) => createdAt.slice(0, 4))).toEqual([
      '2027',
      '2026',
      '2025',
    ]);
  });
});

describe('marks', () => {
  const failureOf = (store: Store) =>
    store.findRecords([SUBJECT.workload], SUBJECT.target, SUBJECT.compiler)[0]?.failure;

  it('appear at the record with their configuration on their device only', () => {
    const others = [subjectOf(256), subjectOf(512, { device: 'other device' })];
    for (const subject of [SUBJECT, ...others]) store.putRecord(subject, DECISION);
    store.addMarks(SUBJECT, [MARK]);
    const reasonsOf = ({ workload, target, compiler }: Subject) =>
      store.findRecords([workload], target, compiler).map(({ failure }) => failure);
    expect(reasonsOf(SUBJECT).sort()).toEqual([`compile-error: ${MARK.reason}`, null]);
    expect(reasonsOf(subjectOf(256))).toEqual([null]);
    expect(others.map((subject) => store.marks(subject))).toEqual([[], []]);
  });

  it('stay lifted until a new mark', () => {
    store.putRecord(SUBJECT, DECISION);
    store.addMarks(SUBJECT, [MARK]);
    store.addMarks(SUBJECT, [{ ...MARK, kind: 'lifted', reason: 'a compiler of before' }]);
    expect(store.marks(SUBJECT)).toEqual([]);
    expect(failureOf(store)).toBeNull();
    store.addMarks(SUBJECT, [{ ...MARK, kind: 'wrong-result', reason: 'at 3' }]);
    expect(store.marks(SUBJECT)).toMatchObject([{ kind: 'wrong-result', generation: 1 }]);
    expect(failureOf(store)).toBe('wrong-result: at 3');
    store.addMarks(SUBJECT, [{ ...MARK, kind: 'lifted' }]);
    expect(failureOf(store)).toBeNull();
  });

  it('are stored without control characters', () => {
    store.addMarks(SUBJECT, [{ ...MARK, reason: `\x1b[2J${'x'.repeat(5000)}\ud800` }]);
    expect(store.marks(SUBJECT)[0]!.reason).toBe(` [2J${'x'.repeat(4092)}`);
  });

  it('need no record', () => {
    store.addMarks(SUBJECT, [MARK]);
    expect(store.marks(SUBJECT)).toEqual([
      { ...MARK, generation: 0, createdBy: userName(), machine: hostname(), tool: packageVersion() },
    ]);
    expect(store.allRecords()).toEqual([]);
    store.putRecord(SUBJECT, DECISION);
    expect(failureOf(store)).toMatch(/no such thing/);
  });

  it('are found for any order of keys in the configuration', () => {
    const { peeling, distribution, ...others } = TILE;
    const reordered = { peeling, ...others, cacheReduction: [0, 0, 64], distribution };
    const configuration = { ...TILE, cacheReduction: [0, 0, 64] };
    store.putRecord(SUBJECT, { ...DECISION, configuration });
    store.addMarks(SUBJECT, [{ ...MARK, configuration: reordered }]);
    expect(failureOf(store)).toMatch(/no such thing/);
  });

  it('are kept once for each kind, the earliest', () => {
    store.addMarks(SUBJECT, [MARK, { ...MARK, reason: 'again', createdAt: '2026-03-01T08:00:00.000Z' }]);
    store.addMarks(SUBJECT, [{ ...MARK, kind: 'wrong-result', reason: 'wrong in the program' }]);
    expect(store.marks(SUBJECT).map(({ kind, reason }) => `${kind} ${reason}`)).toEqual([
      `compile-error ${MARK.reason}`,
      'wrong-result wrong in the program',
    ]);
  });
});

describe('an undecided workload', () => {
  const place = { target: SUBJECT.target, device: SUBJECT.device, compiler: SUBJECT.compiler };
  const find = (store: Store, ...subjects: readonly Subject[]) =>
    store.findUndecided(
      subjects.map(({ workload }) => workload),
      place,
    );

  it('is found by workloads, target, device and compiler', () => {
    store = open(temporaryPath(), { now: () => new Date('2026-02-03T04:05:06Z') });
    store.noteUndecided(SUBJECT, 'too slow', 60);
    for (const change of [{ device: 'other device' }, { target: 'other' }, { compiler: 'other' }])
      store.noteUndecided(subjectOf(256, change), 'too slow', 60);
    expect(find(store, SUBJECT, subjectOf(256))).toEqual([
      {
        workload: SUBJECT.workload,
        reason: 'too slow',
        budgetSeconds: 60,
        attempts: 1,
        lastTriedAt: '2026-02-03T04:05:06.000Z',
      },
    ]);
    expect(find(store)).toEqual([]);
  });

  it('keeps the largest budget with its reason', () => {
    store.noteUndecided(SUBJECT, 'in 10 s', 10);
    store.noteUndecided(SUBJECT, 'in 60 s', 60);
    store.noteUndecided(SUBJECT, 'in 5 s', 5);
    expect(find(store, SUBJECT)).toMatchObject([{ reason: 'in 60 s', budgetSeconds: 60, attempts: 3 }]);
  });

  it('is removed by a record, and so is a miss', () => {
    for (const subject of [SUBJECT, subjectOf(256)]) {
      store.noteUndecided(subject, 'too slow', 60);
      store.noteMiss(subject);
    }
    store.putRecord(SUBJECT, DECISION);
    const { workload } = subjectOf(256);
    expect(find(store, SUBJECT, subjectOf(256))).toMatchObject([{ workload }]);
    expect(store.misses()).toMatchObject([{ workload }]);
  });
});

describe('trials', () => {
  it('come back in the order of insertion, also after a record is put or replaced', () => {
    for (const trial of TRIALS) {
      store.addTrials(SUBJECT, [trial]);
      store.putRecord(SUBJECT, DECISION);
    }
    expect(store.trials(KEY)).toEqual(TRIALS);
    expect(store.trials(subjectOf(256))).toEqual([]);
  });

  it('have the time of the given clock', () => {
    const path = temporaryPath();
    store = open(path, { now: () => new Date('2026-02-03T04:05:06Z') });
    store.addTrials(SUBJECT, TRIALS);
    store.close();
    expect(look(path, 'SELECT created_at FROM trial')).toBe('2026-02-03T04:05:06.000Z');
  });
});

describe('runs', () => {
  it('come back unchanged in the order of insertion', () => {
    store.addTrials(SUBJECT, TRIALS);
    const runs: readonly Run[] = [
      RUN,
      { ...RUN, configuration: TRIALS[1]!.configuration, stage: 'search', placement: 'apart', build: 0 },
      { ...RUN, batch: 4, defaultSeconds: null },
    ];
    store.addRuns(SUBJECT, runs.slice(0, 2));
    store.addRuns(SUBJECT, runs.slice(2));
    expect(store.runs(KEY)).toEqual(runs);
    expect(store.runs(subjectOf(256))).toEqual([]);
  });

  it('belong to the last trial of their configuration', () => {
    const path = temporaryPath();
    store = open(path);
    for (let i = 0; i < 2; i++) {
      store.addTrials(SUBJECT, TRIALS);
      store.addRuns(SUBJECT, [RUN]);
    }
    store.close();
    expect(look(path, 'SELECT group_concat(trial) FROM run')).toBe('1,3');
  });
});

describe('misses', () => {
  it('are counted with the time of the last', () => {
    let hour = 1;
    store = open(temporaryPath(), { now: () => new Date(Date.UTC(2026, 0, 1, hour++)) });
    store.noteMiss(SUBJECT);
    store.noteMiss(SUBJECT);
    expect(store.misses()).toEqual([{ ...KEY, count: 2, lastSeenAt: '2026-01-01T02:00:00.000Z' }]);
  });

  it('are listed with the most frequent first', () => {
    [1, 2, 2, 3, 3, 3].forEach((m) => {
      store.noteMiss(subjectOf(m));
    });
    expect(store.misses().map(({ count }) => count)).toEqual([3, 2, 1]);
  });
});

describe('subjects', () => {
  it('come back in full after a record, trial, miss, mark or undecided attempt', () => {
    store.putRecord(subjectOf(1), DECISION);
    store.addTrials(subjectOf(2), TRIALS);
    store.noteMiss(subjectOf(3));
    store.addMarks(subjectOf(4), [MARK]);
    store.noteUndecided(subjectOf(5), 'too slow', 60);
    for (const m of [1, 2, 3, 4, 5]) expect(store.subject(subjectOf(m))).toEqual(subjectOf(m));
  });

  it('are unknown if only their parts exist', () => {
    store.putRecord(SUBJECT, DECISION);
    store.putRecord(subjectOf(1, { device: 'other device' }), DECISION);
    expect(store.subject(subjectOf(512, { device: 'other device' }))).toBeUndefined();
  });

  it('store an undefined form as null', () => {
    store.noteMiss(subjectOf(1, { deviceForm: undefined }));
    expect(store.subject(subjectOf(1))?.deviceForm).toBeNull();
  });
});
