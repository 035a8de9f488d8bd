import { parse } from 'mlir-parser-ts';
import { describe, expect, test } from 'vitest';
import { chooseRecord, classify, decided, isDecision } from '../../src/decision/decision.ts';
import type { Configuration } from '../../src/space/configuration.ts';
import type { Evidence, TuningRecord } from '../../src/store/store.ts';

const tile: Configuration = {
  version: 1,
  kind: 'tile',
  distribution: [8, 16, 0],
  vectorCommonParallel: [4, 8, 0],
  vectorReduction: [0, 0, 1],
  peeling: false,
};
const evidence: Evidence = {
  ratio: 2,
  low: 1.9,
  high: 2.1,
  defaultSeconds: 2,
  seconds: 1,
  processes: 5,
  repetitions: 15,
  noiseFloor: 0.01,
  maxError: 0,
  trials: 10,
  tuningSeconds: 5,
  complete: true,
};
const record = (change: Partial<TuningRecord> = {}): TuningRecord => ({
  workload: 'w',
  target: 't',
  device: 'here',
  compiler: 'c',
  configuration: tile,
  evidence,
  failure: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  createdBy: 'somebody',
  ...change,
});

describe('the record to use', () => {
  const there = record({ device: 'there' });
  test('is the one of this device', () => {
    expect(chooseRecord([there, record()], 'here', true)?.device).toBe('here');
  });
  test('is never one of another device where this one can be measured', () => {
    expect(chooseRecord([there], 'here', true)).toBeNull();
  });
  test('is the surest of other devices where nothing can be measured', () => {
    const surer = record({ device: 'elsewhere', evidence: { ...evidence, ratio: 3, low: 2.5, high: 3.5 } });
    expect(chooseRecord([there, surer], 'here', false)?.device).toBe('elsewhere');
  });
  test('is never one that failed', () => {
    expect(chooseRecord([record({ failure: 'it broke a compile' })], 'here', false)).toBeNull();
  });
  test('is never one whose gain is in doubt', () => {
    expect(chooseRecord([record({ evidence: { ...evidence, low: 0.99 } })], 'here', true)).toBeNull();
  });
  test('may say that the default is best', () => {
    const best = record({
      configuration: { version: 1, kind: 'default' },
      evidence: { ...evidence, ratio: 1, low: 1, high: 1 },
    });
    expect(chooseRecord([best], 'here', true)).toBe(best);
  });
});

test('a decision says what was gained and where it was measured', () => {
  const text =
    '%r = linalg.matmul ins(%x, %y : tensor<8x4xf32>, tensor<4x16xf32>) outs(%z : tensor<8x16xf32>) -> tensor<8x16xf32>';
  const [tunable] = classify(parse(Buffer.from(text)).operations, {});
  if (tunable === undefined || isDecision(tunable)) throw new Error('a matmul can be tuned');
  expect(decided(tunable, record(), 'hit', 'here').reason).toBe('2.00x faster than the default');
  expect(decided(tunable, record({ device: 'there' }), 'hit', 'here').reason).toMatch(/measured on there$/);
  const none = { ...record(), configuration: { version: 1, kind: 'default' } } as const;
  expect(decided(tunable, none, 'hit', 'here').reason).toBe('the default is best');
  const unfinished = { ...none, evidence: { ...evidence, complete: false } };
  expect(decided(tunable, unfinished, 'hit', 'here').reason).toMatch(/found so far$/);
});
