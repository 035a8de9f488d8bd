// The form that filters the records.
import { counted, countText } from '../../../system/format.ts';
import { button, choice, element } from './dom.ts';
import { OUTCOMES, type Place } from '../data.ts';
import { deviceText, filtered, NO_FILTERS, type Filters, type Row, type Page } from './rows.ts';

/** Delay after a key press, in milliseconds. */
const PAUSE_MS = 120;

/** Fills the form. Calls `show` with the matching records after every change. */
export function drawFilters(
  form: HTMLElement,
  { data, rows }: Page,
  show: (rows: readonly Row[]) => void,
): void {
  let filters: Filters = NO_FILTERS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const search = element('input', {
    type: 'search',
    placeholder: '512, f16, tile …',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const status = element('p', { class: 'status', role: 'status' });

  function apply(change: Partial<Filters>): void {
    filters = { ...filters, ...change };
    const left = filtered(rows, filters);
    status.textContent =
      left.length === rows.length
        ? counted(rows.length, 'record')
        : `${countText(left.length)} of ${counted(rows.length, 'record')}`;
    clear.hidden = left.length === rows.length && Object.values(filters).every((value) => value === '');
    show(left);
  }

  search.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      apply({ text: search.value });
    }, PAUSE_MS);
  });
  const selects: HTMLSelectElement[] = [];
  const select = (label: string, part: keyof Filters, options: readonly (readonly [string, string])[]) => {
    const made = choice(label, [['', 'all'], ...options], (value) => {
      apply({ [part]: value });
    });
    selects.push(made.select);
    return made.label;
  };
  const clear = button('Clear', () => {
    search.value = '';
    for (const one of selects) one.value = '';
    apply(NO_FILTERS);
    search.focus();
  });
  const distinct = (
    label: string,
    part: 'device' | 'compiler' | 'target',
    textOf = (place: Place) => place[part],
  ) => {
    const values = new Map(data.places.map((place) => [place[part], textOf(place)]));
    return values.size < 2 ? [] : [select(label, part, [...values])];
  };
  form.append(
    element('label', { class: 'search' }, element('span', {}, 'Search'), search),
    ...distinct('Device', 'device', deviceText),
    ...distinct('Compiler', 'compiler'),
    ...distinct('Target', 'target'),
    select(
      'Outcome',
      'outcome',
      [...OUTCOMES, 'incomplete'].map((name) => [name, name]),
    ),
    clear,
    status,
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
  });
  form.hidden = false;
  apply({});
}
