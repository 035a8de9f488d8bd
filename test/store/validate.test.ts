import { describe, expect, it } from 'vitest';
import { isInstant, parseJson } from '../../src/store/validate.ts';
import { isConfiguration } from '../../src/backend/index.ts';
import { isWorkload } from '../../src/workload/workload.ts';
import type { Store, Subject } from '../../src/store/store.ts';
import {
  DECISION,
  RUN,
  SUBJECT,
  TILE,
  TRIAL,
  alter,
  open,
  recorded,
  subjectOf,
  temporaryPath,
} from './support.ts';
import { operationWork } from '../support/operation-work.ts';

const quoted = (value: unknown) => `'${JSON.stringify(value).replaceAll("'", "''")}'`;

describe('a configuration', () => {
  it.each([
    { version: 1, kind: 'default' },
    { version: 1, kind: 'data-tile' },
    TILE,
    { ...TILE, cacheParallel: [0, 0, 2 ** 20], cacheReduction: [0, 0, 1], vectorInnerParallel: [0, 0, 0] },
  ])('is valid if it is well formed: %j', (value) => {
    expect(isConfiguration(value, 3)).toBe(true);
  });

  it.each([
    ['null', null],
    ['a text', 'default'],
    ['a list', [{ version: 1, kind: 'default' }]],
    ['another version', { version: 2, kind: 'default' }],
    ['no version', { kind: 'default' }],
    ['an unknown kind', { version: 1, kind: 'gpu' }],
    ['a key too many', { version: 1, kind: 'default', mlir: '#hal.executable' }],
    ['a key of objects', JSON.parse('{"version":1,"kind":"default","__proto__":{}}')],
    ['no peeling', { ...TILE, peeling: undefined }],
    ['peeling as a text', { ...TILE, peeling: 'true' }],
    ['a missing level', { ...TILE, vectorReduction: undefined }],
    ['a level that is no list', { ...TILE, distribution: '64, 128, 0' }],
    ['a level that is null', { ...TILE, cacheParallel: null }],
    ['an unknown level', { ...TILE, thread: [1, 1, 1] }],
    ['levels of unequal length', { ...TILE, cacheParallel: [1, 1] }],
    ['a negative tile', { ...TILE, distribution: [-1, 0, 0] }],
    ['a fractional tile', { ...TILE, distribution: [1.5, 0, 0] }],
    ['a tile as a text', { ...TILE, distribution: ['64', 0, 0] }],
    ['a tile above 2^20', { ...TILE, distribution: [2 ** 20 + 1, 0, 0] }],
  ])('is invalid with %s', (_, value) => {
    expect(isConfiguration(value)).toBe(false);
  });

  it('is invalid if its levels do not match the dimensions of the workload', () => {
    expect(isConfiguration(TILE, 4)).toBe(false);
  });

  it('is invalid with empty levels', () => {
    const empty = { ...TILE, distribution: [], vectorCommonParallel: [], vectorReduction: [] };
    expect(isConfiguration(empty)).toBe(false);
  });
});

describe('a workload', () => {
  const form = SUBJECT.workloadForm;

  it('is valid if it is well formed', () => {
    expect(isWorkload(form)).toBe(true);
  });

  it.each([2 ** 20 + 1, 2 ** 31, Number.MAX_SAFE_INTEGER])('is recognised with a dimension of %d', (size) => {
    const [, ...others] = form.dimensions;
    expect(isWorkload({ ...form, dimensions: [{ kind: 'm', size }, ...others] })).toBe(true);
  });

  it('is valid with and without sizes for a dynamic dimension', () => {
    const [, ...others] = form.dimensions;
    const dynamic = (size: number, sizes: unknown) => ({
      ...form,
      dimensions: [{ kind: 'm', size, sizes }, ...others],
    });
    expect(isWorkload(dynamic(16, [1, 16]))).toBe(true);
    expect(isWorkload(dynamic(0, []))).toBe(true);
    for (const [size, sizes] of [
      [16, [16, 1]],
      [1, [1, 16]],
      [0, [0]],
      [1, []],
      [1, '1'],
      [2, [1.5, 2]],
      [3, [3, 3]],
    ] as const)
      expect(isWorkload(dynamic(size, sizes))).toBe(false);
  });

  it.each([
    ['no dimensions', { ...form, dimensions: [] }],
    ['an unknown kind of dimension', { ...form, dimensions: [{ kind: 'x', size: 1 }] }],
    ['dimensions out of order', { ...form, dimensions: [...form.dimensions].reverse() }],
    ['an empty dimension', { ...form, dimensions: [{ kind: 'm', size: 0 }, ...form.dimensions.slice(1)] }],
    [
      'a dimension beyond safe integers',
      { ...form, dimensions: [{ kind: 'm', size: 2 ** 53 }, ...form.dimensions.slice(1)] },
    ],
    ['an operand along an unknown dimension', { ...form, lhs: { elementType: 'f32', dimensions: [0, 3] } }],
    ['an operand along one dimension twice', { ...form, lhs: { elementType: 'f32', dimensions: [0, 0] } }],
    [
      'MLIR as its element type',
      { ...form, rhs: { ...operationWork(form).rhs, elementType: 'f32>) { evil }' } },
    ],
    ['a text where a truth value belongs', { ...form, constantRhs: 'no' }],
    ['a key too many', { ...form, name: 'matmul' }],
    ['no accumulator', { ...form, accumulator: undefined }],
  ])('is invalid with %s', (_, value) => {
    expect(isWorkload(value)).toBe(false);
  });
});

it('an instant must be in UTC', () => {
  expect(isInstant('2026-01-31T08:00:00Z')).toBe(true);
  expect(isInstant('2026-01-31T08:00:00.123Z')).toBe(true);
  expect(isInstant('2026-01-31T08:00:00')).toBe(false);
  expect(isInstant('2026-13-31T08:00:00Z')).toBe(false);
});

it('parseJson returns undefined for invalid JSON', () => {
  expect(parseJson('{')).toBeUndefined();
  expect(parseJson(null)).toBeUndefined();
});

/** trust.test.ts has invalid values of every column. */
describe('an invalid row of the file', () => {
  const OTHER = subjectOf(256);
  /** Numbers of rows about a subject that readers see. */
  const seen = (store: Store, subject: Subject) => {
    const found = store.findRecords([SUBJECT.workload, OTHER.workload], subject.target, subject.compiler);
    const isOwn = ({ workload }: { readonly workload: string }) => workload === subject.workload;
    return {
      records: store.allRecords().filter(isOwn).length,
      found: found.filter(isOwn).length,
      trials: store.trials(subject).length,
      runs: store.runs(subject).length,
      undecided: store.findUndecided([subject.workload], subject).length,
    };
  };
  const ALL = { records: 1, found: 1, trials: 2, runs: 2, undecided: 1 };
  const NO_RECORD = { records: 0, found: 0 };

  it.each<[string, string, Partial<typeof ALL>]>([
    ['a configuration that is not JSON', "claim SET configuration = 'tile'", NO_RECORD],
    ['a ratio outside its interval', 'claim SET ratio = 9', NO_RECORD],
    ['families out of order', `claim SET families = '["tile","data-tile"]'`, NO_RECORD],
    [
      'a configuration that is spelled in another way, so that no mark could be found by it',
      `claim SET configuration = '{"kind":"default","version":1}'`,
      NO_RECORD,
    ],
    ['a trial with an invalid configuration', `trial SET configuration = '{"kind":"tile"}'`, { trials: 1 }],
    ['a run with a time of zero', `run SET seconds = '[0]'`, { runs: 1 }],
    ['an attempt without end', 'undecided SET budget_seconds = 9e999', { undecided: 0 }],
  ])('is skipped, and others are not: %s', (_, change, left) => {
    const path = temporaryPath();
    const first = open(path);
    for (const subject of [SUBJECT, OTHER]) {
      first.putRecord(subject, DECISION);
      first.noteUndecided(subject, 'too slow', 60);
      first.addTrials(subject, [TRIAL, TRIAL]);
      // They belong to the second trial.
      first.addRuns(subject, [RUN, RUN]);
    }
    first.close();
    const [table] = change.split(' ');
    alter(path, `UPDATE ${change} WHERE rowid = (SELECT min(rowid) FROM ${table})`);
    const store = open(path);
    expect(seen(store, SUBJECT)).toEqual({ ...ALL, ...left });
    expect(seen(store, OTHER)).toEqual(ALL);
  });

  it('of a workload hides its records until it is put again', () => {
    const path = recorded();
    alter(path, `UPDATE workload SET form = '{"dimensions":[]}'`);
    const store = open(path);
    expect(store.allRecords()).toEqual([]);
    store.putRecord(SUBJECT, DECISION);
    expect(store.allRecords()).toHaveLength(1);
  });

  it('of a workload with the key of another makes its subject unknown', () => {
    const path = recorded();
    alter(path, `UPDATE workload SET form = ${quoted(OTHER.workloadForm)}`);
    expect(open(path).subject(SUBJECT)).toBeUndefined();
  });
});
