// The options of a sweep.
import type { SweepText } from '../populate/sweep.ts';

const SWEPT = ['op', 'm', 'n', 'k', 'batch', 'dtype', 'rhsConstant'] as const;

export const isSwept = (options: SweepText): boolean => SWEPT.some((name) => options[name] !== undefined);

/** The flag of an option, for messages: `--rhs-constant` for `rhsConstant`. */
export const optionFlag = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
