// What earlier searches and builds have left: trials to begin with, records to go on from, marks to keep away from.
import { configurationKey } from '../backend/index.ts';
import type { Configuration } from '../backend/configuration.ts';
import { type SearchSpace, without } from '../search/space.ts';
import { chooseRecord } from '../store/choose.ts';
import type { Store, Subject, Trial, TuningRecord } from '../store/store.ts';
import { isOperationWork, workloadKey } from '../workload/workload.ts';

/** Earlier searches' best configurations that a new search begins with. */
const SEEDS = 4;

/** Which configurations are marked for a subject. */
export function markedIn(store: Store, subject: Subject): (configuration: Configuration) => boolean {
  const marked = new Set(store.marks(subject).map(({ configuration }) => configurationKey(configuration)));
  return (configuration) => marked.has(configurationKey(configuration));
}

/** What was measured before; nothing of a dispatch, then what was of its workload alone, as a place to begin. */
export function earlierTrials(store: Store, subject: Subject): Trial[] {
  const own = store.trials(subject);
  const { workloadForm } = subject;
  if (own.length > 0 || !isOperationWork(workloadForm)) return own;
  const { context, ...alone } = workloadForm;
  return context === undefined ? own : store.trials({ ...subject, workload: workloadKey(alone) });
}

/** The name under which trials are kept that compare what won on another device of the class with the default. */
export const VERIFICATION = 'verification';

/** What won on another device, as a trial: a place to begin. */
export const trialElsewhere = ({ configuration, evidence: { seconds, ratio } }: TuningRecord): Trial => ({
  configuration,
  outcome: 'measured',
  seconds,
  ratio,
  message: null,
  strategy: VERIFICATION,
});

/** Whether what won on another device is still to be compared with the default on this one: it is done once. */
export const isVerifiable = (
  store: Store,
  subject: Subject,
  { configuration }: TuningRecord,
  isMarked: (configuration: Configuration) => boolean,
): boolean =>
  !isMarked(configuration) &&
  !store
    .trials(subject)
    .some(
      (trial) =>
        trial.strategy === VERIFICATION &&
        configurationKey(trial.configuration) === configurationKey(configuration),
    );

/** The record of a subject by now. */
export const recordOf = (
  store: Store,
  { workload, target, compiler, device }: Subject,
): TuningRecord | null => chooseRecord(store.findRecords([workload], target, compiler), device, true);

/**
 * The space with the best configurations of earlier, perhaps interrupted, searches as its first starts.
 * @param goesOn whether everything else that was measured is left out
 */
export function seeded(
  space: SearchSpace<Configuration>,
  earlier: readonly Trial[],
  goesOn: boolean,
): SearchSpace<Configuration> {
  const byKey = new Map(
    earlier
      .filter((trial) => trial.ratio !== null)
      .sort((a, b) => b.ratio! - a.ratio!)
      .map(({ configuration }) => [configurationKey(configuration), configuration]),
  );
  const seeds = [...byKey]
    .map(([key, configuration]) => ({ key, point: space.pointOf(configuration) }))
    .filter((seed) => seed.point !== null)
    .slice(0, SEEDS);
  for (const { key } of seeds) byKey.delete(key);
  const left = goesOn ? without(space, (configuration) => byKey.has(configurationKey(configuration))) : space;
  return {
    ...left,
    starts: [...seeds.map(({ point }) => point!), ...left.starts],
    known: seeds.length,
  };
}
