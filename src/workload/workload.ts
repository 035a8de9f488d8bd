// What is tuned, of whatever kind.
import type { Operation } from 'mlir-parser-ts';
import { contractions } from './contraction/index.ts';
import type { Contraction } from './contraction/contraction.ts';
import { dispatches } from './dispatch/index.ts';
import type { DispatchWork } from './dispatch/dispatch-work.ts';
import type {
  Allowance,
  CandidateFunction,
  Convert,
  Form,
  KindOfOperation,
  KindOfWork,
  OperationForm,
  Skipped,
} from './kind.ts';
import { distinctFillers, type Filler } from './fillers.ts';
import type { TunedSizes } from './sizes.ts';
import { because, type Reason } from '../system/reason.ts';

/** What one operation does, in canonical form; `kind` says which sort of it. */
export type OperationWork = Contraction;

/** A workload in canonical form; `kind` says which. */
export type Workload = OperationWork | DispatchWork;

export type WorkloadForm = Form<Workload>;
/** What a matcher finds. */
export type MatchedForm = Form<OperationWork>;
export type OperationWorkload = OperationForm<OperationWork>;
export type SkippedOperation = Skipped<OperationWork>;

type Kinds = { readonly [K in Workload['kind']]: KindOfWork<Extract<Workload, { kind: K }>> };

/** Kinds of work that operations are read as. */
const OF_OPERATIONS: {
  readonly [K in OperationWork['kind']]: KindOfOperation<Extract<OperationWork, { kind: K }>>;
} = { contraction: contractions };

const KINDS: Kinds = { ...OF_OPERATIONS, dispatch: dispatches };

/** Whether it is the work of one operation, which can be measured by itself. */
export const isOperationWork = (workload: Workload): workload is OperationWork =>
  Object.hasOwn(OF_OPERATIONS, workload.kind);

const kindOf = ({ kind }: Workload) => KINDS[kind] as KindOfWork<Workload>;

/** Operations that the parser knows and that have no kind of work yet. */
const UNTUNED: Readonly<Record<Exclude<Operation['kind'], OperationWork['kind']>, string>> = {
  convolution: 'convolutions of this form are not tuned yet',
  pooling: 'poolings are not tuned yet',
  'to-normalise': 'operations of this dialect are not tuned yet',
};

/** The kind of work that an operation is read as; null where there is none. */
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

/** The form of an operation that the compiler has made, whatever configuration it has; null when it has none. */
export const generatedForm = (operation: Operation): MatchedForm | null =>
  readAs(operation)?.generated(operation) ?? null;

/** The work that a dispatch does around an operation, whatever strides its operands have; null when it is none. */
export const rootFormOf = (operation: Operation): OperationWorkload | null =>
  readAs(operation)?.root(operation) ?? null;

/** Whether the compiler may make something to be tuned of an operation that is nothing of the kind as it is written. */
export const mayBecomeWork = (operation: Operation): boolean =>
  Object.values(OF_OPERATIONS).some((kind) => kind.mayBecome(operation));

/** Readable canonical key, such as `contraction m=512 n=512 k=512 f32,f32->f32 mk,kn->mn`. */
export const workloadKey = (workload: Workload): string => kindOf(workload).key(workload);

export const workloadRank = (workload: Workload): number => kindOf(workload).rank(workload);

/** Operations on numbers of one execution, two per multiply-add; at the largest sizes of dynamic dimensions. */
export const workloadFlops = (workload: Workload): number => kindOf(workload).flops(workload);

/** Bytes of operands and result, once each: the least that one execution moves; at the largest sizes of dynamic dimensions. */
export const workloadBytes = (workload: Workload): number => kindOf(workload).bytes(workload);

/** Whether a size is only known at run time. */
export const isDynamic = (workload: Workload): boolean => kindOf(workload).isDynamic(workload);

/** The workload with sizes for its dynamic dimensions, or why it cannot be tuned. */
export const atSizes = (workload: Workload, sizes: TunedSizes): Workload | { readonly skipped: Reason } =>
  kindOf(workload).atSizes(workload, sizes);

/** Whether a value is a workload as this type describes it: names in it are single words, since they are written into MLIR. */
export function isWorkload(value: unknown): value is Workload {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  const { kind } = value;
  return typeof kind === 'string' && isKindOfWork(kind) && KINDS[kind as Workload['kind']].isWorkload(value);
}

/** Whether this version tunes such work; another one may tune more. */
export const isKindOfWork = (kind: string): boolean => Object.hasOwn(KINDS, kind);

/** What one execution by the default takes, as far as one can tell: for comparing workloads of one program. */
export const likelyCost = (workload: Workload): number => kindOf(workload).likelyCost(workload);

/** Whether it waits for operands that may have to come from memory. */
export const isBoundByMemory = (workload: Workload): boolean => kindOf(workload).isBoundByMemory(workload);

/** Digest of the dispatch of a program that it is measured in; null where it is measured by itself. */
export const dispatchOf = (workload: Workload): string | null => kindOf(workload).dispatch(workload);

/** Equal for workloads that a configuration is worth about as much for. */
export const kinOf = (workload: Workload): string => kindOf(workload).kin(workload);

/** Equal for workloads that differ in nothing but sizes and surroundings. */
export const structureOf = (workload: Workload): string =>
  `${workload.kind} ${kindOf(workload).structure(workload)}`;

/** Element type of the result. */
export const resultTypeOf = (workload: Workload): string => kindOf(workload).resultType(workload);

/** What a database keeps of a workload: no text that a compiler is given. */
export const storedForm = (workload: Workload): Workload => kindOf(workload).stored(workload);

/** Equal for two forms exactly when one matcher would match the operations of both; a dispatch is found by what it computes. */
export const matchKey = ({ workload, loops }: WorkloadForm): string =>
  isOperationWork(workload) ? matcherOf({ workload, loops }, 'match', '') : workloadKey(workload);

/** Whether one workload can be what the compiler has made of the other. */
export const isSameWork = (a: OperationWork, b: OperationWork): boolean =>
  OF_OPERATIONS[a.kind].isSameWork(a, b);

/** Whether a workload can be what the compiler made of an operation that is nothing of the kind as it is written. */
export const isMadeOf = (workload: OperationWork, operation: Operation): boolean =>
  OF_OPERATIONS[workload.kind].isMadeOf(workload, operation);

/** Whether the tiles of a configuration mean the same for both workloads. */
export const areTiledAlike = (a: OperationWork, b: OperationWork): boolean =>
  OF_OPERATIONS[a.kind].areTiledAlike(a, b);

/** The workload at every combination of its dynamic dimensions' sizes; itself alone when all are static. */
export const staticForms = <W extends Workload>(workload: W): W[] =>
  kindOf(workload).staticForms(workload) as W[];

/** A workload of the compiler's making, with what only the input tells of the same operation. */
export const withInput = (made: OperationWork, written: OperationWork): OperationWork =>
  OF_OPERATIONS[made.kind].withInput(made, written);

/** Whether operands are constants of the program, which may be packed when it is loaded. */
export const hasConstants = (workload: OperationWork): boolean =>
  OF_OPERATIONS[workload.kind].hasConstants(workload);

/** A type in which the results are exact; null when they are in their own, or in none. */
export const exactTypeOf = (workload: OperationWork): string | null =>
  OF_OPERATIONS[workload.kind].exactType(workload);

/** For each loop of a candidate's operation, outermost first, the index of the workload's dimension it runs over. */
export const candidateLoops = (workload: OperationWork): readonly number[] =>
  OF_OPERATIONS[workload.kind].candidateLoops(workload);

/** The phase of the compiler at whose end functions of candidates are written; null for text as users write it. */
export const candidatePhase = (workload: OperationWork): string | null =>
  OF_OPERATIONS[workload.kind].candidatePhase(workload);

/** What fills the operands of its candidates, each once. */
export const fillersOf = (workload: OperationWork): Filler[] =>
  distinctFillers(OF_OPERATIONS[workload.kind].fillers(workload));

/** Text of the operands of all static forms, filled when a module is loaded: by functions that it does not have. */
export const operandsText = (workload: OperationWork): string =>
  OF_OPERATIONS[workload.kind].operandsText(workload);

/** Text of a function that does the work on the operands of one static form. */
export const functionText = (workload: OperationWork, candidate: CandidateFunction): string =>
  OF_OPERATIONS[workload.kind].functionText(workload, candidate);

/** Whether results of full values say anything. */
export const canCompareFull = (workload: OperationWork): boolean =>
  OF_OPERATIONS[workload.kind].canCompareFull(workload);

/** What results of full values may differ by, of a workload of static sizes. */
export const fullAllowance = (workload: OperationWork, hasTruth: boolean): Allowance =>
  OF_OPERATIONS[workload.kind].fullAllowance(workload, hasTruth);

/** Text of a matcher called `name` that gives the attribute `value` to the operations of a form. */
export const matcherOf = (form: MatchedForm, name: string, value: string): string =>
  OF_OPERATIONS[form.workload.kind].matcher(form, name, value);

/** What an operation is matched by before anything is optimised: its loops in the order in which it is written. */
export const writtenForm = ({ workload, writtenLoops }: OperationWorkload): MatchedForm => ({
  workload,
  loops: writtenLoops,
});
