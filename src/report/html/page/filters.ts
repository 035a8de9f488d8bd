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

  const select = (name: keyof Filters, options: readonly (readonly [value: string, text: string])[]) =>
    options.length < 2 ? [] : [choice(titleOf(name), [['', 'all'], ...options], apply, { name })];
  const devices = new Map(places.map(({ device, deviceName }) => [device, deviceName]));
  const named = (names: Iterable<string>) => [...new Set(names)].map((name) => [name, name] as const);
  form.append(
    element('label', { class: 'search' }, element('span', {}, 'Search'), search),
    ...select('device', [...devices]),
    ...select('compiler', named(places.map(({ compiler }) => compiler))),
    ...select('target', named(places.map(({ target }) => target))),
    ...select('outcome', named([...OUTCOMES, 'incomplete'])),
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

const titleOf = (name: string): string => name.replace(/^./, (letter) => letter.toUpperCase());

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
      [row.workload, row.shape, row.configuration, row.createdBy, row.machine]
        .join(' ')
        .toLowerCase()
        .includes(word),
    );
}
