// Converts rows to lines.
import { pick } from '../../system/data.ts';
import type { Line, PartLine } from '../exchange/lines.ts';
import { FIELDS, type PartType } from '../fields.ts';
import type { RecordKey } from '../store.ts';
import { keysOf } from '../subject.ts';
import { parseJson } from '../validate.ts';
import { RUNS_OF_TRIAL } from './exchange-statements.ts';
import { toClaim, toMark, toRevocation, toRun, toTrial } from './rows.ts';
import type { KeptTrialRow, MarkRow, RunRow } from './rows.ts';
import type { Prepare } from './write.ts';

export interface PartRow {
  readonly key: string;
  readonly form: string;
}

export const partLine = (type: PartType, { key, form }: PartRow): PartLine => ({
  ...{ type, version: 1, key },
  form: parseJson(form),
});

const VALUES = {
  revocation: toRevocation,
  claim: toClaim,
  mark: (row: MarkRow & RecordKey) => {
    const mark = toMark(row);
    return mark && { ...keysOf(row), ...mark };
  },
  trial: (row: KeptTrialRow, statement: Prepare) => {
    const trial = toTrial(row);
    if (trial === undefined) return undefined;
    const runs = (statement(RUNS_OF_TRIAL).all(row.number) as RunRow[])
      .map(toRun)
      .flatMap((run) => (run === undefined ? [] : [pick(run, FIELDS.run)]));
    const { id, createdAt, createdBy, machine, tool } = row;
    return { ...keysOf(row), id, ...trial, createdAt, createdBy, machine, tool, runs };
  },
};

export type LineType = keyof typeof VALUES;

/** In the order of an export. */
export const LINE_TYPES = Object.keys(VALUES) as readonly LineType[];

/** The line of a row of `ROWS`; undefined for an invalid row. */
export function lineOf<Type extends LineType>(type: Type, row: unknown, statement: Prepare) {
  const value = VALUES[type](row as never, statement);
  return value && ({ type, version: 1, ...value } as Extract<Line, { type: Type }>);
}
