// The operations of an input: from its text, or from a survey of the compiler.
import { isBytecode, parse, type Operation } from 'mlir-parser-ts';
import type { Rewritable } from '../form/rewritable.ts';
import { classify, isTunable, tunable, type InputOperation } from './operation.ts';
import {
  dispatchOf,
  hasStrides,
  isDynamic,
  isBoundByMemory,
  mayBecomeWork,
  withoutDispatch,
} from '../workload/workload.ts';
import type { TunedSizes } from '../workload/sizes.ts';
import type { InjectRoute, Settings } from '../settings/settings.ts';
import { sizesByKind } from '../settings/wanted-sizes.ts';
import type { Input, InputOperations, ReadInput } from './input.ts';
import { dynamicFunctions, isNamed, sizesAtCalls } from './sizes-at-calls.ts';
import { hasDispatchesInLinalg, hasDispatchesToNormalise } from './scan.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Command } from '../compiler/command.ts';
import type { Configured, Found, WrittenText } from './survey.ts';
import { surveyMemory, type SurveyedOperation } from './survey-memory.ts';
import { inTurn } from '../site/turn.ts';
import { requireRoom } from '../system/heap.ts';
import { because, type Reason } from '../system/reason.ts';

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
 * @throws UserError if there are too many operations for the memory
 */
export async function operationsOf(
  input: ReadInput,
  command: Command,
  surroundings: Surroundings,
  means: SurveyMeans = {},
): Promise<InputOperations | Reason> {
  const { settings } = surroundings;
  const isSized = command.rewriting?.input !== undefined;
  const { identity, reading } = input;
  const { splits, ownPreprocessing } = reading;
  const linalg = command.rewriting === undefined ? readLinalg(input, settings) : null;
  if (linalg === null) {
    if (splits) return because('split-input');
    if (ownPreprocessing) return because('own-preprocessing');
  }
  const asWritten = linalg && { operations: linalg.operations, surveyed: false, rewritables: [] };
  // Skipped operations stay skipped, so a survey adds nothing.
  if (asWritten && (splits || (!linalg.isOpen && !linalg.operations.some(isTunable))))
    return { ...asWritten, waitedSeconds: 0 };
  const text = linalg?.written ?? null;
  const { surveyed, waitedSeconds } =
    linalg === null || (linalg.isOpen && !ownPreprocessing)
      ? await surveyInTurn(input, text, command, surroundings, linalg === null ? means : {})
      : { surveyed: recall(identity, surroundings), waitedSeconds: 0 };
  if (surveyed === null) return asWritten ? { ...asWritten, waitedSeconds } : because('not-compiled');
  const operations = fromSurveyed(surveyed, input, linalg?.written.operations ?? [], {
    ...settings,
    // Copies of functions run the calls of these sizes.
    ...(isSized && { sizes: [] }),
  });
  return { ...(isSized ? withOtherSizes(operations) : operations), waitedSeconds };
}

/** The dynamic operations of a program with copies of its functions run only in other calls than the user's. */
const withOtherSizes = <T extends Pick<InputOperations, 'operations'>>(found: T): T => ({
  ...found,
  operations: found.operations.map((one) =>
    'code' in one && one.code === 'sizes-missing' ? { ...one, ...because('other-sizes') } : one,
  ),
});

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
  input: ReadInput,
  settings: Pick<Settings, 'sizes'>,
): readonly InputOperation[] | null {
  const linalg = readLinalg(input, settings);
  if (linalg === null) return null;
  const { splits, ownPreprocessing } = input.reading;
  const isSurveyed = linalg.isOpen && !splits && !ownPreprocessing;
  return isSurveyed ? null : linalg.operations;
}

/** The operations of a text with all tunable work in linalg; null for other input. */
function readLinalg({ bytes, reading }: ReadInput, { sizes }: Pick<Settings, 'sizes'>) {
  if (isBytecode(bytes)) return null;
  const { splits, convert } = reading;
  const found = parse(bytes, { splitInputFile: splits }).operations;
  requireRoom(found.length);
  if (found.some(({ kind }) => kind === 'to-normalise') || hasDispatchesToNormalise(bytes)) return null;
  const operations = classify(found, sizesByKind(sizes), convert);
  return {
    operations,
    written: { bytes, operations: found, convert },
    /** Whether the workloads depend on more than the text, so that a survey is needed. */
    isOpen:
      found.some(mayBecomeWork) ||
      isReadFromMemory(operations) ||
      hasDispatchesInLinalg(bytes) ||
      (sizes.length > 0 && dynamicFunctions(bytes, sizes).some(isNamed)),
  };
}

/** A command, and what is known about its input. */
interface InspectedCommand<Inspected extends { readonly input: Input }> {
  readonly command: Command;
  readonly inspected: Inspected;
}

/**
 * Adds the operations that the compiler generates code for, which can differ from those of the text.
 * @param hasTurn whether the caller holds the measuring lock
 * @returns the same program if it has a survey, or if it cannot be surveyed
 */
export async function withSurvey<Inspected extends { readonly input: Input }>(
  program: InspectedCommand<Inspected>,
  surroundings: Surroundings,
  hasTurn = false,
): Promise<InspectedCommand<Inspected>> {
  const { command, inspected } = program;
  const { input } = inspected;
  const { bytes, operations, reading } = input;
  const { convert, splits, ownPreprocessing } = reading;
  if (input.surveyed || ownPreprocessing || splits) return program;
  // Operations before a survey come from linalg text.
  const found = operations.map(({ place }) => place.operation!);
  const text = operations.length === 0 ? null : { bytes, operations: found, convert };
  const { surveyed, waitedSeconds } = await surveyInTurn(input, text, command, surroundings, { hasTurn });
  if (surveyed === null) return program;
  const known = fromSurveyed(surveyed, input, found, surroundings.settings);
  const all = { ...input, ...known, waitedSeconds: input.waitedSeconds + waitedSeconds };
  return { command, inspected: { ...inspected, input: all } };
}

function recall(identity: string, { cacheDirectory }: Surroundings, isEnough = NEVER): Found | null {
  const known = surveyMemory.recall(cacheDirectory, identity);
  if (known !== null || isEnough === NEVER) return known;
  const rewritables = surveyMemory.recall(cacheDirectory, lookOf(identity))?.rewritables ?? [];
  return isEnough(rewritables) ? { operations: null, rewritables } : null;
}

/** The rewritable operations of an input, as far as a build has found them. */
export const knownRewritables = (identity: string, surroundings: Surroundings): readonly Rewritable[] =>
  recall(identity, surroundings, () => true)?.rewritables ?? [];

/** Identity of the note about an input's rewritable operations only. */
const lookOf = (identity: string): string => `rewritables ${identity}`;

/** The remembered survey of an input, also from another build during the wait for the lock; else a new survey. */
function surveyInTurn(
  input: ReadInput,
  text: WrittenText | null,
  command: Command,
  surroundings: Surroundings,
  { isEnough = NEVER, configured, hasTurn }: SurveyMeans,
): Promise<{ readonly surveyed: Found | null; readonly waitedSeconds: number }> {
  const { env, cacheDirectory } = surroundings;
  const { identity } = input;
  const known = () => recall(identity, surroundings, isEnough);
  const survey = async () => {
    // Loaded on demand: a hit needs no survey.
    const [{ surveyInput }, { takeSlot }] = await Promise.all([
      import('./survey.ts'),
      import('../system/slots.ts'),
    ]);
    using _slot = await takeSlot(env, cacheDirectory);
    const begun = performance.now();
    const surveyed = await surveyInput(command, input, { text, isEnough, configured }, surroundings);
    const seconds = (performance.now() - begun) / 1000;
    if (surveyed === null) return null;
    const { operations, rewritables } = surveyed;
    const note =
      operations === null ? { identity: lookOf(identity), operations: [] } : { identity, operations };
    surveyMemory.remember(cacheDirectory, { ...note, rewritables, seconds });
    return surveyed;
  };
  const find = async (waitedSeconds: number) => ({ surveyed: known() ?? (await survey()), waitedSeconds });
  return hasTurn === true ? find(0) : inTurn(surroundings, () => known() === null, find);
}

function fromSurveyed(
  { operations, rewritables }: Found,
  { bytes }: ReadInput,
  found: readonly Operation[],
  { sizes, inject }: Settings,
): Omit<InputOperations, 'waitedSeconds'> {
  const hasSizes =
    sizes.length > 0 && operations?.some(({ generated }) => generated && isDynamic(generated.workload));
  const program = hasSizes ? dynamicFunctions(bytes, sizes) : [];
  return {
    operations: (operations ?? []).map((one) =>
      fromSurvey(one, found, sizesAtCalls(one.extents, program, sizes), inject),
    ),
    surveyed: operations !== null,
    rewritables,
  };
}

function fromSurvey(
  surveyed: SurveyedOperation,
  found: readonly Operation[],
  sizes: TunedSizes,
  inject: InjectRoute,
): InputOperation {
  const { name, index, location, skipped, generated, written, executables } = surveyed;
  const place = { name, operation: index === null ? null : (found[index] ?? null), location };
  if (skipped !== null) return { place, ...skipped, matched: generated && { ...generated, written } };
  const { workload, loops } = generated!;
  // Only substitution reaches the one executable of a dispatch.
  if (dispatchOf(workload) === null || inject === 'auto' || inject === 'substitute')
    return tunable(place, { workload, loops }, written, sizes, executables);
  const alone = withoutDispatch(workload);
  if (alone !== null && !hasStrides(workload))
    return tunable(place, { loops, workload: alone }, written, sizes, executables);
  const out = alone === null ? 'dispatches' : 'operands with strides';
  return {
    place,
    ...because('route-excludes', `${out} are out of reach (inject=${inject})`),
    matched: null,
  };
}
