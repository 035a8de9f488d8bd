// The lines of a base: what builds need, and no measured trials, which only searches read.
import { placeIn } from '../compiler/command-identity.ts';
import type { Line, PartLine } from '../store/exchange/lines.ts';
import { PARTS } from '../store/fields.ts';
import type { Place } from './head.ts';

/** A line as a base has it; null for a line that it leaves out, and for descriptions. */
export function lineOfBase(line: Line): Exclude<Line, PartLine> | null {
  if ('form' in line) return null;
  if (line.type !== 'trial') return line;
  return line.outcome === 'measured' ? null : { ...line, runs: [] };
}

/** Keys of the target and the compiler of a line; null for a line of all of them. */
export function placeOfLine(line: Exclude<Line, PartLine>): Place | null {
  if (line.type === 'revocation') return null;
  return line.type === 'note' ? placeIn(line.program) : line;
}

/** Descriptions of keys, as texts. A file has those that its lines use, before these lines. */
export class Descriptions {
  readonly #texts = new Map<string, string>();

  add({ type, key }: PartLine, text: string): void {
    this.#texts.set(`${type} ${key}`, text);
  }

  /** Those that the lines use, in the order of their adding. */
  of(lines: readonly Line[]): string[] {
    const used = new Set(
      lines.flatMap((line) => ('workload' in line ? PARTS.map((part) => `${part} ${line[part]}`) : [])),
    );
    return [...this.#texts].flatMap(([name, text]) => (used.has(name) ? [text] : []));
  }
}
