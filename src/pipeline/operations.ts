// Which operations an input has, and what is tuned of each: as its text says, or as the compiler was seen to make them.
import { isBytecode, parse, type Operation } from 'mlir-parser-ts';
import { flagIsOn } from '../compiler/index.ts';
import {
  classify,
  isDecision,
  passedOver,
  tunable,
  type Decision,
  type TunableOperation,
} from '../decision/decision.ts';
import { elementTypeConversion } from '../workload/conversion.ts';
import type { TunedSizes } from '../workload/sizes.ts';
import type { Command, Subjects, Surroundings } from './inspect.ts';
import { inputIdentity } from './plan-memory.ts';
import { surveyMemory, type SurveyedOperation } from './survey-memory.ts';

export interface InputOperations {
  readonly operations: readonly (TunableOperation | Decision)[];
  /** Whether they are what the compiler was seen to make, not what the text says. */
  readonly surveyed: boolean;
}

/** How an input is to be read. */
export interface ReadingOptions {
  readonly fromStdin: boolean;
  readonly dataTiling: boolean;
  /** The user has a preprocessing spec of his own: nothing of ours can follow operations through the compiler. */
  readonly ownPreprocessing: boolean;
  readonly ownPipeline: boolean;
}

/**
 * The operations of an input. One that is not linalg text is surveyed, unless that was done before; the text of others
 * is enough to look records up.
 * @param digest of the bytes, made when it is needed
 * @returns the reason as text when the command is to be passed on
 */
export async function operationsOf(
  bytes: Uint8Array,
  digest: () => Promise<string>,
  command: Command,
  options: ReadingOptions,
  surroundings: Surroundings,
): Promise<InputOperations | string> {
  const { sizes } = surroundings.settings;
  const splits = flagIsOn(command.arguments, 'split-input-file');
  const bytecode = isBytecode(bytes);
  const found = bytecode ? [] : parse(bytes, { splitInputFile: splits }).operations;
  const isLinalg = !bytecode && found.every(({ kind }) => kind !== 'to-normalise');
  if (isLinalg) {
    const operations = classify(found, sizes, elementTypeConversion(command.arguments));
    // What is skipped stays skipped, so there is nothing to remember.
    if (operations.every(isDecision) || splits) return { operations, surveyed: false };
    const survey = surveyMemory.recall(surroundings.cacheDirectory, inputIdentity(command, await digest()));
    return survey === null
      ? { operations, surveyed: false }
      : { operations: survey.operations.map((one) => fromSurvey(one, found, sizes)), surveyed: true };
  }
  if (splits) return '--split-input-file is served for linalg text only';
  if (options.ownPreprocessing) return 'a preprocessing spec of the user is served for linalg text only';
  const identity = inputIdentity(command, await digest());
  const operations =
    surveyMemory.recall(surroundings.cacheDirectory, identity)?.operations ??
    (await survey(bytes, null, identity, command, options, surroundings));
  if (operations === null) return 'the compiler does not get as far as code generation';
  return { operations: operations.map((one) => fromSurvey(one, [], sizes)), surveyed: true };
}

/** The same input with what the compiler makes of its operations; null when that cannot be found out. */
export async function surveyText(
  { bytes, digest, reading: options, operations }: Subjects,
  command: Command,
  surroundings: Surroundings,
): Promise<InputOperations | null> {
  if (options.ownPreprocessing || flagIsOn(command.arguments, 'split-input-file')) return null;
  // What is not surveyed yet was read from the text.
  const found = operations.map(({ site }) => site.operation!);
  const identity = inputIdentity(command, digest);
  // Another build of the same input may have asked meanwhile.
  const surveyed =
    surveyMemory.recall(surroundings.cacheDirectory, identity)?.operations ??
    (await survey(bytes, found, identity, command, options, surroundings));
  return (
    surveyed && {
      operations: surveyed.map((one) => fromSurvey(one, found, surroundings.settings.sizes)),
      surveyed: true,
    }
  );
}

async function survey(
  bytes: Uint8Array,
  found: readonly Operation[] | null,
  identity: string,
  command: Command,
  { fromStdin, dataTiling }: ReadingOptions,
  surroundings: Surroundings,
): Promise<readonly SurveyedOperation[] | null> {
  // Nothing of this is loaded on a hit.
  const { surveyInput } = await import('./survey.ts');
  const text = found && { operations: found, convert: elementTypeConversion(command.arguments) };
  const stdin = fromStdin ? bytes : undefined;
  const operations = await surveyInput(command, { text, stdin, dataTiling }, surroundings);
  if (operations !== null) surveyMemory.remember(surroundings.cacheDirectory, { identity, operations });
  return operations;
}

function fromSurvey(
  surveyed: SurveyedOperation,
  found: readonly Operation[],
  sizes: TunedSizes,
): TunableOperation | Decision {
  const { name, index, location, skipped, generated, written } = surveyed;
  const site = { name, operation: index === null ? null : (found[index] ?? null), location };
  if (skipped !== null)
    return passedOver(site, null, 'skipped', skipped, generated && { ...generated, written });
  return tunable(site, generated!, written, sizes);
}
