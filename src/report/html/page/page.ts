// What the parts of the page are drawn from.
import type { PageData } from '../data.ts';
import type { Row } from './rows.ts';

export interface Page {
  readonly data: PageData;
  /** One for each record, in their order. */
  readonly rows: readonly Row[];
}

/** Puts a section's elements into `host`, and gives what shows records in them: called again whenever others are chosen. */
export type Drawing = (host: HTMLElement, page: Page) => (rows: readonly Row[]) => void;
