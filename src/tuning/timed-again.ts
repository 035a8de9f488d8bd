// What is known of a configuration that won before and was timed again without winning: all finals that it was in, as one.
import { configurationText } from '../backend/index.ts';
import type { Configuration } from '../backend/configuration.ts';
import type { Evidence, Run } from '../store/store.ts';
import type { Race, Standing } from './final-race.ts';
import { judge, type Process } from './rule.ts';

/**
 * Processes of all finals in which a configuration was timed beside the default.
 * @param runs of its subject, in the order in which they were added
 */
export function finalsOf(runs: readonly Run[], configuration: Configuration): Process[] {
  const text = configurationText(configuration);
  const own = runs.filter(
    ({ stage, configuration: one }) => stage === 'finals' && configurationText(one) === text,
  );
  // Every build lays its functions out anew: the same stratum of another tuning is another one.
  let tuning = 0;
  return own.flatMap(({ batch, placement, build, seconds, defaultSeconds }, i) => {
    if (i > 0 && batch <= own[i - 1]!.batch) tuning++;
    if (defaultSeconds === null || seconds.length !== own[0]!.seconds.length) return [];
    const gains = seconds.map((value, size) => Math.log(defaultSeconds[size]! / value));
    return [{ stratum: `${tuning} ${placement} ${build}`, gains }];
  });
}

/**
 * Evidence that takes the place of what there was before: it counts at least as many processes, since it is of all of them.
 * @param processes of all finals, those of `standing` included
 * @returns null where it says too little to be kept
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
