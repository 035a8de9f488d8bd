// @module-tag slow
// Received lines: records for builds, notes, revocations, lines of later versions, and what pruning removes.
// In full after a change of src/store/exchange.
import fc from 'fast-check';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isFull } from '../../support/needs.ts';
import { lineText, type Line } from '../../../src/store/exchange/lines.ts';
import {
  alter,
  DECISION,
  EVIDENCE,
  look,
  MARK,
  open,
  openExchange,
  RUN,
  SUBJECT,
  subjectOf,
  temporaryPath,
  TILE,
  TRIAL,
} from '../support.ts';
import {
  claimLineOf,
  FORMS_NOTE,
  KEY,
  linesOf,
  markLineOf,
  noteLineOf,
  ORIGIN,
  partLinesOf,
  PROGRAM,
  receiveLines,
  revocationLineOf,
  SAMPLE,
  TRIAL_RUN,
  trialLineOf,
} from './samples.ts';

/** A database that has received lines. @param origin of the store */
function received(lines: readonly unknown[] = [], origin = ORIGIN) {
  const path = temporaryPath();
  const exchange = openExchange(path);
  receiveLines(exchange, lines);
  return { path, exchange, store: open(path, { origin }) };
}

describe('a received line', () => {
  it('creates a record for builds, and removes the miss', () => {
    const { exchange, store } = received();
    store.noteMiss(SUBJECT);
    store.noteUndecided(SUBJECT, 'too slow', 60);
    expect(receiveLines(exchange, SAMPLE)).toEqual({
      added: { revocation: 1, claim: 2, mark: 1, trial: 1, note: 1 },
      ...{ known: 4, kept: 0, refused: [] },
    });
    expect(store.findRecords([SUBJECT.workload], SUBJECT.target, SUBJECT.compiler)).toMatchObject([
      { configuration: TILE, evidence: EVIDENCE, ...ORIGIN },
    ]);
    expect(store.misses()).toEqual([]);
    expect(store.findUndecided([SUBJECT.workload], SUBJECT)).toEqual([]);
    expect(store.runs(SUBJECT)).toEqual([{ ...TRIAL_RUN, configuration: TILE }]);
    expect(store.subject(SUBJECT)).toEqual(SUBJECT);
  });

  it('is refused alone, and the others are accepted', () => {
    const ofRankTwo = { distribution: [1, 1], vectorCommonParallel: [1, 1], vectorReduction: [0, 0] };
    const { refused, added } = receiveLines(openExchange(), [
      claimLineOf(),
      ...partLinesOf(),
      { ...claimLineOf(), digest: '0'.repeat(64) },
      claimLineOf({ configuration: { ...TILE, ...ofRankTwo } }),
      claimLineOf(),
    ]);
    expect(added).toEqual({ workload: 1, target: 1, device: 1, compiler: 1, claim: 1 });
    expect(refused).toMatchObject([
      { index: 0, reason: expect.stringContaining('no earlier line describes') as string },
      { index: 5, reason: expect.stringContaining('digest') as string },
      { index: 6, reason: expect.stringContaining('dimensions') as string },
    ]);
  });

  it('of a later version is kept verbatim with the lines about it, and not read', () => {
    const own = claimLineOf({ workload: 'attention 8' });
    const later = [
      { type: 'workload', version: 1, key: 'attention 8', form: { kind: 'attention' } },
      own,
      { ...claimLineOf(), configuration: { version: 2, kind: 'tile', warps: 4 } },
      { ...claimLineOf(), configuration: { version: 1, kind: 'gpu-tile', warps: 4 } },
      { ...claimLineOf(), version: 2 },
      { type: 'verdict', version: 1 },
    ];
    const { exchange, store } = received();
    expect(receiveLines(exchange, [...partLinesOf(), ...later])).toMatchObject({
      kept: later.length,
      refused: [],
    });
    expect(store.allRecords()).toEqual([]);
    const texts = later.map((line) => (line === own ? lineText(own) : JSON.stringify(line)));
    expect(linesOf(exchange)).toEqual(texts.sort());
  });

  it('of a later version is read after an upgrade, with the lines about it', () => {
    const parts = [...partLinesOf()];
    const later = { ...claimLineOf(), version: 2 };
    const { path, exchange, store } = received([...parts.slice(1), later]);
    // Simulates lines that an earlier version kept.
    const keep = (line: object, change: string) => {
      alter(
        path,
        `INSERT INTO kept_line VALUES ('${JSON.stringify(line).replaceAll("'", "''")}', ${change})`,
      );
    };
    keep(claimLineOf(), '99');
    keep(markLineOf(), 'NULL');
    expect(exchange.reread()).toBe(0);
    expect(exchange.health()).toMatchObject({ keptLines: 3, claims: 0 });
    keep(parts[0]!, 'NULL');
    expect(exchange.reread()).toBe(3);
    expect(exchange.health()).toMatchObject({ keptLines: 1, claims: 1 });
    expect(store.marks(SUBJECT)).toHaveLength(1);
    expect(linesOf(exchange)).toContain(JSON.stringify(later));
    expect(exchange.reread()).toBe(0);
  });

  it('replaces a damaged form', () => {
    const { path, exchange, store } = received(SAMPLE);
    alter(path, `UPDATE workload SET form = '{"z":"damaged"}'`);
    receiveLines(exchange, partLinesOf());
    expect(store.subject(SUBJECT)).toEqual(SUBJECT);
  });

  it('adds runs to a known trial, and removes none', () => {
    const more = { ...trialLineOf(), runs: [TRIAL_RUN, { ...TRIAL_RUN, batch: 9 }] };
    const { path, exchange, store } = received([...partLinesOf(), trialLineOf()]);
    expect(receiveLines(exchange, [more]).added).toEqual({ trial: 1 });
    expect(receiveLines(exchange, [trialLineOf()])).toMatchObject({ added: {}, known: 1 });
    expect(store.runs(KEY).map(({ batch }) => batch)).toEqual([3, 9]);
    expect(look(path, 'SELECT count(*) FROM run')).toBe(2);
  });

  it('leaves the runs of a local search at their trials', () => {
    const { path, exchange, store } = received([], { ...ORIGIN, machine: 'this one' });
    store.addTrials(SUBJECT, [TRIAL]);
    receiveLines(exchange, [...partLinesOf(), trialLineOf({ runs: [] })]);
    store.addRuns(SUBJECT, [RUN]);
    expect(look(path, 'SELECT trial FROM run')).toBe(1);
  });
});

describe('descriptions of one device', () => {
  const deviceLine = (text: string) => ({ type: 'device', version: 1, key: SUBJECT.device, form: { text } });
  const own = JSON.stringify(SUBJECT.deviceForm);

  it('merge if this machine has none of its own', () => {
    const { exchange, store } = received([...partLinesOf(), claimLineOf()]);
    store.addMarks(store.subject(SUBJECT)!, [MARK]);
    receiveLines(exchange, [deviceLine('zzz')]);
    const greater = [JSON.stringify({ text: 'zzz' }), own].sort().at(-1)!;
    expect(JSON.stringify(store.devices()[0]?.form)).toBe(greater);
  });

  it('do not depend on the order in which they are found and received', () => {
    const { path, exchange, store } = received();
    const cleaner = new Database(path);
    onTestFinished(() => {
      cleaner.close();
    });
    // Texts that are less and greater than this machine's.
    const event = fc.constantFrom('found', '', 'zzz', 'a', 'z');
    fc.assert(
      fc.property(fc.array(event, { maxLength: 6 }), (events) => {
        cleaner.exec('DELETE FROM claim; DELETE FROM subject; DELETE FROM device');
        for (const one of events)
          if (one === 'found') store.putRecord(SUBJECT, DECISION);
          else receiveLines(exchange, [deviceLine(one)]);
        const told = events.map((one) => (one === 'found' ? own : JSON.stringify({ text: one })));
        const joined = told.sort().at(-1);
        expect(cleaner.prepare('SELECT form FROM device').pluck().get()).toBe(joined);
        const [device] = store.devices();
        expect(device && JSON.stringify(device.form)).toBe(events.includes('found') ? own : joined);
      }),
      { numRuns: isFull ? 1000 : 15 },
    );
  });
});

describe('a received note', () => {
  const noteOf = (verdict: string, month: number) =>
    noteLineOf({ note: { ...FORMS_NOTE, verdict }, writtenAt: `2026-0${month}-01T08:00:00.000Z` });
  const [better, tried, worse] = [noteOf('better', 1), noteOf('open', 2), noteOf('worse', 3)];
  /** Verdicts that builds see after these lines. */
  const verdictsOf = (lines: readonly Line[], origin = ORIGIN) =>
    received(lines, origin)
      .store.programNotes('forms', PROGRAM)
      .map((note) => (note as { verdict: string }).verdict);

  it.each([
    ['better', [better, tried]],
    ['better', [tried, better]],
    ['worse', [better, tried, worse]],
    ['worse', [worse, better, tried]],
  ])('replaces a note of its origin only with a verdict, or if it is later: %s', (verdict, lines) => {
    expect(verdictsOf(lines)).toEqual([verdict]);
  });

  it('stays beside notes of other origins: the own comes first, then the latest', () => {
    const another = { ...ORIGIN, machine: 'another' };
    const third = { ...ORIGIN, createdBy: 'zoe' };
    const lines = [better, { ...worse, ...another }, { ...tried, ...third }];
    expect(verdictsOf(lines)).toEqual(['better', 'worse', 'open']);
    expect(verdictsOf(lines, third)).toEqual(['open', 'worse', 'better']);
    expect(verdictsOf(lines.toReversed(), third)).toEqual(['open', 'worse', 'better']);
  });

  it('is replaced by a note of this machine', () => {
    const { store } = received([worse]);
    store.noteProgram('forms', PROGRAM, { ...FORMS_NOTE, reason: '\u001b[2Jlater' });
    expect(store.programNotes('forms', PROGRAM)).toEqual([{ ...FORMS_NOTE, reason: ' [2Jlater' }]);
  });

  it('replaces a damaged note', () => {
    const { path, exchange } = received([worse]);
    alter(path, `UPDATE program_note SET written_at = 'zzz'`);
    expect(exchange.health().unsound).toMatchObject({ note: 1 });
    expect(receiveLines(exchange, [better]).added).toEqual({ note: 1 });
    expect(linesOf(exchange)).toEqual([lineText(better)]);
  });

  it('of an earlier version that kept the line is read after an upgrade', () => {
    const { path, exchange } = received();
    alter(path, `INSERT INTO kept_line VALUES ('${lineText(better)}', 1)`);
    expect(exchange.reread()).toBe(1);
    expect(linesOf(exchange)).toEqual([lineText(better)]);
  });
});

describe('a revocation', () => {
  const parts = partLinesOf();
  const other = { createdBy: 'zoe', machine: 'another', tool: '9' };

  it.each([
    ['of its digest', { scope: 'record', value: claimLineOf().digest }],
    ['of the tool', { scope: 'tool', value: ORIGIN.tool }],
    ['of the user', { scope: 'origin', value: ORIGIN.createdBy }],
    ['of the machine', { scope: 'origin', value: ORIGIN.machine }],
    ['of both', { scope: 'origin', value: `${ORIGIN.createdBy}@${ORIGIN.machine}` }],
  ] as const)('%s hides a claim and its origin’s notes, and no others', (_, revocation) => {
    const lines = [...parts, claimLineOf(), noteLineOf(), noteLineOf(other)];
    const { exchange, store } = received([...lines, revocationLineOf({ scope: 'origin', value: 'x@y' })]);
    expect(store.allRecords()).toHaveLength(1);
    receiveLines(exchange, [revocationLineOf(revocation)]);
    expect(store.allRecords()).toEqual([]);
    expect(store.findRecords([SUBJECT.workload], SUBJECT.target, SUBJECT.compiler)).toEqual([]);
    expect(exchange.health()).toMatchObject({ records: 0, claims: 1, revokedClaims: 1 });
    expect(store.allProgramNotes('forms')).toHaveLength(revocation.scope === 'record' ? 2 : 1);
  });

  it('hides marks and trials', () => {
    const lines = [...parts, claimLineOf({ tool: '9' }), markLineOf(), trialLineOf()];
    const { exchange, store } = received(lines);
    expect(store.allRecords()[0]?.failure).not.toBeNull();
    receiveLines(exchange, [revocationLineOf({ scope: 'tool', value: ORIGIN.tool })]);
    expect(store.allRecords()[0]?.failure).toBeNull();
    expect([store.marks(KEY), store.trials(KEY), store.runs(KEY)]).toEqual([[], [], []]);
  });

  it('lets any new evidence win', () => {
    const bad = claimLineOf({ tool: '0.0.9', evidence: { processes: 99, families: ['later'] } });
    const { exchange, store } = received([...parts, bad, revocationLineOf()]);
    store.putRecord(SUBJECT, DECISION);
    // A repeated line changes nothing.
    receiveLines(exchange, [bad]);
    expect(store.allRecords()).toMatchObject([{ evidence: EVIDENCE }]);
  });

  it('of the own origin is visible to the writer', () => {
    const { exchange, store } = received();
    expect(store.ownRevocation()).toBeNull();
    const own = { scope: 'tool', value: ORIGIN.tool, reason: 'wrong' } as const;
    receiveLines(exchange, [revocationLineOf(), revocationLineOf(own)]);
    expect(store.ownRevocation()).toMatchObject(own);
  });
});

it('pruning removes the requested rows, and never marks or revocations', () => {
  const all = { trialsBefore: '2026-02-01T00:00:00.000Z', claims: true, filter: {} };
  const recent = trialLineOf({ id: 'f'.repeat(32), createdAt: '2026-03-01T00:00:00.000Z' });
  const { path, exchange } = received([...SAMPLE, recent, ...partLinesOf(subjectOf(4))]);
  expect(exchange.surplus({ ...all, claims: false })).toEqual({ trials: 1, runs: 1, claims: 0 });
  const none = { trials: 0, runs: 0, claims: 0 };
  expect(exchange.surplus({ ...all, filter: { compiler: '9.9' } })).toEqual(none);
  expect(exchange.surplus({ ...all, trialsBefore: null })).toEqual({ ...none, claims: 2 });
  const before = linesOf(exchange).length;
  expect(exchange.prune(all)).toEqual({ trials: 1, runs: 1, claims: 2 });
  const left = linesOf(exchange).map((line) => (JSON.parse(line) as Line).type);
  expect(left).toHaveLength(before - 3);
  expect(left).toEqual(expect.arrayContaining(['mark', 'revocation', 'trial']));
  // Without references.
  expect(look(path, 'SELECT count(*) FROM workload')).toBe(1);
  expect(exchange.surplus(all)).toEqual(none);
});
