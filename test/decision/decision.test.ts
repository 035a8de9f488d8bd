import { describe, expect, test } from 'vitest';
import { chooseRecord } from '../../src/store/choose.ts';
import { decided, isInjected, leaveOut, skipped } from '../../src/decision/decision.ts';
import { isTunable, type Skipped } from '../../src/input/operation.ts';
import type { Configuration } from '../../src/backend/configuration.ts';
import type { TuningRecord } from '../../src/store/store.ts';
import { DECISION, EVIDENCE, TILE } from '../store/samples.ts';
import { inputOf, matmulText } from '../support/inspected.ts';
import { because, type Reason } from '../../src/system/reason.ts';

/** Its speed-up is 1.83. */
const record = (change: Partial<TuningRecord> = {}): TuningRecord => ({
  ...{ workload: 'w', target: 't', device: 'here', compiler: 'c', ...DECISION, failure: null },
  ...{ createdBy: 'somebody', machine: 'here', tool: '1.0.0', digest: '0'.repeat(64), ...change },
});

test('the record to use is the most certain of other devices if nothing can be measured', () => {
  const there = record({ device: 'there' });
  const surer = record({ device: 'elsewhere', evidence: { ...EVIDENCE, ratio: 3, low: 2.5, high: 3.5 } });
  expect(chooseRecord([there, surer], 'here', false)?.device).toBe('elsewhere');
});

const { operations } = inputOf(matmulText(8, 16, 4) + matmulText(9, 16, 4) + matmulText('?', 16, 4));
const [tunable, other] = operations.filter(isTunable);
const best = record({ configuration: { version: 1, kind: 'default' } });

test('a decision has the gain and another device in its reason', () => {
  const reason = (of: TuningRecord) => decided(tunable!, of, 'hit', 'here').reason;
  expect(reason(record())).toBe('1.83x faster than the default');
  expect(reason(record({ device: 'there' }))).toBe('1.83x faster than the default, measured on there');
  expect(reason(best)).toBe('the default is best');
  const unfinished = { ...best, evidence: { ...EVIDENCE, complete: false } };
  expect(reason(unfinished)).toBe('nothing faster yet; a build or iree-tuned tune goes on');
});

test('a decision has only the key of its record', () => {
  const { record: key, ...rest } = decided(tunable!, record({ device: 'there' }), 'tuned', 'here');
  expect(key).toEqual({ workload: 'w', target: 't', device: 'there', compiler: 'c' });
  expect(rest).toMatchObject({
    tunable,
    place: tunable!.place,
    outcome: 'tuned',
    configuration: TILE,
    evidence: EVIDENCE,
  });
});

test('a skipped operation keeps the form that matchers take it for', () => {
  const operation = operations.find((one): one is Skipped => !isTunable(one))!;
  const matched = { workload: tunable!.workload, loops: tunable!.loops, written: null };
  const nothing = { configuration: null, evidence: null, record: null, tunable: null };
  expect(skipped(operation)).toEqual({
    place: operation.place,
    outcome: 'skipped',
    code: operation.code,
    reason: operation.reason,
    ...nothing,
  });
  expect(skipped({ ...operation, matched })).toMatchObject({ outcome: 'skipped', matched });
});

describe('leaving workloads out', () => {
  const decisions = [
    decided(tunable!, record(), 'hit', 'here'),
    decided(other!, record(), 'tuned', 'here'),
    decided(tunable!, best, 'hit', 'here'),
    skipped(operations.find((one): one is Skipped => !isTunable(one))!),
  ];
  const slow = because('worse-in-program', 'it is slower in here');
  const only = (why: Reason) => (key: string) => (key === tunable!.key ? why : null);
  test('gives them the default with the reason, and changes no others', () => {
    const left = leaveOut(decisions, only(slow));
    const nothing = { configuration: null, evidence: null, record: null };
    const back = { outcome: 'default', ...slow, tunable, place: tunable!.place };
    expect(left).toEqual([{ ...back, ...nothing }, decisions[1], { ...back, ...nothing }, decisions[3]]);
    expect(left.filter(isInjected)).toEqual([decisions[1]]);
  });
  test('gives them their alternative, unless there is a reason against it, too', () => {
    const packed: Configuration = { version: 1, kind: 'data-tile' };
    const tiled = record({ evidence: { ...EVIDENCE, ratio: 1.5 } });
    const both = decided(tunable!, record({ configuration: packed, alternative: tiled }), 'hit', 'here');
    const plain = decided(tunable!, tiled, 'hit', 'here');
    expect(both.alternative).toEqual(plain);
    const slower = (_: string, own: Configuration | null) => (own === packed ? slow : null);
    const [instead] = leaveOut([both], slower);
    const reason = '1.50x faster than the default; what is faster alone is left out: it is slower in here';
    expect(instead).toEqual({ ...plain, reason });
    expect(leaveOut([both], only(because('no-time', 'no')))).toMatchObject([
      { outcome: 'default', code: 'no-time', reason: 'no' },
    ]);
    expect(leaveOut([instead!], slower)).toEqual([instead]);
    // A configuration that changes the whole program replaces no other.
    const other = decided(
      tunable!,
      record({ alternative: record({ configuration: packed }) }),
      'hit',
      'here',
    );
    const isTile = (_: string, own: Configuration | null) => (own === TILE ? slow : null);
    expect(leaveOut([other], isTile)).toMatchObject([{ outcome: 'default' }]);
  });
  test('changes nothing without reasons', () => {
    expect(leaveOut(decisions, () => null)).toEqual(decisions);
  });
  test('keeps the reason of an operation that has the default', () => {
    const open = leaveOut(decisions, only(because('no-time')));
    const isThere = (key: string, configuration: Configuration | null) =>
      key === tunable!.key && configuration !== null ? slow : null;
    expect(leaveOut(open, isThere)).toEqual(open);
  });
});

test('only a configuration other than the default is injected', () => {
  const all = [record(), best].map((one) => decided(tunable!, one, 'hit', 'here'));
  expect(all.map(isInjected)).toEqual([true, false]);
});
