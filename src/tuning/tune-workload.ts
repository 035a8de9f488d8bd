// The loop: search within the budget, keep every trial, decide by the finals, write the record.
import type { Backend, SpaceOptions } from '../backend/backend.ts';
import { geometricMean } from '../measure/statistics.ts';
import { type StrategyFactory, seededRandom } from '../search/strategy.ts';
import { configurationKey } from '../backend/index.ts';
import { DEFAULT_CONFIGURATION, type Configuration } from '../backend/configuration.ts';
import { type Point, type SearchSpace, without } from '../search/space.ts';
import type { Evidence, Run, Store, Subject, Trial } from '../store/store.ts';
import { workloadKey } from '../workload/workload.ts';
import type { Batch, Bench } from './bench.ts';
import { isOpen, race, winner, type Race } from './race.ts';
import { Ranks, type Gain } from './ranks.ts';
import { isUnfinished } from './undecided.ts';

/** How far a search goes when the budget does not end it first. */
export interface Effort {
  readonly trialsPerBatch: number;
  readonly maxTrials: number;
  /** Batches in a row without a gain of 1% after which the search is over. */
  readonly patience: number;
  readonly finalists: number;
}

export const DEFAULT_EFFORT: Effort = { trialsPerBatch: 16, maxTrials: 160, patience: 4, finalists: 4 };

/** What a search says of itself while it runs. Seconds are of one execution. */
export interface TuningProgress {
  readonly workload: string;
  readonly stage: 'search' | 'finals';
  readonly trials: number;
  readonly defaultSeconds: number;
  readonly bestSeconds: number;
  /** Seconds of budget left. */
  readonly secondsLeft: number;
}

export interface TuningJob {
  readonly subject: Subject;
  readonly backend: Backend;
  readonly options: SpaceOptions;
  readonly strategy: StrategyFactory;
  readonly effort: Effort;
  readonly budgetSeconds: number;
  /** Ends the search early but still decides; the toolchain's own signal ends everything. */
  readonly finishEarly?: AbortSignal;
  readonly onProgress?: (progress: TuningProgress) => void;
  /** Seconds on a clock that never goes back. */
  readonly clock: () => number;
  readonly createdBy: string;
}

/** A decision and the evidence for it. */
export interface TuningResult {
  readonly configuration: Configuration;
  readonly evidence: Evidence;
}

/** Earlier searches' best configurations that a new search begins with. */
const SEEDS = 4;

/**
 * What a strategy minimises: time relative to the default's. Losing at one size is no bargain, whatever is gained at the
 * others.
 */
const costOf = (gain: Gain | null): number | null => gain && 1 / (gain.ratio * Math.min(1, gain.least) ** 2);

/** A gain smaller than this does not keep a search going. */
const PATIENCE_GAIN = 0.01;

/**
 * Tunes one workload and writes its record; null when nothing could be decided (nothing compiled or ran), which is noted
 * too. Configurations that are marked are neither tried nor decided for.
 * Trials are written batch by batch, so whatever interrupts the search loses nothing that was measured.
 * @throws what the bench throws
 */
export async function tuneWorkload(bench: Bench, store: Store, job: TuningJob): Promise<TuningResult | null> {
  const { subject, backend, options, effort, clock } = job;
  const started = clock();
  const end = started + job.budgetSeconds;
  const isMarked = markedIn(store, subject);
  const space = without(backend.spaceOf(subject.workloadForm, options), isMarked);
  const undecided = (reason: string | null) => {
    if (reason !== null && job.finishEarly?.aborted !== true)
      store.noteUndecided(subject, reason, job.budgetSeconds);
    return null;
  };
  const before = unfinishedRecord(store, subject);
  const earlier = earlierTrials(store, subject);
  const strategy = job.strategy(seeded(space, earlier, before !== undefined), seededRandom(1));
  const ranks = new Ranks();
  /** Where the strategy proposed a configuration, by its key. */
  const pointOf = new Map<string, Point>();
  let trials = 0;
  let batches = 0;
  let idle = 0;
  let complete = true;
  const secondsOf = (ratio: number) => geometricMean(ranks.defaults) / ratio;
  /** What the bench has to expect of one run at every size. */
  const runSecondsOf = (ratio: number) => ranks.defaults.reduce((sum, seconds) => sum + seconds, 0) / ratio;
  const expected = (ratios: readonly number[]) => ({
    ofDefault: runSecondsOf(1),
    ofFinalists: ratios.map(runSecondsOf),
  });
  const report = (stage: TuningProgress['stage']) =>
    job.onProgress?.({
      workload: subject.workload,
      stage,
      trials,
      defaultSeconds: trials === 0 ? NaN : secondsOf(1),
      bestSeconds: ranks.incumbent === null ? Infinity : secondsOf(ranks.incumbent.ratio),
      secondsLeft: Math.max(0, end - clock()),
    });

  report('search');
  let slowestBatch = 0;
  let others = space.alternatives;
  const isSearching = () => trials < effort.maxTrials && idle < effort.patience;
  // What no point leads to is tried however soon the strategy has come to its end.
  while (isSearching() || others.length > 0) {
    // Without finals nothing can be decided, so their time is kept: measuring, and compiling about as much as a batch.
    // A batch that would run into it is not begun.
    const { incumbent } = ranks;
    const likely = Array<number>(effort.finalists).fill(Math.max(1, incumbent?.ratio ?? 1));
    const finals = trials === 0 ? 0 : slowestBatch + bench.finalsSeconds(expected(likely));
    const left = end - clock() - finals;
    if ((trials > 0 && left < slowestBatch) || job.finishEarly?.aborted === true) {
      complete = false;
      break;
    }
    // What comes after the first batch takes places of the second one.
    const room = Math.max(1, effort.trialsPerBatch - (trials === 0 ? 0 : others.length));
    const points = isSearching() ? strategy.propose(Math.min(room, effort.maxTrials - trials)) : [];
    if (points.length === 0 && others.length === 0) break;
    const tried = [...points.map((point) => space.configurationAt(point)!), ...others];
    for (const [i, point] of points.entries()) pointOf.set(configurationKey(tried[i]!), point);
    // The best so far may have been lucky: it is timed again beside whatever is to beat it.
    const timed = incumbent === null ? tried : [...tried, incumbent.configuration];
    const begun = clock();
    const batch = await bench.screen(timed, Math.max(5, left));
    slowestBatch = Math.max(slowestBatch, clock() - begun);
    ranks.observe(timed, batch);
    strategy.observe(
      timed.flatMap((configuration) => {
        const point = pointOf.get(configurationKey(configuration));
        return point === undefined ? [] : [{ point, cost: costOf(ranks.gainOf(configuration)) }];
      }),
    );
    const asTrials = tried.map((_, i) => trialOf(tried, batch, i, ranks.defaults, strategy.name));
    // A default that cannot be compiled or run leaves nothing to compare with.
    if (ranks.defaults.length === 0) {
      store.addTrials(subject, asTrials);
      return undecided(batch.problem);
    }
    store.addTrials(
      subject,
      trials === 0 ? [defaultTrial(secondsOf(1), strategy.name), ...asTrials] : asTrials,
    );
    store.addRuns(subject, runsOf(timed, batch, batches++));
    const isFirst = trials === 0;
    trials += tried.length;
    others = isFirst
      ? (
          await backend.followUps(
            subject.workloadForm,
            ranks
              .best(tried.length)
              .map(({ configuration, ratio }) => ({ configuration, seconds: secondsOf(ratio) })),
            options,
            (configuration, phase) => bench.textAfter(configuration, phase),
          )
        ).filter((one) => !isMarked(one))
      : [];
    // As far as both are known by now.
    const [then, now] = [incumbent && ranks.gainOf(incumbent.configuration), ranks.incumbent];
    const isBetter = now !== null && now.ratio > (then?.ratio ?? 0) * (1 + PATIENCE_GAIN);
    idle = isBetter ? 0 : idle + 1;
    report('search');
  }
  if (trials === 0) return undecided('there is nothing to try');

  report('finals');
  const finalists = ranks.best(effort.finalists);
  const finals = await bench.prepareFinals(
    finalists.map(({ configuration }) => configuration),
    expected(finalists.map(({ ratio }) => ratio)),
  );
  const raced =
    finals &&
    (await race(
      finals,
      () => clock() < end,
      (runs) => {
        store.addRuns(subject, runs);
      },
    ));
  if (raced === null) return undecided('the default could not be measured beside the best candidates');
  store.addTrials(
    subject,
    raced.failed.map(({ configuration, outcome, reason }) => ({
      configuration,
      outcome,
      seconds: null,
      ratio: null,
      message: reason,
      strategy: strategy.name,
    })),
  );
  const written = { createdAt: new Date().toISOString(), createdBy: job.createdBy };
  store.addMarks(
    subject,
    raced.failed.flatMap(({ configuration, outcome, reason }) =>
      outcome === 'wrong-result' ? [{ configuration, kind: outcome, reason, ...written }] : [],
    ),
  );
  // A build may have failed with one of them meanwhile.
  const isMarkedByNow = markedIn(store, subject);
  const unmarked = raced.standings.filter(({ configuration }) => !isMarkedByNow(configuration));
  const spent = before?.evidence ?? { trials: 0, tuningSeconds: 0 };
  const tuningSeconds = spent.tuningSeconds + clock() - started;
  const families = backend.familiesOf(subject.workloadForm, options);
  const result = decide(
    { ...raced, standings: unmarked },
    {
      trials: spent.trials + trials,
      tuningSeconds,
      families,
      complete,
    },
  );
  store.putRecord(subject, { ...result, ...written });
  return result;
}

function decide(
  raced: Race,
  search: Pick<Evidence, 'trials' | 'tuningSeconds' | 'families' | 'complete'>,
): TuningResult {
  const best = winner(raced);
  const { defaultSeconds, noiseFloor } = raced;
  const { processes } = best ?? raced;
  const repetitions = processes * raced.repetitions;
  const common = { defaultSeconds, processes, repetitions, noiseFloor, ...search };
  if (best === null) {
    const own = { ratio: 1, low: 1, high: 1, seconds: defaultSeconds, maxError: 0 };
    const complete = search.complete && !isOpen(raced);
    return { configuration: DEFAULT_CONFIGURATION, evidence: { ...common, ...own, complete } };
  }
  const { configuration, ratio, low, high, seconds, maxError } = best;
  return { configuration, evidence: { ...common, ratio, low, high, seconds, maxError } };
}

/** Which configurations are marked for a subject. */
function markedIn(store: Store, subject: Subject): (configuration: Configuration) => boolean {
  const marked = new Set(store.marks(subject).map(({ configuration }) => configurationKey(configuration)));
  return (configuration) => marked.has(configurationKey(configuration));
}

/** What was measured before; nothing of a dispatch, then what was of its workload alone, as a place to begin. */
function earlierTrials(store: Store, subject: Subject): Trial[] {
  const own = store.trials(subject);
  const { context, ...alone } = subject.workloadForm;
  return own.length > 0 || context === undefined
    ? own
    : store.trials({ ...subject, workload: workloadKey(alone) });
}

/** The record of searches that found nothing and did not end: what they spent counts, and what they tried is known. */
const unfinishedRecord = (store: Store, { workload, target, compiler, device }: Subject) =>
  store
    .findRecords([workload], target, compiler)
    .find((record) => record.device === device && isUnfinished(record, Infinity));

/**
 * The space with the best configurations of earlier, perhaps interrupted, searches as its first starts.
 * @param goesOn whether everything else that was measured is left out
 */
function seeded(
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
  return { ...left, starts: [...seeds.map(({ point }) => point!), ...left.starts] };
}

/** What became of one configuration of a batch. */
function trialOf(
  configurations: readonly Configuration[],
  { results }: Batch,
  index: number,
  defaults: readonly number[],
  strategy: string,
): Trial {
  const [configuration, result] = [configurations[index]!, results[index]!];
  const base = { configuration, strategy, outcome: result.outcome };
  if (result.outcome !== 'measured') return { ...base, seconds: null, ratio: null, message: result.message };
  const seconds = geometricMean(result.seconds);
  const ratio = defaults.length === 0 ? null : geometricMean(defaults) / seconds;
  return { ...base, seconds, ratio, message: null };
}

/** What was timed in one batch of the search. */
const runsOf = (
  configurations: readonly Configuration[],
  { results, defaultSeconds }: Batch,
  batch: number,
): Run[] =>
  configurations.flatMap((configuration, i): Run[] => {
    const result = results[i]!;
    if (result.outcome !== 'measured') return [];
    const { seconds } = result;
    return [{ configuration, stage: 'search', batch, placement: 'apart', build: 0, seconds, defaultSeconds }];
  });

/** The default as a trial, so that the table of trials shows what everything is compared with. */
const defaultTrial = (seconds: number, strategy: string): Trial => ({
  configuration: DEFAULT_CONFIGURATION,
  outcome: 'measured',
  seconds,
  ratio: 1,
  message: null,
  strategy,
});
