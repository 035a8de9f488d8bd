import { describe, expect, test } from 'vitest';
import { describeStatistics } from '../../src/cli/stats.ts';
import type { Decision, Outcome } from '../../src/decision/decision.ts';
import { countsOf, statisticsOf, sumOfCounts, type Counted, type Counts } from '../../src/report/counts.ts';
import { notVerified } from '../../src/program/verdict.ts';
import type { Configuration } from '../../src/backend/configuration.ts';
import type { Evidence } from '../../src/store/store.ts';
import { DECISION } from '../store/samples.ts';
import { because, NO_REASON, type Reason } from '../../src/system/reason.ts';

const TILE = DECISION.configuration;
const DEFAULT: Configuration = { version: 1, kind: 'default' };

function decision(
  outcome: Outcome,
  why: Reason,
  configuration: Configuration | null,
  times: Pick<Evidence, 'defaultSeconds' | 'seconds'> | null = null,
): Decision {
  const evidence = times && { ...DECISION.evidence, ...times };
  const place = { name: 'linalg.matmul', operation: null, location: null };
  return { place, tunable: null, outcome, ...why, configuration, evidence, record: null };
}

const key = { workload: 'w', target: 't', device: 'd', compiler: 'c' };
/** Hits from each source. */
const hits = [
  { record: key },
  { record: { ...key, base: '/mnt/tuned' } },
  { record: { ...key, base: '/mnt/tuned' } },
  because('locked'),
  {},
].map((source) => ({ ...decision('hit', because('faster'), TILE), ...source }));

const hit = decision('hit', because('faster'), TILE, { defaultSeconds: 0.02, seconds: 0.01 });
const tuned = decision('tuned', because('faster'), TILE, { defaultSeconds: 0.04, seconds: 0.01 });
const best = decision('hit', because('default-best'), DEFAULT, { defaultSeconds: 5, seconds: 5 });
const skipped = decision('skipped', because('sizes-missing'), null);
const spec = { route: 'spec', text: '', flag: 'tuning-spec' } as const;

const counts = (given: Partial<Counted>): Counts => countsOf({ decisions: [], injection: spec, ...given });

const NO_INJECTION = { route: 'none', ...because('no-gain') } as const;
const PASSED = { route: 'none', ...because('nothing-to-tune') } as const;
const UNVERIFIED = notVerified(because('results-unknown', 'stock cannot be run: exit code 1 (@main)'));

describe('the counts of one compile have', () => {
  test.each<[string, Partial<Counted>, Counts]>([
    [
      'the saved time of injected operations',
      { decisions: [hit, tuned, best, skipped], tuningSeconds: 12.5 },
      {
        ...{ 'operations: hit': 2, 'hit: run of the program': 2 },
        ...{ 'operations: tuned': 1, 'operations: skipped': 1 },
        ...{ 'default kept': 1, 'skipped: sizes-missing': 1, 'seconds tuning': 12.5, 'route: spec': 1 },
        ...{ 'seconds per run by default': 0.06, 'seconds per run tuned': 0.02 },
      },
    ],
    [
      'no saved time of an operation that is not applied',
      { decisions: [hit, tuned], landed: [false, true] },
      {
        ...{ 'operations: hit': 1, 'hit: run of the program': 1, 'operations: tuned': 1 },
        ...{ 'not applied': 1, 'route: spec': 1 },
        ...{ 'seconds per run by default': 0.04, 'seconds per run tuned': 0.01 },
      },
    ],
    [
      'neither a route nor saved time of a repeated compile',
      { decisions: [hit], fallback: because('tuned-compile-hung') },
      { 'operations: hit': 1, 'hit: run of the program': 1, 'fallback: tuned-compile-hung': 1 },
    ],
    [
      'the code of an unverified program, and not its text',
      { decisions: [], verdict: UNVERIFIED },
      { 'route: spec': 1, 'not verified: results-unknown': 1 },
    ],
    [
      'no code of a program that is not injected',
      { decisions: [], verdict: { ...UNVERIFIED, injected: false } },
      { 'route: spec': 1 },
    ],
    [
      'no code of a verified program',
      { decisions: [], verdict: { ...UNVERIFIED, ...NO_REASON } },
      { 'route: spec': 1 },
    ],
    [
      'the code of a compile without an injection',
      { decisions: [best], injection: NO_INJECTION },
      { 'operations: hit': 1, 'hit: run of the program': 1, 'default kept': 1, 'unchanged: no-gain': 1 },
    ],
  ])('%s', (_, given, expected) => {
    expect(counts(given)).toEqual({ compiles: 1, ...expected });
  });

  test('the source of each hit', () => {
    const { hits: found } = statisticsOf(counts({ decisions: hits }));
    expect(found).toEqual({
      'base /mnt/tuned': 2,
      'lock file': 1,
      'own database': 1,
      'run of the program': 1,
    });
  });

  test('the codes of a compile that is passed on and of its skipped operations', () => {
    expect(counts({ decisions: [skipped], injection: PASSED })).toEqual({
      ...{ compiles: 1, 'operations: skipped': 1 },
      ...{ 'skipped: sizes-missing': 1, 'unchanged: nothing-to-tune': 1 },
    });
  });
});

const many = sumOfCounts([
  ...Array<Counts>(8).fill(counts({ decisions: [hit, best, skipped] })),
  counts({
    decisions: [hit, tuned],
    tuningSeconds: 90.25,
    injection: { ...spec, route: 'preprocess', needs: 'data tiling', flags: [], following: null },
  }),
  counts({ decisions: [hit], landed: [false] }),
  counts({
    decisions: [decision('default', because('budget-spent'), null)],
    injection: NO_INJECTION,
  }),
  counts({ decisions: [hit], fallback: because('tuned-compile-failed') }),
  counts({ injection: PASSED }),
  counts({ injection: PASSED }),
]);

describe('the statistics of many compiles', () => {
  test('count every compile and every operation once', () => {
    const { compiles, routes, operations, hitRate, reasons, seconds } = statisticsOf(many);
    expect(compiles).toEqual({ all: 14, tuned: 10, unchanged: 3, fallback: 1 });
    expect(compiles.tuned + compiles.unchanged + compiles.fallback).toBe(compiles.all);
    expect(routes).toEqual({ spec: 9, preprocess: 1 });
    expect(operations).toEqual({
      ...{ hit: 19, tuned: 1, defaultKept: 8, default: 1, skipped: 8, notApplied: 1 },
    });
    expect(hitRate).toBeCloseTo(19 / 21);
    expect(reasons).toEqual({
      unchanged: { 'nothing-to-tune': 2, 'no-gain': 1 },
      fallback: { 'tuned-compile-failed': 1 },
      default: { 'budget-spent': 1 },
      skipped: { 'sizes-missing': 8 },
      notVerified: {},
    });
    expect(seconds.tuning).toBe(90.25);
    expect(seconds.perRun!.default).toBeCloseTo(0.022);
    expect(seconds.perRun!.tuned).toBeCloseTo(0.01);
    expect(seconds.perRun!.saved).toBeCloseTo(0.012);
  });

  test('keep texts that earlier versions counted', () => {
    const old = {
      compiles: 3,
      'unchanged: nothing to tune in the input': 2,
      'unchanged: nothing-to-tune': 1,
    };
    const statistics = statisticsOf(old);
    expect(statistics.compiles).toEqual({ all: 3, tuned: 0, unchanged: 3, fallback: 0 });
    expect(describeStatistics(statistics)).toMatch(
      /^ {2}nothing to tune in the input +2\n {2}nothing-to-tune: nothing to tune in the input +1$/m,
    );
  });

  test('of no compile have no hit rate', () => {
    const { compiles, hitRate, seconds } = statisticsOf({});
    expect(compiles).toEqual({ all: 0, tuned: 0, unchanged: 0, fallback: 0 });
    expect(hitRate).toBeNull();
    expect(seconds).toEqual({ tuning: 0, perRun: null });
  });

  test('are shown in sections', () => {
    const text = describeStatistics(statisticsOf(many));
    expect(text).toMatch(/^ {2}with tuned code +10 {2}by spec: 9, by preprocess: 1$/m);
    expect(text).toMatch(/^ {4}run of the program +19$/m);
    expect(text).toMatch(/^hit rate +90% {2}of 21 that are not skipped$/m);
    expect(text).toMatch(/^ {2}saved per run, as measured +12\.0 ms {2}22\.0 ms -> 10\.0 ms \(2\.20x\) in /m);
  });
});
