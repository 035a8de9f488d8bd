// Dispatches of a program with their times, and how shares of them read. Pure.
import type { DispatchTime as Time, DispatchTimes } from '../../src/measure/dispatch-times.ts';
import { timeLines } from '../../src/report/time-shares.ts';
import type { Explanation } from '../../src/report/explain.ts';

/** A dispatch of a program, by its name. */
export interface DispatchTime extends Time {
  /** Such as `main_dispatch_2_vecmat_768x768_f32`, which is also its function's name in the executable. */
  readonly name: string;
}

export const namedTimes = (times: DispatchTimes): DispatchTime[] =>
  [...times].map(([name, time]) => ({ name, ...time }));

/** `-` for what nobody knows. */
export const percent = (share: number | null | undefined): string =>
  share === null || share === undefined ? '-' : `${(100 * share).toFixed(0)}%`;

/** The share of a program's time that is decided, or at its bound. */
export const settledShare = (explanation: Explanation | null): number | null => {
  const time = explanation?.time ?? null;
  return time === null ? null : time.decided + time.atBound;
};

/** What `iree-tuned explain` says of a program's time, indented. */
export const shareLines = (explanation: Explanation | null): string[] => {
  const time = explanation?.time ?? null;
  return time === null ? [] : timeLines(time).map((line, i) => `${i === 0 ? '  ' : '    '}${line}`);
};
