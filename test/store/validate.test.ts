import { describe, expect, it } from 'vitest';
import { isInstant, parseJson } from '../../src/store/validate.ts';
import { isConfiguration } from '../../src/backend/index.ts';
import { isWorkload } from '../../src/workload/workload.ts';
import { DECISION, RUN, SUBJECT, TILE, alter, open, subjectOf, temporaryPath } from './support.ts';
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

describe('a record in the file', () => {
  it.each([
    ['a configuration that is not JSON', "configuration = 'tile'"],
    [
      'a configuration with an unknown key',
      `configuration = ${quoted({ version: 1, kind: 'default', spec: '' })}`,
    ],
    ['tiles of the wrong number', `configuration = ${quoted({ ...TILE, distribution: [1, 1] })}`],
    ['a ratio outside its interval', 'ratio = 9'],
    ['an infinite time', 'seconds = 9e999'],
    ['a date that is none', "created_at = 'yesterday'"],
    ['families that are no list', `families = '"tile"'`],
    ['families out of order', `families = '["tile","data-tile"]'`],
    ['a family that is no word', `families = '["tile; DROP TABLE"]'`],
    [
      'a configuration that is spelled in another way, so that no mark could be found by it',
      `configuration = '{"kind":"default","version":1}'`,
    ],
  ])('with %s is skipped, and others are not', (_, change) => {
    const path = temporaryPath();
    const first = open(path);
    first.putRecord(SUBJECT, DECISION);
    first.putRecord(subjectOf(256), DECISION);
    first.close();
    alter(path, `UPDATE claim SET ${change} WHERE subject = 1`);
    const store = open(path);
    const wanted = [SUBJECT.workload, subjectOf(256).workload];
    const rest = [subjectOf(256).workload];
    expect(store.allRecords().map(({ workload }) => workload)).toEqual(rest);
    expect(
      store.findRecords(wanted, SUBJECT.target, SUBJECT.compiler).map(({ workload }) => workload),
    ).toEqual(rest);
  });

  it('with an invalid form of its workload is skipped, and heals when it is put again', () => {
    const path = temporaryPath();
    const first = open(path);
    first.putRecord(SUBJECT, DECISION);
    first.close();
    alter(path, `UPDATE workload SET form = '{"dimensions":[]}'`);
    const store = open(path);
    expect(store.allRecords()).toEqual([]);
    store.putRecord(SUBJECT, DECISION);
    expect(store.allRecords()).toHaveLength(1);
  });
});

it('skips a trial with an invalid configuration', () => {
  const path = temporaryPath();
  const first = open(path);
  const trial = { outcome: 'measured', seconds: 1, ratio: 1, message: null, strategy: 'grid' } as const;
  first.addTrials(SUBJECT, [
    { ...trial, configuration: TILE },
    { ...trial, configuration: { version: 1, kind: 'default' } },
  ]);
  first.close();
  alter(path, `UPDATE trial SET configuration = '{"kind":"tile"}' WHERE number = 1`);
  expect(open(path).trials(SUBJECT)).toHaveLength(1);
});

it.each([
  ['times', `seconds = '[0]'`],
  ['no time at all', `seconds = '[]'`],
  ['times of other sizes than the default', `seconds = '[1]'`],
  ['a time of the default', `default_seconds = '[1, "x"]'`],
])('skips an invalid run: %s', (_, change) => {
  const path = temporaryPath();
  const first = open(path);
  const trial = { configuration: TILE, outcome: 'measured', seconds: 1, ratio: 1 } as const;
  first.addTrials(SUBJECT, [{ ...trial, message: null, strategy: 'grid' }]);
  first.addRuns(SUBJECT, [RUN, RUN]);
  first.close();
  alter(path, `UPDATE run SET ${change} WHERE id = 1`);
  expect(open(path).runs(SUBJECT)).toEqual([RUN]);
});

it('skips an invalid undecided row', () => {
  const path = temporaryPath();
  const first = open(path);
  first.noteUndecided(SUBJECT, 'too slow', 60);
  first.close();
  alter(path, 'UPDATE undecided SET budget_seconds = 9e999');
  expect(open(path).findUndecided([SUBJECT.workload], SUBJECT)).toEqual([]);
});

it("a subject whose key does not match its workload's form is unknown", () => {
  const path = temporaryPath();
  const first = open(path);
  first.noteMiss(SUBJECT);
  first.close();
  alter(path, `UPDATE workload SET form = ${quoted(subjectOf(256).workloadForm)}`);
  expect(open(path).subject(SUBJECT)).toBeUndefined();
});
