// Two compilations of one program against each other: equal results first, then which is faster.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  comparisonOf,
  inPairs,
  LEAST_PAIRS,
  timeDispatches,
  timeModule,
  type Extent,
  type ModuleComparison,
  type ModuleRun,
  type ProcessEffort,
} from '../measure/compare-modules.ts';
import type { DispatchTimes } from '../measure/dispatch-times.ts';
import { decodeElements } from '../measure/elements.ts';
import { runTool, StoppedError } from '../measure/toolchain.ts';
import { compareOutputs, programAllowance } from '../measure/verify.ts';
import { messageOf } from '../system/tell.ts';
import { deviceFlags } from '../backend/index.ts';
import { type Device } from '../backend/device.ts';
import type { ProgramFunction } from '../input/signature.ts';
import type { IsAnswered } from './answered.ts';
import { areTame, roundedInputs, tameInputs } from './inputs.ts';

export interface Contest {
  /** Paths of the two compiled modules. */
  readonly stock: string;
  readonly tuned: string;
  readonly function: ProgramFunction;
  /** Values of `--input=`, as `writeInputs` gives them. */
  readonly inputs: readonly string[];
  /** More flags that the program takes to run, such as `--parameters=model=weights.irpa`. */
  readonly flags?: readonly string[];
  readonly device: Device;
  /** Paths of `iree-run-module` and `iree-benchmark-module`. */
  readonly tools: { readonly runModule: string; readonly benchmarkModule: string };
  /** Where results are written and removed again. */
  readonly folder: string;
  /**
   * Element types that values are rounded to on the way to the results. Given, results may differ by what that comes to in a
   * program of many steps; left out, by no more than one step's rounding.
   */
  readonly roundsTo?: readonly string[];
  /** By how much stock's results change when inputs are rounded, for each at most, see `roundingOf`; 0 when left out. */
  readonly rounding?: readonly number[];
  /** Ends everything; nothing does when left out. */
  readonly signal?: AbortSignal;
}

export interface Verdict {
  /** Whether all results are equal; null when the stock program gives none to compare with. */
  readonly equal: boolean | null;
  /** Largest absolute difference of two elements; Infinity when results cannot be compared. */
  readonly maxError: number;
  /** Why the results are not equal or there are no times; null otherwise. */
  readonly reason: string | null;
  /** Above 1 says that the tuned program is faster; null when they were not timed. */
  readonly timing: ModuleComparison | null;
}

/**
 * Compares both programs and, when all results are equal, times them.
 * @param extent how often, and about how long; no call may take longer than that
 */
export async function verifyProgram(
  contest: Contest,
  extent: Extent,
  isAnswered?: IsAnswered,
): Promise<Verdict> {
  const { equal, maxError, reason, seconds } = await compareProgram(contest, extent.seconds);
  if (equal !== true) return { equal, maxError, reason, timing: null };
  const timed = await timeProgram(contest, seconds, extent, isAnswered);
  return { equal, maxError, reason: timed.reason, timing: timed.timing };
}

/** Result of running both programs once. */
export interface Compared extends Omit<Verdict, 'timing'> {
  /** Whether one of them could not be run to its end. */
  readonly hasFailed: boolean;
  /** Of the longer one of two processes that call the function once; NaN where one of them failed. */
  readonly seconds: number;
  /** Values of `--input=` whose results were compared. They lie beside the contest's. */
  readonly inputs: readonly string[];
}

/**
 * Runs both programs on the same inputs and compares every result. Crashes, missing files and calls that take longer than
 * `callSeconds` are verdicts. What an argument that is overwritten holds afterwards is not looked at: the tools do not
 * show it.
 * @throws StoppedError when the signal fires
 */
export async function compareProgram(contest: Contest, callSeconds: number): Promise<Compared> {
  const folder = await mkdtemp(join(contest.folder, 'results-'));
  let run = contest;
  const notCompared = (equal: false | null, reason: string): Compared => ({
    ...{ equal, reason, inputs: run.inputs },
    ...{ maxError: Infinity, hasFailed: true, seconds: NaN },
  });
  try {
    const runStock = () => runProgram(run, run.stock, join(folder, 'stock'), callSeconds);
    let stock = await runStock();
    // Sums may grow from layer to layer until nothing is finite, and roots of negative numbers are NaN.
    for (const isPositive of areTame(run.inputs) ? [] : [false, true]) {
      if ((await badResult(Number.isFinite, run, stock)) === null) break;
      const inputs = await tameInputs(contest.inputs, isPositive);
      if (!areTame(inputs)) break;
      run = { ...run, inputs };
      stock = await runStock();
    }
    if ('failure' in stock) return notCompared(null, `stock cannot be run: ${stock.failure}`);
    const noNumber = await badResult((value) => !Number.isNaN(value), run, stock);
    // If stock needs nearly all of the time, a little more is no failure.
    const patience = Math.max(callSeconds, 3 * stock.seconds);
    const tuned = await runProgram(run, run.tuned, join(folder, 'tuned'), patience);
    if ('failure' in tuned) return notCompared(false, `tuned cannot be run: ${tuned.failure}`);
    const compared: Omit<Verdict, 'timing'> =
      noNumber === null
        ? await compareResults(run, stock.files, tuned.files)
        : { equal: null, maxError: Infinity, reason: noNumber };
    const seconds = Math.max(stock.seconds, tuned.seconds);
    return { ...compared, hasFailed: false, seconds, inputs: run.inputs };
  } catch (error) {
    if (error instanceof StoppedError) throw error;
    return notCompared(null, messageOf(error));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Whether the untuned program runs to its end.
 * @throws StoppedError when the signal fires
 */
export async function canRun(contest: Omit<Contest, 'tuned'>, callSeconds: number): Promise<boolean> {
  const folder = await mkdtemp(join(contest.folder, 'call-'));
  try {
    return !('failure' in (await runProgram(contest, contest.stock, join(folder, 'result'), callSeconds)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * By how much stock's own results change, each at most, when its inputs are rounded otherwise. Null where it cannot be run
 * with them.
 * @throws StoppedError when the signal fires
 */
export async function roundingOf(contest: Contest, callSeconds: number): Promise<readonly number[] | null> {
  const folder = await mkdtemp(join(contest.folder, 'rounded-'));
  try {
    const inputs = await roundedInputs(contest.inputs, contest.roundsTo ?? [], folder);
    const [before, after] = [
      await runProgram(contest, contest.stock, join(folder, 'as-given'), callSeconds),
      await runProgram({ ...contest, inputs }, contest.stock, join(folder, 'rounded'), callSeconds),
    ];
    if ('failure' in before || 'failure' in after) return null;
    const errors: number[] = [];
    for (const [i, elementType] of contest.function.results.entries()) {
      const [a, b] = [await readFile(before.files[i]!), await readFile(after.files[i]!)];
      errors.push(compareOutputs(a, b, elementType).maxError);
    }
    return errors;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A program of many steps rounds in each of them, and not only its inputs. */
const ROUNDINGS = 4;

interface Results {
  /** One raw file per result. */
  readonly files: readonly string[];
  /** Of the whole process. */
  readonly seconds: number;
}

/** Calls the function once. The tool insists on as many outputs as there are results. */
async function runProgram(
  { function: { name, results }, inputs, flags = [], device, tools, signal }: Omit<Contest, 'tuned'>,
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
 * Names a result on made-up inputs with elements that are not good. A result of NaN hides every error. Null if all elements are good, and
 * for inputs that are not made up.
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
    if (count > 0)
      return `result ${i} is no number in ${count} of ${elements.length} elements on made-up inputs`;
  }
  return null;
}

/** Two results at a time: together those of a large program need not fit into memory. */
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
    if (!comparison.equal && roundsTo !== undefined) {
      const allowance = programAllowance(expected, elementType, roundsTo);
      if (allowance === null)
        return { equal: null, maxError: Infinity, reason: `result ${i} is not finite on made-up inputs` };
      const more = ROUNDINGS * (rounding?.[i] ?? 0);
      // Whole numbers, such as the place of the largest element, change by anything then.
      if (more === Infinity || (more > 0 && /^[su]?i/.test(elementType)))
        return {
          equal: null,
          maxError: Infinity,
          reason: `result ${i} depends on how its inputs are rounded`,
        };
      const allowed = (value: number) => Math.max(more, allowance.fromExpected(value));
      const both = { fromExpected: allowed, fromTruth: allowed };
      comparison = compareOutputs(expected, actual, elementType, null, both);
    }
    maxError = Math.max(maxError, comparison.maxError);
    if (comparison.reason !== null) reason ??= `result ${i}: ${comparison.reason}`;
  }
  return { equal: reason === null, maxError, reason };
}

/** Result of timing both programs in pairs of processes. */
export interface Timed extends Pick<Verdict, 'reason' | 'timing'> {
  /** Times of their dispatches; empty if the runtime has no statistics. */
  readonly dispatches: readonly (readonly [stock: DispatchTimes, tuned: DispatchTimes])[];
}

/**
 * Times both, and their dispatches, in as many pairs of processes as the extent allows.
 * @param seconds of a process that calls the function once, about
 * @param isAnswered ends it early; nothing does when left out
 * @throws StoppedError when the signal fires
 */
export async function timeProgram(
  contest: Contest,
  seconds: number,
  extent: Extent,
  isAnswered?: IsAnswered,
): Promise<Timed> {
  // One pair may be enough.
  const effort = effortOf(seconds, extent, isAnswered === undefined ? leastOf(extent) : 1);
  const nothing = { timing: null, dispatches: [] };
  const tooLong = { ...nothing, reason: `timing it would take more than ${extent.seconds.toFixed(1)} s` };
  if (effort === null) return tooLong;
  const { stock, tuned } = contest;
  const run = runOf(contest);
  const isClear = (measured: readonly (readonly [{ seconds: number }, { seconds: number }])[]) =>
    isAnswered?.(measured.map(([a, b]) => Math.log(a.seconds / b.seconds))) === true;
  const withDispatches = (module: string) => timeDispatches(run, module, effort);
  const alone = async (module: string) => ({
    seconds: await timeModule(run, module, effort),
    dispatches: new Map() as DispatchTimes,
  });
  try {
    // Runtimes before 3.13 fail at once.
    const pairs = await inPairs(stock, tuned, extent, withDispatches, isClear).catch((error: unknown) => {
      if (error instanceof StoppedError) throw error;
      return inPairs(stock, tuned, extent, alone, isClear);
    });
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

/** How a function of a contest is called. */
export const runOf = ({
  tools,
  device,
  inputs,
  flags,
  function: { name },
  signal,
}: Omit<Contest, 'stock' | 'tuned'>): ModuleRun => ({
  benchmarkModule: tools.benchmarkModule,
  device,
  functionName: name,
  inputs,
  ...(flags && { flags }),
  ...(signal && { signal }),
});

/** Seconds that a process times a program for, in as many repetitions as there can be: see `undisturbed`. */
const TIMED_SECONDS = 0.08;
const LEAST_REPETITIONS = 3;
const MOST_REPETITIONS = 20;

/**
 * What takes longer than that, in seconds, is called once in a process: the time to load it is little beside that, and several
 * pairs of processes say more than several calls in each.
 */
const LONG_CALL = 0.25;

/** Least time of timing a program. @param seconds of a process that calls the function once, about */
export const leastSeconds = (seconds: number): number => 2 * LEAST_PAIRS * seconds;

const leastOf = ({ pairs }: Extent) => Math.max(1, Math.min(LEAST_PAIRS, pairs));

/** Repetitions in one process; null if there is no time for so many pairs of processes. */
function effortOf(seconds: number, extent: Extent, pairs: number): ProcessEffort | null {
  if (2 * pairs * seconds > extent.seconds) return null;
  return processEffort(seconds, Math.max(2, extent.seconds));
}

/** Repetitions in one process, by the seconds of a call. */
export function processEffort(seconds: number, timeoutSeconds: number): ProcessEffort {
  const fitting = Math.min(
    MOST_REPETITIONS,
    Math.max(LEAST_REPETITIONS, Math.floor(TIMED_SECONDS / seconds)),
  );
  const repetitions = seconds > LONG_CALL ? 1 : fitting;
  return { repetitions, minSeconds: TIMED_SECONDS / MOST_REPETITIONS, timeoutSeconds };
}
