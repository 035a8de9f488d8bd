// The time limit of a compile with an injection. A compile beyond the limit counts as endless.
import { surveyMemory } from '../input/survey-memory.ts';
import type { Input } from '../input/input.ts';
import type { Surroundings } from '../settings/surroundings.ts';

/** Limit in surveys. A compile takes about six times as long as its survey, so this is a hundred compiles. */
const SURVEYS = 600;

/** The smallest limit, because a short survey is a poor estimate. */
const LEAST_SECONDS = 5 * 60;

/** Limit of processor time in seconds, by the input's last survey. Infinity without one, because an untuned compile may take an hour. */
export function limitFor({ identity }: Pick<Input, 'identity'>, { cacheDirectory }: Surroundings): number {
  const survey = surveyMemory.recall(cacheDirectory, identity);
  return survey === null ? Infinity : Math.max(LEAST_SECONDS, SURVEYS * survey.seconds);
}
