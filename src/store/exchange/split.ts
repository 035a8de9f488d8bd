// Splits a stream of bytes into lines. Chunks and lines may have any length.
import { LONGEST_LINE } from './lines.ts';
import { readLine, type Reading } from './read.ts';

const LINE_FEED = 0x0a;

export interface NumberedReading {
  /** From 1. */
  readonly number: number;
  readonly reading: Reading;
}

/** Reads lines one by one, and skips empty ones. Never buffers more than the limit of a line. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<NumberedReading> {
  let number = 1;
  let parts: Uint8Array[] = [];
  let length = 0;
  const add = (part: Uint8Array) => {
    length += part.length;
    if (length <= LONGEST_LINE + 1) parts.push(part);
    else parts = [];
  };
  const take = (): Reading | null => {
    const reading = length > LONGEST_LINE + 1 ? TOO_LONG : readBytes(Buffer.concat(parts), number === 1);
    [parts, length] = [[], 0];
    return reading;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end; (end = chunk.indexOf(LINE_FEED, start)) !== -1; start = end + 1) {
      add(chunk.subarray(start, end));
      const reading = take();
      if (reading !== null) yield { number, reading };
      number++;
    }
    // A copy, because the reader may reuse the chunk.
    add(Uint8Array.from(chunk.subarray(start)));
  }
  const reading = take();
  if (reading !== null) yield { number, reading };
}

const TOO_LONG: Reading = { outcome: 'refused', reason: `it is longer than ${LONGEST_LINE} bytes` };

function readBytes(bytes: Buffer, isFirst: boolean): Reading | null {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: !isFirst }).decode(bytes);
  } catch {
    return { outcome: 'refused', reason: 'it is not UTF-8' };
  }
  const line = text.endsWith('\r') ? text.slice(0, -1) : text;
  return line.trim() === '' ? null : readLine(line);
}
