// A whole program, stock against tuned: equal results, and no loss of speed.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isBytecode } from 'mlir-parser-ts';
import { findMeasuringTools, findRuntimeTool } from '../compiler/index.ts';
import type { Command } from '../compiler/command.ts';
import { backendOf } from '../backend/index.ts';
import { isInjected, type Decision } from '../decision/decision.ts';
import { withProgramWide, type ProgramWide } from '../decision/program-wide.ts';
import { elementTypeConversion } from '../input/conversion.ts';
import { parametersOf, type Parameter } from '../input/parameters.ts';
import { programSignature, type ProgramFunction } from '../input/signature.ts';
import { functionsOf } from '../program/functions.ts';
import { inputBytes, writeInputs } from '../program/inputs.ts';
import { assess, gainBeside } from '../program/assess.ts';
import type { Judgement } from '../program/judge.ts';
import { purseOf } from '../program/purse.ts';
import { isWritable, parameterBytes, writeParameters } from '../program/parameters.ts';
import { programRuns, type StockContest, type Uncompiled } from '../program/runs.ts';
import { notVerified, type ProgramVerdict } from '../program/verdict.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import { UserError } from '../system/user-error.ts';
import type { Inspected } from './inspect.ts';
import { planCompile } from './plan.ts';
import { programBuilds } from './program-builds.ts';

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
  /** What became of what was offered to all operations at once. */
  readonly programWide: {
    /** What of it is better than what they had. */
    readonly chosen: ProgramWide;
    /** Why it is, or is not. */
    readonly reason: string;
    /** Whether nobody knows, for lack of time. */
    readonly isOpen: boolean;
  };
}

/** Of a program that nothing is offered to, or that cannot be run. */
export const NOTHING_CHOSEN: Verification['programWide'] = {
  chosen: new Map(),
  reason: '',
  isOpen: false,
};

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
 * Compiles a program with and without its decisions and runs both; finds out which configurations it takes to leave out, and
 * whether what is offered to all operations at once is better. For whoever has the turn to measure.
 * @param offer takes the place of what was decided about its operations; may be empty
 * @param signal ends it
 * @throws NotVerifiedError when one of both does not compile in the time, or the runtime's tools are missing
 * @throws StoppedError when the signal fires
 */
export async function verifyTuned(
  command: Command,
  inspected: Inspected,
  decisions: readonly Decision[],
  offer: ProgramWide,
  surroundings: Surroundings,
  limits: Limits,
  signal: AbortSignal,
): Promise<Verification> {
  const { cacheDirectory } = surroundings;
  const folder = makeScratchFolder(cacheDirectory, 'verify');
  if (folder === null)
    throw new NotVerifiedError(`nothing can be written to the cache folder ${cacheDirectory}`);
  try {
    return await verify(command, inspected, decisions, offer, surroundings, limits, folder, signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function verify(
  command: Command,
  inspected: Inspected,
  decisions: readonly Decision[],
  offer: ProgramWide,
  surroundings: Surroundings,
  limits: Limits,
  folder: string,
  signal: AbortSignal,
): Promise<Verification> {
  const { cacheDirectory, env, root } = surroundings;
  const from = { root, cacheDirectory };
  const tools = findMeasuringTools(command.compiler, env, from);
  if (tools === null) throw missing('iree-benchmark-module and iree-run-module');
  const purse = purseOf(limits.compileSeconds);
  const buildsOf = (own: readonly Decision[]) =>
    programBuilds(command, inspected, own, surroundings, folder, purse, limits.compileSeconds / 2);
  const builds = buildsOf(decisions);
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

  // Where they are not understood, the program fails to load, which says so.
  const parameters = parametersOf(bytes) ?? [];
  const whyNot = (one: ProgramFunction) => whyNotCalled(one, parameters, limits);
  const called = functions.filter((one) => whyNot(one) === null);
  const skipped = functions.flatMap((one) => {
    const reason = whyNot(one);
    return reason === null ? [] : [{ name: one.name, reason }];
  });
  const injection = planCompile(decisions, inspected, command, surroundings);
  const keys = keysOf(decisions);
  const isInjecting = injection.route !== 'none';
  if ((isInjecting || offer.size > 0) && called.length === 0) {
    const reason =
      functions.length === 0 ? 'no public function was found in it' : 'none of its functions can be run';
    return {
      verdict: { ...notVerified(reason), skipped, injected: isInjecting },
      judgement: { kept: keys, leftOut: [], open: isInjecting ? reason : null },
      programWide: NOTHING_CHOSEN,
    };
  }
  if (!isBytecode(bytes)) await compileStock();
  if (injection.route === 'none' && offer.size === 0) {
    const verdict = { functions: [], skipped, leftOut: [], injected: false, reason: injection.reason };
    return { verdict, judgement: { kept: keys, leftOut: [], open: null }, programWide: NOTHING_CHOSEN };
  }
  if (isInjecting) {
    const whole = await builds.tuned(keys);
    // Fused with other operations, a configuration may ask for more than there is: what it takes to leave out is found below.
    if ('problem' in whole && whole.isLate) throw doesNotCompile('the tuned program', whole);
  }

  const contests: StockContest[] = [];
  const flags = await writeParameters(parameters, folder);
  const shared = { stock, tools, folder, signal, flags, device: inspected.site.device };
  for (const [i, one] of called.entries()) {
    const own = join(folder, `inputs${i}`);
    await mkdir(own);
    const inputs = await writeInputs(one, own, i);
    contests.push({
      ...shared,
      function: one,
      inputs,
      roundsTo: roundedTypes([...keys, ...offer.keys()], bytes),
    });
  }
  // What is offered is another program, and takes as much time.
  const runSeconds = limits.runSeconds / (isInjecting && offer.size > 0 ? 2 : 1);
  const own = await assess(isInjecting ? keys : [], programRuns(contests, builds.tuned, runSeconds));
  const leftOut = own.judgement.leftOut.map(({ key, reason }) => ({ workload: key, reason }));
  let programWide = NOTHING_CHOSEN;
  if (offer.size > 0) {
    const all = withProgramWide(decisions, offer, '');
    const wide = await assess(keysOf(all), programRuns(contests, buildsOf(all).tuned, runSeconds));
    const gain = gainBeside(wide, own);
    const { kept, open } = wide.judgement;
    if (gain !== null) {
      const chosen = new Map([...offer].filter(([key]) => kept.includes(key)));
      const needs = [...new Set([...chosen.values()].map((one) => backendOf(one).needsOf(one) ?? ''))];
      const reason = `${needs.join(', ')} of all that can have it makes this program ${gain.toFixed(2)}x as fast`;
      return {
        verdict: { functions: wide.functions, skipped, leftOut, injected: true, reason: null },
        judgement: { ...own.judgement, open: null },
        programWide: { chosen, reason, isOpen: false },
      };
    }
    programWide = { ...NOTHING_CHOSEN, isOpen: open !== null };
  }
  const { judgement } = own;
  const { kept, open } = judgement;
  const why = isInjecting ? 'it is worse with each of its configurations' : injection.reason;
  const told = { functions: own.functions, skipped, leftOut };
  const verdict: ProgramVerdict =
    kept.length === 0 ? { ...told, injected: false, reason: why } : { ...told, injected: true, reason: open };
  return { verdict, judgement, programWide };
}

const keysOf = (decisions: readonly Decision[]): string[] => [
  ...new Set(decisions.filter(isInjected).map(({ tunable }) => tunable.key)),
];

const missing = (tools: string) =>
  new NotVerifiedError(`${tools} cannot be found (pip install iree-base-runtime)`);

const doesNotCompile = (what: string, { problem, isLate }: Uncompiled) =>
  new NotVerifiedError(`${what} does not compile: ${problem}`, isLate);

/** Why a function is not run; null when it is. */
function whyNotCalled(
  called: ProgramFunction,
  parameters: readonly Parameter[],
  { inputBytes: most }: Limits,
): string | null {
  if (called.unsupported !== null) return called.unsupported;
  const unknown = parameters.find((one) => !isWritable(one));
  if (unknown !== undefined) return `a parameter of type ${unknown.elementType} cannot be made up`;
  return inputBytes(called) + parameterBytes(parameters) > most
    ? 'its inputs are too large to be made up'
    : null;
}

/** Narrow floats that a program uses, as far as workloads and its text say. */
function roundedTypes(keys: readonly string[], input: Uint8Array): string[] {
  const text = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  const isUsed = (type: string) =>
    keys.some((key) => key.includes(type)) || (!isBytecode(input) && text.includes(type));
  return ['f16', 'bf16'].filter(isUsed);
}
