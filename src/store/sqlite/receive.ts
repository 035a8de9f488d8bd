// Merges received lines. Runs in the caller's transaction.
import { configurationText, isConfiguration } from '../../backend/index.ts';
import { isWorkload, storedForm, workloadRank, type Workload } from '../../workload/workload.ts';
import { compare } from '../claim.ts';
import { errorCode } from '../errors.ts';
import type { Source } from '../exchange/exchange.ts';
import type { Line, PartLine, TrialLine } from '../exchange/lines.ts';
import type { Reading } from '../exchange/read.ts';
import { lineText } from '../exchange/write.ts';
import type { RecordKey, Revocation } from '../store.ts';
import { parseJson } from '../validate.ts';
import * as exchange from './exchange-statements.ts';
import { trialLine, type ExchangedTrialRow, type PartRow } from './lines.ts';
import { describePart, receivePart } from './parts.ts';
import type { RunRow } from './rows.ts';
import * as sql from './statements.ts';
import { insertKnownSubject, nextChange, putClaim, putMark, revocationsIn, type Prepare } from './write.ts';

/** Result of one line: news, no news, kept for a later version, or the reason of a refusal. */
export type Taken = 'added' | 'known' | 'kept' | { readonly refused: string };

interface KnownSubject {
  readonly id: number;
  /** Rank of the workload; undefined if it is invalid. */
  readonly rank: number | undefined;
}

/** Merges lines of one transaction. `laterKeys` belongs to one sender. */
export class Receiver {
  readonly #statement: Prepare;
  readonly #source: Source;
  /** Keys whose form needs a later version. */
  readonly #laterKeys: Set<string>;
  readonly #subjects = new Map<string, KnownSubject>();
  #revocations: readonly Pick<Revocation, 'scope' | 'value'>[];

  constructor(statement: Prepare, source: Source, laterKeys: Set<string>) {
    this.#statement = statement;
    this.#source = source;
    this.#laterKeys = laterKeys;
    this.#revocations = revocationsIn(statement);
  }

  take(reading: Reading): Taken {
    switch (reading.outcome) {
      case 'refused':
        return { refused: reading.reason };
      case 'foreign':
        return this.#keep(reading.text);
      case 'line':
        try {
          return this.#takeLine(reading.line);
        } catch (error) {
          // A constraint that validation lacks rejects this line only.
          if (!errorCode(error).startsWith('SQLITE_CONSTRAINT')) throw error;
          return { refused: (error as Error).message };
        }
    }
  }

  #takeLine(line: Line): Taken {
    switch (line.type) {
      case 'workload':
      case 'target':
      case 'device':
      case 'compiler':
        return takenAs(this.#takePart(line));
      case 'revocation': {
        const { scope, value, reason, createdAt, createdBy } = line;
        const row = { scope, value, reason, createdAt, createdBy, change: this.#change() };
        const isNew = this.#statement(exchange.INSERT_REVOCATION).run(row).changes > 0;
        if (isNew) {
          this.#revocations = [...this.#revocations, line];
          this.#statement(exchange.RESTART_PEERS).run();
        }
        return takenAs(isNew);
      }
      case 'claim':
      case 'mark':
      case 'trial':
        return this.#takeOfSubject(line);
    }
  }

  #takeOfSubject(line: Exclude<Line, PartLine | { type: 'revocation' }>): Taken {
    const subject = this.#subjectOf(line);
    if (subject === undefined) {
      const isLater = sql.SUBJECT_PARTS.some((part) => this.#laterKeys.has(`${part} ${line[part]}`));
      if (isLater) return this.#keep(lineText(line));
      return {
        refused: `${line.type}: no earlier line describes its workload, target, device and compiler`,
      };
    }
    const { id, rank } = subject;
    if (rank !== undefined && !isConfiguration(line.configuration, rank))
      return { refused: `${line.type}: "configuration" does not fit the workload's dimensions` };
    switch (line.type) {
      case 'claim': {
        const isNew = putClaim(this.#statement, id, line, this.#revocations, this.#isShared);
        if (isNew) {
          this.#statement(sql.DELETE_MISS).run(id);
          this.#statement(sql.DELETE_UNDECIDED).run(id);
        }
        return takenAs(isNew);
      }
      case 'mark':
        return takenAs(putMark(this.#statement, id, line, this.#isShared));
      case 'trial':
        return takenAs(this.#takeTrial(id, line));
    }
  }

  #takePart({ type, key, form }: PartLine): boolean {
    const text = JSON.stringify(type === 'workload' ? storedForm(form as Workload) : form);
    const put = this.#source === 'here' ? describePart : receivePart;
    return put(this.#statement, type, key, text);
  }

  /** Stores a trial once. A copy with more runs replaces it. */
  #takeTrial(subject: number, line: TrialLine): boolean {
    const row = this.#statement(exchange.TRIAL_OF_ID).get(line.id) as ExchangedTrialRow | undefined;
    if (row !== undefined) {
      const runs = this.#statement(exchange.RUNS_OF_TRIAL).all(row.number) as RunRow[];
      const before = trialLine(row, runs);
      if (before !== undefined && compareTrials(before, line) >= 0) return false;
      this.#statement(exchange.DELETE_RUNS).run(row.number);
      this.#statement(exchange.DELETE_TRIAL).run(row.number);
    }
    const { id, outcome, seconds, ratio, message, strategy, createdAt, createdBy, machine, tool } = line;
    const { lastInsertRowid: trial } = this.#statement(sql.INSERT_TRIAL).run({
      ...{
        id,
        subject,
        configuration: configurationText(line.configuration),
        outcome,
        seconds,
        ratio,
        message,
      },
      ...{ strategy, createdAt, createdBy, machine, tool, change: this.#change() },
    });
    for (const run of line.runs) {
      const defaultSeconds = run.defaultSeconds && JSON.stringify(run.defaultSeconds);
      this.#statement(sql.INSERT_RUN).run({
        ...run,
        trial,
        seconds: JSON.stringify(run.seconds),
        defaultSeconds,
      });
    }
    return true;
  }

  #keep(text: string): Taken {
    const { type, key } = JSON.parse(text) as Record<string, unknown>;
    if (typeof type === 'string' && typeof key === 'string') this.#laterKeys.add(`${type} ${key}`);
    this.#statement(exchange.INSERT_KEPT_LINE).run(text, this.#change());
    return 'kept';
  }

  get #isShared(): boolean {
    return this.#source === 'team';
  }

  #change(): number | null {
    return this.#isShared ? null : nextChange(this.#statement);
  }

  #subjectOf(key: RecordKey): KnownSubject | undefined {
    const name = JSON.stringify(sql.SUBJECT_PARTS.map((part) => key[part]));
    const subject = this.#subjects.get(name) ?? this.#findSubject(key);
    if (subject !== undefined) this.#subjects.set(name, subject);
    return subject;
  }

  #findSubject(key: RecordKey): KnownSubject | undefined {
    const row = this.#statement(sql.selectPart('workload')).get(key.workload) as
      Pick<PartRow, 'form'> | undefined;
    const id = row && insertKnownSubject(this.#statement, key);
    if (id === undefined) return undefined;
    const form = parseJson(row!.form);
    return { id, rank: isWorkload(form) ? workloadRank(form) : undefined };
  }
}

const takenAs = (isNew: boolean): Taken => (isNew ? 'added' : 'known');

/** Orders copies of a trial: more runs win, then the greater text, so that all databases keep the same copy. */
const compareTrials = (a: TrialLine, b: TrialLine): number =>
  compare(a.runs.length, b.runs.length) || compare(lineText(a), lineText(b));
