// From batches and races to trials and runs of the database.
import { DEFAULT_CONFIGURATION } from '../backend/configuration.ts';
import { geometricMean } from '../measure/statistics.ts';
import type { Run, Trial } from '../store/store.ts';
import type { Batch, Contestant, Failure, TimedProcess } from './bench.ts';
import type { Rated } from './worth.ts';

interface Timed extends Rated {
  /** Of one execution; over sizes, the geometric mean. */
  readonly seconds: number;
}

export const timedTrial = ({ configuration, seconds, ratio }: Timed, strategy: string): Trial => ({
  ...{ configuration, strategy, seconds, ratio },
  ...{ outcome: 'measured', message: null },
});

/** The default as a trial, so that the table of trials shows the baseline. */
export const defaultTrial = (seconds: number, strategy: string): Trial =>
  timedTrial({ configuration: DEFAULT_CONFIGURATION, seconds, ratio: 1 }, strategy);

/**
 * Trials of a batch.
 * @param defaults seconds of the default in it, at each size; empty if the default could not be timed
 */
export function trialsOf(
  { contestants, processes, failed }: Pick<Batch, 'contestants' | 'processes' | 'failed'>,
  defaults: readonly number[],
  strategy: string,
): Trial[] {
  const timed = contestants.flatMap(({ name, configuration }) => {
    const ratios = processes.flatMap(({ seconds, defaultSeconds }) => {
      const own = seconds.get(name);
      return own === undefined ? [] : [geometricMean(defaultSeconds ?? defaults) / geometricMean(own)];
    });
    if (ratios.length === 0 || defaults.length === 0) return [];
    const ratio = geometricMean(ratios);
    return [timedTrial({ configuration, ratio, seconds: geometricMean(defaults) / ratio }, strategy)];
  });
  return [...timed, ...failed.map((one) => failedTrial(one, strategy))];
}

export const failedTrial = ({ configuration, outcome, reason }: Failure, strategy: string): Trial => ({
  ...{ configuration, strategy, outcome, message: reason },
  ...{ seconds: null, ratio: null },
});

/**
 * Runs of one process, one for each contestant.
 * @param batch of the search, or process of the finals
 */
export const runsOf = (
  contestants: readonly Contestant[],
  { placement, build, defaultSeconds, seconds: all }: TimedProcess,
  stage: Run['stage'],
  batch: number,
): Run[] =>
  contestants.flatMap(({ name, configuration }): Run[] => {
    const seconds = all.get(name);
    if (seconds === undefined) return [];
    return [{ configuration, stage, batch, placement, build, seconds, defaultSeconds }];
  });
