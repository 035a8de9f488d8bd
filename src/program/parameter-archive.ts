// Heads of IREE's parameter archives (`.irpa`, version 0). Several parameters may have the same bytes of the file.
import { sumOf } from '../measure/statistics.ts';

export interface ArchiveEntry {
  readonly key: string;
  /** Place of its bytes behind the head. */
  readonly begin: number;
  readonly bytes: number;
}

/** Bytes of the header, of an entry, and of an entry with the padding behind it. */
const [HEADER, ENTRY, ENTRY_STEP] = [88, 76, 80];

/** Where the table of entries begins. */
const TABLE = 96;

/** The head ends at a page, so that the bytes behind it can be mapped. */
const PAGE = 4096;

/** Type of an entry with bytes in the file. */
const DATA = 2;

/** Alignment that an entry asks for. */
const ALIGNMENT = 64;

/** @param bytes behind the head */
export function archiveHead(entries: readonly ArchiveEntry[], bytes: number): Uint8Array {
  const keys = entries.map(({ key }) => Buffer.from(key));
  const keyBytes = sumOf(keys.map(({ length }) => length));
  const tableBytes = ENTRY_STEP * entries.length;
  const keysBegin = TABLE + tableBytes;
  const length = PAGE * Math.ceil((keysBegin + keyBytes) / PAGE);
  const head = Buffer.alloc(length);
  const write = (at: number, ...numbers: readonly number[]) => {
    for (const [i, number] of numbers.entries()) head.writeBigUInt64LE(BigInt(number), at + 8 * i);
  };
  head.write('IRPA', 'latin1');
  // Two bytes each for the versions stay 0, and so do the next header and the flags.
  write(8, HEADER);
  write(32, entries.length, TABLE, tableBytes, keysBegin, keyBytes, length, bytes);
  let keyEnd = 0;
  for (const [i, one] of entries.entries()) {
    const at = TABLE + ENTRY_STEP * i;
    const key = keys[i]!;
    write(at, ENTRY);
    head.writeUInt32LE(DATA, at + 8);
    // Flags, key, no metadata, alignment, place.
    write(at + 12, 0, keyEnd, key.length, 0, 0, ALIGNMENT, one.begin, one.bytes);
    key.copy(head, keysBegin + keyEnd);
    keyEnd += key.length;
  }
  return head;
}
