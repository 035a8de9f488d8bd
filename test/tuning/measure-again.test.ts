// Records are measured again on a simulated machine.
import { beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../src/backend/configuration.ts';
import type { Evidence, Store } from '../../src/store/store.ts';
import type { Bench } from '../../src/tuning/bench.ts';
import { recordOf } from '../../src/tuning/earlier.ts';
import { measureAgain } from '../../src/tuning/measure-again.ts';
import { EVIDENCE, subjectOf, TILE } from '../store/samples.ts';
import { newStore } from './support.ts';
import { syntheticBench, type Machine } from './synthetic-bench.ts';

const subject = subjectOf(256);
let store: Store;
beforeEach(() => {
  store = newStore();
  put({});
});

function put(evidence: Partial<Evidence>) {
  store.putRecord(subject, {
    configuration: TILE,
    evidence: { ...EVIDENCE, ratio: 1.5, low: 1.45, high: 1.55, processes: 16, ...evidence },
    createdAt: '2026-01-01T00:00:00Z',
  });
}

const record = () => recordOf(store, subject)!;
const again = (bench: Bench) => measureAgain(record(), subject, bench, store, () => true);
const at = (ratio: number, spread = 0.01): Machine => ({
  spread,
  gainOf: ({ kind }) => (kind === 'default' ? 1 : ratio),
});

describe('a record that is measured again', () => {
  test.each([
    [1.5, 'holds'],
    [1.9, 'faster'],
    [1.2, 'weaker'],
  ] as const)('and gains %f now: it %s', async (ratio, drift) => {
    expect(await again(syntheticBench(at(ratio)))).toMatchObject({
      ...{ drift, reason: null },
      now: { ratio: expect.closeTo(ratio, 1) as number },
    });
    const { configuration, evidence } = record();
    expect(configuration).toEqual(TILE);
    // The new claim replaces the old one.
    expect(evidence.processes).toBeGreaterThan(16);
    expect(evidence.ratio).toBeCloseTo(ratio, 1);
    expect(store.runs(subject)).not.toEqual([]);
  });

  test('has times whose ratio is its gain', async () => {
    for (const ratio of [1.5, 1.9, 1.2]) {
      await again(syntheticBench(at(ratio)));
      const { evidence } = record();
      expect(evidence.defaultSeconds / evidence.seconds / evidence.ratio).toBeCloseTo(1, 1);
    }
  });

  test.each([[1], [1.014], [0.7]])('and gains %f now is lost, and replaced by the default', async (ratio) => {
    expect(await again(syntheticBench(at(ratio, 0.002)))).toMatchObject({ drift: 'lost' });
    // Builds search again.
    expect(record()).toMatchObject({ configuration: DEFAULT_CONFIGURATION, evidence: { complete: false } });
  });

  test('does not change if the machine is too busy to decide', async () => {
    const before = record();
    expect(await again(syntheticBench(at(1.2, 0.4)))).toMatchObject({ drift: 'busy' });
    expect(record()).toEqual(before);
  });

  test('and has a wrong result is marked', async () => {
    const failed = [{ configuration: TILE, outcome: 'wrong-result', reason: 'it differs' }] as const;
    const sound = syntheticBench(at(1));
    const bench: Bench = {
      ...sound,
      prepareFinals: async (...args) => ({
        ...(await sound.prepareFinals(...args))!,
        contestants: [],
        failed,
      }),
    };
    expect(await again(bench)).toEqual({ drift: 'failed', now: null, reason: 'it differs' });
    expect(store.marks(subject)).toMatchObject([{ kind: 'wrong-result', configuration: TILE }]);
  });
});
