import { describe, expect, test } from 'vitest';
import { describeStatistics } from '../../src/cli/stats.ts';
import type { Decision, Outcome } from '../../src/decision/decision.ts';
import { sumOf, type Counts } from '../../src/report/counting.ts';
import { countsOf, countsOfPass, statisticsOf, type Counted } from '../../src/report/counts.ts';
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

const counts = (given: Partial<Counted>): Counts =>
  countsOf({
    ...{ decisions: [], injection: spec, verdict: null, landed: null, fallback: null, tuningSeconds: 0 },
    ...given,
  });

describe('the counts of one compile', () => {
  test('have the saved time of injected operations', () => {
    expect(counts({ decisions: [hit, tuned, best, skipped], tuningSeconds: 12.5 })).toEqual({
      compiles: 1,
      'operations: hit': 2,
      'hit: run of the program': 2,
      'operations: tuned': 1,
      'operations: skipped': 1,
      'default kept': 1,
      'skipped: sizes-missing': 1,
      'seconds tuning': 12.5,
      'route: spec': 1,
      'seconds per run by default': 0.06,
      'seconds per run tuned': 0.02,
    });
  });

  test('have no saved time of an operation that is not applied', () => {
    expect(counts({ decisions: [hit, tuned], landed: [false, true] })).toMatchObject({
      'not applied': 1,
      'seconds per run by default': 0.04,
      'seconds per run tuned': 0.01,
    });
  });

  test('have neither a route nor saved time for a repeated compile', () => {
    expect(counts({ decisions: [hit], fallback: because('tuned-compile-hung') })).toEqual({
      compiles: 1,
      'operations: hit': 1,
      'hit: run of the program': 1,
      'fallback: tuned-compile-hung': 1,
    });
  });

  test('have the source of each hit', () => {
    const { hits: found } = statisticsOf(counts({ decisions: hits }));
    expect(found).toEqual({
      'base /mnt/tuned': 2,
      'lock file': 1,
      'own database': 1,
      'run of the program': 1,
    });
  });

  test('have the code of an unverified program, and not its text', () => {
    const verdict = notVerified(because('results-unknown', 'stock cannot be run: exit code 1 (@main)'));
    expect(counts({ decisions: [hit], verdict })).toMatchObject({ 'not verified: results-unknown': 1 });
  });

  test('have no code of a verified program', () => {
    for (const verdict of [
      { ...notVerified(because('worse-in-program')), injected: false },
      { ...notVerified(because('not-run')), ...NO_REASON },
    ])
      expect(counts({ decisions: [hit], verdict })).toEqual(counts({ decisions: [hit] }));
  });

  test('have the code of a compile without an injection', () => {
    const injection = { route: 'none', ...because('no-gain') } as const;
    expect(counts({ decisions: [best], injection })).toEqual({
      compiles: 1,
      'operations: hit': 1,
      'hit: run of the program': 1,
      'default kept': 1,
      'unchanged: no-gain': 1,
    });
  });

  test('have the codes of a compile that is passed on and of its skipped operations', () => {
    expect(countsOfPass(because('nothing-to-tune'), [skipped])).toEqual({
      compiles: 1,
      'operations: skipped': 1,
      'skipped: sizes-missing': 1,
      'unchanged: nothing-to-tune': 1,
    });
  });
});

const many = sumOf([
  ...Array<Counts>(8).fill(counts({ decisions: [hit, best, skipped] })),
  counts({
    decisions: [hit, tuned],
    tuningSeconds: 90.25,
    injection: { ...spec, route: 'preprocess', needs: 'data tiling', flags: [], following: null },
  }),
  counts({ decisions: [hit], landed: [false] }),
  counts({
    decisions: [decision('default', because('budget-spent'), null)],
    injection: { route: 'none', ...because('no-gain') },
  }),
  counts({ decisions: [hit], fallback: because('tuned-compile-failed') }),
  countsOfPass(because('nothing-to-tune'), []),
  countsOfPass(because('nothing-to-tune'), []),
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
    expect(describeStatistics(statisticsOf(many))).toMatchInlineSnapshot(`
      "compiles                                                                     14
        with tuned code                                                            10  by spec: 9, by preprocess: 1
        unchanged                                                                   3
        left untuned after a failure                                                1

      operations                                                                   29
        found                                                                      19
          run of the program                                                       19
        tuned in the build                                                          1
        of these, nothing beats the default                                         8
        left to the default for another reason                                      1
        skipped                                                                     8
        injected but not applied                                                    1
      hit rate                                                                    90%  of 21 that are not skipped

      why compiles were not changed
        nothing-to-tune: nothing to tune in the input                               2
        no-gain: no operation has a configuration better than the default           1

      why compiles were left untuned after all
        tuned-compile-failed: the tuned compile failed                              1

      why operations were left to the default for another reason
        budget-spent: the tuning budget is spent                                    1

      why operations were skipped
        sizes-missing: dynamic dimensions without sizes to tune at                  8

      time
        spent on tuning in builds                                          1 min 30 s
        saved per run, as measured                                            12.0 ms  22.0 ms -> 10.0 ms (2.20x) in the tuned operations of a program, on average"
    `);
  });
});
