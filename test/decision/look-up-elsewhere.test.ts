// Records of other devices, classes, compilers and builds: which of them a build uses, and which a search starts with.
import { describe, expect, test, vi } from 'vitest';
import type { Device } from '../../src/backend/device.ts';
import { siteFor } from '../../src/decision/for-device.ts';
import { lookUp } from '../../src/decision/look-up.ts';
import type { Site } from '../../src/site/site.ts';
import type { Store } from '../../src/store/store.ts';
import { subjectOf } from '../../src/store/subject.ts';
import { because } from '../../src/system/reason.ts';
import { MARK, open, temporaryPath, TILE } from '../store/support.ts';
import { siteOf } from '../support/inspected.ts';
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

describe('the record of another device', () => {
  const whyNotHere = because('device-unsuitable', 'this machine is arm64');
  const nowhere = siteOf({ whyNotHere });
  test('is not used if this device can be measured', () => {
    const store = storeWith([8, { site: there }]);
    expect(decided(store, [8])).toEqual([missed]);
  });
  test('is used with its name if nothing can be measured', () => {
    const store = storeWith([8, { site: there }]);
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
    const store = storeWith([8, { site: there }]);
    store.addMarks(aboutMatmul(8, there), [MARK]);
    expect(decided(store, [8], nowhere)).toEqual([missed]);
  });
});

describe('a record of another compiler', () => {
  const older = siteOf({ compiler: { ...here.compiler, key: '3.10.0@0123456789' } });
  const alikeOf = (store: Store) => lookUp(store, input(8), here, settings).misses[0]!.alike;

  test('is not used, and the search starts with it', () => {
    const store = storeWith([8, { site: older }]);
    expect(decided(store, [8])).toEqual([missed]);
    expect(alikeOf(store)).toMatchObject({ compiler: older.compiler.key, configuration: TILE });
  });

  test('is ignored beside a record of this compiler, for the default, and of another class', () => {
    const store = storeWith([8, { site: older, configuration: DEFAULT, evidence: NO_GAIN }]);
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
    const store = storeWith([
      8,
      { site: siteOf({ compiler: { ...here.compiler, key: '3.10.0@0123456789' } }) },
    ]);
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
    const store = storeWith([8, { site: alike }]);
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
    const store = storeWith([8, { site: stranger }]);
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
    const store = storeWith([8, { site: alike, configuration: DEFAULT, evidence: NO_GAIN }]);
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
