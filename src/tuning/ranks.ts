// Which configuration is how much faster than the default, from batches whose seconds cannot be compared. Pure.
import type { Configuration } from '../backend/configuration.ts';
import { configurationKey } from '../backend/index.ts';
import { geometricMean, median } from '../measure/statistics.ts';
import type { Batch } from './bench.ts';

/** Ratios of default time over a configuration's. */
export interface Gain {
  /** Median over the batches that it was timed in, geometric mean over sizes. */
  readonly ratio: number;
  /** At the size where it is least. */
  readonly least: number;
}

export interface Ranked extends Gain {
  readonly configuration: Configuration;
}

/** A configuration that is slower than this share of the default at one size is not worth a place. */
const LEAST_AT_A_SIZE = 0.95;

/**
 * Ranks configurations by their ratio to the default in the same batch. Where that is too slow to be in every batch, the
 * best one so far, which is timed again in each, links them.
 */
export class Ranks {
  /** By key: of each time that it was measured, logarithms of the gain at each size. */
  readonly #known = new Map<string, { configuration: Configuration; gains: (readonly number[])[] }>();
  /** What the default takes, or would take, in the latest batch, at each size. */
  #defaults: readonly number[] = [];

  /** Seconds of the default in the latest batch, at each size; empty before it was timed. */
  get defaults(): readonly number[] {
    return this.#defaults;
  }

  /** Takes in a batch of these configurations. */
  observe(configurations: readonly Configuration[], batch: Batch): void {
    const { incumbent } = this;
    const timedAgain = incumbent && configurations.indexOf(incumbent.configuration);
    const again = timedAgain === null ? undefined : batch.results[timedAgain];
    if (batch.defaultSeconds !== null) this.#defaults = batch.defaultSeconds;
    else if (incumbent !== null && again?.outcome === 'measured') {
      const medians = this.#medians(incumbent.configuration)!;
      this.#defaults = again.seconds.map((seconds, size) => seconds * Math.exp(medians[size]!));
    }
    if (this.#defaults.length === 0) return;
    for (const [i, configuration] of configurations.entries()) {
      const result = batch.results[i]!;
      // What links says nothing new of itself.
      if (result.outcome !== 'measured' || (batch.defaultSeconds === null && i === timedAgain)) continue;
      const key = configurationKey(configuration);
      const known = this.#known.get(key) ?? { configuration, gains: [] };
      known.gains.push(result.seconds.map((seconds, size) => Math.log(this.#defaults[size]! / seconds)));
      this.#known.set(key, known);
    }
  }

  /** Gain of a configuration, over all batches that it was timed in; null when it was in none. */
  gainOf(configuration: Configuration): Gain | null {
    const medians = this.#medians(configuration);
    if (medians === null) return null;
    const ratios = medians.map(Math.exp);
    return { ratio: geometricMean(ratios), least: Math.min(...ratios) };
  }

  /** The best so far of those that lose much at no size: it is to be timed again in every batch. */
  get incumbent(): Ranked | null {
    return this.best(1)[0] ?? null;
  }

  /** The best so far of those that lose much at no size, best first. */
  best(count: number): Ranked[] {
    return [...this.#known.values()]
      .map(({ configuration }) => ({ configuration, ...this.gainOf(configuration)! }))
      .filter(({ ratio, least }) => least >= Math.min(ratio, LEAST_AT_A_SIZE))
      .sort((a, b) => b.ratio - a.ratio)
      .slice(0, count);
  }

  #medians(configuration: Configuration): number[] | null {
    const gains = this.#known.get(configurationKey(configuration))?.gains;
    if (gains === undefined) return null;
    return gains[0]!.map((_, size) => median(gains.map((own) => own[size]!)));
  }
}
