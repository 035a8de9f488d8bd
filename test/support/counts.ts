// Counts as tests compare them.
import type { Counts } from '../../src/report/counting.ts';

/** Without those of single days, which depend on when the test runs. */
export const undated = (counts: Counts): Counts =>
  Object.fromEntries(Object.entries(counts).filter(([name]) => !/^\d/.test(name)));
