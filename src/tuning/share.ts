// Shares of the tuning time among workloads.

/** Least share of a workload: a few that are tuned well beat many that are tuned badly. */
const FAIR_SECONDS = 10;

/** Seconds for the next of `count` workloads that share `secondsLeft`. */
export const shareOf = (secondsLeft: number, count: number): number =>
  Math.min(secondsLeft, Math.max(FAIR_SECONDS, secondsLeft / count));
