// What output is written on: a terminal with its width and colours, or a file or pipe, which has neither.
import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

export interface Page {
  /** Infinity where there is no terminal: nobody's script is to find a part of a word. */
  readonly columns: number;
  /** The text in a colour, where there are colours. */
  paint(format: Format, text: string): string;
}

/** Of a stream, as far as it counts here. */
export interface Paper {
  readonly isTTY?: boolean;
  readonly columns?: number;
  getColorDepth?(env?: object): number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Terminals that do not say how wide they are. */
const USUAL_COLUMNS = 80;

/** Below that nothing can be made to fit. */
const LEAST_COLUMNS = 20;

export function pageOn(paper: Paper, env: Environment): Page {
  const isColoured = hasColours(paper, env);
  return {
    columns: paper.isTTY === true ? Math.max(LEAST_COLUMNS, widthOf(paper, env)) : Infinity,
    // Whether there are colours is decided above.
    paint: (format, text) => (isColoured ? styleText(format, text, { validateStream: false }) : text),
  };
}

function widthOf({ columns }: Paper, env: Environment): number {
  if (columns) return columns;
  const said = Number(env['COLUMNS']);
  return Number.isSafeInteger(said) && said > 0 ? said : USUAL_COLUMNS;
}

/** Never where somebody wants none; else where somebody wants them, or a terminal says that it has them. */
function hasColours(paper: Paper, env: Environment): boolean {
  if (env['NO_COLOR']) return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return !['0', 'false'].includes(forced);
  // In bits; what `TERM` says is among what it is made of.
  return paper.isTTY === true && (paper.getColorDepth?.({ ...env }) ?? 1) > 1;
}

/** Somewhere without a width and without colours. */
export const PLAIN: Page = { columns: Infinity, paint: (_, text) => text };
