// Pools all finals of an earlier winner that was timed again without winning.
import { configurationText } from '../backend/index.ts';
import type { Configuration } from '../backend/configuration.ts';
import type { Evidence, Run } from '../store/store.ts';
import type { Race, Standing } from './final-race.ts';
import { judge, type Process } from './rule.ts';

/**
 * Processes of all finals of a configuration.
 * @param runs of its subject, in the order in which they were added
 */
export function finalsOf(runs: readonly Run[], configuration: Configuration): Process[] {
  const text = configurationText(configuration);
  const own = runs.filter(
    ({ stage, configuration: one }) => stage === 'finals' && configurationText(one) === text,
  );
  // Each build has its own code layout, so a stratum of another tuning is another stratum.
  let tuning = 0;
  return own.flatMap(({ batch, placement, build, seconds, defaultSeconds }, i) => {
    if (i > 0 && batch <= own[i - 1]!.batch) tuning++;
    if (defaultSeconds === null || seconds.length !== own[0]!.seconds.length) return [];
    const gains = seconds.map((value, size) => Math.log(defaultSeconds[size]! / value));
    return [{ stratum: `${tuning} ${placement} ${build}`, gains }];
  });
}

/**
 * Evidence that replaces earlier evidence. It counts at least as many processes, because it includes the earlier ones.
 * @param processes of all finals, those of `standing` included
 * @returns null if the interval is not finite
 */
export function evidenceAgain(
  processes: readonly Process[],
  standing: Standing,
  { noiseFloor }: Race,
  before: Evidence,
  searched: Pick<Evidence, 'trials' | 'tuningSeconds' | 'families' | 'complete'>,
): Evidence | null {
  const { ratio, low, high } = judge(processes);
  if (!(low > 0 && high < Infinity)) return null;
  const isPooled = processes.length > standing.processes;
  return {
    ...{ ratio, low, high, noiseFloor },
    ...{ defaultSeconds: standing.defaultSeconds, seconds: standing.seconds },
    processes: processes.length,
    repetitions: standing.repetitions + (isPooled ? before.repetitions : 0),
    maxError: Math.max(standing.maxError, before.maxError),
    ...searched,
    complete: searched.complete || before.complete,
  };
}
