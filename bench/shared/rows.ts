// Tables that are printed while they grow, a row for each program.

/** One line. The first column is as wide as the longest name, the others as `widths` says. */
export const growingRow = (values: readonly string[], nameWidth: number, widths: readonly number[]): string =>
  values
    .map((value, column) => value.padEnd(column === 0 ? nameWidth : widths[column]!))
    .join('  ')
    .trimEnd();

/** What is not known is `-`. */
export const either = (value: boolean | null | undefined, yes: string, no: string): string =>
  value === true ? yes : value === false ? no : '-';
