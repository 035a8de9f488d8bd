// Seconds to spend.

/** What is left of the seconds that something may take in all. */
export interface Purse {
  readonly left: number;
  /** Does something whose time counts; what is done at the same time counts once. */
  spend<T>(deed: () => Promise<T>): Promise<T>;
}

export function purseOf(seconds: number): Purse {
  let left = seconds;
  let deeds = 0;
  let countedAt = 0;
  const count = () => {
    const now = performance.now();
    if (deeds > 0) left = Math.max(0, left - (now - countedAt) / 1000);
    countedAt = now;
  };
  return {
    get left() {
      count();
      return left;
    },
    async spend(deed) {
      count();
      deeds++;
      try {
        return await deed();
      } finally {
        count();
        deeds--;
      }
    },
  };
}
