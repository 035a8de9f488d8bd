// Seconds to spend.

/** What is left of the seconds that something may take in all. */
export interface Purse {
  readonly left: number;
  /** Does something whose time counts. */
  spend<T>(deed: () => Promise<T>): Promise<T>;
}

export function purseOf(seconds: number): Purse {
  let left = seconds;
  return {
    get left() {
      return left;
    },
    async spend(deed) {
      const begun = performance.now();
      try {
        return await deed();
      } finally {
        left = Math.max(0, left - (performance.now() - begun) / 1000);
      }
    },
  };
}
