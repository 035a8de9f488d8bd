// A bench with simulated timings, for tests of decisions.
import type { Configuration } from '../../src/backend/configuration.ts';
import { seededRandom } from '../../src/search/strategy.ts';
import { configurationKey } from '../../src/backend/index.ts';
import type { Batch, Bench, Contestant, Field, Stratum, TimedProcess } from '../../src/tuning/bench.ts';

import { STRATA } from '../../src/tuning/finals.ts';

/** The place of a timing: a batch of the search, counted from 0, or a process of the finals. */
export type Occasion = { readonly batch: number } | { readonly stratum: Stratum };

export interface Machine {
  /** Of a configuration, relative to the default. */
  readonly gainOf: (configuration: Configuration, occasion: Occasion) => number;
  /** Standard deviation of one timing, relative. */
  readonly spread?: number;
  /** Seconds of the default, at each size. */
  readonly defaultSeconds?: (occasion: Occasion) => readonly number[];
  /** Whether the default is in every batch. */
  readonly isSlow?: boolean;
  readonly seed?: number;
}

export interface SyntheticBench extends Bench {
  /** Configurations of each batch. */
  readonly batches: readonly (readonly Configuration[])[];
}

export function syntheticBench({
  gainOf,
  spread = 0,
  defaultSeconds = () => [0.01],
  isSlow = false,
  seed = 1,
}: Machine): SyntheticBench {
  const random = seededRandom(seed);
  const noise = () => 1 + spread * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const batches: (readonly Configuration[])[] = [];
  const timed = (occasion: Occasion, gain: number) =>
    defaultSeconds(occasion).map((seconds) => (seconds / gain) * noise());
  const timedIn = (
    contestants: readonly Contestant[],
    names: readonly string[],
    occasion: Occasion,
    hasDefault = true,
  ): TimedProcess => ({
    ...('stratum' in occasion ? occasion.stratum : { placement: 'apart', build: 0 }),
    defaultSeconds: hasDefault ? timed(occasion, 1) : null,
    seconds: new Map(
      contestants
        .filter(({ name }) => names.includes(name))
        .map(({ name, configuration }) => [name, timed(occasion, gainOf(configuration, occasion))]),
    ),
    ...{ failed: new Map(), repetitions: 3 },
  });
  const contestantsOf = (
    configurations: readonly Configuration[],
    nameOf: (configuration: Configuration, i: number) => string,
  ) =>
    configurations.map((configuration, i): Contestant => ({
      configuration,
      name: nameOf(configuration, i),
      maxError: 0,
    }));
  return {
    batches,
    prepareBatch(configurations) {
      const occasion = { batch: batches.length };
      batches.push(configurations);
      const contestants = contestantsOf(configurations, configurationKey);
      const time = (): Promise<Batch> => {
        const hasDefault = !isSlow || occasion.batch === 0;
        const names = contestants.map(({ name }) => name);
        const processes = [timedIn(contestants, names, occasion, hasDefault)];
        return Promise.resolve({ contestants, processes, failed: [], problem: null });
      };
      return Promise.resolve({ time });
    },
    finalsSeconds: () => 0,
    prepareFinals({ finalists }) {
      const configurations = finalists.map(({ configuration }) => configuration);
      const contestants = contestantsOf(configurations, (_, i) => `f${i}`);
      const finals: Field = {
        ...{ contestants, failed: [], hasDefault: true, leastProcesses: 4, mostProcesses: 16 },
        strata: STRATA,
        time: (names, stratum) => Promise.resolve([timedIn(contestants, names, { stratum })]),
      };
      return Promise.resolve(finals);
    },
    textAfter: () => Promise.resolve(null),
  };
}
