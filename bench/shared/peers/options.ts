// Options of a bench against the peers.
import { secondsOption, wholeNumber, type Arguments } from '../arguments.ts';
import { threadsOption } from '../threads.ts';

/** Options that change the results of each bench. */
export interface Measured {
  /** Of tuning, for each model. */
  readonly budgetSeconds: number;
  /** Most rounds of timing. */
  readonly rounds: number;
  readonly threads: number;
}

/** Reads `--budget`, `--rounds` and `--threads`. @throws UsageError for an invalid value */
export const measuredOptions = (args: Arguments): Measured => ({
  budgetSeconds: secondsOption(args, 'budget', 60),
  rounds: wholeNumber(args, 'rounds', 15),
  threads: threadsOption(args),
});
