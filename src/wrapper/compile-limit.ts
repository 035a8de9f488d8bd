// How long a compile with an injection may work before it counts as one that never ends.

/** A compile takes about six times as long as its survey, so this is a hundred compiles. */
const SURVEYS = 600;

/** Least limit: a short survey is a poor estimate. */
const LEAST_SECONDS = 5 * 60;

/**
 * Limit of processor time in seconds. Infinity without a survey: a compile that takes an hour untuned must not be ended.
 */
export const compileLimit = (surveySeconds: number | undefined): number =>
  surveySeconds === undefined ? Infinity : Math.max(LEAST_SECONDS, SURVEYS * surveySeconds);
