// Results of earlier searches and builds: trials to begin with, records to continue, marks to avoid.
import { configurationKey } from '../backend/index.ts';
import { isDefault, type Configuration } from '../backend/configuration.ts';
import type { Backend, SpaceOptions } from '../backend/backend.ts';
import { carried } from '../search/counterpart.ts';
import { legalPoints, pointOf, without, type Point, type SearchSpace } from '../search/space.ts';
import { siblingsOf } from '../store/like.ts';
import { chooseRecord } from '../store/choose.ts';
import type { RecordKey, Store, Subject, Trial, TuningRecord } from '../store/store.ts';
import { withoutDispatch, workloadKey, type Workload } from '../workload/workload.ts';
import { spaceWithPrior } from './prior.ts';

/** Number of configurations of earlier searches that a new search begins with. */
const SEEDS = 4;

/** Tests whether a configuration is marked for a subject. */
export function markedIn(store: Store, subject: Subject): (configuration: Configuration) => boolean {
  const marked = new Set(store.marks(subject).map(({ configuration }) => configurationKey(configuration)));
  return (configuration) => marked.has(configurationKey(configuration));
}

/** Trials of the subject. A dispatch without trials gets those of its operation alone. */
function earlierTrials(store: Store, subject: Subject): Trial[] {
  const own = store.trials(subject);
  if (own.length > 0) return own;
  const alone = withoutDispatch(subject.workloadForm);
  return alone === null ? own : store.trials({ ...subject, workload: workloadKey(alone) });
}

/** Strategy name of trials that compare a configuration of another device of the class with the default. */
export const VERIFICATION = 'verification';

/** Whether the winner of another device has not been compared with the default on this device yet. */
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

/** The current record of a subject. */
export const recordOf = (
  store: Store,
  { workload, target, compiler, device }: RecordKey,
): TuningRecord | null => chooseRecord(store.findRecords([workload], target, compiler), device, true);

/** Distance to another shape, in doublings of its sizes, within which its trials are used. */
const NEAR = 3;

/** Number of near shapes, and of configurations from each of them. */
const NEAREST = 3;
const OF_EACH = 2;

/** The best points of near shapes, other compilers and sibling devices, carried to the subject's own space. */
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
    const all = best.map(({ configuration }) => carried(configuration, from, own));
    return all.filter((point) => point !== null);
  });
  return legalPoints(points, (point) => own.configurationAt(point));
}

/** Input of a new search. */
export interface Beginning {
  readonly backend: Backend;
  readonly options: SpaceOptions;
  /** The winner on another device of the class, or with another compiler. */
  readonly alike: TuningRecord | null;
  /** Whether to leave out every configuration that was measured before. */
  readonly goesOn: boolean;
  /** Configurations to leave out, beside marked ones. */
  readonly isExcluded?: (configuration: Configuration) => boolean;
}

/**
 * The space of a subject without marked configurations. It begins with the best configurations of earlier searches, interrupted ones included, or with those of
 * near shapes if there are none.
 */
export function begunSpace(
  store: Store,
  subject: Subject,
  { backend, options, alike, goesOn, isExcluded }: Beginning,
): SearchSpace<Configuration> {
  const isMarked = markedIn(store, subject);
  const space = without(
    spaceWithPrior(backend, subject.workloadForm, options, subject.device),
    (one) => isMarked(one) || isExcluded?.(one) === true,
  );
  const own = earlierTrials(store, subject);
  const elsewhere = alike && { configuration: alike.configuration, ratio: alike.evidence.ratio };
  const earlier = (elsewhere === null ? own : [...own, elsewhere])
    .filter(({ ratio }) => ratio !== null)
    .sort((a, b) => b.ratio! - a.ratio!);
  const byKey = new Map(earlier.map(({ configuration }) => [configurationKey(configuration), configuration]));
  const seeds = [...byKey]
    .map(([key, configuration]) => ({ key, point: pointOf(space, configuration) }))
    .filter((seed) => seed.point !== null)
    .slice(0, SEEDS);
  for (const { key } of seeds) byKey.delete(key);
  const left = goesOn ? without(space, (configuration) => byKey.has(configurationKey(configuration))) : space;
  // A user's own choice of configurations is tried unchanged.
  const known =
    seeds.length > 0 || options.only !== undefined
      ? seeds.map(({ point }) => point!)
      : neighbourPoints(store, subject, (workload) => backend.tuning(workload).space(options), space);
  const { alternatives } = space;
  return { ...left, alternatives, starts: [...known, ...left.starts], known: known.length };
}
