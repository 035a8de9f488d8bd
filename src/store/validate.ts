// Database content is data: what these functions do not recognise down to the last key is not used.
// Hand-written, because a validation library would cost every build more than the look-up itself.
import { isIntegerWithin } from '../system/data.ts';
import { configurationText } from '../backend/index.ts';
import type { Configuration } from '../backend/configuration.ts';
import { LONGEST_CONFIGURATION } from './limits.ts';
import type { Evidence } from './store.ts';

/** Numbers and names only: as many bytes as characters. */
export const isShortConfiguration = (configuration: Configuration): boolean =>
  configurationText(configuration).length <= LONGEST_CONFIGURATION;

/** The value of a JSON text; undefined when it is none. */
export function parseJson(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Kinds of configurations, each once, in order; later versions know more of them. */
export const areFamilies = (value: unknown): value is readonly string[] =>
  Array.isArray(value) &&
  value.every(
    (family: unknown, i) =>
      typeof family === 'string' &&
      /^[a-z][a-z0-9-]{0,31}$/.test(family) &&
      (i === 0 || family > (value[i - 1] as string)),
  );

/** Seconds at one size or more. */
export const areTimes = (value: unknown): value is readonly number[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((seconds: unknown) => typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0);

/** The same conditions as the CHECK constraints of table `record`, for files that were written around them. */
export function isSoundEvidence(evidence: Evidence): boolean {
  const { ratio, low, high, defaultSeconds, seconds, noiseFloor, maxError, tuningSeconds } = evidence;
  const { processes, repetitions, trials } = evidence;
  return (
    [ratio, low, high, defaultSeconds, seconds].every((value) => Number.isFinite(value) && value > 0) &&
    [noiseFloor, maxError, tuningSeconds].every((value) => Number.isFinite(value) && value >= 0) &&
    [processes, repetitions].every((value) => isIntegerWithin(value, 1, Number.MAX_SAFE_INTEGER)) &&
    isIntegerWithin(trials, 0, Number.MAX_SAFE_INTEGER) &&
    low <= ratio &&
    ratio <= high
  );
}

/** What a device can be called: nothing that its key or class could be taken for, which have spaces. */
export const isDeviceName = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(value);

/** An ISO 8601 instant in UTC, such as `2026-01-31T08:00:00.000Z`. */
export function isInstant(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value) &&
    !Number.isNaN(Date.parse(value))
  );
}
