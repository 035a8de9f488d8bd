// Decisions from a database in a temporary folder, without a compiler.
import { describe, expect, test, vi } from 'vitest';
import type { Configuration } from '../../src/backend/configuration.ts';
import type { Device } from '../../src/backend/device.ts';
import { loadBackend } from '../../src/backend/index.ts';
import { passedOver } from '../../src/decision/decision.ts';
import { siteFor } from '../../src/decision/for-device.ts';
import { lookUp, workloadsOf } from '../../src/decision/look-up.ts';
import type { TunableOperation } from '../../src/input/operation.ts';
import { StoreError } from '../../src/store/errors.ts';
import type { Evidence, Store } from '../../src/store/store.ts';
import { placeOf, subjectOf } from '../../src/store/subject.ts';
import type { Site } from '../../src/site/site.ts';
import { alter, DECISION, EVIDENCE, MARK, open, temporaryPath, TILE } from '../store/support.ts';
import { inputOf, keyOfMatmul, matmulText, siteOf } from '../support/inspected.ts';
import { matmul } from '../support/workloads.ts';
import { because } from '../../src/system/reason.ts';
import { whyNotTuned } from '../../src/wrapper/required.ts';

const [here, there] = [siteOf(), siteOf({ deviceKey: 'another CPU local-sync threads=1' })];
const settings = { inject: 'auto', budgetSeconds: 60, trust: 'device' } as const;
const DEFAULT = { version: 1, kind: 'default' } as const;

/** Matmuls of m x 512 x 512. */
const input = (...sizes: number[]) => inputOf(sizes.map((m) => matmulText(m, 512, 512)).join(''));
const keyOf = (m: number) => keyOfMatmul(m, 512, 512);
const aboutMatmul = (m: number, site: Site = here) =>
  subjectOf({ key: keyOf(m), workload: matmul(m, 512, 512) }, site);

function putRecord(
  store: Store,
  m: number,
  {
    site = here,
    evidence = {},
    configuration = TILE,
  }: { site?: Site; evidence?: Partial<Evidence>; configuration?: Configuration } = {},
): void {
  store.putRecord(aboutMatmul(m, site), {
    ...DECISION,
    configuration,
    evidence: { ...EVIDENCE, ...evidence },
  });
}

/** Decisions without tuning since the lookup. */
const decided = (store: Store | null, sizes: readonly number[], site: Site = here) =>
  lookUp(store, input(...sizes), site, settings)
    .decide(new Map(), because('no-record', 'nobody tunes'))
    .map(({ outcome, reason }) => ({ outcome, reason }));
const keys = (works: readonly { readonly key: string }[]) => works.map(({ key }) => key);

const hit = { outcome: 'hit', reason: '1.83x faster than the default' };
const missed = { outcome: 'default', reason: 'nobody tunes' };

describe('an operation', () => {
  test('with a record is a hit with the record’s gain', () => {
    const store = open(temporaryPath());
    putRecord(store, 8);
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
    const store = open(temporaryPath());
    putRecord(store, 8);
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
  expect(whyNotTuned(decisions)?.reason).toMatch(
    /^no configuration is known for contraction m=16 .* there was no record$/,
  );
});

test('without a database all operations are misses', () => {
  const lookup = lookUp(null, input(8, 16), here, settings);
  expect(keys(lookup.misses)).toEqual([keyOf(8), keyOf(16)]);
  expect([lookup.narrow, lookup.undecided().size]).toEqual([[], 0]);
  expect(decided(null, [8])).toEqual([missed]);
});

test('an overridden operation is neither looked up nor tuned', () => {
  const store = open(temporaryPath());
  putRecord(store, 16);
  const find = vi.spyOn(store, 'findRecords');
  const override = (operation: TunableOperation) =>
    operation.key === keyOf(16)
      ? null
      : passedOver(operation.place, operation, 'default', because('locked', 'so it is'));
  const lookup = lookUp(store, input(8, 16, 8), here, settings, override);
  expect(find.mock.calls.map(([asked]) => asked)).toEqual([[keyOf(16)]]);
  expect([...lookup.misses, ...lookup.narrow, ...lookup.unfinished]).toEqual([]);
  expect(lookup.decide(new Map()).map(({ reason }) => reason)).toEqual(['so it is', hit.reason, 'so it is']);
});

test('each workload is looked up once, in the order of the input, and every operation has a decision', () => {
  const store = open(temporaryPath());
  putRecord(store, 16);
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
    const store = open(temporaryPath());
    putRecord(store, 8, { evidence: { low: 0.99 } });
    expect(decided(store, [8])).toEqual([missed]);
  });
  test('can be the default', () => {
    const store = open(temporaryPath());
    putRecord(store, 8, { configuration: DEFAULT, evidence: { ratio: 1, low: 1, high: 1 } });
    expect(decided(store, [8])).toEqual([{ outcome: 'hit', reason: 'the default is best' }]);
  });
  test('of an unfinished search is used, and says so', () => {
    const store = open(temporaryPath());
    putRecord(store, 8, { evidence: { complete: false } });
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
    const nothing = { ratio: 1, low: 1, high: 1 };
    const unfinishedOf = (
      evidence: Partial<Evidence>,
      budgetSeconds = 60,
      configuration: Configuration = DEFAULT,
    ) => {
      const store = open(temporaryPath());
      putRecord(store, 8, { configuration, evidence });
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
    const nothing = { ratio: 1, low: 1, high: 1 };
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

describe('the record of another device', () => {
  const whyNotHere = because('device-unsuitable', 'this machine is arm64');
  const nowhere = siteOf({ whyNotHere });
  test('is not used if this device can be measured', () => {
    const store = open(temporaryPath());
    putRecord(store, 8, { site: there });
    expect(decided(store, [8])).toEqual([missed]);
  });
  test('is used with its name if nothing can be measured', () => {
    const store = open(temporaryPath());
    putRecord(store, 8, { site: there });
    const [decision] = lookUp(store, input(8), nowhere, settings).decide(new Map(), whyNotHere);
    expect(decision).toMatchObject({
      outcome: 'hit',
      reason: `${hit.reason}, measured on ${there.deviceKey}`,
      record: { device: there.deviceKey },
    });
  });
  test('comes after a record of this device with a smaller gain', () => {
    const store = open(temporaryPath());
    putRecord(store, 8, { site: there, evidence: { ratio: 9, low: 8, high: 10 } });
    putRecord(store, 8);
    expect(decided(store, [8], nowhere)).toEqual([hit]);
  });
  test('is not used if it is marked', () => {
    const store = open(temporaryPath());
    putRecord(store, 8, { site: there });
    store.addMarks(aboutMatmul(8, there), [MARK]);
    expect(decided(store, [8], nowhere)).toEqual([missed]);
  });
});

describe('a record of another compiler', () => {
  const older = siteOf({ compiler: { ...here.compiler, key: '3.10.0@0123456789' } });
  const alikeOf = (store: Store) => lookUp(store, input(8), here, settings).misses[0]!.alike;

  test('is not used, and the search starts with it', () => {
    const store = open(temporaryPath());
    putRecord(store, 8, { site: older });
    expect(decided(store, [8])).toEqual([missed]);
    expect(alikeOf(store)).toMatchObject({ compiler: older.compiler.key, configuration: TILE });
  });

  test('is ignored beside a record of this compiler, for the default, and of another class', () => {
    const store = open(temporaryPath());
    putRecord(store, 8, { site: older, configuration: DEFAULT, evidence: { ratio: 1, low: 1, high: 1 } });
    expect(alikeOf(store)).toBeUndefined();
    putRecord(store, 8, { site: { ...older, deviceKey: 'another CPU local-sync threads=1' } });
    expect(alikeOf(store)).toBeUndefined();
    const look = vi.spyOn(store, 'findOfOtherCompilers');
    putRecord(store, 8);
    expect(decided(store, [8])).toEqual([hit]);
    expect(look).not.toHaveBeenCalled();
  });

  test('is the one with the largest gain, of this device first', () => {
    const store = open(temporaryPath());
    const oldest = siteOf({ compiler: { ...here.compiler, key: '3.9.0@0123456789' } });
    putRecord(store, 8, { site: older, evidence: { low: 1.1 } });
    putRecord(store, 8, { site: oldest, evidence: { low: 1.2 } });
    putRecord(store, 8, { site: { ...older, deviceKey: 'another CPU' }, evidence: { low: 1.8 } });
    expect(alikeOf(store)).toMatchObject({ device: here.deviceKey, evidence: { low: 1.2 } });
  });
});

describe('a record of another build of this compiler', () => {
  const published = here.compiler.key;
  const built = (digest: string, more = {}) =>
    siteOf({ compiler: { ...here.compiler, key: `${published}+${digest}` }, ...more });
  const patched = built('0123456789');
  const look = (store: Store, site: Site, trust: 'device' | 'class' = 'device') =>
    lookUp(store, input(8), site, { ...settings, trust });
  const decidedAt = (store: Store, site: Site, trust?: 'device' | 'class') =>
    look(store, site, trust).decide(new Map(), because('no-record', 'nobody tunes'))[0]!;

  test.each<[string, Site, Site]>([
    ['the published package', here, patched],
    ['a build of somebody', patched, here],
    ['another build', built('9876543210'), patched],
  ])('by %s is compared first, before records of other versions', (_, from, to) => {
    const store = open(temporaryPath());
    const older = siteOf({ compiler: { ...here.compiler, key: '3.10.0@0123456789' } });
    putRecord(store, 8, { site: older, evidence: { ratio: 9, low: 8, high: 10 } });
    putRecord(store, 8, { site: from });
    expect(decidedAt(store, to)).toMatchObject(missed);
    expect(look(store, to).misses).toMatchObject([{ alike: { compiler: from.compiler.key } }]);
    putRecord(store, 8, { site: to });
    expect(decidedAt(store, to)).toMatchObject(hit);
  });

  test('is used unmeasured if a setting trusts the class, but not one of another version', () => {
    const store = open(temporaryPath());
    putRecord(store, 8, { site: siteOf({ compiler: { ...here.compiler, key: '3.10.0@0123456789' } }) });
    expect(decidedAt(store, patched, 'class')).toMatchObject(missed);
    putRecord(store, 8);
    expect(decidedAt(store, patched, 'class')).toMatchObject({
      outcome: 'hit',
      reason: `${hit.reason}, with another build of this compiler`,
      record: { compiler: published },
    });
    store.addMarks(aboutMatmul(8, patched), [MARK]);
    expect(decidedAt(store, patched, 'class')).toMatchObject(missed);
  });

  test('is used if nothing can be measured, after records of this build', () => {
    const store = open(temporaryPath());
    const nowhere = built('0123456789', {
      whyNotHere: because('device-unsuitable', 'this machine is arm64'),
    });
    putRecord(store, 8, { site: there, evidence: { ratio: 9, low: 8, high: 10 } });
    expect(decidedAt(store, nowhere)).toMatchObject({
      outcome: 'hit',
      reason: `9.00x faster than the default, measured on ${there.deviceKey}, with another build of this compiler`,
    });
    putRecord(store, 8, { site: { ...patched, deviceKey: there.deviceKey } });
    expect(decidedAt(store, nowhere)).toMatchObject({ record: { compiler: patched.compiler.key } });
  });
});

describe('a record of the same class', () => {
  const device = (model: string, vendor = 'AuthenticAMD'): Device => ({
    model,
    driver: 'local-sync',
    threads: 1,
    cachesKiB: [],
    processor: { architecture: 'x64', vendor, family: 25, model: 17, threadsPerCore: 1, caches: [] },
  });
  const at = (model: string, change: Partial<Site> = {}, vendor?: string) =>
    siteOf({ device: device(model, vendor), deviceKey: model, ...change });
  const [own, alike, better, stranger] = [at('own'), at('alike'), at('better'), at('other', {}, 'Another')];
  const look = (store: Store, site = own, trust: 'device' | 'class' = 'device') => {
    const lookup = lookUp(store, input(8), site, { ...settings, trust });
    return {
      lookup,
      got: lookup
        .decide(new Map(), because('no-record', 'nobody tunes'))
        .map(({ outcome, reason }) => ({ outcome, reason })),
    };
  };
  const onAlike = { ...hit, reason: `${hit.reason}, measured on alike, a device of the same class` };
  function withAlike(): Store {
    const store = open(temporaryPath());
    putRecord(store, 8, { site: alike });
    return store;
  }

  test('is a miss, and the search compares it with the default first', () => {
    const { lookup, got } = look(withAlike());
    expect(got).toEqual([missed]);
    expect(lookup.misses).toMatchObject([{ key: keyOf(8), alike: { device: 'alike', configuration: TILE } }]);
  });
  test('is used unmeasured with trust=class, names its device, and stays a miss', () => {
    const { lookup, got } = look(withAlike(), own, 'class');
    expect(got).toEqual([onAlike]);
    expect(
      lookup.misses.map((miss) => subjectOf(miss, own)).map(({ workload, device }) => [workload, device]),
    ).toEqual([[keyOf(8), 'own']]);
  });
  test('of another class is ignored', () => {
    const store = open(temporaryPath());
    putRecord(store, 8, { site: stranger });
    const { lookup, got } = look(store, own, 'class');
    expect(got).toEqual([missed]);
    expect(lookup.misses[0]).not.toHaveProperty('alike');
  });
  test('is ignored on a device of unknown class', () => {
    const store = open(temporaryPath());
    putRecord(store, 8, { site: there });
    putRecord(store, 8, { site: alike });
    expect(look(store, here, 'class').got).toEqual([missed]);
  });
  test('is the one with the largest gain, and comes after a record of this device', () => {
    const store = withAlike();
    putRecord(store, 8, { site: better, evidence: { ratio: 4, low: 3, high: 5 } });
    expect(look(store, own, 'class').got[0]!.reason).toContain('measured on better');
    putRecord(store, 8, { site: own });
    expect(look(store, own, 'class').got).toEqual([hit]);
  });
  test('is not used if either device has marked it', () => {
    for (const site of [alike, own]) {
      const store = withAlike();
      store.addMarks(aboutMatmul(8, site), [MARK]);
      expect(look(store, own, 'class').got).toEqual([missed]);
    }
  });
  test('is not used if this device has tried its configuration', () => {
    const store = withAlike();
    store.addTrials(aboutMatmul(8, own), [
      { configuration: TILE, outcome: 'measured', seconds: 1, ratio: 1, message: null, strategy: 'any' },
    ]);
    expect(look(store, own, 'class').got).toEqual([missed]);
  });
  test('of the default gives the search nothing to compare', () => {
    const store = open(temporaryPath());
    putRecord(store, 8, { site: alike, configuration: DEFAULT, evidence: { ratio: 1, low: 1, high: 1 } });
    expect(look(store).lookup.misses[0]).not.toHaveProperty('alike');
    expect(look(store, own, 'class').got[0]!.reason).toMatch(/^the default is best, measured on alike/);
  });
  test('reads the devices of the database only if there are candidates', () => {
    const store = open(temporaryPath());
    const devices = vi.spyOn(store, 'devices');
    putRecord(store, 8, { site: own });
    look(store);
    look(open(temporaryPath()));
    expect(devices).not.toHaveBeenCalled();
    putRecord(store, 8, { site: alike });
    look(store);
    expect(devices).not.toHaveBeenCalled();
  });

  describe('of the device that a build is for', () => {
    const forIt = (store: Store, asked: string) => siteFor(here, asked, store);
    test('is used after its own records, without trust=class', () => {
      const store = withAlike();
      store.nameDevice('prod', { key: 'own', form: own.device });
      expect(look(store, forIt(store, 'prod')).got).toEqual([onAlike]);
      putRecord(store, 8, { site: own, evidence: { ratio: 1.2, low: 1.1, high: 1.3 } });
      expect(look(store, forIt(store, 'prod')).got[0]!.reason).toBe('1.20x faster than the default');
    });
    test('is not replaced by a record of another device', () => {
      const store = open(temporaryPath());
      putRecord(store, 8, { site: stranger });
      putRecord(store, 8, { site: here });
      store.nameDevice('prod', { key: 'own', form: own.device });
      const { lookup, got } = look(store, forIt(store, 'prod'));
      expect(got).toEqual([missed]);
      expect(lookup.misses.map((miss) => subjectOf(miss, forIt(store, 'prod')))).toMatchObject([
        { workload: keyOf(8), device: 'own', deviceForm: own.device },
      ]);
    });
  });
});

describe('the families of a search', () => {
  const narrowOf = (store: Store, site = here, inject: 'auto' | 'spec' = 'auto') => {
    const { misses, narrow } = lookUp(store, input(8), site, { ...settings, inject });
    return { misses: keys(misses), narrow: keys(narrow) };
  };
  const only = (...families: string[]) => {
    const store = open(temporaryPath());
    putRecord(store, 8, { evidence: { families } });
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
    const site = siteOf({ whyNotHere: because('backend-unsupported') }, { backend: 'cuda' });
    const store = open(temporaryPath());
    putRecord(store, 8, { site, evidence: { families: [] } });
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
    const store = open(temporaryPath());
    putRecord(store, 8, { evidence: { families: ['tile'] } });
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
  const store = open(temporaryPath());
  putRecord(store, 8, { evidence: { families: ['tile'] } });
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
