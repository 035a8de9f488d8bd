// The input of the page's sections: the data, and the records with their places.
import type { PageData, PageRecord, Place } from '../data.ts';

export interface Row extends Omit<PageRecord, 'place'> {
  readonly place: Place;
}

export interface Page {
  readonly data: PageData;
  /** One row for each record, in the order of the records. */
  readonly rows: readonly Row[];
}

export const pageOf = (data: PageData): Page => ({
  data,
  rows: data.records.map((record) => ({ ...record, place: data.places[record.place]! })),
});

/**
 * Puts the elements of a section into `host`. The result shows records; the filters call it after each change. Undefined for a section
 * without filters.
 */
export type Drawing = (host: HTMLElement, page: Page) => ((rows: readonly Row[]) => void) | undefined;
