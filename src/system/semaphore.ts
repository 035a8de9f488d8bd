// Limits the number of concurrent tasks.

export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param most concurrent tasks; less than 1 means 1 */
  constructor(most: number) {
    this.#free = Math.max(1, most);
  }

  /** Runs a task when a slot is free, in the order of calls. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
