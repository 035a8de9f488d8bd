// Tunes a program in rounds within a budget, then confirms the best configurations. Pure, except for the bench.
import { assess, LEAST_ADVANTAGE, type Assessed } from './assess.ts';
import { leading, sumOf } from '../measure/statistics.ts';
import { worthOf, type Rated } from '../tuning/worth.ts';
import { Rounds, type Assignment, type Contender, type Outcomes } from './rounds.ts';
import type { ProgramsRun } from './runs.ts';
import type { Configuration } from '../backend/configuration.ts';
import type { StrategyFactory } from '../search/strategy.ts';

/** A compiled program with configurations of some workloads. */
export interface RoundModule {
  /** Path; null for a program that does not compile. */
  readonly module: string | null;
  /**
   * Workloads whose configuration could not be written into their executables. After a failed compile: workloads that the compiler's errors
   * name; may be empty.
   */
  readonly failed: ReadonlySet<string>;
  /** Whether the compile was ended because it took too long: any configuration may be the reason. */
  readonly isLate?: boolean;
}

/** Seconds of one run of a program. */
export interface ProgramSeconds {
  readonly whole: number;
  /** By workload key: seconds of its dispatches in each call that runs some. */
  readonly workloads: ReadonlyMap<string, readonly number[]>;
}

/** Why a configuration is not recorded. */
export interface Refusal {
  /** `unchecked`: its dispatch cannot be run alone. */
  readonly outcome: 'wrong-result' | 'unchecked';
  readonly reason: string;
}

/** Compiles and runs a program in rounds. Every method throws StoppedError after a stop. */
export interface RoundBench {
  /** Module of the program without configurations of a round. */
  readonly stock: string;
  /** Whether only a sample of the program's workgroups is timed, because the program is slow. */
  readonly isSampled: boolean;
  /** Keys of the workloads that rounds can tune. */
  readonly keys: ReadonlySet<string>;
  /** @param index of the round among those that are compiled at once */
  compile(assignment: Assignment, index: number): Promise<RoundModule>;
  /** Times modules in turns; null for a module that cannot be run. */
  time(modules: readonly string[]): Promise<readonly (ProgramSeconds | null)[]>;
  /** Begins to compile the program with these configurations, which `confirm` will most likely need. */
  foresee(best: Assignment): void;
  /** Runs each dispatch alone with its configuration. Returns the workloads with wrong results, and those that cannot be checked. */
  check(best: Assignment): Promise<ReadonlyMap<string, Refusal>>;
  /**
   * Runs of the program with the best configurations, for `assess`.
   * @param seconds for all runs together, about
   */
  confirm(best: Assignment, seconds: number): Promise<ProgramsRun>;
  /** Expected seconds of a compile, until a round measures it. */
  readonly compileSeconds: number;
  /** Least seconds to confirm the best configurations, without their compile. */
  readonly confirmingSeconds: number;
}

/** A variant of the program with other configurations of some workloads, such as data tiling. */
export interface RoundsVariant {
  /** Keys of these workloads. */
  readonly keys: ReadonlySet<string>;
  /** Whether it is likely to gain more than rounds, so that it comes first. */
  readonly isLikely: boolean;
  /** Compiles the program; null when it does not compile. */
  prepare(): Promise<RoundBench | null>;
}

/** Progress of the rounds. */
export interface RoundsProgress {
  readonly rounds: number;
  readonly workloads: number;
  /** Speed-up of all workloads together, each with its best configuration. */
  readonly ratio: number;
  readonly secondsLeft: number;
}

export interface RoundsOptions {
  readonly budgetSeconds: number;
  readonly roundsAtOnce: number;
  readonly strategy: StrategyFactory;
  /** Seconds on a clock that never goes back. */
  readonly clock: () => number;
  readonly onProgress: (progress: RoundsProgress) => void;
  /** Configurations from the database: confirmed together with the new ones, but not tried. */
  readonly given: Assignment;
  /** Called with the outcomes of each round. */
  readonly note: (assignment: Assignment, outcomes: Outcomes, stock: ProgramSeconds['workloads']) => void;
}

/** Least speed-up of a configuration to confirm. */
export const LEAST_RATIO = 1.03;

/** The same for times of a sample, which are up to a third off. */
const LEAST_SAMPLED_RATIO = 1.5;

/** Compiles that a variant needs: the split, and its module. */
const VARIANT_COMPILES = 2;

/** Compiles that the check of the best configurations takes, as a share of a program's. */
const CHECK_COMPILES = 1;

/** The share of the first round that has to fit into the time. Its expected time is that of a compile beside others, so it takes less. */
const FIRST_ROUND = 0.5;

/**
 * Configurations that together save less than this share of the time that is left are not checked, because each check takes as long as
 * any other.
 */
const LEAST_SAVED = 0.003;

/** Rounds end after this many batches in a row without any time. */
const MOST_FAILURES = 2;

/** Result of all rounds. */
export interface RoundsResult {
  readonly rounds: number;
  /** The best configuration of each workload with right results alone, unconfirmed in the program. */
  readonly found: Assignment;
  /** Workloads with a better configuration that was not checked, because it saves next to nothing. */
  readonly unchecked: ReadonlySet<string>;
  /** The best configurations that failed alone. */
  readonly refused: ReadonlyMap<string, Refusal & { readonly configuration: Configuration }>;
  /** Result of confirming; null if there was nothing to confirm. */
  readonly assessed: Assessed | null;
  /** Seconds of each workload in stock, one value for each batch of rounds. */
  readonly stock: ReadonlyMap<string, readonly number[]>;
  /** Whether the result is of the variant. */
  readonly isVaried: boolean;
  /** Gains of the best configurations in a sample, by key; empty if the program ran whole. */
  readonly sampled: ReadonlyMap<string, number>;
  /** Whether the rounds ended because they gained too little, not because the time was over. */
  readonly isComplete: boolean;
  /** Whether there was no time to try the variant. */
  readonly isOpen: boolean;
}

/**
 * Tunes all contenders in rounds while rounds gain something, then confirms the best configurations in the program.
 * @param variant is compiled beside the round after the first ones. If it is faster, rounds continue from there
 * @throws StoppedError after a stop
 */
export async function tuneInRounds(
  contenders: readonly Contender[],
  plain: RoundBench,
  variant: RoundsVariant | null,
  { budgetSeconds, roundsAtOnce, strategy, clock, onProgress, given, note }: RoundsOptions,
): Promise<RoundsResult> {
  const end = clock() + budgetSeconds;
  const rounds = new Rounds(contenders, strategy);
  const stock = new Map<string, number[]>();
  let bench = plain;
  let [runSeconds, failures] = [0, 0];
  /** Of the longest compile of a round; 0 before the first one. */
  let measuredSeconds = 0;
  // The expected time is that of a compile beside others, which takes up to three times as long.
  const compileSeconds = () => (measuredSeconds > 0 ? measuredSeconds : bench.compileSeconds);
  /** Seconds to check and confirm the best configurations. */
  const closingSeconds = () => (CHECK_COMPILES + 1) * compileSeconds() + bench.confirmingSeconds;
  const roundSeconds = () => compileSeconds() + runSeconds;
  // The first round finds most, so it may exceed the time, and its check and its confirmation, too. Those of a slow program would by far.
  const isTime = () => {
    const isFirst = rounds.count === 0 && !bench.isSampled;
    const needed = isFirst ? FIRST_ROUND * roundSeconds() : roundSeconds() + closingSeconds();
    return clock() + needed < end;
  };
  /** Rounds at once. One alone takes less time. */
  const mostAtOnce = () => (clock() + roundSeconds() < end ? roundsAtOnce : 1);
  let open = variant;
  // The first rounds gain more than most variants. Their best configurations are confirmed after the variant, too.
  const isDue = ({ isLikely }: RoundsVariant) => {
    const closing = rounds.bestFrom(LEAST_RATIO).size > 0 ? closingSeconds() : 0;
    const isTurn = isLikely || rounds.count > 0 || rounds.isIdle || !isTime();
    return isTurn && clock() + VARIANT_COMPILES * compileSeconds() + closing < end;
  };
  while (failures < MOST_FAILURES) {
    const begun = clock();
    const due = open !== null && isDue(open) ? open : null;
    const count = Math.max(1, mostAtOnce() - (due === null ? 0 : 1));
    const assignments = isTime() && !rounds.isIdle ? rounds.propose(count) : [];
    if (assignments.length === 0 && due === null) break;
    const own = bench;
    const compile = async (assignment: Assignment, i: number) => {
      const one = await own.compile(assignment, i);
      measuredSeconds = Math.max(measuredSeconds, clock() - begun);
      return one;
    };
    const [compiled, varied] = await Promise.all([
      Promise.all(assignments.map(compile)),
      due?.prepare() ?? null,
    ]);
    const compiledAt = clock();
    const modules = compiled.flatMap(({ module }) => module ?? []);
    const timed = varied === null ? modules : [...modules, varied.stock];
    const times = timed.length === 0 ? [] : await bench.time([bench.stock, ...timed]);
    const before = times[0] ?? null;
    for (const [key, seconds] of before?.workloads ?? [])
      stock.set(key, [...(stock.get(key) ?? []), sumOf(seconds)]);
    failures = times.length === 0 ? failures + 1 : 0;
    for (const [i, assignment] of assignments.entries()) {
      const one = compiled[i]!;
      const after = one.module === null ? null : times[1 + modules.indexOf(one.module)];
      const outcomes = outcomesOf(assignment, one, before, after ?? null);
      rounds.observe(assignment, outcomes);
      note(assignment, outcomes, before?.workloads ?? new Map<string, number[]>());
    }
    if (varied !== null && isBetter(times.at(-1) ?? null, before, rounds.bestFrom(1), due!.keys)) {
      bench = varied;
      rounds.keepOnly(varied.keys);
      // A compile of the variant takes another time.
      measuredSeconds = 0;
    }
    if (due !== null) open = null;
    runSeconds = Math.max(runSeconds, clock() - compiledAt);
    const secondsLeft = Math.max(0, end - clock());
    onProgress({ rounds: rounds.count, workloads: contenders.length, ratio: rounds.ratio, secondsLeft });
  }
  const better = rounds.bestFrom(bench.isSampled ? LEAST_SAMPLED_RATIO : LEAST_RATIO);
  const best = worthChecking(contenders, better);
  const isVaried = bench !== plain;
  // The variant has the given configurations already.
  const withGiven = (some: Assignment): Assignment =>
    some.size === 0 || isVaried ? some : new Map([...given, ...some]);
  if (best.size > 0) bench.foresee(withGiven(best));
  const failed = best.size === 0 ? new Map<string, Refusal>() : await bench.check(best);
  const found = new Map([...best].filter(([key]) => !failed.has(key)));
  const refused = new Map([...failed].map(([key, one]) => [key, { ...one, configuration: best.get(key)! }]));
  const all = withGiven(found);
  const keys = found.size === 0 && isVaried ? [...variant!.keys] : [...all.keys()];
  // More pairs of processes separate smaller gains from noise, so confirming gets all remaining time.
  const confirmingSeconds = Math.max(bench.confirmingSeconds, end - clock() - compileSeconds());
  const assessed = keys.length === 0 ? null : await assess(keys, await bench.confirm(all, confirmingSeconds));
  return {
    rounds: rounds.count,
    found,
    unchecked: new Set([...better.keys()].filter((key) => !best.has(key))),
    refused,
    assessed,
    stock,
    isVaried,
    sampled: new Map(
      bench.isSampled ? [...found.keys()].map((key) => [key, better.get(key)!.ratio] as const) : [],
    ),
    isComplete: rounds.count > 0 && failures < MOST_FAILURES && (rounds.isIdle || isTime()),
    isOpen: open !== null,
  };
}

/** The configurations without which the program would be slower, those that save most first. */
function worthChecking(contenders: readonly Contender[], best: ReadonlyMap<string, Rated>): Assignment {
  const savings = contenders
    .flatMap(({ key, share }) => {
      const one = best.get(key);
      return one === undefined ? [] : [{ key, one, saved: share * (1 - 1 / one.ratio) }];
    })
    .toSorted((a, b) => b.saved - a.saved);
  const all = sumOf(savings.map(({ saved }) => saved));
  const worth = leading(savings, 1 - (LEAST_SAVED * Math.max(0, 1 - all)) / all, ({ saved }) => saved);
  return new Map(worth.map(({ key, one }) => [key, one.configuration]));
}

/** Whether the variant is faster than the program with the best configuration of each workload. */
function isBetter(
  varied: ProgramSeconds | null,
  before: ProgramSeconds | null,
  best: ReadonlyMap<string, Rated>,
  keys: ReadonlySet<string>,
): boolean {
  if (varied === null || before === null) return false;
  const saved = [...best].flatMap(([key, { ratio }]) =>
    keys.has(key) ? [sumOf(before.workloads.get(key) ?? []) * (1 - 1 / ratio)] : [],
  );
  return LEAST_ADVANTAGE * varied.whole < before.whole - sumOf(saved);
}

/**
 * Outcomes of a round; null for a workload that does not run, or whose configuration failed. After a failed compile without a blamed
 * workload, all failed; with one, the outcomes of the others are unknown. After a late compile, all are unknown.
 */
function outcomesOf(
  assignment: Assignment,
  { module, failed, isLate = false }: RoundModule,
  before: ProgramSeconds | null,
  after: ProgramSeconds | null,
): Outcomes {
  const outcomes = new Map<string, number | null>();
  if (isLate) return outcomes;
  for (const key of assignment.keys()) {
    if (module === null && failed.size > 0 && !failed.has(key)) continue;
    const [own, tuned] = [before?.workloads.get(key), after?.workloads.get(key)];
    const ratios = own?.map((seconds, call) => seconds / (tuned?.[call] ?? NaN));
    outcomes.set(key, failed.has(key) || !ratios || !tuned ? null : worthOf(ratios));
  }
  return outcomes;
}
