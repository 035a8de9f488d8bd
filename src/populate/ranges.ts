// Options of a sweep: their names, and their lists of sizes.
import { UserError } from '../system/user-error.ts';

/** The text of a sweep's options. Each is a list. */
export interface SweepText {
  /** `matmul`, `batch_matmul` and their transposed variants, `softmax`, `attention`. Default: `matmul`. */
  readonly op?: string | undefined;
  readonly m?: string | undefined;
  readonly n?: string | undefined;
  readonly k?: string | undefined;
  /** Default 1. `softmax` and `attention` take several leading dimensions, such as `1x16`; `matmul` takes none. */
  readonly batch?: string | undefined;
  /** Default f32. */
  readonly dtype?: string | undefined;
  /** `yes`, `no` or `both`. Default `both`: weights of a model are constant, activations are not. */
  readonly rhsConstant?: string | undefined;
}

const SWEPT = ['op', 'm', 'n', 'k', 'batch', 'dtype', 'rhsConstant'] as const satisfies (keyof SweepText)[];

export const isSwept = (options: SweepText): boolean => SWEPT.some((name) => options[name] !== undefined);

/** The flag of an option, for messages: `--rhs-constant` for `rhsConstant`. */
export const optionFlag = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/**
 * The sizes of an option that an operation needs.
 * @param needed the names of all its sizes
 * @param what the sweep, for the message
 * @throws UserError naming the option
 */
export function sizesOf(
  sweep: SweepText,
  option: 'm' | 'n' | 'k',
  needed: readonly string[],
  what: string,
): number[] {
  const [flag, text] = [optionFlag(option), sweep[option]];
  if (text !== undefined) return parseSizeList(text, flag);
  throw new UserError(`${what} needs ${needed.map(optionFlag).join(', ')}: ${flag} is missing`);
}

/** A longer list is probably a typing error. */
const MOST_SIZES = 100_000;

/**
 * Parses `512`, `256,512`, `64:1024:128` (8 values from 64 in steps of 128, without 1024), or several of these between commas.
 * `64:1024` has steps of 1. Each size once, in the order of the text.
 * @param what name of the option, such as `--m`: errors start with it
 * @throws UserError naming the invalid part
 */
export function parseSizeList(text: string, what: string): number[] {
  const sizes = new Set<number>();
  for (const part of text.split(',')) {
    for (const size of rangeOf(part.trim(), `${what} ${text}`)) {
      sizes.add(size);
      if (sizes.size > MOST_SIZES) throw new UserError(`${what} ${text}: more than ${MOST_SIZES} sizes`);
    }
  }
  return [...sizes];
}

function* rangeOf(part: string, where: string): Generator<number> {
  const numbers = part.split(':').map((word) => word.trim());
  const isWritten = numbers.length <= 3 && numbers.every((word) => /^\d{1,15}$/.test(word));
  if (!isWritten)
    throw new UserError(
      `${where}: "${part}" is not a size; write 512, a list such as 256,512, or FROM:END:STEP such as 64:1024:128`,
    );
  const [from, end, step] = numbers.map(Number) as [number, number?, number?];
  if (from < 1) throw new UserError(`${where}: a size must be at least 1, not ${from}`);
  if (end === undefined) {
    yield from;
    return;
  }
  if (step === 0) throw new UserError(`${where}: the step must be at least 1`);
  if (end <= from)
    throw new UserError(`${where}: the range from ${from} to ${end} is empty, because ${end} is excluded`);
  for (let size = from; size < end; size += step ?? 1) yield size;
}

/** All combinations. The last list varies fastest. */
export const product = <T extends readonly unknown[]>(
  ...lists: { readonly [K in keyof T]: readonly T[K][] }
): T[] =>
  lists.reduce<unknown[][]>(
    (begun, list) => begun.flatMap((one) => list.map((value) => [...one, value])),
    [[]],
  ) as unknown as T[];
