// Sortable tables with pages: the values of each chart, and the records.
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
  /** Whether texts can be long. */
  readonly isLong?: boolean;
}

export interface TableOptions<T> {
  /** The content of the table, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  /** Index of the sorted column, and whether its largest value comes first. */
  readonly sortedBy: readonly [column: number, isDescending: boolean];
  readonly perPage?: number;
  /** Details that open below a row; no details by default. */
  readonly details?: (row: T) => Node;
}

export function sortableTable<T>(options: TableOptions<T>) {
  const { caption, columns, perPage = 25, details } = options;
  let [sortColumn, isDescending] = options.sortedBy;
  let rows: readonly T[] = [];
  let page = 0;

  const body = element('tbody');
  const headers = columns.map((column, i) => {
    const sort = button(column.title, () => {
      isDescending = sortColumn === i ? !isDescending : isNumeric(column);
      sortColumn = i;
      page = 0;
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
  const previous = button('Previous', () => {
    turn(-1);
  });
  const next = button('Next', () => {
    turn(1);
  });
  const pager = element('div', { class: 'pager' }, previous, status, next);
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

  function turn(by: number): void {
    // Filters announce their result themselves. The table announces a turned page.
    status.setAttribute('role', 'status');
    page += by;
    fill();
  }

  function fill(): void {
    const { value } = columns[sortColumn]!;
    const sign = isDescending ? -1 : 1;
    const sorted = rows.toSorted((a, b) => sign * compare(value(a), value(b)));
    const pages = Math.max(1, Math.ceil(rows.length / perPage));
    page = Math.min(page, pages - 1);
    const shown = sorted.slice(page * perPage, (page + 1) * perPage);
    for (const [i, header] of headers.entries()) {
      header.classList.toggle('number', isNumeric(columns[i]!));
      if (i === sortColumn) header.setAttribute('aria-sort', isDescending ? 'descending' : 'ascending');
      else header.removeAttribute('aria-sort');
    }
    body.replaceChildren(...shown.flatMap(rowElements));
    const [from, to] = [page * perPage + 1, page * perPage + shown.length];
    status.textContent =
      rows.length === 0
        ? 'No record matches the filters.'
        : pages === 1
          ? `${countText(rows.length)} in all`
          : `${countText(from)} to ${countText(to)} of ${countText(rows.length)}`;
    for (const one of [previous, next]) one.hidden = pages === 1;
    previous.disabled = page === 0;
    next.disabled = page === pages - 1;
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

  return {
    element: element('div', { class: 'table' }, scroller, pager),
    show(shown: readonly T[]) {
      status.removeAttribute('role');
      rows = shown;
      page = 0;
      fill();
    },
  };
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
