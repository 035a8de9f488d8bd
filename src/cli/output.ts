// Output of the commands, with the colours of the terminal, which wraps long lines.
import { pageOn } from '../report/page.ts';
import { printableLines } from '../report/text.ts';

export const page = pageOn(process.stdout);

/** Sentences, one a line, without control characters. */
export const sentences = (...texts: readonly string[]): string => printableLines(texts.join('\n'));

export function warn(message: string): void {
  const name = pageOn(process.stderr).paint('bold', 'iree-tuned:');
  process.stderr.write(`${name} ${printableLines(message)}\n`);
}
