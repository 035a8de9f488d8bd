// @module-tag slow
// Merging whole databases: any exchange in any order leads to the same content.
// In full after a change of src/store/exchange, src/store/claim.ts.
import fc from 'fast-check';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isFull } from '../../support/needs.ts';
import { DEFAULT_CONFIGURATION } from '../../../src/backend/configuration.ts';
import type { Exchange } from '../../../src/store/exchange/exchange.ts';
import { readLine } from '../../../src/store/exchange/read.ts';
import { lineText, type Line } from '../../../src/store/exchange/lines.ts';
import {
  DECISION,
  EVIDENCE,
  MARK,
  open,
  openExchange,
  RUN,
  SUBJECT,
  subjectOf,
  temporaryPath,
  TRIAL,
} from '../support.ts';
import {
  FORMS_NOTE,
  KEY,
  linesOf,
  ORIGIN,
  partLinesOf,
  PROGRAM,
  receiveLines,
  revocationLineOf,
  revocations,
  told,
} from './samples.ts';

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
const CASES = { numRuns: isFull ? 1000 : 15 };

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
