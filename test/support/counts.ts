// Counts for comparisons in tests.
import type { Counts } from '../../src/report/counting.ts';

/** Counts without those of single days, which depend on the date of the test. */
export const undated = (counts: Counts): Counts =>
  Object.fromEntries(Object.entries(counts).filter(([name]) => !/^\d/.test(name)));
