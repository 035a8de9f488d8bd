// Constraints of the database itself.
import { expect, it } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../src/backend/configuration.ts';
import type { Mark, Run, Trial } from '../../src/store/store.ts';
import {
  DECISION,
  EVIDENCE,
  MARK,
  RUN,
  SUBJECT,
  TILE,
  failure,
  look,
  open,
  subjectOf,
  temporaryPath,
} from './support.ts';

it.each([
  ['a ratio below its interval', { ratio: 1.5 }],
  ['a ratio above its interval', { ratio: 2 }],
  ['a ratio that is not a number', { ratio: NaN }],
  ['an infinite interval', { high: Infinity }],
  ['a time of zero', { seconds: 0 }],
  ['a negative default time', { defaultSeconds: -1 }],
  ['no processes', { processes: 0 }],
  ['half a repetition', { repetitions: 0.5 }],
  ['a negative noise floor', { noiseFloor: -0.01 }],
  ['an infinite error', { maxError: Infinity }],
  ['a negative number of trials', { trials: -1 }],
  ['a negative tuning time', { tuningSeconds: -1 }],
  ['families that are no list', { families: 'tile' as unknown as string[] }],
])('refuses evidence with %s', (_, change) => {
  const path = temporaryPath();
  const store = open(path);
  failure('unwritable', path, () => {
    store.putRecord(SUBJECT, { ...DECISION, evidence: { ...EVIDENCE, ...change } });
  });
  expect(store.allRecords()).toEqual([]);
});

it('keeps the old record if the new one is refused', () => {
  const store = open(temporaryPath());
  store.putRecord(SUBJECT, DECISION);
  expect(() => {
    store.putRecord(SUBJECT, { ...DECISION, evidence: { ...EVIDENCE, seconds: 0 } });
  }).toThrow('CHECK constraint failed');
  expect(store.allRecords()).toHaveLength(1);
});

it('refuses a date that is not ISO 8601 in UTC', () => {
  const path = temporaryPath();
  const store = open(path);
  failure('unwritable', path, () => {
    store.putRecord(SUBJECT, { ...DECISION, createdAt: '2026-01-31T08:00:00+01:00' });
  });
});

it('refuses an empty key', () => {
  const path = temporaryPath();
  const store = open(path);
  failure('unwritable', path, () => {
    store.noteMiss(subjectOf(1, { device: '' }));
  });
});

it.each([
  ['an unknown outcome', { outcome: 'exploded' }],
  ['a measured outcome without seconds', { seconds: null }],
  ['a failed outcome with seconds', { outcome: 'timeout' }],
  ['a failed outcome with a ratio', { outcome: 'timeout', seconds: null }],
])('refuses a trial with %s', (_, change) => {
  const path = temporaryPath();
  const store = open(path);
  const measured = {
    configuration: TILE,
    outcome: 'measured',
    seconds: 1,
    ratio: 1,
    message: null,
    strategy: 'grid',
  };
  failure('unwritable', path, () => {
    store.addTrials(SUBJECT, [{ ...measured, ...change } as Trial]);
  });
});

it.each([
  ['of an unknown kind', { kind: 'ugly' }],
  ['of the default', { configuration: DEFAULT_CONFIGURATION }],
  ['of no kind', { kind: null }],
  ['of some day', { createdAt: 'yesterday' }],
])('refuses a mark %s', (_, change) => {
  const path = temporaryPath();
  const store = open(path);
  failure('unwritable', path, () => {
    store.addMarks(SUBJECT, [MARK, { ...MARK, ...change } as Mark]);
  });
  expect(store.marks(SUBJECT)).toEqual([]);
});

it.each([
  ['of an unknown stage', { stage: 'semifinals' }],
  ['before the first', { batch: -1 }],
  ['with operands anywhere', { placement: 'anywhere' }],
  ['of half a build', { build: 0.5 }],
])('refuses a run %s', (_, change) => {
  const path = temporaryPath();
  const store = open(path);
  const trial = { configuration: TILE, outcome: 'measured', seconds: 1, ratio: 1 } as const;
  store.addTrials(SUBJECT, [{ ...trial, message: null, strategy: 'grid' }]);
  failure('unwritable', path, () => {
    store.addRuns(SUBJECT, [{ ...RUN, ...change } as Run]);
  });
  expect(store.runs(SUBJECT)).toEqual([]);
});

it.each([NaN, Infinity, -1])('refuses an attempt of %d seconds', (seconds) => {
  const path = temporaryPath();
  const store = open(path);
  failure('unwritable', path, () => {
    store.noteUndecided(SUBJECT, 'too slow', seconds);
  });
});

it('refuses a counter that is not a finite number', () => {
  const path = temporaryPath();
  const store = open(path);
  failure('unwritable', path, () => {
    store.count({ hit: NaN });
  });
  failure('unwritable', path, () => {
    store.count({ hit: Infinity });
  });
});

it('makes every table strict', () => {
  const path = temporaryPath();
  open(path).close();
  expect(
    look(
      path,
      "SELECT group_concat(name) FROM pragma_table_list WHERE schema = 'main' AND NOT strict AND name NOT LIKE 'sqlite_%'",
    ),
  ).toBeNull();
});
