// The functions of a program that can be called, and inputs for them: the user's, and random ones.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isBytecode } from 'mlir-parser-ts';
import { findMeasuringTools, findRuntimeTool, type MeasuringTools } from '../compiler/find.ts';
import type { Command } from '../compiler/command.ts';
import type { Rewritable } from '../form/rewritable.ts';
import type { Input } from '../input/input.ts';
import { parametersOf, type Parameter } from '../input/parameters.ts';
import {
  callName,
  declaredSignature,
  isExtraCall,
  programSignature,
  type ProgramFunction,
} from '../input/signature.ts';
import { inputBytes, writeInputs } from '../program/inputs.ts';
import { dataOf, OwnDataError, type Given } from '../program/own-data.ts';
import { isWritable, parameterBytes, parameterFileBytes, writeParameters } from '../program/parameters.ts';
import { failureOf } from '../program/results.ts';
import { sumOf } from '../measure/statistics.ts';
import { runTool } from '../measure/toolchain.ts';
import type { StockContest } from '../program/verify.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { WantedSizes } from '../settings/wanted-sizes.ts';
import { formatBytes } from '../system/format.ts';
import { UserError } from '../system/user-error.ts';
import type { Site } from '../site/site.ts';
import type { Inspected } from '../plan/inspected.ts';
import type { KeptModules } from '../plan/kept-modules.ts';
import type { SkippedFunction } from '../program/verdict.ts';
import { because, cacheUnwritable, type Reason } from '../system/reason.ts';
import type { Convert } from '../workload/kind.ts';
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
  /** The rewritable operations of stock's program, as far as they are known. */
  readonly rewritables?: () => readonly Rewritable[];
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
  /** The user's values for the functions. */
  readonly given: ReadonlyMap<ProgramFunction, Given>;
  /** Parameters to generate. */
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
 * The public functions of an input. The parser cannot read bytecode, so its functions come from the declarations in the compiled module.
 * @param convert maps an element type to the compiled program's type
 * @param compiled returns the paths of the module compiled from the input, and of `iree-dump-module`; called for bytecode only
 */
export async function functionsOf(
  input: Uint8Array,
  convert: Convert,
  sizes: WantedSizes,
  compiled: () => Promise<{ readonly module: string; readonly dumpModule: string }>,
): Promise<ProgramFunction[]> {
  if (!isBytecode(input)) return programSignature(input, convert, sizes);
  const { module, dumpModule } = await compiled();
  const { stdout } = await runTool(dumpModule, [module], 60, new AbortController().signal);
  return declaredSignature(stdout, sizes);
}

/**
 * The functions of a program that can be called.
 * @param compileStock returns the path of the untuned module, which has the signatures if the input is bytecode
 * @throws NotVerifiedError when the runtime's tools are missing, and for data of the user that the program cannot take
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

  const given = givenTo(functions, settings);
  const asked = functions.filter((one) => given.has(one));
  // If the parameters are not understood, the program fails to load with a message.
  const parameters = (parametersOf(bytes) ?? []).filter(
    (one) => !settings.data.parameters.some(({ scope }) => scope === one.scope),
  );
  const bytesOf = (one: ProgramFunction) => inputBytes(one, given.get(one));
  const whyAlone = (one: ProgramFunction) =>
    whyNotCalled(one, parameters) ??
    whyTooLarge('it takes', bytesOf(one) + parameterBytes(parameters), limits.inputBytes);
  const alone = asked.filter((one) => whyAlone(one) === null);
  const room = limits.allInputBytes - parameterFileBytes(parameters);
  const fitting = fittingTogether(alone, bytesOf, room);
  const whyNot = (one: ProgramFunction) =>
    whyAlone(one) ??
    (fitting.has(one) ? null : whyTooLarge('all functions take', sumOf(alone.map(bytesOf)), room));
  return {
    called: asked.filter((one) => whyNot(one) === null),
    skipped: asked.flatMap((one) => {
      const reason = whyNot(one);
      return reason === null ? [] : [{ name: callName(one), ...because('not-callable', reason) }];
    }),
    given,
    parameters,
  };
}

/** @throws NotVerifiedError for data that the program cannot take */
function givenTo(functions: readonly ProgramFunction[], { data }: Surroundings['settings']) {
  try {
    return dataOf(data, functions);
  } catch (error) {
    if (error instanceof OwnDataError)
      throw new NotVerifiedError(
        because('data-unusable', `the setting input cannot be used: ${error.message}`),
      );
    throw error;
  }
}

/**
 * A contest for each function, with the user's inputs and random ones. Calls at extra sizes come last. One is left out if the untuned program
 * fails at this size.
 * @param stock path of the untuned module
 * @throws StoppedError when the signal fires
 */
export async function contestsOf(
  program: CalledProgram,
  tools: MeasuringTools,
  { called, given, parameters }: Omit<Callable, 'skipped'>,
  stock: string,
): Promise<StockContest[]> {
  const { inspected, signal, surroundings } = program;
  const folder = folderOf(program);
  const { device } = inspected.site;
  const otherBuilds = otherBuildsOf(program, join(folder, 'others'));
  const written = writeParameters(parameters, folder);
  const own = surroundings.settings.data.parameters.map(
    ({ scope, path }) => `--parameters=${scope ?? ''}=${path}`,
  );
  const shared = {
    ...{ stock, tools, folder, signal, device, otherBuilds },
    flags: [...written.flags, ...own],
    movedFlags: (to: string, seed: number) => [...written.moved(to, seed), ...own],
  };
  const contests: StockContest[] = [];
  const extraLast = called.toSorted((a, b) => Number(isExtraCall(a)) - Number(isExtraCall(b)));
  for (const [i, one] of extraLast.entries()) {
    const place = join(folder, `inputs${i}`);
    await mkdir(place, { recursive: true });
    const values = given.get(one)!;
    const isRandom = values.size === 0 || values.size < one.arguments.length;
    const inputs = writeInputs(one, place, i, values);
    const contest = { ...shared, function: one, inputs, given: values, isRandom };
    if (!isExtraCall(one) || (await failureOf(contest, EXTRA_SECONDS)) === null) contests.push(contest);
  }
  return contests;
}

/** Longest call at an extra size, in seconds. */
const EXTRA_SECONDS = 10;

const missing = (tools: string) =>
  new NotVerifiedError(because('tools-missing', `${tools} cannot be found (pip install iree-base-runtime)`));

/** Why a function cannot be run; null if it can. */
function whyNotCalled({ unsupported }: ProgramFunction, parameters: readonly Parameter[]): string | null {
  if (unsupported !== null) return unsupported;
  const unknown = parameters.find((one) => !isWritable(one));
  return unknown === undefined
    ? null
    : `parameters of type ${unknown.elementType} cannot be generated: name a file with ` +
        `--iree-tuned-input=parameters=${unknown.scope === null ? '' : `${unknown.scope}=`}@FILE`;
}

/** Why so many bytes are not generated; null if they are. */
const whyTooLarge = (takes: string, bytes: number, most: number): string | null =>
  bytes <= most
    ? null
    : `${takes} ${formatBytes(bytes)} of generated inputs and parameters, and the limit is ${formatBytes(most)} (--iree-tuned-max-input)`;

/** As many functions as possible whose inputs have room together. */
export function fittingTogether<T>(
  functions: readonly T[],
  bytesOf: (one: T) => number,
  bytes: number,
): ReadonlySet<T> {
  let left = bytes;
  const smallestFirst = functions.toSorted((a, b) => bytesOf(a) - bytesOf(b));
  return new Set(smallestFirst.filter((one) => (left -= bytesOf(one)) >= 0));
}
