// Sizes as people write them for a sweep: Python's ranges, lists and single values.
import { UserError } from '../system/user-error.ts';

/** More than that in one list is a slip of the pen. */
const MOST_SIZES = 100_000;

/**
 * Reads `512`, `256,512`, `64:1024:128` (from 64 up in steps of 128, 1024 excluded: 8 values) or several of these with commas
 * between them. `64:1024` goes up in steps of 1. Each size once, in the order in which they are written.
 * @param what they are for, such as `--m`: errors begin with it
 * @throws UserError naming the part that is wrong
 */
export function parseSizeList(text: string, what: string): number[] {
  const sizes = new Set<number>();
  for (const part of text.split(',')) {
    for (const size of rangeOf(part.trim(), `${what} ${text}`)) {
      sizes.add(size);
      if (sizes.size > MOST_SIZES)
        throw new UserError(`${what} ${text}: these are more than ${MOST_SIZES} sizes`);
    }
  }
  return [...sizes];
}

function* rangeOf(part: string, where: string): Generator<number> {
  const numbers = part.split(':').map((word) => word.trim());
  const isWritten = numbers.length <= 3 && numbers.every((word) => /^\d{1,15}$/.test(word));
  if (!isWritten)
    throw new UserError(
      `${where}: "${part}" is no size; write 512, a list such as 256,512, or FROM:END:STEP such as 64:1024:128`,
    );
  const [from, end, step] = numbers.map(Number) as [number, number?, number?];
  if (from < 1) throw new UserError(`${where}: a size is 1 or more, not ${from}`);
  if (end === undefined) {
    yield from;
    return;
  }
  if (step === 0) throw new UserError(`${where}: a step is 1 or more, not 0`);
  if (end <= from)
    throw new UserError(`${where}: there is nothing from ${from} up to ${end}, which is not included itself`);
  for (let size = from; size < end; size += step ?? 1) yield size;
}
