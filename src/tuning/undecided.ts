// Workloads that tuning could not decide: why they keep the default, and when another try is worth it.
import { statSync } from 'node:fs';
import { formatDuration } from '../system/format.ts';
import { isDefault } from '../backend/configuration.ts';
import type { TuningRecord, Undecided } from '../store/store.ts';

/** Prefix of reasons that depend on the runtime, which no record names. */
export const DOES_NOT_RUN = 'the default does not run';

/** Least factor of more time that is worth another try. */
const MORE_TIME = 1.25;

/** Whether `seconds` are enough more than `before` to try again. */
export const isMoreTime = (seconds: number, before: number): boolean => seconds > MORE_TIME * before;

/**
 * Whether a build may decide a workload that an earlier build could not.
 * @param seconds for this workload
 * @param tools paths of the runtime's tools
 */
export function isWorthAnotherTry(
  { reason, budgetSeconds, lastTriedAt }: Undecided,
  seconds: number,
  tools: readonly string[],
): boolean {
  if (isMoreTime(seconds, budgetSeconds)) return true;
  if (!reason.startsWith(DOES_NOT_RUN)) return false;
  // A runtime that was installed later may run the default.
  return tools.some((path) => statSync(path).ctimeMs > Date.parse(lastTriedAt));
}

/**
 * Whether builds continue searches that neither found anything nor came to their end: until the searches together had the time of
 * this build.
 * @param seconds for this workload
 */
export const isUnfinished = (
  { configuration, evidence }: Pick<TuningRecord, 'configuration' | 'evidence'>,
  seconds: number,
): boolean => isDefault(configuration) && !evidence.complete && isMoreTime(seconds, evidence.tuningSeconds);

/** A message with the way out. */
export const whyUndecided = ({ reason, budgetSeconds }: Undecided): string =>
  `cannot be decided: ${reason}. It was given ${formatDuration(budgetSeconds)}; a budget that leaves it more than ` +
  `${formatDuration(MORE_TIME * budgetSeconds)}, or iree-tuned tune, tries again`;
