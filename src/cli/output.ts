// Where the commands print: with the width and the colours of whoever reads, if that is a person.
import { pageOn } from '../report/page.ts';
import { printableLines, wrapped } from '../report/text.ts';

/** Of stdout. */
export const page = pageOn(process.stdout, process.env);

const NAME = 'iree-tuned:';

/** Sentences, broken between words where a terminal is narrow. */
export function say(text: string): void {
  console.log(wrapped(printableLines(text), page.columns));
}

/** Something to be known beside the output, on stderr. */
export function warn(message: string): void {
  const stderr = pageOn(process.stderr, process.env);
  const text = wrapped(printableLines(`${NAME} ${message}`), stderr.columns);
  process.stderr.write(`${stderr.paint('bold', NAME)}${text.slice(NAME.length)}\n`);
}
