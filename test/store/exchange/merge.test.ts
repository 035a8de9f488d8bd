// @module-tag slow
// Merging whole databases: any exchange in any order leads to the same content.
import fc from 'fast-check';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isFull } from '../../support/needs.ts';
import { DEFAULT_CONFIGURATION } from '../../../src/backend/configuration.ts';
import type { Exchange } from '../../../src/store/exchange/exchange.ts';
import { readLine } from '../../../src/store/exchange/read.ts';
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
  markLineOf,
  noteLineOf,
  ORIGIN,
  partLinesOf,
  PROGRAM,
  receiveLines,
  revocationLineOf,
  revocations,
  SAMPLE,
  told,
  TRIAL_RUN,
  trialLineOf,
} from './samples.ts';

const fail = (reason: string): never => {
  throw new Error(reason);
};
const linesOf = (exchange: Exchange, filter = {}) => [...exchange.lines(filter, fail)];
const tell = (from: Exchange, to: Exchange) => to.receive(linesOf(from).map(readLine));
const nothing = { added: {}, kept: 0, refused: [] };

/** Lines in an order in which descriptions come before the lines that need them. */
const news = fc.array(
  fc.oneof(
    told.filter((line) => !('form' in line)),
    revocations,
  ),
  { maxLength: 6 },
);

/** Number of random cases, which take some milliseconds each. */
const CASES = { numRuns: isFull ? 1000 : 60 };

describe('databases', () => {
  /** Two databases that each case empties, because creating one takes longer than a case. */
  function pair() {
    const paths = [temporaryPath(), temporaryPath()];
    const [a, b] = paths.map((path) => openExchange(path)) as [Exchange, Exchange];
    const cleaners = paths.map((path) => new Database(path));
    onTestFinished(() => {
      for (const db of cleaners) db.close();
    });
    const tables = ['run', 'trial', 'mark', 'claim', 'revocation', 'kept_line', 'program_note', 'subject'];
    tables.push('workload', 'target', 'device', 'compiler');
    const empty = () => {
      for (const db of cleaners) db.exec(tables.map((table) => `DELETE FROM ${table}`).join(';'));
      for (const exchange of [a, b]) receiveLines(exchange, partLinesOf());
    };
    return { a, b, empty };
  }

  it('are equal after the same lines in any order, some twice', () => {
    const { a, b, empty } = pair();
    fc.assert(
      fc.property(
        fc
          .array(told, { maxLength: 6 })
          .chain((lines) =>
            fc.tuple(
              fc.constant(lines),
              fc.shuffledSubarray([...lines, ...lines], { minLength: 2 * lines.length }),
              fc.array(revocations, { maxLength: 2 }),
            ),
          ),
        ([lines, shuffled, revoked]) => {
          empty();
          for (const exchange of [a, b]) receiveLines(exchange, revoked);
          receiveLines(a, lines);
          for (const line of shuffled) receiveLines(b, [line]);
          expect(linesOf(b)).toEqual(linesOf(a));
        },
      ),
      CASES,
    );
  });

  it('are equal after an exchange, for revocations at any time', () => {
    const { a, b, empty } = pair();
    fc.assert(
      fc.property(news, news, (ours, theirs) => {
        empty();
        receiveLines(a, ours);
        receiveLines(b, theirs);
        const before = linesOf(a);
        tell(b, a);
        b.receive(before.map(readLine));
        expect(linesOf(b)).toEqual(linesOf(a));
        const again = linesOf(a);
        expect(tell(b, a)).toMatchObject(nothing);
        expect(linesOf(a)).toEqual(again);
      }),
      CASES,
    );
  });
});

describe('an export', () => {
  it('is the same, byte for byte, after an import', () => {
    const path = temporaryPath();
    const store = open(path);
    for (const m of [512, 4, 33]) {
      const subject = subjectOf(m);
      store.addTrials(subject, [
        { ...TRIAL, seconds: 0.1 + 0.2, ratio: 1.5 },
        { ...TRIAL, outcome: 'timeout', seconds: null, ratio: null, message: 'ä\n"\u2028' },
      ]);
      store.addRuns(subject, [RUN, { ...RUN, batch: 4, defaultSeconds: null }]);
      store.putRecord(subject, DECISION);
      store.putRecord(subject, {
        ...DECISION,
        configuration: DEFAULT_CONFIGURATION,
        evidence: { ...EVIDENCE, ratio: 1, low: 1, high: 1 },
      });
      store.addMarks(subject, [MARK, { ...MARK, kind: 'lifted' }]);
      store.noteMiss(subjectOf(m + 1000));
    }
    const first = openExchange(path);
    receiveLines(first, [revocationLineOf(), { type: 'dream', version: 7, of: [1] }]);
    const lines = linesOf(first);
    expect(lines).toHaveLength(3 + 3 + 1 + 6 + 6 + 6 + 1);
    const second = openExchange();
    expect(tell(first, second)).toEqual({
      added: { workload: 3, target: 1, device: 1, compiler: 1, revocation: 1, claim: 6, mark: 6, trial: 6 },
      known: 0,
      kept: 1,
      refused: [],
    });
    expect(linesOf(second)).toEqual(lines);
    expect(tell(first, second)).toMatchObject({ added: {}, known: 25, refused: [] });
    // Every line is valid and canonical.
    for (const line of lines.slice(0, -1)) {
      const reading = readLine(line);
      expect(reading.outcome === 'line' && lineText(reading.line)).toBe(line);
    }
  });

  it('has the matching rows, their descriptions, and all revocations', () => {
    const path = temporaryPath();
    const store = open(path);
    store.putRecord(SUBJECT, DECISION);
    store.putRecord(subjectOf(4), DECISION);
    store.putRecord(subjectOf(4, { compiler: 'iree 3.12.0' }), DECISION);
    const exchange = openExchange(path);
    receiveLines(exchange, [revocationLineOf(), { type: 'dream', version: 1 }]);
    const types = (filter: object) =>
      linesOf(exchange, filter).map((line) => (JSON.parse(line) as Line).type);
    expect(types({ compiler: '3.12' })).toEqual([
      ...['workload', 'target', 'device', 'compiler', 'revocation', 'claim'],
    ]);
    expect(types({ workload: 'no such' })).toEqual(['revocation']);
    // The filter is text, not SQL.
    expect(types({ workload: '%' })).toEqual(['revocation']);
  });

  it('has the notes about programs of a target, device and compiler, and no times of dispatches', () => {
    const path = temporaryPath();
    const store = open(path, { origin: ORIGIN });
    for (const kind of ['forms', 'program', 'times'] as const) store.noteProgram(kind, PROGRAM, FORMS_NOTE);
    const exchange = openExchange(path);
    const kinds = (filter: object) =>
      linesOf(exchange, filter).map((line) => (JSON.parse(line) as { kind: string }).kind);
    expect(kinds({})).toEqual(['forms', 'program']);
    const { target, device, compiler } = KEY;
    expect(kinds({ target, device, compiler })).toEqual(['forms', 'program']);
    for (const filter of [{ target: 'gpu' }, { device: 'gpu' }, { compiler: '9' }, { workload: 'm=' }])
      expect(kinds(filter)).toEqual([]);
  });

  it('leaves out a note that no reader would accept', () => {
    const path = temporaryPath();
    open(path).noteProgram('forms', 'no key of a program', FORMS_NOTE);
    const skipped: string[] = [];
    expect([...openExchange(path).lines({}, (reason) => skipped.push(reason))]).toEqual([]);
    expect(skipped).toEqual([expect.stringMatching(/^no key of a program: /)]);
  });
});

describe('a received line', () => {
  it('creates a record for builds, and removes the miss', () => {
    const path = temporaryPath();
    const store = open(path);
    store.noteMiss(SUBJECT);
    store.noteUndecided(SUBJECT, 'too slow', 60);
    expect(receiveLines(openExchange(path), SAMPLE)).toEqual({
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
    const exchange = openExchange();
    const { refused, added } = receiveLines(exchange, [
      claimLineOf(),
      ...partLinesOf(),
      { ...claimLineOf(), digest: '0'.repeat(64) },
      claimLineOf({
        configuration: {
          ...TILE,
          distribution: [1, 1],
          vectorCommonParallel: [1, 1],
          vectorReduction: [0, 0],
        },
      }),
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
    const path = temporaryPath();
    const exchange = openExchange(path);
    const later = [
      { type: 'workload', version: 1, key: 'attention 8', form: { kind: 'attention' } },
      { ...claimLineOf(), workload: 'attention 8', digest: '' },
      { ...claimLineOf(), configuration: { version: 2, kind: 'tile', warps: 4 } },
      { ...claimLineOf(), configuration: { version: 1, kind: 'gpu-tile', warps: 4 } },
      { ...claimLineOf(), version: 2 },
      { type: 'verdict', version: 1 },
    ];
    const own = claimLineOf({ workload: 'attention 8' });
    later[1] = own;
    expect(receiveLines(exchange, [...partLinesOf(), ...later])).toMatchObject({
      kept: later.length,
      refused: [],
    });
    expect(open(path).allRecords()).toEqual([]);
    const texts = later.map((line) => (line === own ? lineText(own) : JSON.stringify(line)));
    expect(linesOf(exchange)).toEqual(texts.sort());
  });

  it('of a later version is read after an upgrade, with the lines about it', () => {
    const path = temporaryPath();
    const exchange = openExchange(path);
    const parts = [...partLinesOf()];
    receiveLines(exchange, parts.slice(1));
    const later = { ...claimLineOf(), version: 2 };
    receiveLines(exchange, [later]);
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
    expect(open(path).marks(SUBJECT)).toHaveLength(1);
    expect(linesOf(exchange)).toContain(JSON.stringify(later));
    expect(exchange.reread()).toBe(0);
  });

  it('replaces a damaged form; of two valid forms all databases keep the same', () => {
    const path = temporaryPath();
    const exchange = openExchange(path);
    receiveLines(exchange, SAMPLE);
    alter(path, `UPDATE workload SET form = '{"z":"damaged"}'`);
    receiveLines(exchange, partLinesOf());
    expect(open(path).subject(SUBJECT)).toEqual(SUBJECT);
  });

  describe('about a device with several descriptions', () => {
    const others = (text: string) => [{ type: 'device', version: 1, key: SUBJECT.device, form: { text } }];
    /** One text is greater than this machine's, and one less. */
    const TEXTS = ['', 'zzz'];

    it('still merges descriptions of other devices', () => {
      const path = temporaryPath();
      const exchange = openExchange(path);
      receiveLines(exchange, [...partLinesOf(), claimLineOf()]);
      const store = open(path);
      // This machine has no own description of that device.
      store.addMarks(store.subject(SUBJECT)!, [MARK]);
      receiveLines(exchange, others('zzz'));
      const greater = [JSON.stringify({ text: 'zzz' }), JSON.stringify(SUBJECT.deviceForm)].sort().at(-1)!;
      expect(JSON.stringify(store.devices()[0]?.form)).toBe(greater);
    });

    it('does not depend on the order of own and received descriptions', () => {
      const path = temporaryPath();
      const exchange = openExchange(path);
      const store = open(path);
      const cleaner = new Database(path);
      onTestFinished(() => {
        cleaner.close();
      });
      const event = fc.constantFrom('found', ...TEXTS, 'a', 'z');
      fc.assert(
        fc.property(fc.array(event, { maxLength: 6 }), (events) => {
          cleaner.exec('DELETE FROM claim; DELETE FROM subject; DELETE FROM device');
          for (const one of events)
            if (one === 'found') store.putRecord(SUBJECT, DECISION);
            else receiveLines(exchange, others(one));
          const told = events.map((one) =>
            JSON.stringify(one === 'found' ? SUBJECT.deviceForm : { text: one }),
          );
          const joined = told.sort().at(-1);
          expect(cleaner.prepare('SELECT form FROM device').pluck().get()).toBe(joined);
          const own = events.includes('found') ? JSON.stringify(SUBJECT.deviceForm) : joined;
          const [device] = store.devices();
          expect(device && JSON.stringify(device.form)).toBe(own);
        }),
        CASES,
      );
    });
  });

  it('adds runs to a known trial, and removes none', () => {
    const path = temporaryPath();
    const exchange = openExchange(path);
    const more = { ...trialLineOf(), runs: [TRIAL_RUN, { ...TRIAL_RUN, batch: 9 }] };
    receiveLines(exchange, [...partLinesOf(), trialLineOf()]);
    expect(receiveLines(exchange, [more]).added).toEqual({ trial: 1 });
    expect(receiveLines(exchange, [trialLineOf()])).toMatchObject({ added: {}, known: 1 });
    expect(
      open(path)
        .runs(KEY)
        .map(({ batch }) => batch),
    ).toEqual([3, 9]);
    expect(look(path, 'SELECT count(*) FROM run')).toBe(2);
  });

  it('leaves the runs of a local search at their trials', () => {
    const path = temporaryPath();
    const store = open(path);
    store.addTrials(SUBJECT, [TRIAL]);
    receiveLines(openExchange(path), [...partLinesOf(), trialLineOf({ runs: [] })]);
    store.addRuns(SUBJECT, [RUN]);
    expect(look(path, 'SELECT trial FROM run')).toBe(1);
  });
});

describe('a received note', () => {
  const better = noteLineOf();
  const tried = noteLineOf({
    ...{ note: { ...FORMS_NOTE, verdict: 'open' }, writtenAt: '2026-02-01T08:00:00.000Z' },
  });
  const worse = noteLineOf({
    ...{ note: { ...FORMS_NOTE, verdict: 'worse' }, writtenAt: '2026-03-01T08:00:00.000Z' },
  });
  /** Verdicts that builds see after these lines. */
  const verdictsOf = (lines: readonly Line[], origin = ORIGIN) => {
    const path = temporaryPath();
    receiveLines(openExchange(path), lines);
    const notes = open(path, { origin }).programNotes('forms', PROGRAM) as { verdict: string }[];
    return notes.map(({ verdict }) => verdict);
  };

  it('replaces a note of its origin only with a verdict, or if it is later', () => {
    for (const lines of [
      [better, tried],
      [tried, better],
    ])
      expect(verdictsOf(lines)).toEqual(['better']);
    for (const lines of [
      [better, tried, worse],
      [worse, better, tried],
    ])
      expect(verdictsOf(lines)).toEqual(['worse']);
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
    const path = temporaryPath();
    receiveLines(openExchange(path), [worse]);
    const store = open(path, { origin: ORIGIN });
    store.noteProgram('forms', PROGRAM, { ...FORMS_NOTE, reason: '\u001b[2Jlater' });
    expect(store.programNotes('forms', PROGRAM)).toEqual([{ ...FORMS_NOTE, reason: ' [2Jlater' }]);
  });

  it('replaces a damaged note', () => {
    const path = temporaryPath();
    const exchange = openExchange(path);
    receiveLines(exchange, [worse]);
    alter(path, `UPDATE program_note SET written_at = 'zzz'`);
    expect(exchange.health().unsound).toMatchObject({ note: 1 });
    expect(receiveLines(exchange, [better]).added).toEqual({ note: 1 });
    expect(linesOf(exchange)).toEqual([lineText(better)]);
  });

  it('of an earlier version that kept the line is read after an upgrade', () => {
    const path = temporaryPath();
    const exchange = openExchange(path);
    alter(path, `INSERT INTO kept_line VALUES ('${lineText(better)}', 1)`);
    expect(exchange.reread()).toBe(1);
    expect(linesOf(exchange)).toEqual([lineText(better)]);
  });

  it.each([
    ['the tool', { scope: 'tool', value: ORIGIN.tool }],
    ['the user', { scope: 'origin', value: ORIGIN.createdBy }],
    ['the machine', { scope: 'origin', value: ORIGIN.machine }],
    ['both', { scope: 'origin', value: `${ORIGIN.createdBy}@${ORIGIN.machine}` }],
  ] as const)('is hidden by a revocation of %s', (_, revocation) => {
    const other = { ...worse, createdBy: 'zoe', machine: 'another', tool: '9' };
    expect(verdictsOf([better, other, revocationLineOf(revocation)])).toEqual(['worse']);
    const path = temporaryPath();
    receiveLines(openExchange(path), [better, revocationLineOf(revocation)]);
    expect(open(path).allProgramNotes('forms')).toEqual([]);
  });
});

describe('a revocation', () => {
  const recordOf = (path: string) =>
    open(path).findRecords([SUBJECT.workload], SUBJECT.target, SUBJECT.compiler)[0];

  it.each([
    ['by its digest', { scope: 'record', value: claimLineOf().digest }],
    ['by the tool', { scope: 'tool', value: ORIGIN.tool }],
    ['by the user', { scope: 'origin', value: ORIGIN.createdBy }],
    ['by the machine', { scope: 'origin', value: ORIGIN.machine }],
    ['by both', { scope: 'origin', value: `${ORIGIN.createdBy}@${ORIGIN.machine}` }],
  ] as const)('hides a claim %s', (_, revocation) => {
    const path = temporaryPath();
    const exchange = openExchange(path);
    receiveLines(exchange, [
      ...partLinesOf(),
      claimLineOf(),
      revocationLineOf({ value: 'x@y', scope: 'origin' }),
    ]);
    expect(recordOf(path)).toBeDefined();
    receiveLines(exchange, [revocationLineOf(revocation)]);
    expect(recordOf(path)).toBeUndefined();
    expect(open(path).allRecords()).toEqual([]);
    expect(exchange.health()).toMatchObject({ records: 0, claims: 1, revokedClaims: 1 });
  });

  it('hides marks and trials', () => {
    const path = temporaryPath();
    const exchange = openExchange(path);
    receiveLines(exchange, [...partLinesOf(), claimLineOf({ tool: '9' }), markLineOf(), trialLineOf()]);
    expect(recordOf(path)?.failure).not.toBeNull();
    receiveLines(exchange, [revocationLineOf({ scope: 'tool', value: ORIGIN.tool })]);
    expect(recordOf(path)?.failure).toBeNull();
    expect(open(path).marks(KEY)).toEqual([]);
    expect(open(path).trials(KEY)).toEqual([]);
    expect(open(path).runs(KEY)).toEqual([]);
  });

  it('lets any new evidence win', () => {
    const path = temporaryPath();
    const exchange = openExchange(path);
    const bad = claimLineOf({ tool: '0.0.9', evidence: { processes: 99, families: ['later'] } });
    receiveLines(exchange, [...partLinesOf(), bad, revocationLineOf()]);
    open(path).putRecord(SUBJECT, DECISION);
    expect(recordOf(path)?.evidence).toEqual(EVIDENCE);
    // A repeated line changes nothing.
    receiveLines(exchange, [bad]);
    expect(recordOf(path)?.evidence).toEqual(EVIDENCE);
  });

  it('of the own origin is visible to the writer', () => {
    const path = temporaryPath();
    const store = open(path, { origin: ORIGIN });
    expect(store.ownRevocation()).toBeNull();
    receiveLines(openExchange(path), [
      revocationLineOf(),
      revocationLineOf({ scope: 'tool', value: '0.1.0', reason: 'wrong' }),
    ]);
    expect(store.ownRevocation()).toMatchObject({ scope: 'tool', value: '0.1.0', reason: 'wrong' });
  });
});

describe('pruning', () => {
  const all = { trialsBefore: '2026-02-01T00:00:00.000Z', claims: true, filter: {} };

  it('removes the requested rows, and never marks or revocations', () => {
    const path = temporaryPath();
    const exchange = openExchange(path);
    const recent = trialLineOf({ id: 'f'.repeat(32), createdAt: '2026-03-01T00:00:00.000Z' });
    receiveLines(exchange, [...SAMPLE, recent, ...partLinesOf(subjectOf(4))]);
    expect(exchange.surplus({ ...all, claims: false })).toEqual({ trials: 1, runs: 1, claims: 0 });
    expect(exchange.surplus({ ...all, filter: { compiler: '9.9' } })).toEqual({
      trials: 0,
      runs: 0,
      claims: 0,
    });
    expect(exchange.surplus({ ...all, trialsBefore: null })).toEqual({ trials: 0, runs: 0, claims: 2 });
    const before = linesOf(exchange).length;
    expect(exchange.prune(all)).toEqual({ trials: 1, runs: 1, claims: 2 });
    expect(linesOf(exchange)).toHaveLength(before - 3);
    expect(linesOf(exchange).map((line) => (JSON.parse(line) as Line).type)).toEqual(
      expect.arrayContaining(['mark', 'revocation', 'trial']),
    );
    // Without references.
    expect(look(path, 'SELECT count(*) FROM workload')).toBe(1);
    expect(exchange.surplus(all)).toEqual({ trials: 0, runs: 0, claims: 0 });
  });
});
