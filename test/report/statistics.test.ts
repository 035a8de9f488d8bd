import { describe, expect, test } from 'vitest';
import { describeStatistics } from '../../src/cli/stats.ts';
import type { Decision, Outcome } from '../../src/decision/decision.ts';
import type { Counts } from '../../src/report/counting.ts';
import { countsOf, countsOfPass, type Counted } from '../../src/report/counts.ts';
import { notVerified } from '../../src/program/verdict.ts';
import { statisticsOf } from '../../src/report/statistics.ts';
import type { Configuration } from '../../src/backend/configuration.ts';
import type { Evidence } from '../../src/store/store.ts';
import { DECISION } from '../store/samples.ts';

const TILE = DECISION.configuration;
const DEFAULT: Configuration = { version: 1, kind: 'default' };

function decision(
  outcome: Outcome,
  reason: string,
  configuration: Configuration | null,
  times: Pick<Evidence, 'defaultSeconds' | 'seconds'> | null = null,
): Decision {
  const evidence = times && { ...DECISION.evidence, ...times };
  const place = { name: 'linalg.matmul', operation: null, location: null };
  return { place, tunable: null, outcome, reason, configuration, evidence, record: null };
}

const hit = decision('hit', '2.00x faster', TILE, { defaultSeconds: 0.02, seconds: 0.01 });
const tuned = decision('tuned', '4.00x faster', TILE, { defaultSeconds: 0.04, seconds: 0.01 });
const best = decision('hit', 'the default is best', DEFAULT, { defaultSeconds: 5, seconds: 5 });
const skipped = decision('skipped', 'dynamic dimensions', null);
const spec = { route: 'spec', text: '', flag: 'tuning-spec' } as const;

const counts = (given: Partial<Counted>): Counts =>
  countsOf({
    ...{ decisions: [], injection: spec, verdict: null, landed: null, fallback: null, tuningSeconds: 0 },
    ...given,
  });

function sum(...all: Counts[]): Counts {
  const sums: Record<string, number> = {};
  for (const one of all)
    for (const [name, value] of Object.entries(one)) sums[name] = (sums[name] ?? 0) + value;
  return sums;
}

describe('of one compile', () => {
  test('what is injected is counted with the time that it saves', () => {
    expect(counts({ decisions: [hit, tuned, best, skipped], tuningSeconds: 12.5 })).toEqual({
      compiles: 1,
      'operations: hit': 2,
      'operations: tuned': 1,
      'operations: skipped': 1,
      'skipped: dynamic dimensions': 1,
      'seconds tuning': 12.5,
      'route: spec': 1,
      'seconds per run by default': 0.06,
      'seconds per run tuned': 0.02,
    });
  });

  test('what the compiler dropped saves nothing', () => {
    expect(counts({ decisions: [hit, tuned], landed: [false, true] })).toMatchObject({
      'not applied': 1,
      'seconds per run by default': 0.04,
      'seconds per run tuned': 0.01,
    });
  });

  test('a compile that was done again saves nothing and has no route', () => {
    expect(counts({ decisions: [hit], fallback: 'the tuned compile hung' })).toEqual({
      compiles: 1,
      'operations: hit': 1,
      'fallback: the tuned compile hung': 1,
    });
  });

  test.each([
    [
      'there was no time to find out whether it is slower',
      'there was no time to find out whether it is slower',
    ],
    ['stock cannot be run: exit code 1 (@main)', 'stock cannot be run'],
    ['its results differ from run to run (@main)', 'its results differ from run to run'],
  ])('a program that was not verified, because of %j, is counted as %j', (reason, name) => {
    const verdict = notVerified(reason);
    expect(counts({ decisions: [hit], verdict })).toMatchObject({ [`not verified: ${name}`]: 1 });
  });

  test('a program that was verified is not', () => {
    for (const verdict of [
      { ...notVerified('it is worse with each of its configurations'), injected: false },
      { ...notVerified(''), reason: null },
    ])
      expect(counts({ decisions: [hit], verdict })).toEqual(counts({ decisions: [hit] }));
  });

  test('a compile with nothing to inject has a reason', () => {
    expect(counts({ decisions: [best], injection: { route: 'none', reason: 'nothing is better' } })).toEqual({
      compiles: 1,
      'operations: hit': 1,
      'unchanged: nothing is better': 1,
    });
  });

  test('a compile that is passed on has a reason, and so has what was skipped in it', () => {
    expect(countsOfPass('nothing to tune in the input', [skipped])).toEqual({
      compiles: 1,
      'operations: skipped': 1,
      'skipped: dynamic dimensions': 1,
      'unchanged: nothing to tune in the input': 1,
    });
  });

  test.each([
    ['nothing to tune in the input', 'nothing to tune in the input'],
    ['more than one input file: a.mlir, b.mlir', 'more than one input file'],
    ['tuning failed: ENOSPC: no space left, write /x', 'tuning failed'],
    ['--compile-to=input', '--compile-to'],
    ['--iree-codegen-tuning-spec-path is given', '--iree-codegen-tuning-spec-path is given'],
    ['--colour is unknown and may take a.mlir as its value', 'a flag is unknown'],
    ['-o has no value', 'an argument has no value'],
    ['@a flag contains itself', 'an argument contains itself'],
    ['@a b: is a directory', 'a response file cannot be read'],
  ])('the reason %j is counted as %j', (reason, name) => {
    expect(countsOfPass(reason, [])).toEqual({ compiles: 1, [`unchanged: ${name}`]: 1 });
  });

  test.each([
    ['no tuning database: tuning database /x/y.db is locked', 'no tuning database'],
    ['no record, and tuning is off (on-miss=record)', 'no record, and tuning is off (on-miss=record)'],
    ['this machine lacks the CPU features amx, avx9', 'this machine lacks the CPU features of the target'],
  ])('the default because of %j is counted as %j', (reason, name) => {
    expect(counts({ decisions: [decision('default', reason, null)] })).toHaveProperty(
      [`default: ${name}`],
      1,
    );
  });
});

const many = sum(
  ...Array<Counts>(8).fill(counts({ decisions: [hit, best, skipped] })),
  counts({
    decisions: [hit, tuned],
    tuningSeconds: 90.25,
    injection: { ...spec, route: 'preprocess', needs: 'data tiling', flags: [], following: null },
  }),
  counts({ decisions: [hit], landed: [false] }),
  counts({
    decisions: [decision('default', 'the tuning budget is spent', null)],
    injection: { route: 'none', reason: 'nothing is better' },
  }),
  counts({ decisions: [hit], fallback: 'the tuned compile failed' }),
  countsOfPass('nothing to tune in the input', []),
  countsOfPass('nothing to tune in the input', []),
);

describe('of many compiles', () => {
  test('every compile and every operation is in one class', () => {
    const { compiles, routes, operations, hitRate, reasons, seconds } = statisticsOf(many);
    expect(compiles).toEqual({ all: 14, tuned: 10, unchanged: 3, fallback: 1 });
    expect(compiles.tuned + compiles.unchanged + compiles.fallback).toBe(compiles.all);
    expect(routes).toEqual({ spec: 9, preprocess: 1 });
    expect(operations).toEqual({ hit: 19, tuned: 1, default: 1, skipped: 8, notApplied: 1 });
    expect(hitRate).toBeCloseTo(19 / 21);
    expect(reasons).toEqual({
      unchanged: { 'nothing to tune in the input': 2, 'nothing is better': 1 },
      fallback: { 'the tuned compile failed': 1 },
      default: { 'the tuning budget is spent': 1 },
      skipped: { 'dynamic dimensions': 8 },
      notVerified: {},
    });
    expect(seconds.tuning).toBe(90.25);
    expect(seconds.perRun!.default).toBeCloseTo(0.022);
    expect(seconds.perRun!.tuned).toBeCloseTo(0.01);
    expect(seconds.perRun!.saved).toBeCloseTo(0.012);
  });

  test('none is no division by zero', () => {
    const { compiles, hitRate, seconds } = statisticsOf({});
    expect(compiles).toEqual({ all: 0, tuned: 0, unchanged: 0, fallback: 0 });
    expect(hitRate).toBeNull();
    expect(seconds).toEqual({ tuning: 0, perRun: null });
  });

  test('people read it in sections', () => {
    expect(describeStatistics(statisticsOf(many))).toMatchInlineSnapshot(`
      "compiles                                          14
        with tuned code                                 10  by spec: 9, by preprocess: 1
        as iree-compile does them                        3
        left untuned after a failure                     1

      operations                                        29
        found in the database                           19
        tuned in the build                               1
        left to the default                              1
        skipped                                          8
        injected but not applied                         1
      hit rate                                         90%  of 21 that are not skipped

      why compiles were not changed
        nothing to tune in the input                     2
        nothing is better                                1

      why compiles were left untuned after all
        the tuned compile failed                         1

      why operations were left to the default
        the tuning budget is spent                       1

      why operations were skipped
        dynamic dimensions                               8

      time
        spent on tuning in builds               1 min 30 s
        saved per run, as measured                 12.0 ms  22.0 ms -> 10.0 ms (2.20x) in the tuned operations of a program, on average"
    `);
  });
});
