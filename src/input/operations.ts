// The operations of an input: from its text, or from a survey of the compiler.
import { isBytecode, parse, type Operation } from 'mlir-parser-ts';
import { flagIsOn, type CompilerArguments } from '../compiler/arguments.ts';
import type { Rewritable } from '../form/rewritable.ts';
import { classify, isTunable, tunable, type InputOperation } from './operation.ts';
import { elementTypeConversion } from './conversion.ts';
import { dispatchOf, isBoundByMemory, isOperationWork, mayBecomeWork } from '../workload/workload.ts';
import type { Settings } from '../settings/index.ts';
import type { Input } from './input.ts';
import { hasDispatchesInLinalg, hasDispatchesToNormalise } from './whole-dispatches.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Command } from '../compiler/command.ts';
import { inputIdentity } from '../compiler/command-identity.ts';
import type { Configured, SurveyOptions } from './survey.ts';
import { surveyMemory, type Survey, type SurveyedOperation } from './survey-memory.ts';
import type { InputText } from './text.ts';
import { inTurn } from '../site/turn.ts';
import { because, type Reason } from '../system/reason.ts';

export interface InputOperations {
  readonly operations: readonly InputOperation[];
  /** Whether the operations come from a survey of the compiler, not from the text. */
  readonly surveyed: boolean;
  /** Seconds that the survey waited for the measuring lock. They count towards the budget. */
  readonly waitedSeconds: number;
  /** Operations that can have other forms. Empty without a survey. */
  readonly rewritables: readonly Rewritable[];
}

/** The parts of a command that decide how its input is read. */
export interface ReadingOptions {
  readonly fromStdin: boolean;
  readonly dataTiling: boolean;
  /** Whether the user gives a preprocessing spec, so that marks cannot follow operations through the compiler. */
  readonly ownPreprocessing: boolean;
  readonly ownPipeline: boolean;
}

/** Whether the rewritable operations of a program are enough, so that the survey can end early. */
export type IsEnough = (rewritables: readonly Rewritable[]) => boolean;

const NEVER: IsEnough = () => false;

/** Options of a survey. */
export interface SurveyMeans {
  /** If it returns true, there are no operations, and the input counts as not surveyed. */
  readonly isEnough?: IsEnough;
  readonly configured?: Configured;
  /** Whether the caller holds the measuring lock. */
  readonly hasTurn?: boolean;
}

/**
 * The operations of an input. Linalg text is enough for most look-ups. Other input is surveyed once, and so is text with
 * operations that the compiler may turn into contractions.
 * @returns the reason as text if the command must be passed through
 */
export async function operationsOf(
  text: InputText,
  command: Command,
  options: ReadingOptions,
  surroundings: Surroundings,
  means: SurveyMeans = {},
): Promise<InputOperations | Reason> {
  const { settings } = surroundings;
  const splits = flagIsOn(command.arguments, 'split-input-file');
  const identity = inputIdentity(command, text.digest);
  const ask = (written: SurveyOptions['text'], own?: SurveyMeans) =>
    survey(text, written, identity, command, options, surroundings, own);
  const linalg = command.rewriting === undefined ? readLinalg(text.bytes, command.arguments, settings) : null;
  if (linalg !== null) {
    const { written, operations, isOpen } = linalg;
    const asWritten = { operations, surveyed: false, waitedSeconds: 0, rewritables: [] };
    // Skipped operations stay skipped, so a survey adds nothing.
    if (splits || (!isOpen && !operations.some(isTunable))) return asWritten;
    const { surveyed, waitedSeconds } =
      isOpen && !options.ownPreprocessing
        ? await askInTurn(identity, () => ask(written), surroundings)
        : { surveyed: recall(identity, surroundings), waitedSeconds: 0 };
    return surveyed === null
      ? { ...asWritten, waitedSeconds }
      : { ...fromSurveyed(surveyed, written.operations, settings), waitedSeconds };
  }
  if (splits) return because('split-input');
  if (options.ownPreprocessing) return because('own-preprocessing');
  const { surveyed, waitedSeconds } = await askInTurn(identity, () => ask(null, means), surroundings, means);
  if (surveyed === null) return because('not-compiled');
  return { ...fromSurveyed(surveyed, [], settings), waitedSeconds };
}

/**
 * Whether the program reads weights from memory: reads limit the speed of several operations. Then records that were measured with
 * weights in the caches do not apply.
 */
const isReadFromMemory = (operations: readonly InputOperation[]): boolean =>
  operations.filter((operation) => isTunable(operation) && isBoundByMemory(operation.workload)).length > 1;

/**
 * The operations from the text, if the text is enough for look-ups. Null for input that builds survey.
 */
export function operationsAsWritten(
  bytes: Uint8Array,
  { arguments: args }: Command,
  { ownPreprocessing }: ReadingOptions,
  settings: Pick<Settings, 'sizes'>,
): readonly InputOperation[] | null {
  const linalg = readLinalg(bytes, args, settings);
  if (linalg === null) return null;
  const isSurveyed = linalg.isOpen && !flagIsOn(args, 'split-input-file') && !ownPreprocessing;
  return isSurveyed ? null : linalg.operations;
}

/** The operations of a text with all tunable work in linalg; null for other input. */
function readLinalg(bytes: Uint8Array, args: CompilerArguments, { sizes }: Pick<Settings, 'sizes'>) {
  if (isBytecode(bytes)) return null;
  const found = parse(bytes, { splitInputFile: flagIsOn(args, 'split-input-file') }).operations;
  if (found.some(({ kind }) => kind === 'to-normalise') || hasDispatchesToNormalise(bytes)) return null;
  const convert = elementTypeConversion(args);
  const operations = classify(found, sizes, convert);
  return {
    operations,
    written: { bytes, operations: found, convert },
    /** Whether the workloads depend on more than the text, so that a survey is needed. */
    isOpen: found.some(mayBecomeWork) || isReadFromMemory(operations) || hasDispatchesInLinalg(bytes),
  };
}

/**
 * The operations of an input from a survey; null if it cannot be surveyed.
 * @param hasTurn whether the caller holds the measuring lock
 */
export async function surveyText(
  input: Input,
  command: Command,
  surroundings: Surroundings,
  hasTurn: boolean,
): Promise<InputOperations | null> {
  const { digest, reading: options, operations, waitedSeconds: before } = input;
  if (options.ownPreprocessing || flagIsOn(command.arguments, 'split-input-file')) return null;
  // Operations before a survey come from linalg text.
  const found = operations.map(({ place }) => place.operation!);
  const convert = elementTypeConversion(command.arguments);
  const text = operations.length === 0 ? null : { bytes: input.bytes, operations: found, convert };
  const identity = inputIdentity(command, digest);
  const ask = () => survey(input, text, identity, command, options, surroundings);
  const { surveyed, waitedSeconds } = await askInTurn(identity, ask, surroundings, { hasTurn });
  return (
    surveyed && {
      ...fromSurveyed(surveyed, found, surroundings.settings),
      waitedSeconds: before + waitedSeconds,
    }
  );
}

/** The result of a survey. Without operations if the rewritable operations were enough. */
type Surveyed = (Partial<Pick<Survey, 'operations'>> & Pick<Survey, 'rewritables'>) | null;

function recall(identity: string, { cacheDirectory }: Surroundings, isEnough = NEVER): Surveyed {
  const known = surveyMemory.recall(cacheDirectory, identity);
  if (known !== null || isEnough === NEVER) return known;
  const rewritables = surveyMemory.recall(cacheDirectory, lookOf(identity))?.rewritables ?? [];
  return isEnough(rewritables) ? { rewritables } : null;
}

/** Identity of the note about an input's rewritable operations only. */
const lookOf = (identity: string): string => `rewritables ${identity}`;

/** The remembered survey of an input, also from another build during the wait for the lock; else a new survey. */
function askInTurn(
  identity: string,
  ask: () => Promise<Surveyed>,
  surroundings: Surroundings,
  { isEnough = NEVER, hasTurn = false }: Pick<SurveyMeans, 'isEnough' | 'hasTurn'> = {},
): Promise<{ readonly surveyed: Surveyed; readonly waitedSeconds: number }> {
  const known = () => recall(identity, surroundings, isEnough);
  const find = async (waitedSeconds: number) => ({ surveyed: known() ?? (await ask()), waitedSeconds });
  return hasTurn ? find(0) : inTurn(surroundings, () => known() === null, find);
}

async function survey(
  { bytes, isHuge }: Pick<InputText, 'bytes' | 'isHuge'>,
  text: SurveyOptions['text'],
  identity: string,
  command: Command,
  { fromStdin, dataTiling }: ReadingOptions,
  surroundings: Surroundings,
  { isEnough = NEVER, configured }: SurveyMeans = {},
): Promise<Surveyed> {
  // Loaded on demand: a hit needs no survey.
  const { surveyInput } = await import('./survey.ts');
  const stdin = fromStdin ? bytes : undefined;
  const begun = performance.now();
  const surveyed = await surveyInput(
    command,
    { text, stdin, dataTiling, isEnough, configured, isHuge },
    surroundings,
  );
  const seconds = (performance.now() - begun) / 1000;
  if (surveyed === null) return null;
  const { operations, rewritables } = surveyed;
  const note =
    operations === null ? { identity: lookOf(identity), operations: [] } : { identity, operations };
  surveyMemory.remember(surroundings.cacheDirectory, { ...note, rewritables, seconds });
  return { rewritables, ...(operations && { operations }) };
}

const fromSurveyed = (
  { operations, rewritables }: NonNullable<Surveyed>,
  found: readonly Operation[],
  settings: Settings,
): Omit<InputOperations, 'waitedSeconds'> => ({
  operations: (operations ?? []).map((one) => fromSurvey(one, found, settings)),
  surveyed: operations !== undefined,
  rewritables,
});

function fromSurvey(
  surveyed: SurveyedOperation,
  found: readonly Operation[],
  { sizes, inject }: Pick<Settings, 'sizes' | 'inject'>,
): InputOperation {
  const { name, index, location, skipped, generated, written, executables } = surveyed;
  const place = { name, operation: index === null ? null : (found[index] ?? null), location };
  if (skipped !== null) return { place, skipped, alike: generated && { ...generated, written } };
  const { workload, loops } = generated!;
  // Only substitution reaches the one executable of a dispatch.
  if (dispatchOf(workload) === null || inject === 'auto' || inject === 'substitute')
    return tunable(place, { workload, loops }, written, sizes, executables);
  if (!isOperationWork(workload))
    return {
      place,
      skipped: because('route-excludes', `dispatches are out of reach (inject=${inject})`),
      alike: null,
    };
  const { context, ...alone } = workload;
  return context!.dispatch!.isStrided
    ? {
        place,
        skipped: because('route-excludes', `operands with strides are out of reach (inject=${inject})`),
        alike: null,
      }
    : tunable(place, { loops, workload: alone }, written, sizes, executables);
}
