// What tests need of the machine beside this checkout. At a desk they are skipped without it; where CI is set they fail, so that
// nobody takes a run for more than it was.

/** Whether this is `npm run test:full`, which runs everything. */
export const isFull = process.env['TEST_FULL'] === '1';

/** Whether nothing may be skipped. */
export const isCI = !['', '0', 'false', undefined].includes(process.env['CI']);

/**
 * Whether to skip tests.
 * @param missing what they need and this machine has not, with the way to get it; null when it is there
 * @throws Error naming it, where CI is set
 */
export function isWithout(missing: string | null): boolean {
  if (missing === null) return false;
  if (isCI) throw new Error(`CI is set, and tests would be skipped: ${missing}`);
  process.stderr.write(`SKIPPED: ${missing}\n`);
  return true;
}
