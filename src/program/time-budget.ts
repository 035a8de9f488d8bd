// A budget of seconds.

export interface TimeBudget {
  /** Remaining seconds. */
  readonly left: number;
  /** Runs a task whose time counts. The time of tasks that run at once counts once. */
  spend<T>(task: () => Promise<T>): Promise<T>;
  /** Runs a part of a task whose time does not count. */
  pause<T>(task: () => Promise<T>): Promise<T>;
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
  const during = async <T>(change: number, task: () => Promise<T>): Promise<T> => {
    count();
    running += change;
    try {
      return await task();
    } finally {
      count();
      running -= change;
    }
  };
  return {
    get left() {
      count();
      return left;
    },
    spend: (task) => during(1, task),
    pause: (task) => during(-1, task),
  };
}
