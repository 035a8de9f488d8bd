// The parts of results that a function has written, if it runs only a sample of its workgroups. Its memory is filled before.
import { readFile, writeFile } from 'node:fs/promises';
import { elementBytes, type ResultType } from '../input/runtime-type.ts';
import { UNWRITTEN_BYTE } from '../workload/guarded.ts';

/** Bytes from `begin` up to `end`. */
export type Range = readonly [begin: number, end: number];

/** The written ranges of a result; the whole result if nothing in it was written, as in the bytes around a result. */
export function writtenRanges(bytes: Uint8Array, { elementType }: ResultType): readonly Range[] {
  const size = Math.max(1, elementBytes(elementType));
  const isWritten = (at: number) => {
    for (let i = at; i < at + size; i++) if (bytes[i] !== UNWRITTEN_BYTE) return true;
    return false;
  };
  const ranges: Range[] = [];
  let begin = -1;
  for (let at = 0; at < bytes.length; at += size) {
    if (isWritten(at) === begin >= 0) continue;
    if (begin < 0) begin = at;
    else {
      ranges.push([begin, at]);
      begin = -1;
    }
  }
  if (begin >= 0) ranges.push([begin, bytes.length]);
  return ranges.length === 0 ? [[0, bytes.length]] : ranges;
}

/** Keeps only these ranges of a file. */
export async function keepRanges(file: string, ranges: readonly Range[]): Promise<void> {
  const bytes = await readFile(file);
  await writeFile(file, Buffer.concat(ranges.map(([begin, end]) => bytes.subarray(begin, end))));
}
