// Constraints of the database itself.
import { expect, it } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../src/backend/configuration.ts';
import type { Evidence, Store } from '../../src/store/store.ts';
import {
  DECISION,
  EVIDENCE,
  MARK,
  RUN,
  SUBJECT,
  TRIAL,
  failure,
  look,
  open,
  recorded,
  subjectOf,
  temporaryPath,
} from './support.ts';

type Write = (store: Store) => void;

const evidence =
  (change: Partial<Evidence>): Write =>
  (store) => {
    store.putRecord(subjectOf(256), { ...DECISION, evidence: { ...EVIDENCE, ...change } });
  };
// A valid row comes first, so that the tests see that all rows of a call are refused.
const trial =
  (change: object): Write =>
  (store) => {
    store.addTrials(SUBJECT, [TRIAL, { ...TRIAL, ...change }]);
  };
const mark =
  (change: object): Write =>
  (store) => {
    store.addMarks(SUBJECT, [MARK, { ...MARK, ...change }]);
  };
const run =
  (change: object): Write =>
  (store) => {
    store.addRuns(SUBJECT, [RUN, { ...RUN, ...change }]);
  };
const attempt =
  (seconds: number): Write =>
  (store) => {
    store.noteUndecided(SUBJECT, 'too slow', seconds);
  };

it.each<[string, Write]>([
  ['a ratio below its interval', evidence({ ratio: 1.5 })],
  ['a ratio above its interval', evidence({ ratio: 2 })],
  ['a ratio that is not a number', evidence({ ratio: NaN })],
  ['an infinite interval', evidence({ high: Infinity })],
  ['a time of zero', evidence({ seconds: 0 })],
  ['a negative default time', evidence({ defaultSeconds: -1 })],
  ['no processes', evidence({ processes: 0 })],
  ['half a repetition', evidence({ repetitions: 0.5 })],
  ['a negative noise floor', evidence({ noiseFloor: -0.01 })],
  ['an infinite error', evidence({ maxError: Infinity })],
  ['a negative number of trials', evidence({ trials: -1 })],
  ['a negative tuning time', evidence({ tuningSeconds: -1 })],
  ['families that are no list', evidence({ families: 'tile' as unknown as string[] })],
  [
    'a record whose date is not in UTC',
    (store) => {
      store.putRecord(subjectOf(256), { ...DECISION, createdAt: '2026-01-31T08:00:00+01:00' });
    },
  ],
  [
    'an empty key',
    (store) => {
      store.noteMiss(subjectOf(1, { device: '' }));
    },
  ],
  ['a trial with a negative time', trial({ seconds: -1 })],
  ['a trial with an unknown outcome', trial({ outcome: 'exploded' })],
  ['a measured trial without seconds', trial({ seconds: null })],
  ['a failed trial with seconds', trial({ outcome: 'timeout' })],
  ['a failed trial with a ratio', trial({ outcome: 'timeout', seconds: null })],
  ['a mark of an unknown kind', mark({ kind: 'ugly' })],
  ['a mark of the default', mark({ configuration: DEFAULT_CONFIGURATION })],
  ['a mark of no kind', mark({ kind: null })],
  ['a mark without a date', mark({ createdAt: 'yesterday' })],
  ['a run without a trial', run({ configuration: DEFAULT_CONFIGURATION })],
  ['a run of an unknown stage', run({ stage: 'semifinals' })],
  ['a run before the first', run({ batch: -1 })],
  ['a run with operands anywhere', run({ placement: 'anywhere' })],
  ['a run of half a build', run({ build: 0.5 })],
  ['an attempt of NaN seconds', attempt(NaN)],
  ['an attempt without end', attempt(Infinity)],
  ['an attempt of negative seconds', attempt(-1)],
])('refuses %s, and changes nothing', (_, write) => {
  const path = recorded();
  const store = open(path);
  store.addTrials(SUBJECT, [TRIAL]);
  const content = () => [
    ...[store.allRecords(), store.trials(SUBJECT), store.marks(SUBJECT), store.runs(SUBJECT)],
    ...[store.misses(), store.findUndecided([SUBJECT.workload], SUBJECT)],
  ];
  const before = content();
  failure('unwritable', path, () => {
    write(store);
  });
  expect(content()).toEqual(before);
});

it('keeps the old record if the new one is refused', () => {
  const store = open(recorded());
  expect(() => {
    store.putRecord(SUBJECT, { ...DECISION, evidence: { ...EVIDENCE, processes: 9, seconds: 0 } });
  }).toThrow('CHECK constraint failed');
  expect(store.allRecords()).toHaveLength(1);
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
