// How long a compile with an injection may work before it counts as one that never ends.
import { inputIdentity } from '../compiler/command-identity.ts';
import type { Command } from '../compiler/command.ts';
import { surveyMemory } from '../input/survey-memory.ts';
import type { Input } from '../input/input.ts';
import type { Surroundings } from '../settings/surroundings.ts';

/** A compile takes about six times as long as its survey, so this is a hundred compiles. */
const SURVEYS = 600;

/** Least limit: a short survey is a poor estimate. */
const LEAST_SECONDS = 5 * 60;

/** Limit of processor time in seconds. Infinity without a survey: a compile that takes an hour untuned must not be ended. */
export const compileLimit = (surveySeconds: number | undefined): number =>
  surveySeconds === undefined ? Infinity : Math.max(LEAST_SECONDS, SURVEYS * surveySeconds);

/** The limit that follows from the input's last survey. */
export const limitFor = (
  command: Command,
  { digest }: Pick<Input, 'digest'>,
  { cacheDirectory }: Surroundings,
): number => compileLimit(surveyMemory.recall(cacheDirectory, inputIdentity(command, digest))?.seconds);
