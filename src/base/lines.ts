// The lines of a base: what builds need, and no measured trials, which only searches read. A published database is made of them.
import { createReadStream, createWriteStream, readFileSync, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip, gzipSync } from 'node:zlib';
import { placeIn } from '../compiler/command-identity.ts';
import { copyLines } from '../store/exchange/files.ts';
import type { Line, PartLine } from '../store/exchange/lines.ts';
import { PARTS } from '../store/fields.ts';
import { compact } from '../store/sqlite/compact.ts';
import { limited } from '../system/limited.ts';
import { UserError } from '../system/user-error.ts';
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

/**
 * @param path of a new database
 * @returns the compressed bytes of the database, and its size
 */
export function packLines(lines: Iterable<string>, path: string) {
  copyLines(lines, path);
  compact(path);
  const database = readFileSync(path);
  return { bytes: gzipSync(database, { level: 9 }), size: database.length };
}

/** Unpacks a database. @throws UserError for a file that is no gzip, is cut off, or has another size */
export async function unpack(from: string, to: string, size: number): Promise<void> {
  const counted = (chunks: AsyncIterable<Buffer>) => limited(chunks, size, 'it is larger than its head says');
  await pipeline(createReadStream(from), createGunzip(), counted, createWriteStream(to, { mode: 0o600 }));
  if (statSync(to).size !== size) throw new UserError('it is smaller than its head says');
}
