// Work that may be done so many times at once.

export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param most pieces of work at once, 1 at least */
  constructor(most: number) {
    this.#free = Math.max(1, most);
  }

  /** Does a piece of work when it is its turn: first come, first served. */
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
