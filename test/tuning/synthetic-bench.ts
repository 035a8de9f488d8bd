// A bench that makes its timings up, in no time: for tests of what tuning decides.
import type { Configuration } from '../../src/backend/configuration.ts';
import { seededRandom } from '../../src/search/strategy.ts';
import type { Batch, Bench, Finals, Stratum } from '../../src/tuning/bench.ts';

/** Where something is timed: a batch of the search, counted from 0, or a process of the finals. */
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
  /** What was timed in each batch. */
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
  return {
    batches,
    prepareBatch(configurations) {
      const occasion = { batch: batches.length };
      batches.push(configurations);
      const time = (): Promise<Batch> => {
        const own = isSlow && occasion.batch > 0 ? null : timed(occasion, 1);
        const seconds = configurations.map((one) => timed(occasion, gainOf(one, occasion)));
        return Promise.resolve({
          defaultSeconds: own,
          repetitions: own === null ? 0 : 3,
          processes: [{ placement: 'apart', defaultSeconds: own, seconds }],
          problem: null,
          results: seconds.map((one) => ({ outcome: 'measured', seconds: one })),
        });
      };
      return Promise.resolve({ time });
    },
    finalsSeconds: () => 0,
    prepareFinals(configurations) {
      const finalists = configurations.map((configuration, i) => ({
        name: `f${i}`,
        configuration,
        maxError: 0,
      }));
      const finals: Finals = {
        finalists,
        failed: [],
        placements: ['apart', 'packed'],
        repetitions: 3,
        leastProcesses: 4,
        mostProcesses: 16,
        time: (names, stratum) =>
          Promise.resolve({
            defaultSeconds: timed({ stratum }, 1),
            againSeconds: timed({ stratum }, 1),
            seconds: new Map(
              finalists
                .filter(({ name }) => names.includes(name))
                .map(({ name, configuration }) => [
                  name,
                  timed({ stratum }, gainOf(configuration, { stratum })),
                ]),
            ),
            failed: new Map(),
          }),
      };
      return Promise.resolve(finals);
    },
    textAfter: () => Promise.resolve(null),
  };
}
