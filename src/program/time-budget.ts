// A budget of seconds.

export interface TimeBudget {
  /** Remaining seconds. */
  readonly left: number;
  /** Runs a task whose time counts. The time of tasks that run at once counts once. */
  spend<T>(task: () => Promise<T>): Promise<T>;
}

export function timeBudget(seconds: number): TimeBudget {
  let left = seconds;
  let running = 0;
  let countedAt = 0;
  const count = () => {
    const now = performance.now();
    if (running > 0) left = Math.max(0, left - (now - countedAt) / 1000);
    countedAt = now;
  };
  return {
    get left() {
      count();
      return left;
    },
    async spend(task) {
      count();
      running++;
      try {
        return await task();
      } finally {
        count();
        running--;
      }
    },
  };
}
