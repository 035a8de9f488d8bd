// What tuning could not decide about: why it is left to the default, and when it is worth another try.
import { statSync } from 'node:fs';
import { formatDuration } from '../system/format.ts';
import { isDefault } from '../backend/configuration.ts';
import type { TuningRecord, Undecided } from '../store/store.ts';

/** How reasons begin that are a matter of the runtime, which no record names. */
export const DOES_NOT_RUN = 'the default does not run';

/** Little more time decides nothing, and no two builds have quite the same. */
const MORE_TIME = 1.25;

/** Whether so many seconds are enough more than others to hope for more. */
export const isMoreTime = (seconds: number, before: number): boolean => seconds > MORE_TIME * before;

/**
 * Whether a build can hope to decide what an earlier one could not.
 * @param seconds that it has for this workload
 * @param tools what it would measure with
 */
export function isWorthAnotherTry(
  { reason, budgetSeconds, lastTriedAt }: Undecided,
  seconds: number,
  tools: readonly string[],
): boolean {
  if (isMoreTime(seconds, budgetSeconds)) return true;
  if (!reason.startsWith(DOES_NOT_RUN)) return false;
  // A runtime that was installed since may run what another one could not.
  return tools.some((path) => statSync(path).ctimeMs > Date.parse(lastTriedAt));
}

/**
 * Whether builds go on where searches found nothing faster than the default and did not come to an end either: until all
 * of them together had the time that a build has for this workload.
 * @param seconds that it has
 */
export const isUnfinished = (
  { configuration, evidence }: Pick<TuningRecord, 'configuration' | 'evidence'>,
  seconds: number,
): boolean => isDefault(configuration) && !evidence.complete && isMoreTime(seconds, evidence.tuningSeconds);

/** For people, with the way out. */
export const whyUndecided = ({ reason, budgetSeconds }: Undecided): string =>
  `cannot be decided: ${reason}. It was given ${formatDuration(budgetSeconds)}; a budget that leaves it more than ` +
  `${formatDuration(MORE_TIME * budgetSeconds)}, or iree-tuned tune, tries again`;
