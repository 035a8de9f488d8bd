// Validates received lines one by one. An invalid line does not affect the others.
import { isKnownKind } from '../../backend/index.ts';
import { isObject } from '../../system/data.ts';
import { isKindOfWork } from '../../workload/workload.ts';
import { faultIn } from '../validate.ts';
import { LINE_VERSION, LINES, LONGEST_LINE, ordered, type Line } from './lines.ts';

/** Result of reading one line. */
export type Reading =
  | { readonly outcome: 'line'; readonly line: Line }
  /** A line of a later version, verbatim. */
  | { readonly outcome: 'foreign'; readonly text: string }
  | { readonly outcome: 'refused'; readonly reason: string };

const refused = (reason: string): Reading => ({ outcome: 'refused', reason });

/** Reads one line of text. Never throws. */
export function readLine(text: string): Reading {
  if (Buffer.byteLength(text) > LONGEST_LINE) return TOO_LONG;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refused('it is not JSON');
  }
  return readValue(value, text);
}

/**
 * Validates a parsed line. Never throws.
 * @param text original text of the line, if any
 */
export function readValue(value: unknown, text?: string): Reading {
  if (!isObject(value) || typeof value['type'] !== 'string') return refused('it has no type');
  if (!Number.isSafeInteger(value['version'])) return refused('it has no version');
  if (isForeign(value)) {
    const verbatim = text ?? JSON.stringify(value);
    return verbatim.isWellFormed() && Buffer.byteLength(verbatim) <= LONGEST_LINE
      ? { outcome: 'foreign', text: verbatim }
      : refused(`it is longer than ${LONGEST_LINE} bytes, or not valid Unicode`);
  }
  const fault = faultIn(LINES[value['type'] as Line['type']], value);
  return fault === null
    ? { outcome: 'line', line: ordered(value as unknown as Line) }
    : refused(`${value['type']}: ${fault}`);
}

/** Whether a line needs a later version. */
function isForeign({ type, version, configuration, form }: Record<string, unknown>): boolean {
  if (!Object.hasOwn(LINES, type as string) || (version as number) > LINE_VERSION) return true;
  if (isObject(configuration) && isLater(configuration, isKnownKind)) return true;
  return type === 'workload' && isObject(form) && isLater({ version: 1, ...form }, isKindOfWork);
}

const isLater = ({ version, kind }: Record<string, unknown>, isKnown: (kind: string) => boolean): boolean =>
  typeof kind === 'string' &&
  /^[a-z][a-z0-9-]{0,31}$/.test(kind) &&
  Number.isSafeInteger(version) &&
  (version as number) >= 1 &&
  (version !== 1 || !isKnown(kind));

const LINE_FEED = 0x0a;

/** Reads the lines of a stream, and skips empty ones. Never buffers more than the limit of a line. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly number: number; readonly reading: Reading }> {
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

const TOO_LONG = refused(`it is longer than ${LONGEST_LINE} bytes`);

function readBytes(bytes: Buffer, isFirst: boolean): Reading | null {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: !isFirst }).decode(bytes);
  } catch {
    return refused('it is not UTF-8');
  }
  const line = text.endsWith('\r') ? text.slice(0, -1) : text;
  return line.trim() === '' ? null : readLine(line);
}
