// Differences of two outcomes.
import type { Outcome } from './outcome.ts';

export type Aspect = 'ending' | 'stdout' | 'stderr' | 'output' | 'left';

export const ASPECTS: readonly Aspect[] = ['ending', 'stdout', 'stderr', 'output', 'left'];

/** The aspects in which two outcomes differ. */
export function differing(a: Outcome, b: Outcome): Aspect[] {
  return ASPECTS.filter((aspect) => !isSame(a, b, aspect));
}

/** Whether two outcomes have the same bytes in one aspect; addresses in a stack trace do not count. */
export function isSame(a: Outcome, b: Outcome, aspect: Aspect): boolean {
  const [x, y] = [bytesOf(a, aspect), bytesOf(b, aspect)];
  return x === null || y === null ? x === y : x.equals(y);
}

/** The first line that differs, for the report. */
export function describeDifference(stock: Outcome, wrapper: Outcome, aspect: Aspect): string {
  const [a, b] = [bytesOf(stock, aspect), bytesOf(wrapper, aspect)];
  if (a === null || b === null) return `stock ${isThere(a)}, wrapper ${isThere(b)}`;
  if (a.includes(0) || b.includes(0)) {
    let at = 0;
    while (at < a.length && a[at] === b[at]) at++;
    return `${a.length} and ${b.length} bytes, different from byte ${at} on`;
  }
  const [before, after] = [linesOf(a), linesOf(b)];
  const line = before.findIndex((text, i) => text !== after[i]);
  const at = line < 0 ? before.length : line;
  return `line ${at + 1}: stock ${quoted(before[at])}, wrapper ${quoted(after[at])}`;
}

function bytesOf(outcome: Outcome, aspect: Aspect): Buffer | null {
  switch (aspect) {
    case 'ending':
      return Buffer.from(outcome.ending);
    case 'left':
      return Buffer.from(outcome.left.join('\n'));
    case 'stderr':
      return outcome.ending.startsWith('signal') ? withoutAddresses(outcome.stderr) : outcome.stderr;
    case 'stdout':
    case 'output':
      return outcome[aspect];
  }
}

/** The stack trace of a crash has the load address of the compiler's code. */
const withoutAddresses = (text: Buffer) =>
  Buffer.from(text.toString('latin1').replace(/\b0x[0-9a-f]{16}\b/g, '0x...'), 'latin1');

const isThere = (bytes: Buffer | null) => (bytes === null ? 'has none' : `has ${bytes.length} bytes`);
const linesOf = (bytes: Buffer) => bytes.toString('latin1').split('\n');
const quoted = (line: string | undefined) =>
  line === undefined ? 'has ended' : JSON.stringify(line.slice(0, 200));
