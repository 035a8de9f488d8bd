// Defaults of two compilers, by their records.
import { expect, test } from 'vitest';
import type { TuningRecord } from '../../src/store/store.ts';
import { isRegression, recordedChanges } from '../../src/tuning/regressions.ts';
import { EVIDENCE, subjectOf, TILE } from '../store/samples.ts';

const record = (m: number, compiler: string, defaultSeconds: number, device = 'a CPU'): TuningRecord => ({
  ...subjectOf(m, { compiler, device }),
  configuration: TILE,
  evidence: { ...EVIDENCE, defaultSeconds, noiseFloor: 0.05 },
  failure: null,
  ...{ createdAt: '2026-01-01T00:00:00Z', createdBy: 'me', machine: 'here', tool: '1' },
  digest: '0'.repeat(64),
});

test('defaults of the same workload on the same device are compared, the greatest loss first', () => {
  const records = [
    ...[record(1, 'old', 1), record(1, 'new', 1.1)],
    ...[record(2, 'old', 1), record(2, 'new', 92)],
    ...[record(3, 'old', 1), record(3, 'new', 0.5)],
    ...[record(4, 'old', 1), record(4, 'new', 9, 'another CPU'), record(5, 'new', 9)],
  ];
  const found = recordedChanges(records, 'old', 'new');
  expect(found.map(({ ratio, newSeconds }) => [ratio, newSeconds])).toEqual([
    [92, 92],
    [1.1, 1.1],
    [0.5, 0.5],
  ]);
  // A tenth is noise between two days.
  expect(found.map(isRegression)).toEqual([true, false, false]);
  const { low, high } = found[0]!;
  expect([low, high]).toEqual([expect.closeTo(92 / 1.1025, 3), expect.closeTo(92 * 1.1025, 3)]);
});
