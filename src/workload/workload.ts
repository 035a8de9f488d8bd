// Workloads of any kind, and the registry of kinds.
import type { Operation } from 'mlir-parser-ts';
import { contractions } from './contraction/index.ts';
import type { Contraction } from './contraction/contraction.ts';
import { readContraction } from './contraction/from-operation.ts';
import { matcherOf } from './contraction/text.ts';
import { dispatches } from './dispatch/index.ts';
import type { DispatchWork } from './dispatch/dispatch-work.ts';
import type { Convert, Form, KindOfWork, MatchedForm, OperationWorkload, SkippedOperation } from './kind.ts';
import { isObject } from '../system/data.ts';
import { because } from '../system/reason.ts';

export * from './contraction/candidate.ts';
export { areTiledAlike, isMadeOf, isSameWork, withInput } from './contraction/contraction.ts';
export { generatedForm, mayBecomeWork, ownConfiguration, rootFormOf } from './contraction/from-operation.ts';
export { matcherOf };
export type { MatchedForm, OperationWorkload, SkippedOperation };
export { isDynamic } from './sizes.ts';

/** The work of one operation, in canonical form: read from programs, matched in them and measured alone. */
export type OperationWork = Contraction;

/** A workload in canonical form. `kind` selects its folder. */
export type Workload = OperationWork | DispatchWork;

export type WorkloadForm = Form<Workload>;

const KINDS: { readonly [K in Workload['kind']]: KindOfWork<Extract<Workload, { kind: K }>> } = {
  contraction: contractions,
  dispatch: dispatches,
};

/** For a kind's folder in a backend. All other code asks a question of `kind.ts`, which documents each. */
export const isOperationWork = (workload: Workload): workload is OperationWork =>
  workload.kind === 'contraction';

export const needsProgram = (workload: Workload): workload is DispatchWork =>
  KINDS[workload.kind].needsProgram;

export const hasRoot = (workload: Workload): workload is OperationWork => KINDS[workload.kind].hasRoot;

/** Whether its canonical form is all of it: it is measured without a dispatch of a program. */
export const isSelfContained = (workload: Workload): workload is OperationWork =>
  dispatchOf(workload) === null;

/** The reasons why other operations of the parser are skipped. */
const UNTUNED: Readonly<Record<Exclude<Operation['kind'], OperationWork['kind']>, string>> = {
  convolution: 'convolutions of this form are not tuned yet',
  pooling: 'poolings are not tuned yet',
  'to-normalise': 'operations of this dialect are not tuned yet',
};

/** The canonical workload of an operation, or the reason why it has none. */
export const workloadOf = (
  operation: Operation,
  convert: Convert = (type) => type,
): OperationWorkload | SkippedOperation =>
  operation.kind === 'contraction'
    ? readContraction(operation, convert)
    : { ...because('operation-unsupported', UNTUNED[operation.kind]), matched: null };

/** Whether a value is a workload. Names in it are single words, because they are written into MLIR. */
export function isWorkload(value: unknown): value is Workload {
  if (!isObject(value)) return false;
  const { kind } = value;
  return typeof kind === 'string' && isKindOfWork(kind) && KINDS[kind].isWorkload(value);
}

/** Whether this version tunes such work. Another version may tune more kinds. */
export const isKindOfWork = (kind: string): kind is Workload['kind'] => Object.hasOwn(KINDS, kind);

/** The answer `name` of all kinds, as one function of their workloads. */
const ofEach = <Name extends Exclude<keyof KindOfWork<Workload>, 'needsProgram' | 'hasRoot'>>(
  name: Name,
): KindOfWork<Workload>[Name] =>
  ((workload: Workload, ...rest: unknown[]) =>
    (KINDS[workload.kind][name] as (...all: unknown[]) => unknown)(workload, ...rest)) as never;

export const workloadKey = ofEach('key');
export const workloadFlops = ofEach('flops');
export const workloadAmount = ofEach('amount');
export const atSizes = ofEach('atSizes');
export const likelyCost = ofEach('likelyCost');
export const isBoundByMemory = ofEach('isBoundByMemory');
export const dispatchOf = ofEach('dispatch');
export const joinsRounds = ofEach('joinsRounds');
export const withoutDispatch = ofEach('withoutDispatch');
export const hasStrides = ofEach('hasStrides');
export const tensorSizesOf = ofEach('tensorSizes');
export const hasConstants = ofEach('hasConstants');
export const inputTypeOf = ofEach('inputType');
export const kinOf = ofEach('kin');
export const resultTypeOf = ofEach('resultType');
export const storedForm = ofEach('stored');
const structureIn = ofEach('structure');
const matchKeyIn = ofEach('matchKey');
export const staticForms = ofEach('staticForms') as <W extends Workload>(workload: W) => W[];

/** Bytes of the operands and the result, each counted once, at the largest sizes of dynamic dimensions; 0 if unknown. */
export const workloadBytes = (workload: Workload): number => workloadAmount(workload).bytes ?? 0;

/** Number of iteration dimensions. A configuration has a tile for each. */
export const workloadRank = ({ dimensions }: Workload): number => dimensions.length;

/** Equal for workloads of one kind that differ only in sizes and surroundings. */
export const structureOf = (workload: Workload): string => `${workload.kind} ${structureIn(workload)}`;

export const matchKey = ({ workload, loops }: WorkloadForm): string => matchKeyIn(workload, loops);

/** The form that matches an operation before any optimisation: its loops in the order of the text. */
export const writtenForm = ({ workload, writtenLoops }: OperationWorkload): MatchedForm => ({
  workload,
  loops: writtenLoops,
});
