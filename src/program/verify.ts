// Two compilations of one program against each other: equal results first, then which is faster.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { compareModules, type ModuleComparison, type ModuleRun } from '../measure/compare-modules.ts';
import { runTool } from '../measure/toolchain.ts';
import { compareOutputs, type Comparison } from '../measure/verify.ts';
import { messageOf } from '../report/tell.ts';
import { deviceFlags, type Device } from '../target/device.ts';
import type { ProgramFunction } from './signature.ts';

export interface Contest {
  /** Paths of the two compiled modules. */
  readonly stock: string;
  readonly tuned: string;
  readonly function: ProgramFunction;
  /** Values of `--input=`, as `writeInputs` gives them. */
  readonly inputs: readonly string[];
  readonly device: Device;
  /** Paths of `iree-run-module` and `iree-benchmark-module`. */
  readonly tools: { readonly runModule: string; readonly benchmarkModule: string };
  /** Where results are written and removed again. */
  readonly folder: string;
  /** Most rounds of timing; a program that takes long gets fewer. */
  readonly rounds: number;
  /** About how long the timing may take, and at most how long one call. */
  readonly budgetSeconds: number;
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
 * Runs both programs on the same inputs and compares every result; times them in alternating processes when all are
 * equal. Crashes, missing files and calls that take too long are verdicts. What an argument that is overwritten holds
 * afterwards is not looked at: the tools do not show it.
 */
export async function verifyProgram(contest: Contest): Promise<Verdict> {
  const folder = await mkdtemp(join(contest.folder, 'results-'));
  try {
    const stock = await runProgram(contest, contest.stock, join(folder, 'stock'));
    if ('failure' in stock) return noVerdict(null, `stock cannot be run: ${stock.failure}`);
    const tuned = await runProgram(contest, contest.tuned, join(folder, 'tuned'));
    if ('failure' in tuned) return noVerdict(false, `tuned cannot be run: ${tuned.failure}`);
    const { equal, maxError, reason } = await compareResults(
      contest.function.results,
      stock.files,
      tuned.files,
    );
    if (!equal) return { equal, maxError, reason, timing: null };
    return { equal, maxError, ...(await time(contest, stock.seconds, tuned.seconds)) };
  } catch (error) {
    return noVerdict(null, messageOf(error));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const noVerdict = (equal: false | null, reason: string): Verdict => ({
  equal,
  maxError: Infinity,
  reason,
  timing: null,
});

interface Results {
  /** One raw file per result. */
  readonly files: readonly string[];
  /** Of the whole process. */
  readonly seconds: number;
}

/** Calls the function once. The tool insists on as many outputs as there are results. */
async function runProgram(
  { function: { name, results }, inputs, device, tools, budgetSeconds }: Contest,
  module: string,
  prefix: string,
): Promise<Results | { readonly failure: string }> {
  const files = results.map((_, i) => `${prefix}${i}.bin`);
  const started = performance.now();
  const result = await runTool(
    tools.runModule,
    [
      `--module=${module}`,
      `--function=${name}`,
      ...inputs.map((input) => `--input=${input}`),
      ...files.map((file) => `--output=@${file}`),
      ...deviceFlags(device),
    ],
    budgetSeconds,
    new AbortController().signal,
  );
  if (result.ok) return { files, seconds: (performance.now() - started) / 1000 };
  const [message = ''] = result.stderr.trim().split('\n');
  return { failure: message === '' || result.timedOut ? result.ending : `${result.ending}: ${message}` };
}

/** Two results at a time: together those of a large program need not fit into memory. */
async function compareResults(
  elementTypes: readonly string[],
  stock: readonly string[],
  tuned: readonly string[],
): Promise<Comparison> {
  let maxError = 0;
  let reason: string | null = null;
  for (const [i, elementType] of elementTypes.entries()) {
    const comparison = compareOutputs(await readFile(stock[i]!), await readFile(tuned[i]!), elementType);
    maxError = Math.max(maxError, comparison.maxError);
    if (comparison.reason !== null) reason ??= `result ${i}: ${comparison.reason}`;
  }
  return { equal: reason === null, maxError, reason };
}

/** A benchmark process makes three calls that take long, and more of those that do not. */
const CALLS_PER_PROCESS = 3;
/** Seconds that a process takes however short a call is. */
const LEAST_PROCESS_SECONDS = 0.4;

/** Times both in as many rounds as fit into the budget: stock, tuned and stock again in each. */
async function time(
  contest: Contest,
  stockSeconds: number,
  tunedSeconds: number,
): Promise<Pick<Verdict, 'reason' | 'timing'>> {
  const processSeconds = (callSeconds: number) => LEAST_PROCESS_SECONDS + CALLS_PER_PROCESS * callSeconds;
  const roundSeconds = 2 * processSeconds(stockSeconds) + processSeconds(tunedSeconds);
  const rounds = Math.min(contest.rounds, Math.floor(contest.budgetSeconds / roundSeconds));
  if (rounds < 1)
    return { reason: `timing it would take more than ${contest.budgetSeconds} s`, timing: null };
  const {
    stock,
    tuned,
    inputs,
    device,
    tools,
    function: { name },
  } = contest;
  const run: ModuleRun = { benchmarkModule: tools.benchmarkModule, device, functionName: name, inputs };
  try {
    return { reason: null, timing: await compareModules(run, stock, tuned, rounds) };
  } catch (error) {
    return { reason: messageOf(error), timing: null };
  }
}
