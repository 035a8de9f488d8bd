// Validates database content, which is untrusted. By hand, because loading a validation library takes longer than a look-up.
import { resultOr } from '../system/result-or.ts';
import { isIntegerWithin } from '../system/data.ts';
import { configurationText } from '../backend/index.ts';
import type { Configuration } from '../backend/configuration.ts';
import { LONGEST_CONFIGURATION } from './limits.ts';
import type { Evidence } from './store.ts';

/** Whether a configuration is within the size limit. It is ASCII, so bytes are characters. */
export const isShortConfiguration = (configuration: Configuration): boolean =>
  configurationText(configuration).length <= LONGEST_CONFIGURATION;

/** Parses JSON; undefined for an invalid text. */
export const parseJson = (text: unknown): unknown =>
  typeof text === 'string' ? resultOr(() => JSON.parse(text) as unknown, undefined) : undefined;

/** Whether a value is a sorted list of distinct family names. Later versions may add families. */
export const areFamilies = (value: unknown): value is readonly string[] =>
  Array.isArray(value) &&
  value.every(
    (family: unknown, i) =>
      typeof family === 'string' &&
      /^[a-z][a-z0-9-]{0,31}$/.test(family) &&
      (i === 0 || family > (value[i - 1] as string)),
  );

/** Whether a value is a non-empty list of positive seconds. */
export const areTimes = (value: unknown): value is readonly number[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((seconds: unknown) => typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0);

/** The CHECK constraints of the table `claim`, for files that bypassed them. */
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

/** Whether a value is a device name. Keys and classes have spaces, so they differ. */
export const isDeviceName = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(value);

/** Whether a value is an ISO 8601 instant in UTC, such as `2026-01-31T08:00:00.000Z`. */
export function isInstant(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value) &&
    !Number.isNaN(Date.parse(value))
  );
}
