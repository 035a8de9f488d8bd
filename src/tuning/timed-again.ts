// Pools all finals of a record that was timed again.
import { configurationText } from '../backend/index.ts';
import type { Configuration } from '../backend/configuration.ts';
import type { Run } from '../store/store.ts';
import type { Process } from './rule.ts';

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
