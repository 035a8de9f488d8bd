// Converts rows to lines.
import { pick } from '../../system/data.ts';
import type { Line, PartLine } from '../exchange/lines.ts';
import { FIELDS, type PartType } from '../fields.ts';
import type { RecordKey } from '../store.ts';
import { keysOf } from '../subject.ts';
import { parseJson } from '../validate.ts';
import { RUNS_OF_TRIAL } from './exchange-statements.ts';
import { toClaim, toKeptTrial, toMark, toNote, toRevocation, toRun } from './rows.ts';
import type { Prepare } from './write.ts';

export interface PartRow {
  readonly key: string;
  readonly form: string;
}

export const partLine = (type: PartType, { key, form }: PartRow): PartLine => ({
  ...{ type, version: 1, key },
  form: parseJson(form),
});

/** Columns of a trial. `number` is that of its row. */
export interface TrialRow extends RecordKey {
  readonly number: number;
}

const VALUES = {
  revocation: toRevocation,
  claim: toClaim,
  mark: (row: RecordKey) => {
    const mark = toMark(row);
    return mark && { ...keysOf(row), ...mark };
  },
  trial: (row: TrialRow, statement: Prepare) => {
    const trial = toKeptTrial(row);
    if (trial === undefined) return undefined;
    const runs = (statement(RUNS_OF_TRIAL).all(row.number) as object[])
      .map(toRun)
      .flatMap((run) => (run === undefined ? [] : [pick(run, FIELDS.run)]));
    return { ...keysOf(row), ...trial, runs };
  },
  note: toNote,
};

export type LineType = keyof typeof VALUES;

/** In the order of an export. */
export const LINE_TYPES = Object.keys(VALUES) as readonly LineType[];

/** The line of a row of `ROWS`; undefined for an invalid row. */
export function lineOf<Type extends LineType>(type: Type, row: unknown, statement: Prepare) {
  const value = VALUES[type](row as never, statement);
  return value && ({ type, version: 1, ...value } as Extract<Line, { type: Type }>);
}
