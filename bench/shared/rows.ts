// Tables that are printed while they grow, a row for each program.
import type { Explanation } from '../../src/report/explain.ts';
import { formatSeconds } from '../../src/system/format.ts';

/** One line. The first column is as wide as the longest name, the others as `widths` says. */
export const growingRow = (values: readonly string[], nameWidth: number, widths: readonly number[]): string =>
  values
    .map((value, column) => value.padEnd(column === 0 ? nameWidth : widths[column]!))
    .join('  ')
    .trimEnd();

/** What is not known is `-`. */
export const either = (value: boolean | null | undefined, yes: string, no: string): string =>
  value === true ? yes : value === false ? no : '-';

/** Seconds of tuning; none are not worth a number. */
export const tuningText = (explanation: Pick<Explanation, 'seconds'> | null): string =>
  formatSeconds(explanation?.seconds.tuning || NaN);

/** How a model ended, and why; empty for one that was compiled by both and measured. */
export const endingText = ({
  state,
  reason,
}: {
  readonly state: string;
  readonly reason: string | null;
}): string =>
  [state === 'compiled by both' ? null : state, reason].filter((text) => text !== null).join(': ');
