// The loop: search within the budget, keep every trial, decide by the finals, write the record.
import type { Backend, SpaceOptions } from '../backend/backend.ts';
import { textAfter } from '../measure/build.ts';
import type { Toolchain } from '../measure/toolchain.ts';
import { type StrategyFactory, seededRandom } from '../search/strategy.ts';
import { configurationKey } from '../backend/index.ts';
import { DEFAULT_CONFIGURATION, type Configuration } from '../backend/configuration.ts';
import { type SearchSpace, without } from '../search/space.ts';
import type { Evidence, Store, Subject, Trial } from '../store/store.ts';
import { staticForms, workloadKey } from '../workload/workload.ts';
import { finalsSeconds, prepareFinals } from './finals.ts';
import { isOpen, race, winner, type Race } from './race.ts';
import { defaultTrial, Screener, type ScreenedTrial } from './screen.ts';

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

/** A configuration that is slower than this share of the default at one size is not worth a place in the finals. */
const LEAST_AT_A_SIZE = 0.95;

/** What a strategy minimises: losing at one size is no bargain, whatever is gained at the others. */
const costOf = ({ seconds, leastRatio }: ScreenedTrial): number | null =>
  seconds === null || leastRatio === null || leastRatio >= 1 ? seconds : seconds / leastRatio ** 2;

/** A gain smaller than this does not keep a search going. */
const PATIENCE_GAIN = 0.01;

/**
 * Tunes one workload and writes its record; null when nothing could be decided (nothing compiled or ran), which is noted
 * too. Configurations that are marked are neither tried nor decided for.
 * Trials are written batch by batch, so whatever interrupts the search loses nothing that was measured.
 * @throws StoppedError when the toolchain's signal fires
 */
export async function tuneWorkload(
  toolchain: Toolchain,
  store: Store,
  job: TuningJob,
): Promise<TuningResult | null> {
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
  const strategy = job.strategy(seeded(space, earlierTrials(store, subject)), seededRandom(1));
  const screener = new Screener(toolchain, subject.workloadForm, strategy.name);
  const sizes = staticForms(subject.workloadForm).length;
  const measured: Trial[] = [];
  let best = Infinity;
  let trials = 0;
  let idle = 0;
  let complete = true;
  const report = (stage: TuningProgress['stage']) =>
    job.onProgress?.({
      workload: subject.workload,
      stage,
      trials,
      defaultSeconds: screener.defaultSeconds,
      bestSeconds: best,
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
    const defaultRun = screener.defaultSeconds * screener.runFactor;
    const likely = Array<number>(effort.finalists).fill(Math.min(best * screener.runFactor, defaultRun));
    const finals = slowestBatch + finalsSeconds(defaultRun, likely, sizes);
    const left = end - clock() - (trials === 0 ? 0 : finals);
    if ((trials > 0 && left < slowestBatch) || job.finishEarly?.aborted === true) {
      complete = false;
      break;
    }
    // What comes after the first batch takes places of the second one.
    const room = Math.max(1, effort.trialsPerBatch - (trials === 0 ? 0 : others.length));
    const points = isSearching() ? strategy.propose(Math.min(room, effort.maxTrials - trials)) : [];
    if (points.length === 0 && others.length === 0) break;
    const configurations = [...points.map((point) => space.configurationAt(point)!), ...others];
    const begun = clock();
    const batch = await screener.screen(configurations, Math.max(5, left));
    slowestBatch = Math.max(slowestBatch, clock() - begun);
    strategy.observe(points.map((point, i) => ({ point, cost: costOf(batch[i]!) })));
    // A default that cannot be compiled or run leaves nothing to compare with.
    if (trials === 0 && !Number.isFinite(screener.defaultSeconds)) {
      store.addTrials(subject, batch);
      return undecided(screener.problem);
    }
    store.addTrials(
      subject,
      trials === 0 ? [defaultTrial(screener.defaultSeconds, strategy.name), ...batch] : batch,
    );
    trials += batch.length;
    const good = batch.filter(
      (trial) => trial.seconds !== null && (trial.leastRatio ?? 1) >= LEAST_AT_A_SIZE,
    );
    measured.push(...good);
    others =
      trials === batch.length
        ? (
            await backend.followUps(
              subject.workloadForm,
              good.map(({ configuration, seconds }) => ({ configuration, seconds: seconds! })),
              options,
              (configuration, phase) => textAfter(toolchain, subject.workloadForm, configuration, phase),
            )
          ).filter((one) => !isMarked(one))
        : [];
    const batchBest = Math.min(...good.map((trial) => trial.seconds!));
    idle = batchBest < best * (1 - PATIENCE_GAIN) ? 0 : idle + 1;
    best = Math.min(best, batchBest);
    report('search');
  }
  if (trials === 0) return undecided('there is nothing to try');

  report('finals');
  const finalists = distinct(measured.toSorted((a, b) => a.seconds! - b.seconds!)).slice(0, effort.finalists);
  const finals = await prepareFinals(
    toolchain,
    subject.workloadForm,
    finalists.map(({ configuration }) => configuration),
    {
      defaultSeconds: screener.defaultSeconds * screener.runFactor,
      seconds: finalists.map(({ seconds }) => seconds! * screener.runFactor),
    },
  );
  const raced = finals && (await race(finals, () => clock() < end));
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
  const tuningSeconds = clock() - started;
  const families = backend.familiesOf(subject.workloadForm, options);
  const result = decide({ ...raced, standings: unmarked }, { trials, tuningSeconds, families, complete });
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

/** The space with the best configurations of earlier, perhaps interrupted, searches as its first starts. */
function seeded(space: SearchSpace<Configuration>, earlier: readonly Trial[]): SearchSpace<Configuration> {
  const best = earlier
    .filter((trial) => trial.seconds !== null)
    .sort((a, b) => a.seconds! - b.seconds!)
    .map(({ configuration }) => space.pointOf(configuration))
    .filter((point) => point !== null)
    .slice(0, SEEDS);
  return { ...space, starts: [...best, ...space.starts] };
}

function distinct(trials: readonly Trial[]): Trial[] {
  const seen = new Set<string>();
  return trials.filter(({ configuration }) => {
    const key = configurationKey(configuration);
    return !seen.has(key) && seen.add(key);
  });
}
