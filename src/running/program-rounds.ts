// Tunes the workloads of a program together, in the program. Each confirmed configuration becomes the record of its workload, as if a search
// for the workload alone had found it.
import { join } from 'node:path';
import { isDefault, type Configuration, type OwnConfiguration } from '../backend/configuration.ts';
import { backendNamed, configurationText, needsOf } from '../backend/index.ts';
import { isInjected, type Decision } from '../decision/decision.ts';
import { SAMPLE_ERROR } from '../inject/sampled-workgroups.ts';
import { largestDeviation, sumOf } from '../measure/statistics.ts';
import { StoppedError } from '../measure/toolchain.ts';
import { certainGain, type Assessed } from '../program/assess.ts';
import type { Contender } from '../program/rounds.ts';
import type { ComparedWorkload } from '../program/slower.ts';
import { LEAST_RATIO, tuneInRounds, type RoundsResult } from '../program/tune-in-program.ts';
import type { Terminal } from '../report/terminal.ts';
import { defaultStrategy } from '../search/index.ts';
import type { Store, Trial } from '../store/store.ts';
import { subjectOf } from '../store/subject.ts';
import { messageOf, tell } from '../system/tell.ts';
import { begunSpace } from '../tuning/earlier.ts';
import { defaultResult, type Searched, type TuningResult } from '../tuning/result.ts';
import { SearchNotes } from '../tuning/search-notes.ts';
import { likelyCompilesAtOnce } from '../tuning/here.ts';
import type { Known, Work } from '../tuning/tune-workloads.ts';
import { joinsRounds, kinOf, needsProgram } from '../workload/workload.ts';
import { NotVerifiedError, type Callable } from './callable.ts';
import { noteTimes, type TimedRun } from './program-times.ts';
import { roundBench, type RoundBase, type RunWork } from './round-bench.ts';
import { runnable } from './program-builds.ts';
import { verdictOn } from './variants/data-tiling.ts';
import { variantBase } from './variants/variant-base.ts';
import type { VariantVerdict } from './variants/variant.ts';
import type { DecidedProgram, Verification } from './verify-program.ts';
import { NO_REASON } from '../system/reason.ts';

/** Smallest number of operations, or of dispatches, with which operations are tuned in rounds. Fewer operations are tuned one by one. */
const LEAST_TOGETHER = 4;

/**
 * The workloads to tune in the program: dispatches, which cannot be tuned alone, and operations if there is enough of either. Operations beside many
 * dispatches join their rounds: afterwards, they would get no time, and may take most of the program's.
 */
export function contendersOf(works: readonly Work[]): readonly Work[] {
  const possible = works.filter(
    ({ workload, executables = [], options }) =>
      executables.length > 0 && joinsRounds(workload) && options.only === undefined,
  );
  const dispatches = possible.filter(({ workload }) => needsProgram(workload));
  const most = Math.max(dispatches.length, possible.length - dispatches.length);
  return most >= LEAST_TOGETHER ? possible : dispatches;
}

/** Smallest share of the program's time for which a variant is tried. */
const LEAST_VARIANT_SHARE = 1 / 3;

/** Strategy name of the trials. */
const STRATEGY = 'program';

/** Configurations that together gave correct results and a faster program, or that a program has that is too slow to be run. */
export interface Confirmed extends Verification {
  /** Texts of configurations as in the database, by key. */
  readonly configurations: ReadonlyMap<string, string>;
}

export interface ProgramTuning {
  /** Known records, by key. */
  readonly results: ReadonlyMap<string, Known>;
  readonly confirmed: Confirmed | null;
  /** Whether the time was too short to tune the program, or to confirm a configuration in it. */
  readonly lacksTime: boolean;
  /** Whether a round ran. */
  readonly isBegun: boolean;
}

/**
 * Tunes as many workloads of a program as the budget allows. The caller holds the measuring lock.
 * @returns nothing if the program cannot be run
 * @throws StoppedError when the signal fires
 */
export async function tuneInProgram(
  program: DecidedProgram,
  works: readonly Work[],
  store: Store,
  budgetSeconds: number,
  terminal: Terminal,
): Promise<ProgramTuning> {
  const { inspected, surroundings, decisions, variant } = program;
  const { site } = inspected;
  const backend = backendNamed(site.target.key);
  if (backend === undefined) return NOTHING;
  const clock = () => performance.now() / 1000;
  const begun = clock();
  try {
    const ready = await runnable(program, true);
    const { contests } = ready;
    const given = givenBy(decisions);
    const open = new Set(works.map(({ key }) => key));
    const base: RoundBase = {
      ...{ split: ready.split!, module: ready.stock, decisions, always: [] },
      works: [...works, ...[...given].flatMap(([key, one]) => (open.has(key) ? [] : [one]))],
      folder: join(ready.folder, 'rounds'),
      compileSeconds: program.kept.stockSeconds,
    };
    const { bench, stock, run: timed, calls } = await roundBench(base, contests, program);
    await noteTimes(program, timed, store);
    const run = works.filter(({ key }) => stock.workloads.has(key));
    if (contendersOf(run).length === 0) return NOTHING;
    const notes = new Map(run.map((work) => [work.key, new SearchNotes(store, subjectOf(work, site))]));
    const contenders = run.map(({ key, workload, options, alike }): Contender => {
      const subject = subjectOf({ key, workload }, site);
      const beginning = { backend, options, alike: alike ?? null, goesOn: false };
      const isExcluded = (one: Configuration) => needsOf(one) !== null;
      const space = begunSpace(store, subject, { ...beginning, isExcluded });
      const share = sumOf(stock.workloads.get(key)!) / stock.whole;
      return { key, kin: kinOf(workload), space, share };
    });
    const prepare = async () => {
      const varied = await variantBase(program, ready, run);
      return varied && (await roundBench(varied, contests, program)).bench;
    };
    const changed = contenders.filter(({ key }) => variant.has(key));
    // A variant takes two more compiles.
    const shareOf = (some: readonly Contender[]) => sumOf(some.map(({ share }) => share));
    const isWorthIt = shareOf(changed) >= LEAST_VARIANT_SHARE;
    const likely = run.filter(({ workload }) => backend.wholeProgram?.isLikelyToGain(workload));
    const likelyKeys = new Set(likely.map(({ key }) => key));
    const isLikely = 2 * shareOf(changed.filter(({ key }) => likelyKeys.has(key))) > shareOf(changed);
    const result = await tuneInRounds(
      contenders,
      bench,
      isWorthIt ? { keys: new Set(variant.keys()), isLikely, prepare } : null,
      {
        budgetSeconds: budgetSeconds - (clock() - begun),
        roundsAtOnce: likelyCompilesAtOnce(),
        strategy: defaultStrategy,
        clock,
        onProgress: (progress) => {
          terminal.rounds(progress);
        },
        given: new Map([...given].map(([key, { configuration }]) => [key, configuration])),
        note(assignment, outcomes, seconds) {
          for (const [key, configuration] of assignment) {
            const ratio = outcomes.get(key);
            if (ratio === undefined) continue;
            const own = sumOf(seconds.get(key) ?? [NaN]) / calls.get(key)!;
            notes.get(key)!.addTrials([trialOf(configuration, ratio, own)]);
          }
        },
      },
    );
    if (!result.isVaried && result.assessed !== null)
      await noteTimes(program, tunedRun(result.assessed), store);
    for (const { key, mark } of result.assessed?.judgement.leftOut ?? [])
      if (mark?.kind === 'wrong-result' && result.found.has(key))
        notes
          .get(key)!
          .markWrong([{ configuration: result.found.get(key)!, outcome: mark.kind, reason: mark.reason }]);
    for (const [key, { outcome, reason, configuration }] of result.refused)
      if (outcome === 'wrong-result') notes.get(key)!.markWrong([{ configuration, outcome, reason }]);
    const tuningSeconds = (clock() - begun) / run.length;
    const gain = result.isVaried && result.assessed !== null ? certainGain(result.assessed) : null;
    const onVariant = verdictOn(variant, gain, result.isOpen);
    const known = new Map<string, Known>();
    for (const work of run) {
      const families = backend.tuning(work.workload).families(work.options);
      // Work that needs its program has no other search.
      const complete = result.isComplete && needsProgram(work.workload);
      const searched = { trials: result.rounds, tuningSeconds, families, complete };
      const own = resultOf(work.key, result, calls.get(work.key)!, onVariant.chosen.has(work.key), searched);
      if (own !== null) known.set(work.key, { ...notes.get(work.key)!.record(own), outcome: 'tuned' });
    }
    const confirmed = confirmedBy(result, onVariant, given, known, ready.callable);
    const isOpen = result.rounds === 0 || (result.assessed?.judgement.open ?? null) !== null;
    return { results: known, confirmed, lacksTime: isOpen, isBegun: result.rounds > 0 };
  } catch (error) {
    if (error instanceof StoppedError) throw error;
    tell(`the program is not tuned as a whole: ${messageOf(error)}`, surroundings.settings.log);
    // With other data the same time may be enough.
    const isUnusable = error instanceof NotVerifiedError && error.why.code === 'data-unusable';
    return { ...NOTHING, lacksTime: isUnusable };
  }
}

/** The run of an assessed program. Its calls are those of the untuned program. */
function tunedRun({ dispatchSeconds, functions }: Assessed): TimedRun {
  const whole = functions.map(({ timing }) => timing?.seconds[1] ?? null);
  return {
    dispatches: new Map([...dispatchSeconds].map(([name, seconds]) => [name, { seconds }])),
    wholeSeconds: whole.includes(null) ? null : sumOf(whole as number[]),
  };
}

/** A workload that has a configuration already. */
interface Given extends RunWork {
  readonly configuration: Configuration;
}

/** Workloads with a configuration, by key. Rounds may find a better one. */
function givenBy(decisions: readonly Decision[]): ReadonlyMap<string, Given> {
  const given = decisions
    .filter(isInjected)
    .filter(({ tunable: { executables = [] } }) => executables.length > 0)
    .filter(({ configuration }) => needsOf(configuration) === null);
  return new Map(given.map(({ tunable, configuration }) => [tunable.key, { ...tunable, configuration }]));
}

const NOTHING: ProgramTuning = { results: new Map(), confirmed: null, lacksTime: false, isBegun: false };

/** A trial in a program. @param seconds time of the default */
const trialOf = (configuration: Configuration, ratio: number | null, seconds: number): Trial => ({
  ...{ configuration, strategy: STRATEGY, message: null, ratio },
  ...(ratio === null
    ? { outcome: 'run-error', seconds: null }
    : { outcome: 'measured', seconds: seconds / ratio }),
});

/**
 * The confirmed configurations, or those of a sample; null without a verdict. Exactly the program that ran ships: configurations whose own gain is
 * not certain belong to the program, and become no records.
 */
function confirmedBy(
  { found, assessed, isVaried, sampled }: RoundsResult,
  variant: VariantVerdict,
  given: ReadonlyMap<string, Given>,
  known: ReadonlyMap<string, Known>,
  { skipped }: Callable,
): Confirmed | null {
  const isUnknown = assessed === null || (assessed.judgement.open !== null && sampled.size === 0);
  if (isUnknown || (isVaried && variant.chosen.size === 0)) return null;
  const { functions, judgement } = assessed;
  const ran = new Map<string, Configuration>();
  const unsure = new Map<string, OwnConfiguration>();
  for (const key of judgement.kept) {
    const configuration = found.get(key) ?? given.get(key)?.configuration;
    if (configuration === undefined) continue;
    ran.set(key, configuration);
    const record = known.get(key)?.configuration;
    if (found.has(key) && record !== undefined && isDefault(record) && !isDefault(configuration))
      unsure.set(key, configuration);
  }
  const { open } = judgement;
  return {
    configurations: new Map([...ran].map(([key, one]) => [key, configurationText(one)])),
    verdict: { functions, skipped, leftOut: [], injected: true, ...(open ?? NO_REASON) },
    ...{ judgement: { kept: [...ran.keys()], leftOut: [], open }, workloads: [] },
    variant: { ...variant, chosen: new Map([...variant.chosen, ...unsure]) },
  };
}

/**
 * Result for one workload: its configuration if the program shows a certain gain, else the default. The search of a workload whose
 * gain is likely but not certain is not complete: a build with more time goes on with it.
 * @returns null if the program has no verdict, or the default was not timed
 */
function resultOf(
  key: string,
  { found, unchecked, assessed, stock, sampled }: RoundsResult,
  calls: number,
  isInVariant: boolean,
  searched: Searched,
): TuningResult | null {
  const byDefault = (complete = searched.complete) => {
    const means = (stock.get(key) ?? []).map((seconds) => seconds / calls);
    if (means.length === 0) return null;
    // A default that was timed in one batch may have been lucky.
    const isKnown = complete && means.length > 1;
    return defaultResult({ means, repetitions: means.length }, { ...searched, complete: isKnown });
  };
  const configuration = found.get(key);
  // The database keeps the configurations of a variant with the program.
  if (isInVariant || configuration === undefined) return byDefault(searched.complete && !unchecked.has(key));
  const gain = sampled.get(key);
  const bySample = (): TuningResult | null => {
    const [seconds] = stock.get(key) ?? [];
    if (gain === undefined || seconds === undefined) return null;
    return { configuration, evidence: { ...evidenceFrom(gain, seconds / calls), ...searched } };
  };
  if (assessed?.judgement.open !== null) return bySample();
  if (!assessed.judgement.kept.includes(key)) return byDefault();
  const compared = assessed.workloads.find((one) => one.key === key);
  if (compared === undefined) return bySample();
  const { ratio, low } = compared.comparison;
  if (low <= 1) return byDefault(searched.complete && ratio < LEAST_RATIO);
  const errors = assessed.functions.map(({ maxError }) => maxError);
  return { configuration, evidence: { ...evidenceOf(compared), maxError: Math.max(...errors), ...searched } };
}

/** Evidence from one run of a sample. */
const evidenceFrom = (ratio: number, defaultSeconds: number) => ({
  ...{ ratio, low: ratio / SAMPLE_ERROR, high: ratio * SAMPLE_ERROR, processes: 1, repetitions: 1 },
  ...{ defaultSeconds, seconds: defaultSeconds / ratio, noiseFloor: SAMPLE_ERROR - 1, maxError: 0 },
});

/** Evidence from the program for a kept configuration. */
function evidenceOf({ comparison, calls, processes, stock }: ComparedWorkload) {
  const { ratio, low, high, seconds } = comparison;
  return {
    ...{ ratio, low, high, processes, repetitions: processes },
    ...{ defaultSeconds: seconds[0] / calls, seconds: seconds[1] / calls },
    noiseFloor: largestDeviation(stock),
  };
}
