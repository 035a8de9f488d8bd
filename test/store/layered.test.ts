// Layers of databases read as one, and writes go to the first.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { layered } from '../../src/store/layered.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { DECISION, EVIDENCE, MARK, subjectOf, TILE } from './samples.ts';

const subject = subjectOf(16);
const { workload, target, compiler } = subject;
const origin = (createdBy: string) => ({ createdBy, machine: `${createdBy}-pc`, tool: '1.0.0' });
const storeOf = (createdBy: string): Store =>
  openSqliteStore(join(temporaryDirectory(), 'tuning.db'), { origin: origin(createdBy) });
const better = {
  ...DECISION,
  configuration: { ...TILE, peeling: false },
  evidence: { ...EVIDENCE, low: 1.8 },
};

/** An own database above a base. */
function both() {
  const [own, base] = [storeOf('ada'), storeOf('bob')];
  const all = layered([
    { store: own, base: null },
    { store: base, base: '/mnt/tuned' },
  ]);
  return { own, base, all, found: () => all.findRecords([workload], target, compiler) };
}

test('the surest claim wins, wherever it is, and effort counts once', () => {
  const { own, base, found } = both();
  expect(found()).toEqual([]);
  base.putRecord(subject, DECISION);
  expect(found()).toMatchObject([{ configuration: TILE, failure: null }]);
  own.putRecord(subject, better);
  expect(found()).toMatchObject([{ configuration: { peeling: false }, evidence: { trials: 120 } }]);
});

test('a mark counts in all layers', () => {
  for (const marked of ['own', 'base'] as const)
    for (const recorded of ['own', 'base'] as const) {
      const { found, all, ...stores } = both();
      stores[recorded].putRecord(subject, DECISION);
      stores[marked].addMarks(subject, [MARK]);
      expect(found()).toMatchObject([{ failure: expect.stringContaining('compile-error') as string }]);
      expect(all.marks(subject)).toHaveLength(1);
    }
});

test('writes go to the first layer, and all are closed', () => {
  const { own, base, all } = both();
  all.putRecord(subject, DECISION);
  all.noteProgram('program', 'key', { open: null });
  expect([own, base].map((store) => store.allRecords().length)).toEqual([1, 0]);
  expect(all.programNotes('program', 'key')).toEqual([{ open: null }]);
  base.noteProgram('program', 'key', { open: 1 });
  expect(all.programNotes('program', 'key')).toEqual([{ open: null }, { open: 1 }]);
  expect(all.devices()).toHaveLength(1);
  expect(all.subject(subject)?.workload).toBe(workload);
  all.close();
  expect(() => base.devices()).toThrow();
});

test('a record names its base, unless the own database has the same claim', () => {
  const { own, base, found } = both();
  base.putRecord(subject, DECISION);
  expect(found()).toMatchObject([{ base: '/mnt/tuned', createdBy: 'bob' }]);
  const alone = layered([{ store: base, base: '/mnt/tuned' }]);
  expect(alone.findRecords([workload], target, compiler)).toMatchObject([{ base: '/mnt/tuned' }]);
  own.putRecord(subject, { ...DECISION, evidence: { ...EVIDENCE, low: 1.82 } });
  expect(found()[0]).not.toHaveProperty('base');
  const twice = layered([
    { store: own, base: null },
    { store: own, base: '/mnt/tuned' },
  ]);
  expect(twice.findRecords([workload], target, compiler)[0]).not.toHaveProperty('base');
});

test('one layer alone is itself', () => {
  const own = storeOf('ada');
  expect(layered([{ store: own, base: null }])).toBe(own);
});
