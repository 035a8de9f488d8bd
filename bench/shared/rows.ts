// Rows of tables that are printed one by one.
import type { Explanation } from '../../src/report/explain.ts';
import { formatSeconds } from '../../src/system/format.ts';

/** One line. The first column has the width of the longest name, the others have `widths`. */
export const growingRow = (values: readonly string[], nameWidth: number, widths: readonly number[]): string =>
  values
    .map((value, column) => value.padEnd(column === 0 ? nameWidth : widths[column]!))
    .join('  ')
    .trimEnd();

export const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(q * values.length))]!;

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
