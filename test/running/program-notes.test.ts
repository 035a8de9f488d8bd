// Notes about a program from several machines: the note that a build uses.
import { describe, expect, test } from 'vitest';
import { programIdentity } from '../../src/compiler/command-identity.ts';
import { siteFor } from '../../src/decision/for-device.ts';
import { keysElsewhere } from '../../src/running/program-notes.ts';
import { commandNotes, programMemory, type ProgramMemory } from '../../src/running/variants/memory.ts';
import type { Site } from '../../src/site/site.ts';
import { placeOf } from '../../src/store/subject.ts';
import { because } from '../../src/system/reason.ts';
import { putRecord } from '../decision/support.ts';
import { noteLineOf, ORIGIN, receiveLines } from '../store/exchange/samples.ts';
import { open, openExchange, temporaryPath } from '../store/support.ts';
import { commandOf, inputOf, siteOf } from '../support/inspected.ts';

const input = inputOf('');
const keyAt = (site: Site) => programIdentity(commandOf('in.mlir'), 'digest', placeOf(site));
const here = siteOf();
const key = keyAt(here);

/** A store with notes of other machines, the latest first. */
function storeWith(kind: 'forms' | 'program', ...notes: readonly unknown[]) {
  const path = temporaryPath();
  const lines = notes.map((note, i) =>
    noteLineOf({
      ...{ kind, note, program: key, machine: `machine ${i}` },
      writtenAt: `2026-01-${30 - i}T08:00:00.000Z`,
    }),
  );
  expect(receiveLines(openExchange(path), lines).refused).toEqual([]);
  return open(path, { origin: ORIGIN });
}

const forms = (verdict: string) => ({ verdict, reason: verdict, budgetSeconds: 60, attempts: 1 });

describe('of forms', () => {
  test('with a verdict is used before a try, and an own verdict before that of others', () => {
    const store = storeWith('forms', forms('open'), forms('better'), forms('worse'));
    const recalled = () => commandNotes.recall(store, key);
    expect(recalled()).toEqual(forms('better'));
    store.noteProgram('forms', key, forms('open'));
    expect(recalled()).toEqual(forms('better'));
    store.noteProgram('forms', key, forms('worse'));
    expect(recalled()).toEqual(forms('worse'));
  });

  test('that is invalid does not hide others', () => {
    const store = storeWith(
      'forms',
      { verdict: 'fast' },
      { ...forms('better'), attempts: '1' },
      forms('worse'),
    );
    expect(commandNotes.recall(store, key)).toEqual(forms('worse'));
    expect(commandNotes.all(store)).toEqual([[key, forms('worse')]]);
  });
});

test('a verdict of others on a program is used with the tries and losses of this machine', () => {
  const memory = (change: Partial<ProgramMemory>): ProgramMemory => ({
    ...{ leftOut: [], verified: null, programWide: null, open: null },
    ...change,
  });
  const loss = (workload: string) => ({ workload, configuration: '{}', reason: 'slower' });
  const open = {
    set: 'own',
    reason: 'no time',
    budgetSeconds: 20,
    attempts: 2,
    lastTriedAt: '2026-01-01T00:00:00Z',
  };
  const store = storeWith('program', memory({ verified: 'theirs', leftOut: [loss('a')] }));
  store.noteProgram('program', key, memory({ open, leftOut: [loss('b')] }));
  expect(programMemory.recall(store, key)).toEqual(
    memory({ verified: 'theirs', leftOut: [loss('a'), loss('b')], open }),
  );
  store.noteProgram('program', key, memory({ verified: 'own' }));
  expect(programMemory.recall(store, key)).toEqual(memory({ verified: 'own' }));
});

describe('on another device', () => {
  const processor = {
    ...{ architecture: 'x64', vendor: 'AuthenticAMD', family: 25, model: 17, threadsPerCore: 1 },
    caches: [{ level: 1, sizeKiB: 32, threads: 1 }],
  };
  const known = siteOf({ device: { ...here.device, processor } });
  const sibling = siteOf({ device: known.device, deviceKey: 'a CPU (25/17/2) local-sync threads=1' });
  const stranger = siteOf({ deviceKey: 'another CPU local-sync threads=1' });
  const settings = { budgetSeconds: 0, trust: 'class' } as const;

  /** A store with records of these devices. */
  function storeOf(...sites: readonly Site[]) {
    const store = open(temporaryPath());
    for (const site of sites) putRecord(store, 8, { site });
    return store;
  }
  const store = () => storeOf(known, sibling, stranger);
  const keysAt = (site: Site, change: object = {}, mayMeasure = false) =>
    keysElsewhere(keyAt(site), { input, site }, store(), { ...settings, ...change }, mayMeasure);

  test('of the class they are used with trust=class by builds that do not run the program', () => {
    expect(keysAt(known)).toEqual([keyAt(sibling)]);
    expect(keysAt(known, { trust: 'device' })).toEqual([]);
    expect(keysAt(known, { budgetSeconds: 60 }, true)).toEqual([]);
    expect(keysAt(known, { budgetSeconds: 5 }, true)).toEqual([keyAt(sibling)]);
  });

  test('of the class they are used by a build for a device', () => {
    const asked = siteFor(stranger, sibling.deviceKey, store());
    expect(asked.forDevice).toBe(sibling.deviceKey);
    expect(keysAt(asked, { trust: 'device' })).toEqual([key]);
  });

  test('any note is used if nothing can be measured', () => {
    const nowhere = siteOf({ whyNotHere: because('device-unsuitable', 'this machine is arm64') });
    expect(keysAt(nowhere, { trust: 'device' })).toEqual([keyAt(sibling), keyAt(stranger)]);
  });

  test('they come after those of this device', () => {
    const own = store();
    own.noteProgram('forms', keyAt(sibling), forms('better'));
    const elsewhere = keysElsewhere(keyAt(known), { input, site: known }, own, settings, false);
    expect(commandNotes.recall(own, keyAt(known))).toBeNull();
    expect(commandNotes.recall(own, keyAt(known), elsewhere)).toEqual(forms('better'));
    own.noteProgram('forms', keyAt(known), forms('worse'));
    expect(commandNotes.recall(own, keyAt(known), elsewhere)).toEqual(forms('worse'));
  });
});
