// The lines of a base: what builds need, and no measured trials, which only searches read.
import { placeIn } from '../compiler/command-identity.ts';
import type { Line, PartLine } from '../store/exchange/lines.ts';

/** A line as a base has it; null for a line that it leaves out, and for descriptions. */
export function lineOfBase(line: Line): Exclude<Line, PartLine> | null {
  if ('form' in line) return null;
  if (line.type !== 'trial') return line;
  return line.outcome === 'measured' ? null : { ...line, runs: [] };
}

/** Keys of the target and the compiler of a line; null for a line of all of them. */
export function placeOfLine(line: Exclude<Line, PartLine>): { target: string; compiler: string } | null {
  if (line.type === 'revocation') return null;
  return line.type === 'note' ? placeIn(line.program) : line;
}
