// Times of a program's dispatches, and texts about them. Pure.
import type { DispatchTime as Time, DispatchTimes } from '../../src/backend/meter.ts';
import { settledShare as settledShareOf, timeLines } from '../../src/report/time-shares.ts';
import type { Explanation } from '../../src/report/explain.ts';

export interface DispatchTime extends Time {
  /** Such as `main_dispatch_2_vecmat_768x768_f32`, which is also its function's name in the executable. */
  readonly name: string;
}

export const namedTimes = (times: DispatchTimes): DispatchTime[] =>
  [...times].map(([name, time]) => ({ name, ...time }));

/** A percentage; `-` for an unknown share. */
export const percent = (share: number | null | undefined): string =>
  share === null || share === undefined ? '-' : `${(100 * share).toFixed(0)}%`;

/** Share of a program's time with a decision, or at its bound. */
export const settledShare = (explanation: Explanation | null): number | null => {
  const time = explanation?.time ?? null;
  return time === null ? null : settledShareOf(time);
};

/** The lines of `iree-tuned explain` about a program's time, indented. */
export const shareLines = (explanation: Explanation | null): string[] => {
  const time = explanation?.time ?? null;
  return time === null ? [] : timeLines(time).map((line, i) => `${i === 0 ? '  ' : '    '}${line}`);
};
