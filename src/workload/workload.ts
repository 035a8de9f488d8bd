// Workloads of any kind, and the registry of kinds.
import type { Operation } from 'mlir-parser-ts';
import { contractions } from './contraction/index.ts';
import type { Contraction } from './contraction/contraction.ts';
import { dispatches } from './dispatch/index.ts';
import type { DispatchWork } from './dispatch/dispatch-work.ts';
import type { Convert, Form, KindOfOperation, KindOfWork, OperationForm, Skipped } from './kind.ts';
import { distinctFillers, type Filler } from './fillers.ts';
import { because } from '../system/reason.ts';

/** The work of one operation, in canonical form. */
export type OperationWork = Contraction;

/** A workload in canonical form. `kind` selects its folder. */
export type Workload = OperationWork | DispatchWork;

export type WorkloadForm = Form<Workload>;
/** The form that a matcher finds. */
export type MatchedForm = Form<OperationWork>;
export type OperationWorkload = OperationForm<OperationWork>;
export type SkippedOperation = Skipped<OperationWork>;

type Kinds = { readonly [K in Workload['kind']]: KindOfWork<Extract<Workload, { kind: K }>> };

/** Kinds of work that are read from operations. */
const OF_OPERATIONS: {
  readonly [K in OperationWork['kind']]: KindOfOperation<Extract<OperationWork, { kind: K }>>;
} = { contraction: contractions };

const KINDS: Kinds = { ...OF_OPERATIONS, dispatch: dispatches };

/** Whether it is the work of one operation, which can be measured alone. */
export const isOperationWork = (workload: Workload): workload is OperationWork =>
  Object.hasOwn(OF_OPERATIONS, workload.kind);

const kindOf = ({ kind }: Workload) => KINDS[kind] as KindOfWork<Workload>;
const operationKindOf = ({ kind }: OperationWork): KindOfOperation<OperationWork> => OF_OPERATIONS[kind];

/** The reasons why other operations of the parser are skipped. */
const UNTUNED: Readonly<Record<Exclude<Operation['kind'], OperationWork['kind']>, string>> = {
  convolution: 'convolutions of this form are not tuned yet',
  pooling: 'poolings are not tuned yet',
  'to-normalise': 'operations of this dialect are not tuned yet',
};

/** The kind of work of an operation; null without one. */
const readAs = ({ kind }: Operation) =>
  Object.hasOwn(OF_OPERATIONS, kind) ? OF_OPERATIONS[kind as OperationWork['kind']] : null;

/** The canonical workload of an operation, or the reason why it has none. Dynamic dimensions have no sizes yet. */
export const workloadOf = (
  operation: Operation,
  convert: Convert = (type) => type,
): OperationWorkload | SkippedOperation =>
  readAs(operation)?.read(operation, convert) ?? {
    skipped: because('operation-unsupported', UNTUNED[operation.kind as keyof typeof UNTUNED]),
    alike: null,
  };

/** The form of an operation that the compiler made, with or without a configuration. Null without a form. */
export const generatedForm = (operation: Operation): MatchedForm | null =>
  readAs(operation)?.generated(operation) ?? null;

/** The workload of a dispatch's root operation, strides of its operands ignored. Null without one. */
export const rootFormOf = (operation: Operation): OperationWorkload | null =>
  readAs(operation)?.root(operation) ?? null;

/** Whether the compiler may make tunable work of an operation that has none as written. */
export const mayBecomeWork = (operation: Operation): boolean =>
  Object.values(OF_OPERATIONS).some((kind) => kind.mayBecome(operation));

/** Whether a value is a workload. Names in it are single words, because they are written into MLIR. */
export function isWorkload(value: unknown): value is Workload {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  const { kind } = value;
  return typeof kind === 'string' && isKindOfWork(kind) && KINDS[kind as Workload['kind']].isWorkload(value);
}

/** Whether this version tunes such work. Another version may tune more kinds. */
export const isKindOfWork = (kind: string): boolean => Object.hasOwn(KINDS, kind);

/** The function `name` of all kinds, as one function of their workloads. `kind.ts` documents each. */
const forward = <T, K extends keyof T>(kindOf: (workload: never) => T, name: K): T[K] =>
  ((workload: never, ...rest: never[]) =>
    (kindOf(workload)[name] as (...all: never[]) => unknown)(workload, ...rest)) as T[K];

export const workloadKey = forward(kindOf, 'key');
export const workloadRank = forward(kindOf, 'rank');
export const workloadFlops = forward(kindOf, 'flops');
export const workloadBytes = forward(kindOf, 'bytes');
export const isDynamic = forward(kindOf, 'isDynamic');
export const atSizes = forward(kindOf, 'atSizes');
export const likelyCost = forward(kindOf, 'likelyCost');
export const isBoundByMemory = forward(kindOf, 'isBoundByMemory');
export const dispatchOf = forward(kindOf, 'dispatch');
export const kinOf = forward(kindOf, 'kin');
export const resultTypeOf = forward(kindOf, 'resultType');
export const storedForm = forward(kindOf, 'stored');
export const staticForms = forward(kindOf, 'staticForms') as <W extends Workload>(workload: W) => W[];

export const isSameWork = forward(operationKindOf, 'isSameWork');
export const isMadeOf = forward(operationKindOf, 'isMadeOf');
export const areTiledAlike = forward(operationKindOf, 'areTiledAlike');
export const withInput = forward(operationKindOf, 'withInput');
export const hasConstants = forward(operationKindOf, 'hasConstants');
export const exactTypeOf = forward(operationKindOf, 'exactType');
export const candidateLoops = forward(operationKindOf, 'candidateLoops');
export const candidatePhase = forward(operationKindOf, 'candidatePhase');
export const operandsText = forward(operationKindOf, 'operandsText');
export const functionText = forward(operationKindOf, 'functionText');
export const canCompareFull = forward(operationKindOf, 'canCompareFull');
export const fullAllowance = forward(operationKindOf, 'fullAllowance');

/** Equal for workloads of one kind that differ only in sizes and surroundings. */
export const structureOf = (workload: Workload): string =>
  `${workload.kind} ${kindOf(workload).structure(workload)}`;

/** Equal for two forms if and only if one matcher matches the operations of both. A dispatch is matched by its key. */
export const matchKey = ({ workload, loops }: WorkloadForm): string =>
  isOperationWork(workload) ? matcherOf({ workload, loops }, 'match', '') : workloadKey(workload);

/** The fillers of a workload's operands, each once. */
export const fillersOf = (workload: OperationWork): Filler[] =>
  distinctFillers(operationKindOf(workload).fillers(workload));

/** Text of a matcher called `name` that gives the attribute `value` to the operations of a form. */
export const matcherOf = (form: MatchedForm, name: string, value: string): string =>
  operationKindOf(form.workload).matcher(form, name, value);

/** The form that matches an operation before any optimisation: its loops in the order of the text. */
export const writtenForm = ({ workload, writtenLoops }: OperationWorkload): MatchedForm => ({
  workload,
  loops: writtenLoops,
});
