// The page of an output: a terminal has a width and colours, a file or pipe has neither.
import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

export interface Page {
  /** Infinity for a file or pipe: scripts get whole words. */
  readonly columns: number;
  /** The text in a format, if the page has colours. */
  paint(format: Format, text: string): string;
}

/** The properties of a stream that decide about its page. */
type Paper = Partial<Pick<WriteStream, 'isTTY' | 'columns' | 'getColorDepth'>>;

type Environment = Readonly<NodeJS.ProcessEnv>;

/** Width of a terminal of unknown width. */
const USUAL_COLUMNS = 80;

/** No text fits into fewer columns. */
const LEAST_COLUMNS = 20;

export function pageOn(paper: Paper, env: Environment): Page {
  const isColoured = hasColours(paper, env);
  return {
    columns: paper.isTTY === true ? Math.max(LEAST_COLUMNS, widthOf(paper, env)) : Infinity,
    // `hasColours` has looked at the stream.
    paint: (format, text) => (isColoured ? styleText(format, text, { validateStream: false }) : text),
  };
}

function widthOf({ columns }: Paper, env: Environment): number {
  if (columns) return columns;
  const said = Number(env['COLUMNS']);
  return Number.isSafeInteger(said) && said > 0 ? said : USUAL_COLUMNS;
}

/** NO_COLOR excludes colours, FORCE_COLOR decides otherwise, and a terminal has colours by default. */
function hasColours(paper: Paper, env: Environment): boolean {
  if (env['NO_COLOR']) return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return !['0', 'false'].includes(forced);
  // In bits. It depends on TERM, too.
  return paper.isTTY === true && (paper.getColorDepth?.({ ...env }) ?? 1) > 1;
}

/** A page without a width and without colours. */
export const PLAIN: Page = { columns: Infinity, paint: (_, text) => text };
