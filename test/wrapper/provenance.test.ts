// The records behind decisions.
import { expect, test } from 'vitest';
import { recordsBehind } from '../../src/wrapper/provenance.ts';
import { withConfigurations } from '../../src/decision/decision.ts';
import { lookUp } from '../../src/decision/look-up.ts';
import { placeOf } from '../../src/store/subject.ts';
import { because } from '../../src/system/reason.ts';
import { TILE } from '../store/support.ts';
import { here, input, keyOf, putRecord, settings, storeWith } from '../decision/support.ts';

test('are those of the configurations, as the database has them now', () => {
  const store = storeWith([8], [16]);
  const decisions = lookUp(store, input(8, 16, 32), here, settings).decide(new Map());
  const digests = () =>
    recordsBehind(decisions, store, placeOf(here)).map((record) => record?.digest ?? null);
  const before = digests();
  const [first, second] = store.findRecords([keyOf(8), keyOf(16)], here.target.key, here.compiler.key);
  expect(new Set(before.slice(0, 2))).toEqual(new Set([first!.digest, second!.digest]));
  expect(before[2]).toBeNull();
  // Newer evidence for the same configuration, and a better configuration.
  putRecord(store, 8, { evidence: { processes: 100 } });
  putRecord(store, 16, {
    configuration: { ...TILE, peeling: false },
    evidence: { ratio: 9, low: 8, high: 10 },
  });
  const [now, none] = digests();
  expect(now).not.toBe(before[0]);
  expect([now, none]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), null]);
});

test('of a program that chose a configuration is the record with it, and a lock file has none', () => {
  const store = storeWith([8]);
  const [decision] = lookUp(store, input(8), here, settings).decide(new Map());
  const chosen = withConfigurations([decision!], new Map([[keyOf(8), TILE]]));
  expect(chosen).toMatchObject([{ record: null }]);
  expect(recordsBehind(chosen, store, placeOf(here))).toMatchObject([{ configuration: TILE }]);
  const locked = chosen.map((one) => ({ ...one, ...because('locked') }));
  expect(recordsBehind(locked, store, placeOf(here))).toEqual([null]);
});
