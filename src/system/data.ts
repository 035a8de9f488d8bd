// Hand-written checks of untrusted data. Loading a library would take longer than the checks on every build.

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The given fields of an object, in the given order. */
export const pick = <T extends object, Name extends keyof T>(object: T, names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, object[name]])) as Pick<T, Name>;

/** Whether an object has all required keys, and beyond them only optional ones. */
export function hasKeys(
  value: Record<string, unknown>,
  required: readonly string[],
  optional: readonly string[] = [],
) {
  return (
    required.every((key) => Object.hasOwn(value, key)) &&
    Object.keys(value).every((key) => required.includes(key) || optional.includes(key))
  );
}

export function isIntegerWithin(value: unknown, low: number, high: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= low && (value as number) <= high;
}

export type Check = (value: unknown) => boolean;

export const isText: Check = (value) => typeof value === 'string';
export const matches =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value);
export const isNumber: Check = (value) => typeof value === 'number';
export const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';

export const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);

export const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

export const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every((item) => check(item));

/** Whether a value is an object whose fields pass their checks. Other fields are allowed. */
export const hasFields =
  <T>(checks: { readonly [Name in keyof T]-?: Check }) =>
  (value: unknown): value is T =>
    isObject(value) && Object.entries<Check>(checks).every(([name, check]) => check(value[name]));

/** Whether a value is an object with these fields only, and all pass their checks. */
export const hasOnly = <T>(checks: { readonly [Name in keyof T]-?: Check }) => {
  const isWhole = hasFields<T>(checks);
  return (value: unknown): value is T =>
    isWhole(value) && Object.keys(value as object).every((name) => Object.hasOwn(checks, name));
};
