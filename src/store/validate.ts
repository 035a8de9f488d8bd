// Checks of database content and received lines, which are untrusted. By hand, because loading a validation library takes longer than a
// look-up.
import { resultOr } from '../system/result-or.ts';
import { isIntegerWithin, isObject, matches, type Check } from '../system/data.ts';

/** Bytes of a configuration as JSON. */
export const LONGEST_CONFIGURATION = 4096;

/** Characters of a key, of a form as JSON, of a reason or message, and of a name. */
export const LONGEST_KEY = 2 ** 14;
export const LONGEST_FORM = 2 ** 16;
export const LONGEST_REASON = 2 ** 12;
export const LONGEST_NAME = 2 ** 8;

/** Characters of a revocation's value: at most a user and a machine. */
export const LONGEST_REVOKED = 2 * LONGEST_NAME + 1;

/** Bytes of a note about a program as JSON: a line of it is shorter than `LONGEST_LINE`. */
export const LONGEST_NOTE = 2 ** 19;

export const HIGHEST_GENERATION = 1_000_000;

// eslint-disable-next-line no-control-regex -- the pattern finds control characters
const CONTROL = /[\0-\x08\x0b-\x1f\x7f]/;

/** Whether a text is safe for terminals and databases: well-formed, no control characters except tab and line feed. */
export const isPlain = (text: string): boolean => text.isWellFormed() && !CONTROL.test(text);

/** A message of a compiler or system, in a form that can be stored. */
export const plainText = (text: string, longest: number): string =>
  text.slice(0, longest).toWellFormed().replaceAll(new RegExp(CONTROL, 'g'), ' ');

/** The fields of an object in their order, and a fault in several of them; null for none. */
export interface Shape {
  readonly checks: Readonly<Record<string, Check>>;
  /** For an object with valid fields. */
  readonly relation?: (value: never) => string | null;
}

/** The first fault of a value that should have a shape and no other fields, such as `"kind" cannot be "x"`; null for none. */
export function faultIn({ checks, relation }: Shape, value: unknown): string | null {
  if (!isObject(value)) return 'it is not an object';
  const names = [...Object.keys(checks), ...Object.keys(value)];
  const wrong = names.find((name) => !Object.hasOwn(checks, name) || !checks[name]!(value[name]));
  if (wrong === undefined) return relation?.(value as never) ?? null;
  if (!Object.hasOwn(checks, wrong)) return `"${wrong}" is unknown`;
  // Deep nesting exhausts the stack.
  const json = resultOr(
    () => (JSON.stringify(value[wrong]) as string | undefined) ?? 'missing',
    'nested so deep',
  );
  return `"${wrong}" cannot be ${json.slice(0, 100)}`;
}

/** A well-formed text of at most `longest` characters, without control characters. */
export const isTextOf =
  (longest: number, least = 0): Check =>
  (value) =>
    typeof value === 'string' && value.length >= least && value.length <= longest && isPlain(value);

export const isHex = (digits: number): Check => matches(new RegExp(`^[0-9a-f]{${digits}}$`));

export const isCount =
  (least: number, most = Number.MAX_SAFE_INTEGER): Check =>
  (value) =>
    isIntegerWithin(value, least, most);

export const isPositive: Check = (value) => typeof value === 'number' && Number.isFinite(value) && value > 0;

export const isNotNegative: Check = (value) => value === 0 || isPositive(value);

/** Whether a value is a non-empty list of positive seconds. */
export const areTimes: Check = (value) => Array.isArray(value) && value.length > 0 && value.every(isPositive);

/** Whether a value is a sorted list of distinct family names. Later versions may add families. */
export const areFamilies: Check = (value) =>
  Array.isArray(value) &&
  value.every(
    (family: unknown, i) =>
      typeof family === 'string' &&
      /^[a-z][a-z0-9-]{0,31}$/.test(family) &&
      (i === 0 || family > (value[i - 1] as string)),
  );

/** Whether a value is a device name. Keys and classes have spaces, so they differ. */
export const isDeviceName = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(value);

/** Whether a value is an ISO 8601 instant in UTC, such as `2026-01-31T08:00:00.000Z`. */
export const isInstant: Check = (value) =>
  typeof value === 'string' &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value) &&
  !Number.isNaN(Date.parse(value));

/** Deepest nesting of a note. Deeper JSON could exhaust the stack. */
const DEEPEST_NOTE = 16;

/** Whether a value is an object within the limits of notes. The readers of each kind check its fields. */
export const isNote: Check = (value) =>
  isObject(value) &&
  isPlainJson(value, DEEPEST_NOTE) &&
  Buffer.byteLength(JSON.stringify(value)) <= LONGEST_NOTE;

/** Whether all texts in a JSON value are plain, and its numbers finite. */
function isPlainJson(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return isPlain(value);
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return (
    depth > 0 && Object.entries(value).every(([name, one]) => isPlain(name) && isPlainJson(one, depth - 1))
  );
}

/** Parses JSON; undefined for an invalid text. */
export const parseJson = (text: unknown): unknown =>
  typeof text === 'string' ? resultOr(() => JSON.parse(text) as unknown, undefined) : undefined;
