// Plain text tables.
import { PLAIN, type Page } from './page.ts';
import { columnsOf, printable } from './text.ts';

const GAP = 2;

/** Columns as wide as their widest cell, two spaces apart. Columns of numbers are right-aligned. */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  page: Page = PLAIN,
): string {
  const cells = rows.map((row) => header.map((_, column) => printable(row[column] ?? '')));
  const isNumeric = header.map((_, column) =>
    cells.every((row) => /^[-+]?[\d.,]+(?:x| ?%| ?[num]?s| GB\/s)?$|^-$/.test(row[column]!)),
  );
  const widths = header.map((name, column) =>
    Math.max(columnsOf(name), ...cells.map((row) => columnsOf(row[column]!))),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => {
        const space = ' '.repeat(widths[column]! - columnsOf(cell));
        return isNumeric[column] ? space + cell : cell + space;
      })
      .join(' '.repeat(GAP))
      .trimEnd();
  return [page.paint('bold', line(header)), ...cells.map(line)].join('\n');
}
