// The functions of a program that can be called, and random inputs for them.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findMeasuringTools, findRuntimeTool, type MeasuringTools } from '../compiler/find.ts';
import type { Command } from '../compiler/command.ts';
import type { Input } from '../input/input.ts';
import { parametersOf, type Parameter } from '../input/parameters.ts';
import { callName, type ProgramFunction } from '../input/signature.ts';
import { functionsOf } from '../program/functions.ts';
import { inputBytes, writeInputs } from '../program/inputs.ts';
import { isWritable, parameterBytes, writeParameters } from '../program/parameters.ts';
import { canRun } from '../program/results.ts';
import type { StockContest } from '../program/verify.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { UserError } from '../system/user-error.ts';
import type { Site } from '../site/site.ts';
import type { Inspected } from '../plan/inspected.ts';
import type { KeptModules } from '../plan/kept-modules.ts';
import type { SkippedFunction } from '../program/verdict.ts';
import { because, cacheUnwritable, type Reason } from '../system/reason.ts';
import { otherBuildsOf } from './compiling.ts';
import type { Limits } from './limits.ts';

/** A program to compile and run, with its limits. */
export interface MeasuredProgram {
  readonly command: Command;
  readonly inspected: Inspected;
  readonly surroundings: Surroundings;
  /** Modules of this build; new ones are added. */
  readonly kept: KeptModules;
  readonly limits: Limits;
  /** Ends every process. */
  readonly signal: AbortSignal;
}

/** The parts of a program that its calls depend on. */
export interface CalledProgram extends Omit<MeasuredProgram, 'inspected'> {
  readonly inspected: {
    readonly input: Pick<Input, 'bytes' | 'stdin' | 'reading'>;
    readonly site: Site;
  };
}

/** A program cannot be verified. */
export class NotVerifiedError extends UserError {
  override readonly name = 'NotVerifiedError';
  readonly why: Reason;
  /** Whether more time could help. */
  readonly isLate: boolean;

  constructor(why: Reason, isLate = false) {
    super(why.reason);
    this.why = why;
    this.isLate = isLate;
  }
}

export interface Callable {
  readonly called: readonly ProgramFunction[];
  /** The other functions, with the reasons. */
  readonly skipped: readonly SkippedFunction[];
  readonly parameters: readonly Parameter[];
}

/** Folder for modules and inputs of a program. @throws NotVerifiedError when nothing can be written */
export function folderOf({ kept, surroundings }: Pick<MeasuredProgram, 'kept' | 'surroundings'>): string {
  const folder = kept.folder(surroundings);
  if (folder === null) throw new NotVerifiedError(cacheUnwritable(surroundings.cacheDirectory));
  return folder;
}

/** @throws NotVerifiedError when the runtime's tools are missing */
export function measuringTools({ command, surroundings }: MeasuredProgram): MeasuringTools {
  const tools = findMeasuringTools(command.compiler, surroundings.env, surroundings);
  if (tools === null) throw missing('iree-benchmark-module and iree-run-module');
  return tools;
}

/**
 * The functions of a program.
 * @param compileStock returns the path of the untuned module, which has the signatures if the input is bytecode
 * @throws NotVerifiedError when the runtime's tools are missing
 */
export async function callableOf(
  { command, inspected, surroundings, limits }: Omit<CalledProgram, 'kept' | 'signal'>,
  compileStock: () => Promise<string>,
): Promise<Callable> {
  const { bytes, reading } = inspected.input;
  const { env, settings } = surroundings;
  const functions = await functionsOf(bytes, reading.convert, settings.sizes, async () => {
    const module = await compileStock();
    const dumpModule = findRuntimeTool('iree-dump-module', command.compiler, env, surroundings);
    if (dumpModule === undefined) throw missing('iree-dump-module');
    return { module, dumpModule };
  });

  // If the parameters are not understood, the program fails to load with a message.
  const parameters = parametersOf(bytes) ?? [];
  const whyAlone = (one: ProgramFunction) => whyNotCalled(one, parameters, limits.inputBytes);
  const fitting = fittingTogether(
    functions.filter((one) => whyAlone(one) === null),
    limits.allInputBytes - parameterBytes(parameters),
  );
  const whyNot = (one: ProgramFunction) => whyAlone(one) ?? (fitting.has(one) ? null : TOO_LARGE);
  return {
    called: functions.filter((one) => whyNot(one) === null),
    skipped: functions.flatMap((one) => {
      const reason = whyNot(one);
      return reason === null ? [] : [{ name: callName(one), ...because('not-callable', reason) }];
    }),
    parameters,
  };
}

/**
 * A contest for each function, with random inputs. A call at an extra size is left out if the untuned program fails at this size.
 * @param stock path of the untuned module
 * @throws StoppedError when the signal fires
 */
export async function contestsOf(
  program: CalledProgram,
  tools: MeasuringTools,
  { called, parameters }: Pick<Callable, 'called' | 'parameters'>,
  stock: string,
): Promise<StockContest[]> {
  const { inspected, signal } = program;
  const folder = folderOf(program);
  const { device } = inspected.site;
  const otherBuilds = otherBuildsOf(program, join(folder, 'others'));
  const shared = { stock, tools, folder, signal, device, isRandom: true, otherBuilds };
  const flags = await writeParameters(parameters, folder);
  const contests: StockContest[] = [];
  for (const [i, one] of called.entries()) {
    const own = join(folder, `inputs${i}`);
    await mkdir(own, { recursive: true });
    const contest = { ...shared, function: one, inputs: await writeInputs(one, own, i), flags };
    if (one.call?.isExtra !== true || (await canRun(contest, EXTRA_SECONDS))) contests.push(contest);
  }
  return contests;
}

/** Longest call at an extra size, in seconds. */
const EXTRA_SECONDS = 10;

const missing = (tools: string) =>
  new NotVerifiedError(because('tools-missing', `${tools} cannot be found (pip install iree-base-runtime)`));

/** Why a function is not run; null if it is. */
function whyNotCalled(
  called: ProgramFunction,
  parameters: readonly Parameter[],
  most: number,
): string | null {
  if (called.unsupported !== null) return called.unsupported;
  const unknown = parameters.find((one) => !isWritable(one));
  if (unknown !== undefined) return `parameters of type ${unknown.elementType} cannot be generated`;
  return inputBytes(called) + parameterBytes(parameters) > most ? TOO_LARGE : null;
}

const TOO_LARGE = 'its inputs are too large to be generated';

/** As many functions as possible whose inputs have room together. */
export function fittingTogether(
  functions: readonly ProgramFunction[],
  bytes: number,
): ReadonlySet<ProgramFunction> {
  let left = bytes;
  const smallestFirst = functions.toSorted((a, b) => inputBytes(a) - inputBytes(b));
  return new Set(smallestFirst.filter((one) => (left -= inputBytes(one)) >= 0));
}
