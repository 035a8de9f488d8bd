// The form that filters the records.
import { counted, countText } from '../../../system/format.ts';
import { OUTCOMES } from '../data.ts';
import { button, choice, element } from './dom.ts';
import type { Page, Row } from './rows.ts';

/** The values of the form's elements, by name; empty for all. */
type Filters = Readonly<Record<'text' | 'device' | 'compiler' | 'target' | 'outcome', string>>;

/** Delay after a key press, in milliseconds. */
const PAUSE_MS = 120;

/** Fills the form. Calls `show` with the matching records after every change. */
export function drawFilters(
  form: HTMLFormElement,
  { data: { places }, rows }: Page,
  show: (rows: readonly Row[]) => void,
): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const search = element('input', {
    ...{ name: 'text', type: 'search', placeholder: '512, f16, tile …' },
    ...{ autocomplete: 'off', spellcheck: 'false' },
  });
  const status = element('p', { class: 'status', role: 'status' });
  const clear = button('Clear', () => {
    form.reset();
    apply();
    search.focus();
  });

  function apply(): void {
    // A choice that the page does not have is empty.
    const all = { text: '', device: '', compiler: '', target: '', outcome: '' };
    const filters = { ...all, ...Object.fromEntries(new FormData(form)) } as Filters;
    const left = rows.filter(matching(filters));
    const total = counted(rows.length, 'record');
    status.textContent = left.length === rows.length ? total : `${countText(left.length)} of ${total}`;
    clear.hidden = Object.values(filters).every((value) => value === '');
    show(left);
  }

  const select = (label: string, name: keyof Filters, options: Iterable<readonly [string, string]>) =>
    choice(label, [['', 'all'], ...options], apply, { name }).label;
  const ofPlaces = (
    label: string,
    name: 'device' | 'compiler' | 'target',
    shown: 'deviceName' | 'compiler' | 'target',
  ) => {
    const values = new Map(places.map((place) => [place[name], place[shown]]));
    return values.size < 2 ? [] : [select(label, name, values)];
  };
  const outcomes = [...OUTCOMES, 'incomplete'].map((name) => [name, name] as const);
  form.append(
    element('label', { class: 'search' }, element('span', {}, 'Search'), search),
    ...ofPlaces('Device', 'device', 'deviceName'),
    ...ofPlaces('Compiler', 'compiler', 'compiler'),
    ...ofPlaces('Target', 'target', 'target'),
    select('Outcome', 'outcome', outcomes),
    clear,
    status,
  );
  search.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(apply, PAUSE_MS);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
  });
  form.hidden = false;
  apply();
}

/** Every word must be in the workload, shape (`x` matches `×`), configuration or author. */
function matching(filters: Filters): (row: Row) => boolean {
  const { outcome } = filters;
  const words = filters.text
    .toLowerCase()
    .replaceAll(/(?<=\d)x(?=\d)/g, '×')
    .split(/\s+/)
    .filter(Boolean);
  const parts = (['device', 'compiler', 'target'] as const).filter((part) => filters[part] !== '');
  return (row) =>
    parts.every((part) => row.place[part] === filters[part]) &&
    (outcome === '' || (outcome === 'incomplete' ? !row.complete : row.outcome === outcome)) &&
    words.every((word) =>
      `${row.key} ${row.shape} ${row.configuration} ${row.author}`.toLowerCase().includes(word),
    );
}
