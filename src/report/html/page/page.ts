// The input of the page's sections.
import type { PageData } from '../data.ts';
import type { Row } from './rows.ts';

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
