// What earlier searches and builds have left: trials to begin with, records to go on from, marks to keep away from.
import { configurationKey } from '../backend/index.ts';
import { isDefault, type Configuration } from '../backend/configuration.ts';
import type { Backend, SpaceOptions } from '../backend/backend.ts';
import { carried } from '../search/counterpart.ts';
import { legalPoints, without, type Point, type SearchSpace } from '../search/space.ts';
import { siblingsOf } from '../store/like.ts';
import { chooseRecord } from '../store/choose.ts';
import type { Store, Subject, Trial, TuningRecord } from '../store/store.ts';
import { isOperationWork, workloadKey, type Workload } from '../workload/workload.ts';

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

/** Doublings of sizes within which another shape says something. */
const NEAR = 3;

/** Nearest shapes that are asked, and configurations that each of them gives. */
const NEAREST = 3;
const OF_EACH = 2;

/** Points that were best for shapes, compilers or devices that are like a subject's, carried to its own space. */
function neighbourPoints(
  store: Store,
  subject: Subject,
  spaceOf: (workload: Workload) => SearchSpace<Configuration>,
  own: SearchSpace<Configuration>,
): Point[] {
  const devices = siblingsOf(subject.device, subject.deviceForm, store);
  const near = store.trialsLike(subject, devices).filter(({ distance }) => distance <= NEAR);
  const points = near.slice(0, NEAREST).flatMap(({ workload, trials }) => {
    const from = spaceOf(workload);
    const best = trials.filter(({ configuration }) => !isDefault(configuration)).slice(0, OF_EACH);
    return best.map(({ configuration }) => carried(configuration, from, own));
  });
  return legalPoints(
    points.filter((point) => point !== null),
    (point) => own.configurationAt(point),
  );
}

/** What a search begins with. */
export interface Beginning {
  readonly backend: Backend;
  readonly options: SpaceOptions;
  /** What won on another device of the class, or with another compiler. */
  readonly alike: TuningRecord | null;
  /** Whether everything that was measured before is left out. */
  readonly goesOn: boolean;
}

/**
 * A space of a subject, which begins with the best configurations of earlier, perhaps interrupted, searches. Where there were
 * none, with those of its neighbours.
 */
export function begunSpace(
  store: Store,
  subject: Subject,
  space: SearchSpace<Configuration>,
  { backend, options, alike, goesOn }: Beginning,
): SearchSpace<Configuration> {
  const own = earlierTrials(store, subject);
  const earlier = (alike === null ? own : [...own, trialElsewhere(alike)])
    .filter(({ ratio }) => ratio !== null)
    .sort((a, b) => b.ratio! - a.ratio!);
  const byKey = new Map(earlier.map(({ configuration }) => [configurationKey(configuration), configuration]));
  const seeds = [...byKey]
    .map(([key, configuration]) => ({ key, point: space.pointOf(configuration) }))
    .filter((seed) => seed.point !== null)
    .slice(0, SEEDS);
  for (const { key } of seeds) byKey.delete(key);
  const left = goesOn ? without(space, (configuration) => byKey.has(configurationKey(configuration))) : space;
  // A user's own choice of configurations is tried as it is.
  const known =
    seeds.length > 0 || options.only !== undefined
      ? seeds.map(({ point }) => point!)
      : neighbourPoints(store, subject, (workload) => backend.spaceOf(workload, options), space);
  return { ...left, starts: [...known, ...left.starts], known: known.length };
}
