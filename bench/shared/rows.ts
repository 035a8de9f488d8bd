// Rows of tables that are printed one by one, and texts in their cells. Pure.
import type { Explanation } from '../../src/report/explain.ts';
import { settledShare as settledShareOf, timeLines } from '../../src/report/time-shares.ts';
import { formatSeconds } from '../../src/system/format.ts';

/** One line. The first column has the width of the longest name, the others have `widths`. */
export const growingRow = (values: readonly string[], nameWidth: number, widths: readonly number[]): string =>
  values
    .map((value, column) => value.padEnd(column === 0 ? nameWidth : widths[column]!))
    .join('  ')
    .trimEnd();

/** `-` for an unknown value. */
export const either = (value: boolean | null | undefined, yes: string, no: string): string =>
  value === true ? yes : value === false ? no : '-';

/** Seconds of tuning; `-` for none. */
export const tuningText = (explanation: Pick<Explanation, 'seconds'> | null): string =>
  formatSeconds(explanation?.seconds.tuning || NaN);

/** State and reason; empty for a model that both compiled and that was measured. */
export const endingText = ({
  state,
  reason,
}: {
  readonly state: string;
  readonly reason: string | null;
}): string =>
  [state === 'compiled by both' ? null : state, reason].filter((text) => text !== null).join(': ');

/** A percentage; `-` for an unknown share. */
export const percent = (share: number | null | undefined): string =>
  share === null || share === undefined ? '-' : `${(100 * share).toFixed(0)}%`;

/** Share of a program's time with a decision, or at its bound. */
export const settledShare = (explanation: Explanation | null): number | null => {
  const time = explanation?.time ?? null;
  return time === null ? null : settledShareOf(time);
};

/** The lines of `iree-tuned explain` about a program's time, indented. */
export const shareLines = (explanation: Explanation | null): string[] => {
  const time = explanation?.time ?? null;
  return time === null ? [] : timeLines(time).map((line, i) => `${i === 0 ? '  ' : '    '}${line}`);
};
