// Compiles and runs the rounds of a program on this machine. Configurations go into the sources of its executables, so that the compiler
// does not read the program again.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { withTrailingFlags } from '../compiler/command.ts';
import { withConfigurations, type Decision } from '../decision/decision.ts';
import {
  blamedFor,
  configuredWith,
  type ConfiguredExecutable,
  type SplitProgram,
} from '../inject/split-program.ts';
import { SAMPLE_ERROR, sampledProfile } from '../inject/sampled-workgroups.ts';
import { isDispatchOf } from '../input/operation.ts';
import { meterOf } from '../backend/index.ts';
import type { Profile } from '../backend/meter.ts';
import { LEAST_PAIRS, timeModule, type ModuleTimes } from '../measure/compare-modules.ts';
import { sumOf } from '../measure/statistics.ts';
import { StoppedError } from '../measure/toolchain.ts';
import { isEitherFaster } from '../program/answered.ts';
import type { Assignment } from '../program/rounds.ts';
import { independentRuns, programRuns, unknownRuns } from '../program/runs.ts';
import type { ProgramSeconds, RoundBench, RoundModule } from '../program/tune-in-program.ts';
import { processEffort, type StockContest } from '../program/verify.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import type { MeasuredProgram } from './callable.ts';
import { checkAlone } from './check-alone.ts';
import { compiling, TOO_LONG } from './compiling.ts';
import { programBuilds, type ProgramBuilds } from './program-builds.ts';
import { runOf, type TimedRun } from './program-times.ts';
import { formatSeconds } from '../system/format.ts';
import { because } from '../system/reason.ts';

/** Least processes of each module in a round. The modules take turns. */
const PROCESSES = 2;

/** If a call takes at least this many seconds, one process of each module is enough. */
const LONG_CALL = 0.02;

/** Share of a compile for timing its modules with more processes. On a busy machine a single one often shows a gain as a loss. */
const TIMING_SHARE = 0.15;
const MOST_PROCESSES = 5;

/** Calls of at least this many seconds are timed once. Their noise is small, and rounds gain far more. */
const SLOW_CALL = 1;

/**
 * Longest compile of a round: a multiple of that of the program without configurations. A few configurations are unrolled so far that
 * their code takes a minute to compile.
 */
const LONGEST_COMPILE = 3;
const LEAST_COMPILE_SECONDS = 20;

/** Seconds of the first process, which only estimates the time of a call. */
const FIRST_SECONDS = 0.1;

/** Least number of processes to confirm a program: results of both programs, then times in pairs. */
const CONFIRMING_PROCESSES = 2 * (1 + LEAST_PAIRS);

/** Share of the budget for the first call, in which the program runs whole. A slower program runs a sample of its workgroups in rounds. */
const FIRST_SHARE = 1 / 12;
const LEAST_FIRST_SECONDS = 2;

/** Most of the budget for the confirmation of a program that runs a sample in rounds: in it, stock runs whole. */
const CONFIRMING_SHARE = 0.7;

/** The same for a program with its slowest dispatches tuned, in place of stock. */
const REFERENCE_SHARE = 0.1;

/** Processes of such a confirmation, in calls of stock: one call, and several of the tuned program. */
const CONFIRMING_CALLS = 1.2;

/** Share of the budget for checks of such a program's dispatches alone. */
const CHECKING_SHARE = 0.25;

/** Limit of a program that never ran: a multiple of stock's time. */
const PATIENCE = 20;
/** The smallest such limit. */
const LEAST_PATIENCE_SECONDS = 5;

/** A workload, and its executables in a program. */
export type RunWork = Pick<Work, 'key' | 'workload' | 'executables'>;

/** A program that rounds start from. */
export interface RoundBase {
  readonly split: SplitProgram;
  /** Its module without configurations. */
  readonly module: string;
  /** Decisions about its operations, without the configurations of rounds. */
  readonly decisions: readonly Decision[];
  /** Keys of the workloads whose configuration in these decisions the module has. */
  readonly always: readonly string[];
  /** Workloads that are tuned in it or have a configuration, with the names of their executables. */
  readonly works: readonly RunWork[];
  /** Folder for our files. */
  readonly folder: string;
  /** Seconds of compiling the module. */
  readonly compileSeconds: number;
}

/** A bench for the rounds of a program, and times of the program without configurations. */
export interface ReadyRounds {
  readonly bench: RoundBench;
  readonly stock: ProgramSeconds;
  readonly run: TimedRun;
  /** Number of dispatches of each workload, by key. */
  readonly calls: ReadonlyMap<string, number>;
}

/**
 * Runs the untuned program once to time its dispatches.
 * @param contests stock, to compare the tuned program with in the end
 * @throws StoppedError when the signal fires
 */
export async function roundBench(
  { split, module: whole, decisions, always, works, folder, compileSeconds }: RoundBase,
  contests: readonly StockContest[],
  program: MeasuredProgram,
): Promise<ReadyRounds> {
  const { inspected, limits, surroundings } = program;
  const { budgetSeconds } = surroundings.settings;
  const { release } = inspected.site.compiler;
  const run = compiling(program);
  const byKey = new Map(works.map((work) => [work.key, work]));
  const configured = (assignment: Assignment): ConfiguredExecutable[] =>
    [...assignment].flatMap(([key, configuration]) => {
      const { workload, executables = [] } = byKey.get(key)!;
      return executables.map((one) => ({ executable: one, workload, configuration }));
    });
  const most = Math.max(LEAST_COMPILE_SECONDS, LONGEST_COMPILE * compileSeconds);
  /** How the dispatches of a sample of all workgroups are timed; null while the program runs whole. */
  let sample = null as Profile | null;
  const compile = async (assignment: Assignment, name: string): Promise<RoundModule> => {
    const own = join(folder, name);
    mkdirSync(own, { recursive: true });
    const { flags, texts } = configuredWith(split, configured(assignment), release, own, sample !== null);
    const module = join(own, 'program.vmfb');
    const problem = await run(withTrailingFlags(split.resumed(), [...flags, '-o', module]), undefined, most);
    if (problem === TOO_LONG) return { module: null, failed: new Set(), isLate: true };
    const keysOf = (isOwn: (executable: string) => boolean) =>
      new Set([...assignment.keys()].filter((key) => byKey.get(key)!.executables?.some(isOwn) === true));
    if (problem === null) return { module, failed: keysOf((one) => !texts.has(one)) };
    const blamed = blamedFor(problem, texts);
    return { module: null, failed: keysOf((one) => blamed.has(one)) };
  };

  /** Seconds of a call of each function, untuned. */
  let callSeconds = contests.map(() => NaN);
  /** @param firstSeconds limit of the first process */
  const timeOnce = async (module: string, firstSeconds?: number): Promise<readonly ModuleTimes[]> => {
    const times: ModuleTimes[] = [];
    for (const [i, contest] of contests.entries()) {
      const patience = Math.max(LEAST_PATIENCE_SECONDS, PATIENCE * callSeconds[i]!);
      const effort =
        firstSeconds === undefined
          ? processEffort(callSeconds[i]!, patience)
          : { repetitions: 1, minSeconds: FIRST_SECONDS, timeoutSeconds: firstSeconds };
      times.push(await timeModule(contest, module, effort, sample ?? true));
    }
    return times;
  };
  const secondsOf = (times: readonly ModuleTimes[]): ProgramSeconds => {
    const workloads = works.flatMap((work): [string, number[]][] => {
      const calls = times.flatMap(({ dispatches }) => {
        const own = [...dispatches].filter(([name]) => isDispatchOf(work, name));
        return own.length === 0 ? [] : [sumOf(own.map(([, { seconds }]) => seconds))];
      });
      return calls.length === 0 ? [] : [[work.key, calls]];
    });
    return { whole: sumOf(times.map(callOf)), workloads: new Map(workloads) };
  };
  /** Seconds of a call. Of a sample, those of the dispatches are known. */
  const callOf = ({ seconds, dispatches }: ModuleTimes) =>
    sample === null ? seconds : sumOf([...dispatches.values()].map((one) => one.seconds));
  /** Times a sample of the program. Returns null if the runtime cannot. */
  const timeSample = async () => {
    sample = sampledProfile(split.configured);
    const { module } = await compile(new Map(), 'sampled');
    const times = module === null ? [] : await timeOnce(module, limits.compileSeconds);
    if (module !== null && times.every(({ dispatches }) => dispatches.size > 0)) return { module, times };
    sample = null;
    return null;
  };
  /** Times the program whole, or else a sample of it. */
  const timeFirst = async () => {
    const seconds = Math.max(LEAST_FIRST_SECONDS, FIRST_SHARE * budgetSeconds);
    const wholeWithin = async (most: number) => ({ module: whole, times: await timeOnce(whole, most) });
    if (meterOf(inspected.site.device).profile !== undefined || seconds >= limits.compileSeconds)
      return wholeWithin(limits.compileSeconds);
    const begun = performance.now();
    try {
      return await wholeWithin(seconds);
    } catch (error) {
      if (error instanceof StoppedError || performance.now() - begun < 1000 * seconds) throw error;
      return (await timeSample()) ?? wholeWithin(limits.compileSeconds);
    }
  };
  const begun = performance.now();
  const { module: stock, times: first } = await timeFirst();
  const isSampled = sample !== null;
  const processSeconds = (performance.now() - begun) / 1000;
  callSeconds = first.map(({ seconds }) => seconds);
  const dispatches = first.flatMap((one) => [...one.dispatches]);
  const ownDispatches = (key: string) => dispatches.filter(([name]) => isDispatchOf(byKey.get(key)!, name));

  const isSlow = isSampled || Math.max(...callSeconds) >= SLOW_CALL;
  const stockSeconds = secondsOf(first);
  // One process of each program for the results, and one pair for a large gain.
  const confirmingProcesses = isSlow ? 4 : CONFIRMING_PROCESSES;
  const wholeSeconds = CONFIRMING_CALLS * stockSeconds.whole;
  const isConfirmed = !isSampled || wholeSeconds <= CONFIRMING_SHARE * budgetSeconds;
  const confirmingSeconds = isSampled
    ? CHECKING_SHARE * budgetSeconds + (isConfirmed ? wholeSeconds : 0)
    : Math.max(limits.runSeconds, confirmingProcesses * processSeconds);
  let latest: { readonly configurations: string; readonly builds: ProgramBuilds } | null = null;
  /** Builds of the user's output with these configurations and subsets of them. */
  const buildsOf = (best: Assignment): ProgramBuilds => {
    const configurations = JSON.stringify([...best]);
    if (latest?.configurations !== configurations) {
      // The compile of the first module may not have ended.
      const name = latest === null ? 'tuned.vmfb' : 'confirmed.vmfb';
      const all = withConfigurations(decisions, best);
      latest = { configurations, builds: programBuilds(program, all, undefined, name) };
    }
    return latest.builds;
  };
  const compileBest = async (best: Assignment, keys: readonly string[]) => {
    const built = await buildsOf(best).tuned([...new Set([...always, ...keys])]);
    const names = keys.map((key) => [key, ownDispatches(key).map(([name]) => name)] as const);
    return 'problem' in built ? built : { ...built, dispatches: new Map(names) };
  };
  /** The configurations without which a call takes too long; null if the rest of them is not enough to compare anything. */
  const slowestOf = (best: Assignment): readonly string[] | null => {
    const own = [...best.keys()].map((key) => ({
      key,
      seconds: sumOf(stockSeconds.workloads.get(key) ?? []),
    }));
    let left = stockSeconds.whole;
    const slowest: string[] = [];
    for (const { key, seconds } of own.toSorted((a, b) => b.seconds - a.seconds)) {
      if (CONFIRMING_CALLS * left <= REFERENCE_SHARE * budgetSeconds) break;
      left -= seconds;
      slowest.push(key);
    }
    return slowest.length < own.length ? slowest : null;
  };
  /** @param stock the program with these configurations */
  const contestsWith = (stock: string, keys: readonly string[]): readonly StockContest[] => {
    const tuned = keys.join(', ');
    // Honest builds of the original program would be as slow.
    const none = () => Promise.resolve([]);
    return contests.map((contest, i) => {
      const originalSeconds = callOf(first[i]!) / SAMPLE_ERROR;
      return { ...contest, stock, otherBuilds: none, reference: { tuned, originalSeconds } };
    });
  };
  const bench: RoundBench = {
    stock,
    isSampled,
    keys: new Set(byKey.keys()),
    compileSeconds,
    confirmingSeconds,
    compile: (assignment, index) => compile(assignment, `round${index}`),
    async time(modules) {
      const all = modules.map((module) => {
        const times = isSlow && module === stock ? [stockSeconds] : [];
        return { module, times, hasFailed: false };
      });
      const untimed = all.filter(({ times }) => times.length === 0);
      const room = Math.floor((TIMING_SHARE * compileSeconds) / (untimed.length * processSeconds));
      const least = Math.max(...callSeconds) < LONG_CALL ? PROCESSES : 1;
      const processes = Math.max(least, Math.min(room, MOST_PROCESSES));
      for (let process = 0; process < processes; process++)
        for (const one of process % 2 === 0 ? untimed : untimed.toReversed()) {
          if (one.hasFailed) continue;
          try {
            one.times.push(secondsOf(await timeOnce(one.module)));
          } catch (error) {
            if (error instanceof StoppedError || one.module === stock) throw error;
            one.hasFailed = true;
          }
        }
      return all.map(({ times, hasFailed }) => (hasFailed ? null : leastOf(times)));
    },
    foresee(best) {
      // `confirm` reports the error.
      compileBest(best, [...best.keys()]).catch(() => undefined);
    },
    async check(best) {
      const base = { split, folder, isSampled };
      const wrong = await checkAlone(base, configured(best), contests[0]!, program);
      return new Map(
        [...best.keys()].flatMap((key) => {
          const own = byKey.get(key)!.executables?.flatMap((one) => wrong.get(one) ?? []) ?? [];
          const refusal = own.find(({ outcome }) => outcome === 'wrong-result') ?? own[0];
          return refusal === undefined ? [] : [[key, refusal] as const];
        }),
      );
    },
    async confirm(best, seconds) {
      const against = (stock: readonly StockContest[]) => {
        const compileWith = (keys: readonly string[]) => compileBest(best, keys);
        const isAnswered = isSlow ? isEitherFaster : undefined;
        const runs = programRuns(stock, compileWith, seconds, isAnswered, isSampled);
        return independentRuns([...best.keys()], runs);
      };
      if (isConfirmed) return against(contests);
      const unknown = unknownRuns(tooSlow(stockSeconds.whole));
      const slowest = slowestOf(best);
      if (slowest === null) return unknown;
      const all = withConfigurations(decisions, best);
      const builds = programBuilds(program, all, undefined, 'reference.vmfb');
      const built = await builds.tuned([...always, ...slowest]);
      return 'problem' in built ? unknown : against(contestsWith(built.module, slowest));
    },
  };
  const calls = works.map(({ key }) => [key, sumOf(ownDispatches(key).map(([, one]) => one.calls))] as const);
  const timed = runOf(first.map((one) => ({ dispatches: one.dispatches, wholeSeconds: callOf(one) })));
  return { bench, stock: stockSeconds, run: timed, calls: new Map(calls) };
}

const tooSlow = (seconds: number) =>
  because(
    'results-unknown',
    `a call of the untuned program takes about ${formatSeconds(seconds)}, longer than this build has; each configuration was checked in its dispatch alone`,
  );

/** The fastest run, because other processes only add time. */
function leastOf(times: readonly ProgramSeconds[]): ProgramSeconds {
  const workloads = new Map<string, readonly number[]>();
  for (const one of times)
    for (const [key, seconds] of one.workloads)
      workloads.set(
        key,
        seconds.map((own, call) => Math.min(own, workloads.get(key)?.[call] ?? Infinity)),
      );
  return { whole: Math.min(...times.map(({ whole }) => whole)), workloads };
}
