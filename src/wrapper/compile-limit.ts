// How long a compile with an injection may work before it counts as one that never ends.

/** Of an input whose compiles take minutes, the survey takes a sixth of that or more; a small part of it for smaller ones. */
const SURVEYS = 600;

/** Shorter surveys say little. */
const LEAST_SECONDS = 5 * 60;

/**
 * Seconds of work, a hundred times what the same compile takes untuned, about. No limit where nobody has seen the compiler work on the
 * input: one that takes an hour without us is no fault of ours.
 */
export const compileLimit = (surveySeconds: number | undefined): number =>
  surveySeconds === undefined ? Infinity : Math.max(LEAST_SECONDS, SURVEYS * surveySeconds);
