// Tuning the workloads of a program together, in the program. What it confirms is written down for each workload, like the outcome of
// a search of its own.
import { backendNamed, needsOf } from '../backend/index.ts';
import type { Command } from '../compiler/index.ts';
import { largestDeviation, sumOf } from '../measure/statistics.ts';
import { StoppedError } from '../measure/toolchain.ts';
import type { Contender } from '../program/rounds.ts';
import type { ComparedWorkload } from '../program/slower.ts';
import { tuneInRounds, type RoundsProgress, type RoundsResult } from '../program/tune-in-program.ts';
import { defaultStrategy } from '../search/index.ts';
import { without } from '../search/space.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { userName } from '../store/author.ts';
import type { Store } from '../store/store.ts';
import { subjectOf } from '../store/subject.ts';
import { messageOf, tell } from '../system/tell.ts';
import { earlierTrials, markedIn, seeded, trialElsewhere } from '../tuning/earlier.ts';
import { defaultResult, type Searched, type TuningResult } from '../tuning/result.ts';
import { SearchNotes } from '../tuning/search-notes.ts';
import { likelyCompilesAtOnce, type Known, type Work } from '../tuning/tune-workloads.ts';
import { isDynamic } from '../workload/workload.ts';
import type { Inspected } from './inspect.ts';
import type { KeptModules } from './kept-modules.ts';
import { roundBench } from './round-bench.ts';
import { runnable } from './runnable.ts';
import type { Limits } from './verify-program.ts';

/** Fewer workloads are tuned one by one. */
const LEAST_CONTENDERS = 4;

/** The name under which trials are kept. */
const STRATEGY = 'program';

/**
 * Tunes as many workloads of a program as it can in so many seconds. For whoever has the turn to measure.
 * @param kept takes what is compiled of the program
 * @returns what is known by now, by key; empty where the program cannot be run, and where nothing was found out
 * @throws StoppedError when the signal fires
 */
export async function tuneInProgram(
  works: readonly Work[],
  store: Store,
  command: Command,
  inspected: Inspected,
  surroundings: Surroundings,
  kept: KeptModules,
  limits: Limits,
  budgetSeconds: number,
  signal: AbortSignal,
  onProgress: (progress: RoundsProgress) => void,
): Promise<ReadonlyMap<string, Known>> {
  const nothing = new Map<string, Known>();
  const { site } = inspected;
  const backend = backendNamed(site.target.key);
  const possible = works.filter(
    ({ workload, executables = [], options }) =>
      executables.length > 0 && !isDynamic(workload) && options.only === undefined,
  );
  if (backend === undefined || possible.length < LEAST_CONTENDERS) return nothing;
  const clock = () => performance.now() / 1000;
  const begun = clock();
  try {
    const program = await runnable(command, inspected, surroundings, kept, limits, signal);
    const { bench, stock, calls } = await roundBench(
      possible,
      command,
      inspected,
      surroundings,
      program,
      limits,
      signal,
    );
    const run = possible.filter(({ key }) => stock.has(key));
    if (run.length < LEAST_CONTENDERS) return nothing;
    const total = sumOf(run.map(({ key }) => stock.get(key)!));
    const notes = new Map(
      run.map((work) => [work.key, new SearchNotes(store, subjectOf(work, site), userName())]),
    );
    const contenders = run.map(({ key, workload, options, alike }): Contender => {
      const subject = subjectOf({ key, workload }, site);
      const isMarked = markedIn(store, subject);
      const space = without(
        backend.spaceOf(workload, options),
        (one) => isMarked(one) || needsOf(one) !== null,
      );
      const own = earlierTrials(store, subject);
      const earlier = alike === undefined ? own : [...own, trialElsewhere(alike)];
      return { key, space: seeded(space, earlier, false), share: stock.get(key)! / total };
    });
    const result = await tuneInRounds(contenders, bench, {
      budgetSeconds: budgetSeconds - (clock() - begun),
      roundsAtOnce: likelyCompilesAtOnce(),
      strategy: defaultStrategy,
      clock,
      onProgress,
      note(assignment, outcomes, seconds) {
        for (const [key, configuration] of assignment) {
          const ratio = outcomes.get(key);
          if (ratio === undefined) continue;
          const trial = { configuration, strategy: STRATEGY, message: null };
          notes
            .get(key)!
            .addTrials([
              ratio === null
                ? { ...trial, outcome: 'run-error', seconds: null, ratio }
                : {
                    ...trial,
                    outcome: 'measured',
                    seconds: (seconds.get(key) ?? NaN) / calls.get(key)! / ratio,
                    ratio,
                  },
            ]);
        }
      },
    });
    for (const { key, mark } of result.assessed?.judgement.leftOut ?? [])
      if (mark?.kind === 'wrong-result')
        notes
          .get(key)!
          .markWrong([{ configuration: result.found.get(key)!, outcome: mark.kind, reason: mark.reason }]);
    const tuningSeconds = (clock() - begun) / run.length;
    const known = new Map<string, Known>();
    for (const work of run) {
      const families = backend.familiesOf(work.workload, work.options);
      const searched = { trials: result.rounds, tuningSeconds, families, complete: false };
      const own = resultOf(work.key, result, calls.get(work.key)!, searched);
      if (own !== null) known.set(work.key, { ...notes.get(work.key)!.record(own), outcome: 'tuned' });
    }
    return known;
  } catch (error) {
    if (error instanceof StoppedError) throw error;
    tell(`the program is not tuned as a whole: ${messageOf(error)}`, surroundings.settings.log);
    return nothing;
  }
}

/** What was found out about one workload; null where nothing is sure. */
function resultOf(
  key: string,
  { found, assessed, stock }: RoundsResult,
  calls: number,
  searched: Searched,
): TuningResult | null {
  const configuration = found.get(key);
  if (configuration === undefined) {
    const means = (stock.get(key) ?? []).map((seconds) => seconds / calls);
    return means.length < 2 ? null : defaultResult({ means, repetitions: means.length }, searched);
  }
  if (assessed === null || !assessed.judgement.kept.includes(key) || assessed.judgement.open !== null)
    return null;
  const compared = assessed.workloads.find((one) => one.key === key);
  if (compared === undefined || compared.comparison.low <= 1) return null;
  const errors = assessed.functions.map(({ maxError }) => maxError);
  return { configuration, evidence: { ...evidenceOf(compared), maxError: Math.max(...errors), ...searched } };
}

/** What the program has shown of a configuration that it keeps. */
function evidenceOf({ comparison, calls, processes, stock }: ComparedWorkload) {
  const { ratio, low, high, seconds } = comparison;
  return {
    ...{ ratio, low, high, processes, repetitions: processes },
    ...{ defaultSeconds: seconds[0] / calls, seconds: seconds[1] / calls },
    noiseFloor: largestDeviation(stock),
  };
}
