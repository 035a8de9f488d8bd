// The options of a sweep.
import type { SweepText } from '../populate/sweep.ts';

const SWEPT = ['op', 'm', 'n', 'k', 'batch', 'dtype', 'rhsConstant'] as const;

export const isSwept = (options: SweepText): boolean => SWEPT.some((name) => options[name] !== undefined);

/** The flag of an option, for messages. */
export const sweepFlag = (name: keyof SweepText): string =>
  `--${name === 'rhsConstant' ? 'rhs-constant' : name}`;
