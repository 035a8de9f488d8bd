// The page of an output: a terminal has a width and colours, a file or pipe has neither.
import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

export interface Page {
  /** Infinity for a file or pipe: scripts get whole words. */
  readonly columns: number;
  /** The text in a format, if the page has colours. */
  paint(format: Format, text: string): string;
}

/** Width of a terminal of unknown width. */
const USUAL_COLUMNS = 80;

/** No text fits into fewer columns. */
const LEAST_COLUMNS = 20;

/** The page of a stream. NO_COLOR and FORCE_COLOR decide about its colours as for Node itself. */
export const pageOn = (stream: NodeJS.WriteStream): Page => ({
  columns: stream.isTTY ? Math.max(LEAST_COLUMNS, stream.columns || USUAL_COLUMNS) : Infinity,
  paint: (format, text) => styleText(format, text, { stream }),
});

/** A page without a width and without colours. */
export const PLAIN: Page = { columns: Infinity, paint: (_, text) => text };
