// A whole program, stock against tuned: equal results, and no loss of speed.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isBytecode } from 'mlir-parser-ts';
import { findMeasuringTools, findRuntimeTool } from '../compiler/index.ts';
import type { Command } from '../compiler/command.ts';
import { isInjected, type Decision } from '../decision/decision.ts';
import { elementTypeConversion } from '../input/conversion.ts';
import { programSignature, type ProgramFunction } from '../input/signature.ts';
import { functionsOf } from '../program/functions.ts';
import { inputBytes, writeInputs } from '../program/inputs.ts';
import { judge, type Judgement } from '../program/judge.ts';
import { programRuns, type StockContest } from '../program/runs.ts';
import { notVerified, type ProgramVerdict } from '../program/verdict.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import { UserError } from '../system/user-error.ts';
import type { Inspected } from './inspect.ts';
import { planCompile } from './plan.ts';
import { programBuilds, type Problem } from './program-builds.ts';

/** How much may be spent on one program. */
export interface Limits {
  /** For all compiles together, of which one may take half. */
  readonly compileSeconds: number;
  /** For everything that is run. */
  readonly runSeconds: number;
  /** Largest inputs of a function that are made up. */
  readonly inputBytes: number;
}

/** What was found out about a program, and what is to be said of it. */
export interface Verification {
  readonly judgement: Judgement;
  readonly verdict: ProgramVerdict;
}

/** Nothing can be found out about a program. */
export class NotVerifiedError extends UserError {
  override readonly name = 'NotVerifiedError';
  /** Whether there was only too little time. */
  readonly isLate: boolean;

  constructor(message: string, isLate = false) {
    super(message);
    this.isLate = isLate;
  }
}

/**
 * Compiles a program with and without its decisions and runs both; finds out which configurations it takes to leave out.
 * For whoever has the turn to measure.
 * @param signal ends it
 * @throws NotVerifiedError when one of both does not compile in the time, or the runtime's tools are missing
 * @throws StoppedError when the signal fires
 */
export async function verifyTuned(
  command: Command,
  inspected: Inspected,
  decisions: readonly Decision[],
  surroundings: Surroundings,
  limits: Limits,
  signal: AbortSignal,
): Promise<Verification> {
  const { cacheDirectory } = surroundings;
  const folder = makeScratchFolder(cacheDirectory, 'verify');
  if (folder === null)
    throw new NotVerifiedError(`nothing can be written to the cache folder ${cacheDirectory}`);
  try {
    return await verify(command, inspected, decisions, surroundings, limits, folder, signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function verify(
  command: Command,
  inspected: Inspected,
  decisions: readonly Decision[],
  surroundings: Surroundings,
  limits: Limits,
  folder: string,
  signal: AbortSignal,
): Promise<Verification> {
  const { cacheDirectory, env, root } = surroundings;
  const from = { root, cacheDirectory };
  const tools = findMeasuringTools(command.compiler, env, from);
  if (tools === null) throw missing('iree-benchmark-module and iree-run-module');
  const builds = programBuilds(command, inspected, decisions, surroundings, folder, limits.compileSeconds);
  const stock = join(folder, 'stock.vmfb');
  const compileStock = async () => {
    const failed = await builds.stock(stock);
    if (failed !== null) throw doesNotCompile('the program', failed);
  };
  const { bytes } = inspected.input;
  const convert = elementTypeConversion(command.arguments);
  let functions: readonly ProgramFunction[];
  if (isBytecode(bytes)) {
    await compileStock();
    const dumpModule = findRuntimeTool('iree-dump-module', command.compiler, env, from);
    if (dumpModule === undefined) throw missing('iree-dump-module');
    functions = await functionsOf(bytes, convert, { module: stock, dumpModule });
  } else functions = programSignature(bytes, convert);

  const called = functions.filter((one) => whyNotCalled(one, limits) === null);
  const skipped = functions.flatMap((one) => {
    const reason = whyNotCalled(one, limits);
    return reason === null ? [] : [{ name: one.name, reason }];
  });
  const injection = planCompile(decisions, inspected, command, surroundings);
  const keys = [...new Set(decisions.filter(isInjected).map(({ tunable }) => tunable.key))];
  if (injection.route !== 'none' && called.length === 0) {
    const reason =
      functions.length === 0 ? 'no public function was found in it' : 'none of its functions can be run';
    return {
      verdict: { ...notVerified(reason), skipped },
      judgement: { kept: keys, leftOut: [], open: reason },
    };
  }
  if (!isBytecode(bytes)) await compileStock();
  if (injection.route === 'none') {
    const verdict = { functions: [], skipped, leftOut: [], injected: false, reason: injection.reason };
    return { verdict, judgement: { kept: keys, leftOut: [], open: null } };
  }
  const whole = await builds.tuned(keys);
  if ('problem' in whole) throw doesNotCompile('the tuned program', whole);

  const contests: StockContest[] = [];
  const shared = { stock, tools, folder, signal, device: inspected.site.device };
  for (const [i, one] of called.entries()) {
    const own = join(folder, `inputs${i}`);
    await mkdir(own);
    const inputs = await writeInputs(one, own, i);
    contests.push({ ...shared, function: one, inputs, roundsTo: roundedTypes(keys, bytes) });
  }
  const runs = programRuns(contests, builds.tuned, limits.runSeconds);
  const judgement = await judge(keys, runs);
  const { kept, open } = judgement;
  const leftOut = judgement.leftOut.map(({ key, reason }) => ({ workload: key, reason }));
  const verdict: ProgramVerdict =
    kept.length === 0
      ? {
          functions: [],
          skipped,
          leftOut,
          injected: false,
          reason: 'it is worse with each of its configurations',
        }
      : { functions: runs.verdictsOf(kept), skipped, leftOut, injected: true, reason: open };
  return { verdict, judgement };
}

const missing = (tools: string) =>
  new NotVerifiedError(`${tools} cannot be found (pip install iree-base-runtime)`);

const doesNotCompile = (what: string, { problem, isLate }: Problem) =>
  new NotVerifiedError(`${what} does not compile: ${problem}`, isLate);

/** Why a function is not run; null when it is. */
const whyNotCalled = (called: ProgramFunction, limits: Limits): string | null =>
  called.unsupported ??
  (inputBytes(called) > limits.inputBytes ? 'its inputs are too large to be made up' : null);

/** Narrow floats that a program uses, as far as workloads and its text say. */
function roundedTypes(keys: readonly string[], input: Uint8Array): string[] {
  const text = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  const isUsed = (type: string) =>
    keys.some((key) => key.includes(type)) || (!isBytecode(input) && text.includes(type));
  return ['f16', 'bf16'].filter(isUsed);
}
