// Output of the commands, with the width and the colours of the terminal.
import { pageOn } from '../report/page.ts';
import { printableLines, wrapped } from '../report/text.ts';

/** The page of stdout. */
export const page = pageOn(process.stdout, process.env);

const NAME = 'iree-tuned:';

/** Sentences, wrapped at the width of the terminal. */
export const sentences = (...texts: readonly string[]): string =>
  wrapped(printableLines(texts.join('\n')), page.columns);

/** Prints a message on stderr. */
export function warn(message: string): void {
  const stderr = pageOn(process.stderr, process.env);
  const text = wrapped(printableLines(`${NAME} ${message}`), stderr.columns);
  process.stderr.write(`${stderr.paint('bold', NAME)}${text.slice(NAME.length)}\n`);
}
