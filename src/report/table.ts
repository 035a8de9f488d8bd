// Plain text tables.
import { PLAIN, type Page } from './page.ts';
import { columnsOf, printable, shortened, wrapped } from './text.ts';

const GAP = 2;

/** Least width of a column of text. If the page is too narrow, each row becomes a paragraph. */
const LEAST_COLUMNS = 24;

/**
 * Columns as wide as their widest cell, two spaces apart. Columns of numbers are right-aligned. On a narrow page the widest cells
 * lose their middle.
 */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  page: Page = PLAIN,
): string {
  const cells = rows.map((row) => header.map((_, column) => printable(row[column] ?? '')));
  const isNumeric = header.map((_, column) =>
    cells.every((row) => /^[-+]?[\d.,]+(?:x| ?%| ?[num]?s| GB\/s)?$|^-$/.test(row[column]!)),
  );
  const natural = header.map((name, column) =>
    Math.max(columnsOf(name), ...cells.map((row) => columnsOf(row[column]!))),
  );
  const widths = fitting(natural, isNumeric, page.columns - GAP * (header.length - 1));
  if (widths === null) return paragraphs(header, cells, page);
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => {
        const text = shortened(cell, widths[column]!);
        const space = ' '.repeat(widths[column]! - columnsOf(text));
        return isNumeric[column] ? space + text : text + space;
      })
      .join(' '.repeat(GAP))
      .trimEnd();
  return [page.paint('bold', line(header)), ...cells.map(line)].join('\n');
}

/** Widths of columns that fit into `columns`; null if a column of text would be too narrow. */
function fitting(
  natural: readonly number[],
  isNumeric: readonly boolean[],
  columns: number,
): number[] | null {
  const widths = [...natural];
  let surplus = widths.reduce((sum, width) => sum + width, 0) - columns;
  if (surplus <= 0) return widths;
  for (; surplus > 0; surplus--) {
    const texts = widths.map((width, column) => (isNumeric[column] ? 0 : width));
    const widest = Math.max(...texts);
    if (widest <= LEAST_COLUMNS) return null;
    widths[texts.indexOf(widest)]!--;
  }
  return widths;
}

/** Each row as its first cell, with the other cells below it, after their names. */
function paragraphs(header: readonly string[], rows: readonly (readonly string[])[], page: Page): string {
  const indent = 2 + Math.max(...header.map(columnsOf)) + GAP;
  const space = ' '.repeat(indent);
  return rows
    .map(([title = '', ...cells]) =>
      [
        page.paint('bold', wrapped(title === '-' ? `(no ${header[0]!})` : title, page.columns, '  ')),
        ...cells.flatMap((cell, i) =>
          cell === '' ? [] : [wrapped(`  ${header[i + 1]!}`.padEnd(indent) + cell, page.columns, space)],
        ),
      ].join('\n'),
    )
    .join('\n\n');
}
