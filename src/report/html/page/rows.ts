// The input of the page's sections: records with their places and short names, and the filters.
import type { PageData, PageRecord, Place } from '../data.ts';
import { classOf, shapeOf, typesOf } from '../shape-name.ts';

export interface Row extends Omit<PageRecord, 'place' | 'written'> {
  readonly shape: string;
  readonly types: string;
  readonly shapeClass: string;
  readonly place: Place;
  readonly device: string;
  readonly written: Date;
}

export interface Page {
  readonly data: PageData;
  /** One row for each record, in the order of the records. */
  readonly rows: readonly Row[];
}

/**
 * Puts the elements of a section into `host`. The result shows records; the filters call it after each change. Undefined for a section
 * without filters.
 */
export type Drawing = (host: HTMLElement, page: Page) => ((rows: readonly Row[]) => void) | undefined;

/** Name of the device, else its key. */
export const deviceText = ({ deviceName, device }: Place): string => deviceName ?? device;

export const rowsOf = ({ records, places }: PageData): Row[] =>
  records.map((record): Row => {
    const { key } = record;
    const place = places[record.place]!;
    return {
      ...{ ...record, shape: shapeOf(key), types: typesOf(key), shapeClass: classOf(key) },
      ...{ place, device: deviceText(place), written: new Date(record.written * 60_000) },
    };
  });

export const NO_FILTERS = { text: '', device: '', compiler: '', target: '', outcome: '' };

/** Texts of the form; empty for all. */
export type Filters = Readonly<typeof NO_FILTERS>;

/** Every word must be in the workload, shape (`x` matches `×`), configuration or author. */
export function filtered(rows: readonly Row[], filters: Filters): Row[] {
  const words = filters.text
    .toLowerCase()
    .replaceAll(/(?<=\d)x(?=\d)/g, '×')
    .split(/\s+/)
    .filter(Boolean);
  const { outcome } = filters;
  const parts = (['device', 'compiler', 'target'] as const).filter((part) => filters[part] !== '');
  return rows.filter(
    (row) =>
      parts.every((part) => row.place[part] === filters[part]) &&
      (outcome === '' || (outcome === 'incomplete' ? !row.complete : row.outcome === outcome)) &&
      words.every((word) =>
        `${row.key} ${row.shape} ${row.configuration} ${row.author}`.toLowerCase().includes(word),
      ),
  );
}
