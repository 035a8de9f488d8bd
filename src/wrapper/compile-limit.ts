// The time limit of a compile with an injection. A compile beyond the limit counts as endless.
import { surveyMemory } from '../input/survey-memory.ts';
import type { Input } from '../input/input.ts';
import type { Surroundings } from '../settings/surroundings.ts';

/** Limit in surveys. A compile takes about six times as long as its survey, so this is a hundred compiles. */
const SURVEYS = 600;

/** Without a survey, the limit for each operation. Its code seldom takes the compiler a second. */
const SECONDS_PER_OPERATION = 60;

/** The smallest limit, because a short survey is a poor estimate. */
const LEAST_SECONDS = 5 * 60;

/** Limit of processor time in seconds, by the input's last survey, or else by the number of its operations. */
export function limitFor(
  { identity, operations }: Pick<Input, 'identity' | 'operations'>,
  { cacheDirectory }: Surroundings,
): number {
  const survey = surveyMemory.recall(cacheDirectory, identity);
  const seconds = survey === null ? SECONDS_PER_OPERATION * operations.length : SURVEYS * survey.seconds;
  return Math.max(LEAST_SECONDS, seconds);
}
