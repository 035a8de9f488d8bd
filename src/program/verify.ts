// Compares two compiled modules of one program: first the results, then the times.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
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
import { decodeElements } from '../measure/elements.ts';
import { runTool, StoppedError } from '../measure/toolchain.ts';
import { allowanceOf, compareOutputs, programAllowance } from '../measure/verify.ts';
import { messageOf } from '../system/tell.ts';
import { deviceFlags } from '../backend/index.ts';
import type { ProgramFunction } from '../input/signature.ts';
import { repetitionsFor, type Care } from '../tuning/timer.ts';
import type { IsAnswered } from './answered.ts';
import { areScaled, roundedInputs, scaledInputs } from './inputs.ts';

/** Two programs, and a function to call in both. */
export interface Contest extends ModuleRun {
  /** Paths of the two compiled modules. */
  readonly stock: string;
  readonly tuned: string;
  readonly function: ProgramFunction;
  /** Paths of `iree-run-module` and `iree-benchmark-module`. */
  readonly tools: { readonly runModule: string; readonly benchmarkModule: string };
  /** Folder for results, which are removed afterwards. */
  readonly folder: string;
  /**
   * For random inputs: element types of intermediate values. Results may differ by the rounding of a program with many steps. Without
   * this, results may differ by the rounding of one step.
   */
  readonly roundsTo?: readonly string[];
  /** Largest change of each of stock's results by rounded inputs: see `roundingOf`; default: 0. */
  readonly rounding?: readonly number[];
}

/** A contest without its tuned module. */
export type StockContest = Omit<Contest, 'tuned'>;

export interface Verdict {
  /** Whether all results are equal; null if stock has no usable results. */
  readonly equal: boolean | null;
  /** Largest absolute difference of two elements; Infinity if results cannot be compared. */
  readonly maxError: number;
  /** Why the results are not equal, or why there are no times; null otherwise. */
  readonly reason: string | null;
  /** Above 1, the tuned program is faster; null without times. */
  readonly timing: ModuleComparison | null;
}

/** Result of running both programs once. */
export interface Compared extends Omit<Verdict, 'timing'> {
  /** Whether a run failed. */
  readonly hasFailed: boolean;
  /** Seconds of the longer of the two processes, which each call the function once; NaN if one failed. */
  readonly seconds: number;
  /** Values of `--input=` of the compared results. Their files lie in the folder of the contest's inputs. */
  readonly inputs: readonly string[];
}

/**
 * Runs both programs on the same inputs and compares every result. Crashes, missing files and calls of more than `callSeconds` are
 * verdicts. The contents of overwritten arguments are not compared, because the tools do not print them.
 * @throws StoppedError when the signal fires
 */
export const compareProgram = (contest: Contest, callSeconds: number): Promise<Compared> =>
  inFolder(contest.folder, async (folder) => {
    let run = contest;
    const notCompared = (equal: false | null, reason: string): Compared => ({
      ...{ equal, reason, inputs: run.inputs },
      ...{ maxError: Infinity, hasFailed: true, seconds: NaN },
    });
    try {
      const runStock = () => runProgram(run, run.stock, join(folder, 'stock'), callSeconds);
      let stock = await runStock();
      // Scaled inputs avoid overflows in deep networks. Positive inputs avoid NaN from roots of negative numbers.
      for (const isPositive of areScaled(run.inputs) ? [] : [false, true]) {
        if ((await badResult(Number.isFinite, run, stock)) === null) break;
        const inputs = await scaledInputs(contest.inputs, isPositive);
        if (!areScaled(inputs)) break;
        run = { ...run, inputs };
        stock = await runStock();
      }
      if ('failure' in stock) return notCompared(null, `stock cannot be run: ${stock.failure}`);
      const noNumber = await badResult((value) => !Number.isNaN(value), run, stock);
      // If stock needs nearly all of the time, slightly slower is no failure.
      const patience = Math.max(callSeconds, 3 * stock.seconds);
      const tuned = await runProgram(run, run.tuned, join(folder, 'tuned'), patience);
      if ('failure' in tuned) return notCompared(false, `tuned cannot be run: ${tuned.failure}`);
      const compared =
        noNumber === null ? await compareResults(run, stock.files, tuned.files) : unusable(noNumber);
      const seconds = Math.max(stock.seconds, tuned.seconds);
      return { ...compared, hasFailed: false, seconds, inputs: run.inputs };
    } catch (error) {
      if (error instanceof StoppedError) throw error;
      return notCompared(null, messageOf(error));
    }
  });

/**
 * Whether the untuned program runs without an error.
 * @throws StoppedError when the signal fires
 */
export const canRun = (contest: StockContest, callSeconds: number): Promise<boolean> =>
  inFolder(contest.folder, async (folder) => {
    const run = await runProgram(contest, contest.stock, join(folder, 'result'), callSeconds);
    return !('failure' in run);
  });

/**
 * Largest absolute change of each of stock's results when its inputs are rounded; null if stock cannot be run.
 * @throws StoppedError when the signal fires
 */
export const roundingOf = (contest: StockContest, callSeconds: number): Promise<readonly number[] | null> =>
  inFolder(contest.folder, async (folder) => {
    const inputs = await roundedInputs(contest.inputs, contest.roundsTo ?? [], folder);
    const run = (given: StockContest, prefix: string) =>
      runProgram(given, contest.stock, join(folder, prefix), callSeconds);
    const [before, after] = [await run(contest, 'as-given'), await run({ ...contest, inputs }, 'rounded')];
    if ('failure' in before || 'failure' in after) return null;
    const errors: number[] = [];
    for (const [i, elementType] of contest.function.results.entries()) {
      const [a, b] = [await readFile(before.files[i]!), await readFile(after.files[i]!)];
      errors.push(compareOutputs(a, b, elementType).maxError);
    }
    return errors;
  });

/** Runs an action with a folder for results, and removes the folder. */
async function inFolder<T>(folder: string, action: (folder: string) => Promise<T>): Promise<T> {
  const own = await mkdtemp(join(folder, 'results-'));
  try {
    return await action(own);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

/** A program rounds in each step, not only its inputs, so results may change by a multiple of `rounding`. */
const ROUNDINGS = 4;

interface Results {
  /** One raw file per result. */
  readonly files: readonly string[];
  /** Seconds of the whole process. */
  readonly seconds: number;
}

/** Calls the function once. The tool needs one `--output` for each result. */
async function runProgram(
  { function: { name, results }, inputs, flags = [], device, tools, signal }: StockContest,
  module: string,
  prefix: string,
  callSeconds: number,
): Promise<Results | { readonly failure: string }> {
  const files = results.map((_, i) => `${prefix}${i}.bin`);
  const started = performance.now();
  const result = await runTool(
    tools.runModule,
    [
      `--module=${module}`,
      `--function=${name}`,
      ...inputs.map((input) => `--input=${input}`),
      ...flags,
      ...files.map((file) => `--output=@${file}`),
      ...deviceFlags(device),
    ],
    callSeconds,
    signal ?? new AbortController().signal,
  );
  if (result.ok) return { files, seconds: (performance.now() - started) / 1000 };
  const [message = ''] = result.stderr.trim().split('\n');
  return { failure: message === '' || result.timedOut ? result.ending : `${result.ending}: ${message}` };
}

/**
 * Describes a result on random inputs with bad elements. NaN would hide every error. Null if all elements are good, and for inputs that
 * are not random.
 */
async function badResult(
  isGood: (value: number) => boolean,
  { roundsTo, function: { results } }: Contest,
  run: Results | { readonly failure: string },
): Promise<string | null> {
  if (roundsTo === undefined || 'failure' in run) return null;
  for (const [i, elementType] of results.entries()) {
    if (!/^b?f/.test(elementType)) continue;
    const elements = decodeElements(await readFile(run.files[i]!), elementType) ?? [];
    let count = 0;
    for (let at = 0; at < elements.length; at++) if (!isGood(Number(elements[at]))) count++;
    if (count > 0) return `result ${i} is NaN in ${count} of ${elements.length} elements on random inputs`;
  }
  return null;
}

/** Stock's results prove nothing. */
const unusable = (reason: string) => ({ equal: null, maxError: Infinity, reason });

/** Reads one pair of results at a time, because all results of a large program may exceed the memory. */
async function compareResults(
  { function: { results }, roundsTo, rounding }: Contest,
  stock: readonly string[],
  tuned: readonly string[],
): Promise<Omit<Verdict, 'timing'>> {
  let maxError = 0;
  let reason: string | null = null;
  for (const [i, elementType] of results.entries()) {
    const [expected, actual] = [await readFile(stock[i]!), await readFile(tuned[i]!)];
    let comparison = compareOutputs(expected, actual, elementType);
    if (comparison.reason !== null && roundsTo !== undefined) {
      const allowance = programAllowance(expected, elementType, roundsTo);
      if (allowance === null) return unusable(`result ${i} is not finite on random inputs`);
      const more = ROUNDINGS * (rounding?.[i] ?? 0);
      // A small rounding may change an integer result, such as an argmax, by any amount.
      if (more === Infinity || (more > 0 && /^[su]?i/.test(elementType)))
        return unusable(`result ${i} depends on how its inputs are rounded`);
      const allowed = allowanceOf(() => Math.max(more, allowance));
      comparison = compareOutputs(expected, actual, elementType, null, allowed);
    }
    maxError = Math.max(maxError, comparison.maxError);
    if (comparison.reason !== null) reason ??= `result ${i}: ${comparison.reason}`;
  }
  return { equal: reason === null, maxError, reason };
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
const CARE: Care = { seconds: 0.08, least: 3, most: 20 };

/** Least seconds to time both programs. @param seconds of a process that calls the function once, about */
export const leastSeconds = (seconds: number): number => 2 * LEAST_PAIRS * seconds;

const leastOf = ({ pairs }: Extent) => Math.max(1, Math.min(LEAST_PAIRS, pairs));

/** Effort of one process. @param seconds of a call */
export const processEffort = (seconds: number, timeoutSeconds: number): ProcessEffort => ({
  ...{ repetitions: repetitionsFor(seconds, CARE), minSeconds: CARE.seconds / CARE.most, timeoutSeconds },
});
