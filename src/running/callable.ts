// The functions of a program that can be called, and made-up inputs for them.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isBytecode } from 'mlir-parser-ts';
import { findMeasuringTools, findRuntimeTool, type MeasuringTools } from '../compiler/find.ts';
import type { Command } from '../compiler/command.ts';
import { elementTypeConversion } from '../input/conversion.ts';
import { parametersOf, type Parameter } from '../input/parameters.ts';
import { callName, programSignature, type ProgramFunction } from '../input/signature.ts';
import { functionsOf } from '../program/functions.ts';
import { inputBytes, writeInputs } from '../program/inputs.ts';
import { isWritable, parameterBytes, writeParameters } from '../program/parameters.ts';
import type { StockContest } from '../program/runs.ts';
import { canRun } from '../program/verify.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { UserError } from '../system/user-error.ts';
import type { Inspected } from '../plan/inspected.ts';
import type { SkippedFunction } from '../program/verdict.ts';
import { because, type Reason } from '../system/reason.ts';

/** Nothing can be found out about a program. */
export class NotVerifiedError extends UserError {
  override readonly name = 'NotVerifiedError';
  readonly why: Reason;
  /** Whether there was only too little time. */
  readonly isLate: boolean;

  constructor(why: Reason, isLate = false) {
    super(why.reason);
    this.why = why;
    this.isLate = isLate;
  }
}

export interface Callable {
  /** How many public functions there are. */
  readonly functions: number;
  readonly called: readonly ProgramFunction[];
  /** The others, and why. */
  readonly skipped: readonly SkippedFunction[];
  readonly parameters: readonly Parameter[];
}

/** @throws NotVerifiedError when the runtime's tools are missing */
export function measuringTools(
  { compiler }: Pick<Command, 'compiler'>,
  { cacheDirectory, env, root }: Surroundings,
): MeasuringTools {
  const tools = findMeasuringTools(compiler, env, { root, cacheDirectory });
  if (tools === null) throw missing('iree-benchmark-module and iree-run-module');
  return tools;
}

/**
 * The functions of a program.
 * @param compileStock gives the path of the program as it is, which tells where the input does not
 * @param largestInputs that are made up for one function, in bytes
 * @throws NotVerifiedError when the runtime's tools are missing
 */
export async function callableOf(
  command: Command,
  { input: { bytes } }: Inspected,
  { cacheDirectory, env, root, settings }: Surroundings,
  compileStock: () => Promise<string>,
  largestInputs: number,
): Promise<Callable> {
  const convert = elementTypeConversion(command.arguments);
  let functions: readonly ProgramFunction[];
  if (isBytecode(bytes)) {
    const module = await compileStock();
    const dumpModule = findRuntimeTool('iree-dump-module', command.compiler, env, { root, cacheDirectory });
    if (dumpModule === undefined) throw missing('iree-dump-module');
    functions = await functionsOf(bytes, convert, settings.sizes, { module, dumpModule });
  } else functions = programSignature(bytes, convert, settings.sizes);

  // Where they are not understood, the program fails to load, which says so.
  const parameters = parametersOf(bytes) ?? [];
  const whyNot = (one: ProgramFunction) => whyNotCalled(one, parameters, largestInputs);
  return {
    functions: functions.length,
    called: functions.filter((one) => whyNot(one) === null),
    skipped: functions.flatMap((one) => {
      const reason = whyNot(one);
      return reason === null ? [] : [{ name: callName(one), ...because('not-callable', reason) }];
    }),
    parameters,
  };
}

/**
 * Makes up the inputs of functions, and calls each of them where the untuned program takes these sizes.
 * @param shared what all contests have in common
 * @throws StoppedError when the signal fires
 */
export async function contestsOf(
  { called, parameters }: Pick<Callable, 'called' | 'parameters'>,
  shared: Omit<StockContest, 'function' | 'inputs' | 'flags'>,
): Promise<StockContest[]> {
  const flags = await writeParameters(parameters, shared.folder);
  const contests: StockContest[] = [];
  for (const [i, one] of called.entries()) {
    const own = join(shared.folder, `inputs${i}`);
    await mkdir(own, { recursive: true });
    const contest = { ...shared, function: one, inputs: await writeInputs(one, own, i), flags };
    if (one.call?.isExtra !== true || (await canRun(contest, EXTRA_SECONDS))) contests.push(contest);
  }
  return contests;
}

/** A call at a size that nobody asked for may take so many seconds. */
const EXTRA_SECONDS = 10;

const missing = (tools: string) =>
  new NotVerifiedError(because('tools-missing', `${tools} cannot be found (pip install iree-base-runtime)`));

/** Why a function is not run; null when it is. */
function whyNotCalled(
  called: ProgramFunction,
  parameters: readonly Parameter[],
  most: number,
): string | null {
  if (called.unsupported !== null) return called.unsupported;
  const unknown = parameters.find((one) => !isWritable(one));
  if (unknown !== undefined) return `a parameter of type ${unknown.elementType} cannot be made up`;
  return inputBytes(called) + parameterBytes(parameters) > most
    ? 'its inputs are too large to be made up'
    : null;
}
