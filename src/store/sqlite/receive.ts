// Merges received lines, and lines that an earlier version of this program kept unread. Runs in the caller's transaction.
import { isConfiguration } from '../../backend/index.ts';
import { isWorkload, storedForm, workloadRank, type Workload } from '../../workload/workload.ts';
import { compare, compareNotes } from '../claim.ts';
import { errorCode } from '../errors.ts';
import { lineText, type Line, type NoteLine, type PartLine, type TrialLine } from '../exchange/lines.ts';
import { readLine, type Reading } from '../exchange/read.ts';
import { PARTS } from '../fields.ts';
import type { RecordKey } from '../store.ts';
import { parseJson } from '../validate.ts';
import * as exchange from './exchange-statements.ts';
import { lineOf, type TrialRow } from './lines.ts';
import { toNote } from './rows.ts';
import { PUT_NOTE } from './statements.ts';
import { Rows, type Prepare } from './write.ts';

/** Result of one line: news, no news, kept for a later version, or the reason of a refusal. */
export type Taken = 'added' | 'known' | 'kept' | { readonly refused: string };

interface KnownSubject {
  readonly id: number;
  /** Rank of the workload; undefined if it is invalid. */
  readonly rank: number | undefined;
}

/**
 * Returns a function that merges the lines of one transaction.
 * @param laterKeys keys of one sender whose form needs a later version; new ones are added
 */
export function receiverOf(statement: Prepare, laterKeys: Set<string>) {
  const stored = new Rows(statement);
  const subjects = new Map<string, KnownSubject>();
  let revocations = stored.revocations();

  function take(reading: Reading): Taken {
    switch (reading.outcome) {
      case 'refused':
        return { refused: reading.reason };
      case 'foreign':
        return keep(reading.text);
      case 'line':
        try {
          return takeLine(reading.line);
        } catch (error) {
          // A constraint that validation lacks rejects this line only.
          if (!errorCode(error).startsWith('SQLITE_CONSTRAINT')) throw error;
          return { refused: (error as Error).message };
        }
    }
  }

  function takeLine(line: Line): Taken {
    switch (line.type) {
      case 'workload':
      case 'target':
      case 'device':
      case 'compiler':
        return takenAs(takePart(line));
      case 'revocation': {
        const isNew = statement(exchange.INSERT_REVOCATION).run(line).changes > 0;
        if (isNew) revocations = [...revocations, line];
        return takenAs(isNew);
      }
      case 'note':
        return takenAs(takeNote(line));
      case 'claim':
      case 'mark':
      case 'trial':
        return takeOfSubject(line);
    }
  }

  function takeOfSubject(line: Exclude<Line, PartLine | { type: 'revocation' | 'note' }>): Taken {
    const subject = subjectOf(line);
    if (subject === undefined) {
      const isLater = PARTS.some((part) => laterKeys.has(`${part} ${line[part]}`));
      if (isLater) return keep(lineText(line));
      return {
        refused: `${line.type}: no earlier line describes its workload, target, device and compiler`,
      };
    }
    const { id, rank } = subject;
    if (rank !== undefined && !isConfiguration(line.configuration, rank))
      return { refused: `${line.type}: "configuration" does not fit the workload's dimensions` };
    switch (line.type) {
      case 'claim': {
        const isNew = stored.putClaim(id, line, revocations);
        if (isNew) stored.deleteMiss(id);
        return takenAs(isNew);
      }
      case 'mark':
        return takenAs(stored.putMark(id, line));
      case 'trial':
        return takenAs(takeTrial(id, line));
    }
  }

  function takePart({ type, key, form }: PartLine): boolean {
    const text = JSON.stringify(type === 'workload' ? storedForm(form as Workload) : form);
    return stored.receivePart(type, key, text);
  }

  /** Stores a trial once. A copy with more runs replaces it. */
  function takeTrial(subject: number, line: TrialLine): boolean {
    const row = statement(exchange.TRIAL_OF_ID).get(line.id) as TrialRow | undefined;
    if (row !== undefined) {
      const before = lineOf('trial', row, statement);
      if (before !== undefined && compareTrials(before, line) >= 0) return false;
      statement(exchange.DELETE_RUNS).run(row.number);
      statement(exchange.DELETE_TRIAL).run(row.number);
    }
    const trial = stored.insertTrial(subject, line);
    for (const run of line.runs) stored.insertRun(trial, run);
    return true;
  }

  /** Keeps one note of each origin about a program. An invalid row counts as missing. */
  function takeNote(line: NoteLine): boolean {
    const row = statement(exchange.NOTE_OF_ORIGIN).get(line) as object | undefined;
    const before = row && toNote(row);
    if (before !== undefined && compareNotes(before, line) >= 0) return false;
    statement(PUT_NOTE).run({ ...line, note: JSON.stringify(line.note) });
    return true;
  }

  function keep(text: string): Taken {
    const { type, key } = JSON.parse(text) as Record<string, unknown>;
    if (typeof type === 'string' && typeof key === 'string') laterKeys.add(`${type} ${key}`);
    statement(exchange.INSERT_KEPT_LINE).run(text);
    return 'kept';
  }

  function subjectOf(key: RecordKey): KnownSubject | undefined {
    const name = JSON.stringify(PARTS.map((part) => key[part]));
    const subject = subjects.get(name) ?? findSubject(key);
    if (subject !== undefined) subjects.set(name, subject);
    return subject;
  }

  function findSubject(key: RecordKey): KnownSubject | undefined {
    const workload = stored.knownPart('workload', key.workload);
    const id = workload && stored.insertKnownSubject(key);
    if (id === undefined) return undefined;
    const form = parseJson(workload!.form);
    return { id, rank: isWorkload(form) ? workloadRank(form) : undefined };
  }

  return take;
}

const takenAs = (isNew: boolean): Taken => (isNew ? 'added' : 'known');

/** Orders copies of a trial: more runs win, then the greater text, so that all databases keep the same copy. */
const compareTrials = (a: TrialLine, b: TrialLine): number =>
  compare(a.runs.length, b.runs.length) || compare(lineText(a), lineText(b));

/** Merges lines that this version understands, and removes them from the kept lines. Returns their number. */
export function rereadKept(statement: Prepare): number {
  const kept = statement(exchange.SORTED.kept).all() as { readonly line: string }[];
  const readable = kept.flatMap(({ line: text }) => {
    const reading = readLine(text);
    return reading.outcome === 'line' ? [{ text, line: reading.line }] : [];
  });
  // Descriptions before the lines that refer to them.
  const comesFirst = ({ line }: { line: Line }) => 'form' in line || line.type === 'revocation';
  const sorted = [...readable.filter(comesFirst), ...readable.filter((one) => !comesFirst(one))];
  const take = receiverOf(statement, new Set());
  let taken = 0;
  for (const { text, line } of sorted)
    if (typeof take({ outcome: 'line', line }) !== 'object') {
      statement(exchange.DELETE_KEPT_LINE).run(text);
      taken++;
    }
  return taken;
}
