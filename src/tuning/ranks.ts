// Ranks configurations by their gain over the default in the same batch. Seconds of different batches are not comparable. Pure.
import type { Configuration } from '../backend/configuration.ts';
import { configurationKey } from '../backend/index.ts';
import { geometricMean, median } from '../measure/statistics.ts';
import type { Batch } from './bench.ts';
import { isAlternative, isSameKind, worthOf, type Rated } from './worth.ts';

/** The best of a batch seems better by so much by chance. */
export const SCREENING_ERROR = 0.05;

/** Finalists if others are further behind, or if the gain is small. There each finalist is a chance of a false claim: see `rule.ts`. */
const FEW = 4;
const PLAIN_RATIO = 1.1;

/**
 * Ranks configurations by their ratio to the default in the same batch. Later batches do not time a slow default. One configuration
 * links these batches: the best of the last batch with the default, timed again in each batch. The link never changes, because a new
 * best is partly lucky, and the luck of several links would multiply.
 */
export class Ranks {
  /** Seconds of the default in the latest batch, measured or derived from the link, at each size; empty before it was timed. */
  defaults: readonly number[] = [];
  /** By key: for each process, logarithms of the gain at each size. */
  readonly #known = new Map<string, { configuration: Configuration; gains: (readonly number[])[] }>();
  /** The configuration that links batches without the default; null if there is none. */
  #link: Configuration | null = null;
  /** Whether the latest batch had no default. */
  #isLinked = false;

  /** Adds the processes of a batch. */
  observe({ contestants, processes }: Pick<Batch, 'contestants' | 'processes'>): void {
    const isLinked = processes.every(({ defaultSeconds }) => defaultSeconds === null);
    const linkKey = this.#link && configurationKey(this.#link);
    const linkName = contestants.find((one) => configurationKey(one.configuration) === linkKey)?.name;
    const linked = linkName === undefined || !isLinked ? null : this.#medians(this.#link!);
    const defaults: (readonly number[])[] = [];
    for (const { defaultSeconds, seconds } of processes) {
      const again = linked && seconds.get(linkName!);
      const stock =
        defaultSeconds ??
        again?.map((one, size) => one * Math.exp(linked![size]!)) ??
        (this.defaults.length > 0 ? this.defaults : null);
      if (stock === null) continue;
      defaults.push(stock);
      for (const { name, configuration } of contestants) {
        const own = seconds.get(name);
        // The link's own gain is an input here.
        if (own === undefined || (isLinked && name === linkName)) continue;
        const key = configurationKey(configuration);
        const known = this.#known.get(key) ?? { configuration, gains: [] };
        known.gains.push(own.map((one, size) => Math.log(stock[size]! / one)));
        this.#known.set(key, known);
      }
    }
    if (defaults.length === 0) return;
    this.defaults = defaults[0]!.map((_, size) => geometricMean(defaults.map((one) => one[size]!)));
    this.#isLinked = isLinked;
    const isAgain = linkName !== undefined && processes.some(({ seconds }) => seconds.has(linkName));
    if (!isLinked || !isAgain) this.#link = this.incumbent?.configuration ?? null;
  }

  /** The default's time over the configuration's; null if it was not timed. */
  ratioOf(configuration: Configuration): number | null {
    const medians = this.#medians(configuration);
    return medians && worthOf(medians.map(Math.exp));
  }

  /** Configurations to time again in the next batch: the incumbent, whose first time may be lucky, and the link. */
  get timedAgain(): readonly Configuration[] {
    const incumbent = this.incumbent?.configuration ?? null;
    const link = this.#isLinked ? this.#link : null;
    return [...new Set([incumbent, link])].filter((one) => one !== null);
  }

  get incumbent(): Rated | null {
    return this.best(1)[0] ?? null;
  }

  /** Best first. Each ratio is `worthOf` the medians over its processes. */
  best(count: number): Rated[] {
    return [...this.#known.values()]
      .map(({ configuration }) => ({ configuration, ratio: this.ratioOf(configuration)! }))
      .sort((a, b) => b.ratio - a.ratio)
      .slice(0, count);
  }

  /** The best configurations, and others that may be better. Among several is the best of the other kind. */
  finalists(most: number): Rated[] {
    const ranked = this.best(most);
    const [first] = ranked;
    if (first === undefined || most === 1) return ranked;
    const close = first.ratio < PLAIN_RATIO ? Infinity : (1 - SCREENING_ERROR) * first.ratio;
    const best = ranked.filter(({ ratio }, i) => i < FEW || ratio >= close);
    const alternative = this.best(Infinity).find((one) => isAlternative(first, one));
    return alternative === undefined || best.some((one) => isSameKind(one, alternative))
      ? best
      : [...best.slice(0, most - 1), alternative];
  }

  #medians(configuration: Configuration): number[] | null {
    const gains = this.#known.get(configurationKey(configuration))?.gains;
    if (gains === undefined) return null;
    return gains[0]!.map((_, size) => median(gains.map((own) => own[size]!)));
  }
}
