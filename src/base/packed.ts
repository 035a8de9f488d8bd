// A published database: made from lines, compressed, and unpacked again.
import { createReadStream, createWriteStream, readFileSync, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip, gzipSync } from 'node:zlib';
import { copyLines } from '../store/exchange/files.ts';
import { compact } from '../store/sqlite/compact.ts';
import { limited } from '../system/limited.ts';
import { UserError } from '../system/user-error.ts';

export interface Packed {
  readonly bytes: Buffer;
  /** Size of the database. */
  readonly size: number;
}

/** @param path of a new database */
export function packLines(lines: Iterable<string>, path: string): Packed {
  copyLines(lines, path);
  compact(path);
  const database = readFileSync(path);
  return { bytes: gzipSync(database, { level: 9 }), size: database.length };
}

/** @throws UserError for a file that is no gzip, is cut off, or has another size */
export async function unpack(from: string, to: string, size: number): Promise<void> {
  const counted = (chunks: AsyncIterable<Buffer>) => limited(chunks, size, 'it is larger than its head says');
  await pipeline(createReadStream(from), createGunzip(), counted, createWriteStream(to, { mode: 0o600 }));
  if (statSync(to).size !== size) throw new UserError('it is smaller than its head says');
}
