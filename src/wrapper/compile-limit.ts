// How long a compile with an injection may work before it counts as one that never ends.

/** The whole compile takes three to five times as long as the survey of its input. */
const SURVEYS = 60;

/** Shorter surveys say little. */
const LEAST_SECONDS = 5 * 60;

/** Where nobody has looked how long an input takes. */
const UNKNOWN_SECONDS = 30 * 60;

/** Seconds of work, a dozen times what the same compile takes untuned at the least. */
export const compileLimit = (surveySeconds: number | undefined): number =>
  surveySeconds === undefined ? UNKNOWN_SECONDS : Math.max(LEAST_SECONDS, SURVEYS * surveySeconds);
