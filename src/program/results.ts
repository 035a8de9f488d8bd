// Compares the results of tuned programs with those of stock, which runs once.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeElements } from '../measure/elements.ts';
import { StoppedError } from '../measure/toolchain.ts';
import { allowanceOf, callFunction, compareOutputs, programAllowance } from '../measure/verify.ts';
import { messageOf } from '../system/tell.ts';
import { roundedInputs, scaledInputs } from './inputs.ts';
import type { Contest, StockContest, Verdict } from './verify.ts';

type Equality = Omit<Verdict, 'timing'>;

/** Result of running both programs once. */
export interface Compared extends Equality {
  /** Whether a run failed. */
  readonly hasFailed: boolean;
  /** Seconds of the longer of the two processes, which each call the function once; NaN if one failed. */
  readonly seconds: number;
}

/**
 * Compares a tuned module's results with stock's. Crashes, missing files and calls of more than `callSeconds` are verdicts. It rejects
 * with StoppedError when the signal fires.
 * @param isTimeLeft whether stock may run on rounded inputs, too
 */
export type CompareResults = (
  tuned: string,
  callSeconds: number,
  isTimeLeft?: () => boolean,
) => Promise<Compared>;

/** The contents of overwritten arguments are not compared, because the tools do not print them. */
export function comparisonWith(stock: StockContest): CompareResults {
  let reference: Reference | null = null;
  let isSteady: boolean | null = null;
  let rounding: readonly number[] | null = null;

  const compare: CompareResults = async (tuned, callSeconds, isTimeLeft = () => true) => {
    const known = reference ?? (await referenceOf(stock, callSeconds));
    if ('failure' in known) return failed(null, `stock cannot be run: ${known.failure}`);
    reference = known;
    const { folder, files, problem } = known;
    // If stock needs nearly all of the time, slightly slower is no failure.
    const patience = Math.max(callSeconds, 3 * known.seconds);
    const run = (module: string, prefix: string, inputs = known.inputs) =>
      runProgram({ ...stock, inputs }, module, join(folder, prefix), patience);
    const own = await run(tuned, 'tuned');
    if ('failure' in own) return failed(false, `tuned cannot be run: ${own.failure}`);
    const equalTo = (results: Results, rounding?: readonly number[]) =>
      compareResults(stock, files, results.files, rounding);
    const result = (equality: Equality): Compared => ({
      ...{ ...equality, hasFailed: false, seconds: Math.max(known.seconds, own.seconds) },
    });
    const equality = problem === null ? await equalTo(own) : unusable(problem);
    if (equality.equal !== false) return result(equality);
    // If stock's results differ from run to run, a difference proves nothing.
    if (isSteady === null) {
      const again = await run(stock.stock, 'again');
      isSteady = !('failure' in again) && (await equalTo(again)).equal === true;
    }
    if (!isSteady) return result({ ...equality, equal: null, reason: 'its results differ from run to run' });
    if (stock.roundsTo === undefined) return result(equality);
    // A difference proves nothing either if rounded inputs change stock's results as much.
    if (rounding === null) {
      if (!isTimeLeft()) return result(equality);
      const rounded = await run(
        stock.stock,
        'rounded',
        await roundedInputs(known.inputs, stock.roundsTo, folder),
      );
      rounding = 'failure' in rounded ? [] : await changesOf(stock, files, rounded.files);
    }
    return result(await equalTo(own, rounding));
  };
  return (...of) =>
    compare(...of).catch((error: unknown) => {
      if (error instanceof StoppedError) throw error;
      return failed(null, messageOf(error));
    });
}

/** Compares the results of both programs once, and removes them. See `CompareResults`. */
export async function compareProgram(contest: Contest, callSeconds: number): Promise<Compared> {
  const folder = await mkdtemp(join(contest.folder, 'compared-'));
  try {
    return await comparisonWith({ ...contest, folder })(contest.tuned, callSeconds);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Whether the untuned program runs without an error.
 * @throws StoppedError when the signal fires
 */
export const canRun = async (contest: StockContest, callSeconds: number): Promise<boolean> => {
  const run = await runProgram(contest, contest.stock, join(contest.folder, 'tried'), callSeconds);
  return !('failure' in run);
};

const failed = (equal: false | null, reason: string): Compared => ({
  ...{ equal, reason, maxError: Infinity, hasFailed: true, seconds: NaN },
});

/** Stock's results prove nothing. */
const unusable = (reason: string): Equality => ({ equal: null, maxError: Infinity, reason });

/** A program rounds in each step, not only its inputs, so results may change by a multiple of their change by rounded inputs. */
const ROUNDINGS = 4;

interface Failure {
  readonly failure: string;
}

interface Results {
  /** One raw file per result. */
  readonly files: readonly string[];
  /** Seconds of the whole process. */
  readonly seconds: number;
}

/** Stock's results. */
interface Reference extends Results {
  readonly folder: string;
  /** Values of `--input=`. Their files lie in the folder of the contest's inputs. */
  readonly inputs: readonly string[];
  /** Why the results prove nothing; null if they do. */
  readonly problem: string | null;
}

/**
 * Runs stock on the contest's inputs. If results are not finite, scaled inputs avoid overflows in deep networks, and positive inputs avoid
 * NaN from roots of negative numbers.
 */
async function referenceOf(contest: StockContest, callSeconds: number): Promise<Reference | Failure> {
  const folder = await mkdtemp(join(contest.folder, 'results-'));
  let { inputs } = contest;
  const runStock = () =>
    runProgram({ ...contest, inputs }, contest.stock, join(folder, 'stock'), callSeconds);
  let results = await runStock();
  for (const isPositive of [false, true]) {
    if ('failure' in results || (await badResult(Number.isFinite, contest, results)) === null) break;
    const scaled = await scaledInputs(contest.inputs, isPositive);
    if (scaled.join() === contest.inputs.join()) break;
    inputs = scaled;
    results = await runStock();
  }
  if ('failure' in results) return results;
  const problem = await badResult((value) => !Number.isNaN(value), contest, results);
  return { ...results, folder, inputs, problem };
}

/** Calls the function once. */
async function runProgram(
  { function: { name, results }, inputs, flags = [], device, tools, signal }: StockContest,
  module: string,
  prefix: string,
  callSeconds: number,
): Promise<Results | Failure> {
  const outputs = results.map((_, i) => `${prefix}${i}.bin`);
  const tool = { ...tools, device, signal: signal ?? new AbortController().signal };
  const started = performance.now();
  const result = await callFunction(tool, [module], { name, inputs, flags, outputs }, callSeconds);
  if (result.ok) return { files: outputs, seconds: (performance.now() - started) / 1000 };
  const [message = ''] = result.stderr.trim().split('\n');
  return { failure: message === '' || result.timedOut ? result.ending : `${result.ending}: ${message}` };
}

/**
 * Describes a result on random inputs with bad elements. NaN would hide every error. Null if all elements are good, and for inputs that
 * are not random.
 */
async function badResult(
  isGood: (value: number) => boolean,
  { roundsTo, function: { results } }: StockContest,
  { files }: Results,
): Promise<string | null> {
  if (roundsTo === undefined) return null;
  for (const [i, elementType] of results.entries()) {
    if (!/^b?f/.test(elementType)) continue;
    const elements = decodeElements(await readFile(files[i]!), elementType) ?? [];
    let count = 0;
    for (let at = 0; at < elements.length; at++) if (!isGood(Number(elements[at]))) count++;
    if (count > 0) return `result ${i} is NaN in ${count} of ${elements.length} elements on random inputs`;
  }
  return null;
}

/**
 * Reads one pair of results at a time, because all results of a large program may exceed the memory.
 * @param rounding largest change of each of stock's results by rounded inputs
 */
async function compareResults(
  { function: { results }, roundsTo }: StockContest,
  stock: readonly string[],
  tuned: readonly string[],
  rounding: readonly number[] = [],
): Promise<Equality> {
  let maxError = 0;
  let reason: string | null = null;
  for (const [i, elementType] of results.entries()) {
    const [expected, actual] = [await readFile(stock[i]!), await readFile(tuned[i]!)];
    let comparison = compareOutputs(expected, actual, elementType);
    if (comparison.reason !== null && roundsTo !== undefined) {
      const allowance = programAllowance(expected, elementType, roundsTo);
      if (allowance === null) return unusable(`result ${i} is not finite on random inputs`);
      const more = ROUNDINGS * (rounding[i] ?? 0);
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

/** Largest absolute change of each result. */
async function changesOf(
  { function: { results } }: StockContest,
  before: readonly string[],
  after: readonly string[],
): Promise<readonly number[]> {
  const changes: number[] = [];
  for (const [i, elementType] of results.entries()) {
    const [a, b] = [await readFile(before[i]!), await readFile(after[i]!)];
    changes.push(compareOutputs(a, b, elementType).maxError);
  }
  return changes;
}
