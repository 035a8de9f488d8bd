// Decisions from a database in a temporary folder, without a compiler.
import { describe, expect, test, vi } from 'vitest';
import type { Configuration } from '../../src/backend/configuration.ts';
import { loadBackend } from '../../src/backend/index.ts';
import { passedOver } from '../../src/decision/decision.ts';
import { lookUp, workloadsOf } from '../../src/decision/look-up.ts';
import type { TunableOperation } from '../../src/input/operation.ts';
import { StoreError } from '../../src/store/errors.ts';
import type { Evidence, Store } from '../../src/store/store.ts';
import { placeOf } from '../../src/store/subject.ts';
import { alter, DECISION, EVIDENCE, MARK, open, temporaryPath, TILE } from '../store/support.ts';
import { inputOf, matmulText, siteOf } from '../support/inspected.ts';
import { matmul } from '../support/workloads.ts';
import { because } from '../../src/system/reason.ts';
import { whyNotTuned } from '../../src/wrapper/required.ts';
import {
  here,
  there,
  settings,
  DEFAULT,
  NO_GAIN,
  input,
  keyOf,
  aboutMatmul,
  putRecord,
  storeWith,
  decided,
  hit,
  missed,
} from './support.ts';

const keys = (works: readonly { readonly key: string }[]) => works.map(({ key }) => key);

describe('an operation', () => {
  test('with a record is a hit with the record’s gain', () => {
    const store = storeWith([8]);
    const [decision] = lookUp(store, input(8), here, settings).decide(new Map());
    expect(decision).toMatchObject({
      ...hit,
      configuration: TILE,
      evidence: EVIDENCE,
      record: { workload: keyOf(8), ...placeOf(here) },
      tunable: { key: keyOf(8) },
    });
  });
  test('without a record gets the default with the given reason', () => {
    const store = open(temporaryPath());
    const lookup = lookUp(store, input(8), here, settings);
    expect(keys(lookup.misses)).toEqual([keyOf(8)]);
    expect(lookup.decide(new Map(), because('budget-spent', 'the budget is spent'))).toMatchObject([
      {
        outcome: 'default',
        reason: 'the budget is spent',
        configuration: null,
        evidence: null,
        record: null,
      },
    ]);
  });
  test('that cannot be tuned is skipped', () => {
    const store = storeWith([8]);
    const both = inputOf(matmulText(8, 512, 512) + matmulText('?', 512, 512));
    const lookup = lookUp(store, both, here, settings);
    expect(lookup.misses).toEqual([]);
    const [first, second] = lookup.decide(new Map());
    expect(first).toMatchObject(hit);
    expect(second).toMatchObject({ outcome: 'skipped', tunable: null });
    expect(second!.reason).toContain('dynamic');
  });
  test.each([
    ['workload', 9, {}, {}],
    ['compiler', 8, { compiler: { ...here.compiler, key: '3.13.0@dddddddddd' } }, {}],
    ['target', 8, {}, { features: ['avx2'] }],
  ] as const)('has no use for the record of another %s', (_, m, site, target) => {
    const store = open(temporaryPath());
    putRecord(store, m, { site: siteOf(site, target) });
    expect(decided(store, [8])).toEqual([missed]);
  });
});

test('a workload that the backend does not tune is no miss, and its reason names the backend', async () => {
  await loadBackend('vulkan-spirv');
  const text = [8, 16].map((m) => matmulText(m, 512, 512));
  const both = inputOf(text[0]!.replaceAll('xf32', 'xbf16') + text[1]!);
  const lookup = lookUp(null, both, siteOf({}, { backend: 'vulkan-spirv' }), settings);
  expect(keys(lookup.misses)).toEqual([keyOf(16)]);
  const decisions = lookup.decide(new Map());
  expect(decisions).toMatchObject([
    { outcome: 'skipped', code: 'workload-unsupported', reason: 'vulkan-spirv does not tune bf16' },
    { outcome: 'default', code: 'no-record' },
  ]);
  expect(whyNotTuned(decisions)).toEqual({
    code: 'required-missing',
    reason: expect.stringMatching(/^no configuration is known for contraction m=16 .* no record$/) as string,
  });
});

test('without a database all operations are misses', () => {
  const lookup = lookUp(null, input(8, 16), here, settings);
  expect(keys(lookup.misses)).toEqual([keyOf(8), keyOf(16)]);
  expect([lookup.narrow, lookup.undecided().size]).toEqual([[], 0]);
  expect(decided(null, [8])).toEqual([missed]);
});

test('an overridden operation is neither looked up nor tuned', () => {
  const store = storeWith([16]);
  const find = vi.spyOn(store, 'findRecords');
  const override = (operation: TunableOperation) =>
    operation.key === keyOf(16) ? null : passedOver(operation, 'default', because('locked', 'so it is'));
  const lookup = lookUp(store, input(8, 16, 8), here, settings, override);
  expect(find.mock.calls.map(([asked]) => asked)).toEqual([[keyOf(16)]]);
  expect([...lookup.misses, ...lookup.narrow, ...lookup.unfinished]).toEqual([]);
  expect(lookup.decide(new Map()).map(({ reason }) => reason)).toEqual(['so it is', hit.reason, 'so it is']);
});

test('each workload is looked up once, in the order of the input, and every operation has a decision', () => {
  const store = storeWith([16]);
  const find = vi.spyOn(store, 'findRecords');
  const lookup = lookUp(store, input(24, 16, 8, 24, 16), here, settings);
  expect(find.mock.calls.map(([asked]) => asked)).toEqual([[keyOf(24), keyOf(16), keyOf(8)]]);
  expect(lookup.misses.map(({ key, count }) => [key, count])).toEqual([
    [keyOf(24), 2],
    [keyOf(8), 1],
  ]);
  expect(lookup.decide(new Map()).map(({ outcome }) => outcome)).toEqual([
    'default',
    'hit',
    'default',
    'default',
    'hit',
  ]);
});

describe('a record', () => {
  test('with a marked configuration is a miss, and a record of another configuration is a hit', () => {
    const store = open(temporaryPath());
    putRecord(store, 8);
    putRecord(store, 16, { configuration: { ...TILE, peeling: false } });
    for (const m of [8, 16]) store.addMarks(aboutMatmul(m), [MARK]);
    expect(decided(store, [8, 16])).toEqual([missed, hit]);
    expect(keys(lookUp(store, input(8, 16), here, settings).misses)).toEqual([keyOf(8)]);
  });
  test('comes with its alternative', () => {
    const store = open(temporaryPath());
    const packed = { version: 1, kind: 'data-tile' } as const;
    const others = { ...TILE, peeling: false };
    // One changes the whole program, the other does not.
    for (const m of [8, 24]) putRecord(store, m, { configuration: packed, evidence: { low: 1.8 } });
    putRecord(store, 16, { configuration: packed, evidence: { low: 1.3, ratio: 1.4 } });
    for (const m of [8, 16]) putRecord(store, m, { evidence: { ratio: 1.6, low: 1.5 } });
    for (const m of [8, 16]) putRecord(store, m, { configuration: others, evidence: { low: 1.4 } });
    // Of another device, marked, or uncertain.
    putRecord(store, 24, { site: there, evidence: { low: 1.5 } });
    putRecord(store, 24, { evidence: { low: 1.5 } });
    store.addMarks(aboutMatmul(24), [MARK]);
    putRecord(store, 24, { configuration: others, evidence: { low: 0.99 } });
    const find = vi.spyOn(store, 'findRecords');
    const decisions = lookUp(store, input(8, 16, 24), here, settings).decide(new Map());
    expect(decisions.map(({ configuration }) => configuration)).toEqual([packed, TILE, packed]);
    expect(decisions.map(({ alternative }) => alternative?.configuration)).toEqual([TILE, packed, undefined]);
    expect(decisions[0]!.alternative).toMatchObject({ ...hit, reason: '1.60x faster than the default' });
    expect(find).toHaveBeenCalledTimes(1);
  });
  test('with an uncertain gain is a miss', () => {
    const store = storeWith([8, { evidence: { low: 0.99 } }]);
    expect(decided(store, [8])).toEqual([missed]);
  });
  test('can be the default', () => {
    const store = storeWith([8, { configuration: DEFAULT, evidence: NO_GAIN }]);
    expect(decided(store, [8])).toEqual([{ outcome: 'hit', reason: 'the default is best' }]);
  });
  test('of an unfinished search is used, and says so', () => {
    const store = storeWith([8, { evidence: { complete: false } }]);
    const evidence = { complete: false, ratio: 1, low: 1, high: 1 };
    putRecord(store, 16, { configuration: DEFAULT, evidence });
    expect(decided(store, [8, 16])).toEqual([
      hit,
      { outcome: 'hit', reason: 'nothing faster yet; a build or iree-tuned tune goes on' },
    ]);
    const { misses, narrow } = lookUp(store, input(8, 16), here, settings);
    expect([...misses, ...narrow]).toEqual([]);
  });
  test('without a gain so far is searched on, until it had the budget of a build', () => {
    const nothing = NO_GAIN;
    const unfinishedOf = (
      evidence: Partial<Evidence>,
      budgetSeconds = 60,
      configuration: Configuration = DEFAULT,
    ) => {
      const store = storeWith([8, { configuration, evidence }]);
      return lookUp(store, input(8), here, { ...settings, budgetSeconds }).unfinished;
    };
    const open20 = { ...nothing, complete: false, tuningSeconds: 20 };
    expect(unfinishedOf(open20)).toMatchObject([
      { key: keyOf(8), goesOnFrom: { createdAt: DECISION.createdAt } },
    ]);
    expect(unfinishedOf(open20, 24)).toEqual([]);
    expect(unfinishedOf({ ...open20, tuningSeconds: 59 })).toEqual([]);
    expect(unfinishedOf({ ...open20, complete: true })).toEqual([]);
    expect(unfinishedOf({ complete: false, tuningSeconds: 20 }, 60, TILE)).toEqual([]);
    // It is tuned again anyway, because its search had fewer families.
    expect(unfinishedOf({ ...open20, families: ['tile'] })).toEqual([]);
  });
  test('without a gain has a share of the budget among many others', () => {
    const store = open(temporaryPath());
    const nothing = NO_GAIN;
    const evidence = { ...nothing, complete: false, tuningSeconds: 10 };
    for (const m of [8, 16, 32, 64]) putRecord(store, m, { configuration: DEFAULT, evidence });
    const unfinished = (...sizes: number[]) =>
      lookUp(store, input(...sizes), here, { ...settings, budgetSeconds: 40 }).unfinished.length;
    // All 40 s, 20 s each, 10 s each.
    expect([unfinished(8), unfinished(8, 16), unfinished(8, 16, 32, 64)]).toEqual([1, 2, 0]);
    // Two more were never tuned.
    expect(unfinished(8, 16, 7, 9)).toBe(0);
  });
  test('that is damaged is a miss, and the others are hits', () => {
    const path = temporaryPath();
    const store = open(path);
    for (const m of [8, 16]) putRecord(store, m);
    alter(
      path,
      `UPDATE claim SET configuration = '{"kind":"rm -rf"}' WHERE subject =
        (SELECT subject.id FROM subject JOIN workload ON workload.id = subject.workload WHERE key = '${keyOf(8)}')`,
    );
    expect(decided(store, [8, 16])).toEqual([missed, hit]);
  });
});

describe('the families of a search', () => {
  const narrowOf = (store: Store, site = here, inject: 'auto' | 'spec' = 'auto') => {
    const { misses, narrow } = lookUp(store, input(8), site, { ...settings, inject });
    return { misses: keys(misses), narrow: keys(narrow) };
  };
  const only = (...families: string[]) => {
    const store = storeWith([8, { evidence: { families } }]);
    return store;
  };
  test('are too few if this compile has more, and the record is used meanwhile', () => {
    const store = only('tile');
    expect(narrowOf(store)).toEqual({ misses: [], narrow: [keyOf(8)] });
    expect(decided(store, [8])).toEqual([hit]);
  });
  test('are enough if the search had as many or more', () => {
    for (const families of [
      ['data-tile', 'tile'],
      ['data-tile', 'later', 'tile'],
    ])
      expect(narrowOf(only(...families))).toEqual({ misses: [], narrow: [] });
  });
  test('are enough if this compile has no more', () => {
    expect(narrowOf(only('tile'), here, 'spec').narrow).toEqual([]);
  });
  test('do not matter for a target without a backend', () => {
    const site = siteOf({ whyNotHere: because('backend-unsupported') }, { backend: 'metal-spirv' });
    const store = storeWith([8, { site, evidence: { families: [] } }]);
    expect(narrowOf(store, site)).toEqual({ misses: [], narrow: [] });
  });
});

describe('an undecided workload', () => {
  const SLOW = 'the default is too slow';
  const noted = (m: number, store = open(temporaryPath())) => {
    store.noteUndecided(aboutMatmul(m), SLOW, 20);
    return store;
  };
  test('gets the default with the reason, its budget and the way out', () => {
    const [, miss] = decided(noted(16), [8, 16]);
    expect(miss).toMatchObject({ outcome: 'default' });
    expect(miss!.reason).toBe(
      `cannot be decided: ${SLOW}. It was given 20 s; a budget that leaves it more than 25 s, or iree-tuned tune, tries again`,
    );
  });
  test('is read once for open workloads, and not on a hit', () => {
    const store = noted(16);
    putRecord(store, 8);
    const find = vi.spyOn(store, 'findUndecided');
    lookUp(store, input(8), here, settings).decide(new Map());
    expect(find).not.toHaveBeenCalled();
    const lookup = lookUp(store, input(8, 16, 24), here, settings);
    expect([...lookup.undecided().keys()]).toEqual([keyOf(16)]);
    lookup.decide(new Map());
    expect(find.mock.calls.map(([asked]) => asked)).toEqual([[keyOf(16), keyOf(24)]]);
  });
  test('with too few families stays a hit', () => {
    const store = storeWith([8, { evidence: { families: ['tile'] } }]);
    noted(8, store);
    const lookup = lookUp(store, input(8), here, settings);
    expect([...lookup.undecided().keys()]).toEqual([keyOf(8)]);
    expect(lookup.decide(new Map())).toMatchObject([hit]);
  });
  test('of another device is ignored', () => {
    const store = open(temporaryPath());
    store.noteUndecided(aboutMatmul(8, there), SLOW, 20);
    expect(decided(store, [8])).toEqual([missed]);
  });
  test('of this build replaces an earlier one', () => {
    const lookup = lookUp(noted(8), input(8), here, settings);
    const row = { workload: keyOf(8), reason: 'another', budgetSeconds: 40, attempts: 2, lastTriedAt: '' };
    expect(lookup.decide(new Map(), undefined, new Map([[keyOf(8), row]]))[0]!.reason).toMatch(
      /^cannot be decided: another\. It was given 40 s/,
    );
  });
});

test('a result of this build replaces an earlier record', () => {
  const store = storeWith([8, { evidence: { families: ['tile'] } }]);
  const known = { configuration: { ...TILE, peeling: false }, evidence: { ...EVIDENCE, ratio: 3 } };
  const lookup = lookUp(store, input(8, 16, 24), here, settings);
  const results = new Map([
    [keyOf(8), { ...known, outcome: 'tuned' as const }],
    [keyOf(16), { ...known, outcome: 'hit' as const }],
  ]);
  expect(lookup.decide(results, because('no-time', 'no time'))).toMatchObject([
    { outcome: 'tuned', reason: '3.00x faster than the default', ...known, record: placeOf(here) },
    { outcome: 'hit', ...known, record: { workload: keyOf(16), ...placeOf(here) } },
    { outcome: 'default', reason: 'no time' },
  ]);
});

test('a database that fails during the lookup throws', () => {
  const path = temporaryPath();
  const store = open(path);
  putRecord(store, 8);
  alter(path, 'DROP TABLE claim');
  expect(() => lookUp(store, input(8), here, settings)).toThrow(StoreError);
});

test('workloads have the options of their search', () => {
  const [work] = workloadsOf(input(8), siteOf({}, { nativeVectorBytes: 32 }), { inject: 'spec' });
  expect(work).toEqual({
    key: keyOf(8),
    workload: matmul(8, 512, 512),
    count: 1,
    executables: [],
    options: {
      ...{ nativeVectorBytes: 32, vectorRegisters: 16, threads: 1, cachesKiB: siteOf().device.cachesKiB },
      ...{ wholeProgram: false, following: true },
    },
  });
});
