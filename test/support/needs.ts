// Programs that tests need besides this checkout. Without such a program, tests are skipped; where CI is set, they fail.

/** Whether this is `npm run test:full`, which runs everything. */
export const isFull = process.env['TEST_FULL'] === '1';

/** The first `count` cases; all cases in the full tier. */
export const casesOfTier = <T>(cases: readonly T[], count: number): readonly T[] =>
  isFull ? cases : cases.slice(0, count);

/** Whether skipping is an error. */
export const isCI = !['', '0', 'false', undefined].includes(process.env['CI']);

/**
 * Whether to skip tests.
 * @param missing the missing program, with the way to install it; null if nothing is missing
 * @throws Error where CI is set and a program is missing
 */
export function isWithout(missing: string | null): boolean {
  if (missing === null) return false;
  if (isCI) throw new Error(`CI is set, and tests would be skipped: ${missing}`);
  process.stderr.write(`SKIPPED: ${missing}\n`);
  return true;
}
