// Checks of data that anybody may have written, by hand: a library would cost every build more than what is checked.

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** All required keys and no others than the optional ones. */
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
