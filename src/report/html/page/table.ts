// Sortable tables, of which a part is shown.
import { countText } from '../../../system/format.ts';
import { button, element } from './dom.ts';

export interface Column<T> {
  readonly title: string;
  /** The value to sort by. */
  readonly value: (row: T) => number | string;
  /** Text of a known number; a count by default. */
  readonly format?: (value: number) => string;
  /** The shown content; the value by default. */
  readonly show?: (row: T) => string | Node;
  /** Left out on a phone. The details have the value. */
  readonly isMinor?: boolean;
  readonly isLong?: boolean;
}

interface TableOptions<T> {
  /** The content of the table, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  /** Index of the sorted column, and whether its largest value comes first. */
  readonly sortedBy: readonly [column: number, isDescending: boolean];
  /** Details that open below a row; no details by default. */
  readonly details?: (row: T) => Node;
}

/** Rows that are shown at first. */
const MOST_ROWS = 25;

export function sortableTable<T>(options: TableOptions<T>) {
  const { caption, columns, details } = options;
  let [sortColumn, isDescending] = options.sortedBy;
  let rows: readonly T[] = [];
  let most = MOST_ROWS;

  const body = element('tbody');
  const headers = columns.map((column, i) => {
    const sort = button(column.title, () => {
      isDescending = sortColumn === i ? !isDescending : isNumeric(column);
      sortColumn = i;
      fill();
    });
    return element('th', { scope: 'col', class: classOf(column) }, sort);
  });
  const head = element(
    'tr',
    {},
    ...headers,
    ...(details ? [element('th', { scope: 'col' }, element('span', { class: 'unseen' }, 'Details'))] : []),
  );
  const status = element('p', { class: 'status' });
  const more = button('Show more', () => {
    // Filters announce their result themselves. The table announces more rows.
    status.setAttribute('role', 'status');
    most *= 2;
    fill();
  });
  const scroller = element(
    'div',
    { class: 'scroller', tabindex: 0, role: 'group', 'aria-label': caption },
    element('table', {}, element('caption', { class: 'unseen' }, caption), element('thead', {}, head), body),
  );

  function isNumeric(column: Column<T>): boolean {
    return rows.length > 0 && typeof column.value(rows[0]!) === 'number';
  }

  function classOf({ isMinor = false, isLong = false }: Column<T>): string {
    return [isMinor ? 'minor' : '', isLong ? 'long' : ''].join(' ').trim();
  }

  function fill(): void {
    const { value } = columns[sortColumn]!;
    const sign = isDescending ? -1 : 1;
    const sorted = rows.toSorted((a, b) => sign * compare(value(a), value(b)));
    const shown = sorted.slice(0, most);
    for (const [i, header] of headers.entries()) {
      header.classList.toggle('number', isNumeric(columns[i]!));
      if (i === sortColumn) header.setAttribute('aria-sort', isDescending ? 'descending' : 'ascending');
      else header.removeAttribute('aria-sort');
    }
    body.replaceChildren(...shown.flatMap(rowElements));
    status.textContent =
      rows.length === 0
        ? 'No record matches the filters.'
        : shown.length === rows.length
          ? `${countText(rows.length)} in all`
          : `${countText(shown.length)} of ${countText(rows.length)}`;
    more.hidden = shown.length === rows.length;
  }

  function rowElements(row: T): HTMLTableRowElement[] {
    const cells = columns.map((column, i) => {
      const value = column.value(row);
      const shown = column.show?.(row) ?? textOf(value, column.format);
      const classes = [classOf(column), typeof value === 'number' ? 'number' : ''].join(' ').trim();
      const content = shown instanceof Node ? shown : element('bdi', {}, ...breakable(shown));
      return i === 0
        ? element('th', { scope: 'row', class: classes }, content)
        : element('td', { class: classes }, content);
    });
    if (details === undefined) return [element('tr', {}, ...cells)];
    const more = element('tr', { class: 'details', hidden: true });
    const toggle = button(
      'Details',
      () => {
        if (more.childElementCount === 0)
          more.append(element('td', { colspan: columns.length + 1 }, details(row)));
        more.hidden = !more.hidden;
        toggle.setAttribute('aria-expanded', String(!more.hidden));
      },
      { 'aria-expanded': 'false', class: 'toggle' },
    );
    return [element('tr', {}, ...cells, element('td', { class: 'toggles' }, toggle)), more];
  }

  function show(next: readonly T[]): void {
    rows = next;
    status.removeAttribute('role');
    most = MOST_ROWS;
    fill();
  }
  return { element: element('div', {}, scroller, element('div', { class: 'pager' }, more, status)), show };
}

function textOf(value: number | string, format = countText): string {
  if (typeof value === 'string') return value;
  return Number.isNaN(value) ? '–' : format(value);
}

/** A line may break before a compiler's commit, and not inside it. */
const breakable = (text: string): (Node | string)[] =>
  text.split(/(?<=@)/).flatMap((part, i) => (i === 0 ? [part] : [element('wbr'), part]));

/** Unknown values are smaller than all others. */
function compare(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number')
    return Number.isNaN(a) ? (Number.isNaN(b) ? 0 : -1) : Number.isNaN(b) ? 1 : a - b;
  return String(a).localeCompare(String(b), 'en', { numeric: true });
}
