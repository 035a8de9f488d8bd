// What is kept of a search, batch by batch.
import { DEFAULT_CONFIGURATION, type Configuration } from '../backend/configuration.ts';
import { geometricMean } from '../measure/statistics.ts';
import type { Run, Trial } from '../store/store.ts';
import type { Batch, FailedFinalist, Screened } from './bench.ts';

/** What became of a configuration of a batch; nothing where there was no time for it. */
export function trialOf(
  configuration: Configuration,
  result: Screened,
  defaults: readonly number[],
  strategy: string,
): Trial[] {
  if (result.outcome === 'untried') return [];
  const base = { configuration, strategy, outcome: result.outcome };
  if (result.outcome !== 'measured')
    return [{ ...base, seconds: null, ratio: null, message: result.message }];
  const seconds = geometricMean(result.seconds);
  const ratio = defaults.length === 0 ? null : geometricMean(defaults) / seconds;
  return [{ ...base, seconds, ratio, message: null }];
}

/** What was timed in one batch of the search. */
export const runsOf = (
  configurations: readonly Configuration[],
  { processes }: Batch,
  batch: number,
): Run[] =>
  processes.flatMap(({ placement, defaultSeconds, seconds: all }) =>
    configurations.flatMap((configuration, i): Run[] => {
      const seconds = all[i] ?? null;
      if (seconds === null) return [];
      return [{ configuration, stage: 'search', batch, placement, build: 0, seconds, defaultSeconds }];
    }),
  );

/** The default as a trial, so that the table of trials shows what everything is compared with. */
export const defaultTrial = (seconds: number, strategy: string): Trial => ({
  configuration: DEFAULT_CONFIGURATION,
  outcome: 'measured',
  seconds,
  ratio: 1,
  message: null,
  strategy,
});

/** A finalist that fell out of the race. */
export const failedTrial = ({ configuration, outcome, reason }: FailedFinalist, strategy: string): Trial => ({
  configuration,
  outcome,
  seconds: null,
  ratio: null,
  message: reason,
  strategy,
});
