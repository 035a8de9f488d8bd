// Times two compiled modules of one program.
import type { ProcessEffort } from '../measure/benchmark.ts';
import {
  comparisonOf,
  inPairs,
  LEAST_PAIRS,
  timeModule,
  type Extent,
  type ModuleComparison,
  type ModuleRun,
  type ModuleTimes,
} from '../measure/compare-modules.ts';
import type { DispatchTimes } from '../backend/meter.ts';
import { StoppedError } from '../measure/toolchain.ts';
import { messageOf } from '../system/tell.ts';
import type { ProgramFunction } from '../input/signature.ts';
import { repetitionsFor, type TimingEffort } from '../tuning/timer.ts';
import type { IsAnswered } from './answered.ts';
import type { Given } from './own-data.ts';

/** Two programs, and a function to call in both. */
export interface Contest extends ModuleRun {
  /** Paths of the two compiled modules. */
  readonly stock: string;
  readonly tuned: string;
  readonly function: ProgramFunction;
  /** Paths of `iree-run-module` and `iree-benchmark-module`. */
  readonly tools: { readonly runModule: string; readonly benchmarkModule: string };
  /** Folder for results; the caller removes it. */
  readonly folder: string;
  /** Whether inputs are random, so that others may replace them. */
  readonly isRandom?: boolean;
  /** The user's values among the inputs. No others replace them. */
  readonly given?: Given;
  /** Writes generated parameters that are moved in their last bits into a folder. @returns flags in place of `flags` */
  readonly movedFlags?: (folder: string, seed: number) => readonly string[];
  /** Whether the function computes several others. After any doubt about it, each of them is compared alone. */
  readonly isGroup?: boolean;
  /** Whether stock runs only a sample of its workgroups, on filled memory. Only what it writes is compared. */
  readonly isSampled?: boolean;
  /** Draws of inputs that results are compared on; default: two if several arguments may be weights. */
  readonly draws?: number;
  /** Set if `stock` is not the original program, which is too slow. */
  readonly reference?: Reference;
  /** Paths of other honest builds of the original program. Compiles them when first asked. */
  readonly otherBuilds?: () => Promise<readonly string[]>;
}

/** A program in place of the original one: some of its dispatches are tuned, and gave right results alone. */
export interface Reference {
  /** Names of these dispatches, for people. */
  readonly tuned: string;
  /** Seconds of a call of the original program, by the times of its dispatches; not more than they really are. */
  readonly originalSeconds: number;
}

/** A contest without its tuned module. */
export type StockContest = Omit<Contest, 'tuned'>;

export interface Verdict {
  /** Whether all results are equal; null if stock has no usable results. */
  readonly equal: boolean | null;
  /** Largest absolute difference of two elements; Infinity if results cannot be compared. */
  readonly maxError: number;
  /** How far the results are from stock's, on which data, and how far stock itself moves; null if nothing was compared. */
  readonly compared: string | null;
  /** Why the results are not equal, or why there are no times; null otherwise. */
  readonly reason: string | null;
  /** Above 1, the tuned program is faster; null without times. */
  readonly timing: ModuleComparison | null;
}

/** Result of timing both programs in pairs of processes. */
export interface Timed extends Pick<Verdict, 'reason' | 'timing'> {
  /** Times of the dispatches in each pair; the maps are empty if the runtime has no statistics. */
  readonly dispatches: readonly (readonly [stock: DispatchTimes, tuned: DispatchTimes])[];
}

/**
 * Times both programs and their dispatches, in as many pairs of processes as the extent allows.
 * @param seconds of a process that calls the function once, about
 * @param isAnswered ends the timing early
 * @throws StoppedError when the signal fires
 */
export async function timeProgram(
  contest: Contest,
  seconds: number,
  extent: Extent,
  isAnswered?: IsAnswered,
): Promise<Timed> {
  // With `isAnswered`, one pair may be enough.
  const pairs = isAnswered === undefined ? leastOf(extent) : 1;
  const effort = processEffort(seconds, Math.max(2, extent.seconds));
  const nothing = { timing: null, dispatches: [] };
  const tooLong = { ...nothing, reason: `timing it would take more than ${extent.seconds.toFixed(1)} s` };
  if (2 * pairs * seconds > extent.seconds) return tooLong;
  const { stock, tuned } = contest;
  const isClear = (measured: readonly (readonly [ModuleTimes, ModuleTimes])[]) =>
    isAnswered?.(measured.map(([a, b]) => Math.log(a.seconds / b.seconds))) === true;
  const time = (module: string) => timeModule(contest, module, effort, true);
  try {
    const pairs = await inPairs(stock, tuned, extent, time, isClear);
    if (pairs.length < leastOf(extent) && !isClear(pairs)) return tooLong;
    return {
      reason: null,
      timing: comparisonOf(pairs.map(([a, b]) => [a.seconds, b.seconds])),
      dispatches: pairs.map(([a, b]) => [a.dispatches, b.dispatches]),
    };
  } catch (error) {
    if (error instanceof StoppedError) throw error;
    return { ...nothing, reason: messageOf(error) };
  }
}

/** Many short repetitions are best for `undisturbed`. */
const CARE: TimingEffort = { seconds: 0.08, least: 3, most: 20 };

/** Least seconds to time both programs. @param seconds of a process that calls the function once, about */
export const leastSeconds = (seconds: number): number => 2 * LEAST_PAIRS * seconds;

const leastOf = ({ pairs }: Extent) => Math.max(1, Math.min(LEAST_PAIRS, pairs));

/** Effort of one process. @param seconds of a call */
export const processEffort = (seconds: number, timeoutSeconds: number): ProcessEffort => ({
  ...{ repetitions: repetitionsFor(seconds, CARE), minSeconds: CARE.seconds / CARE.most, timeoutSeconds },
});
