// What is tuned, of whatever kind.
import type { Operation } from 'mlir-parser-ts';
import { contractions } from './contraction/index.ts';
import type { Contraction } from './contraction/contraction.ts';
import type {
  Allowance,
  CandidateFunction,
  Convert,
  Form,
  KindOfWork,
  OperationForm,
  Skipped,
} from './kind.ts';
import { distinctFillers, type Filler } from './fillers.ts';
import type { TunedSizes } from './sizes.ts';

/** A workload in canonical form; `kind` says which. */
export type Workload = Contraction;

export type WorkloadForm = Form<Workload>;
export type OperationWorkload = OperationForm<Workload>;
export type SkippedOperation = Skipped<Workload>;

const KINDS: { readonly [K in Workload['kind']]: KindOfWork<Extract<Workload, { kind: K }>> } = {
  contraction: contractions,
};

/** Operations that the parser knows and that have no kind of work yet. */
const UNTUNED: Readonly<Record<Exclude<Operation['kind'], Workload['kind']>, string>> = {
  convolution: 'convolutions of this form are not tuned yet',
  pooling: 'poolings are not tuned yet',
  'to-normalise': 'operations of this dialect are not tuned yet',
};

/** The canonical workload of an operation, or the reason why it has none. Dynamic dimensions have no sizes yet. */
export function workloadOf(
  operation: Operation,
  convert: Convert = (type) => type,
): OperationWorkload | SkippedOperation {
  const { kind } = operation;
  return kind in KINDS
    ? KINDS[kind as Workload['kind']].read(operation, convert)
    : { skipped: UNTUNED[kind as keyof typeof UNTUNED], alike: null };
}

/** The form of an operation that the compiler has made, whatever configuration it has; null when it has none. */
export function generatedForm(operation: Operation): WorkloadForm | null {
  const { kind } = operation;
  return kind in KINDS ? KINDS[kind as Workload['kind']].generated(operation) : null;
}

/** The work that a dispatch does around an operation, whatever strides its operands have; null when it is none. */
export function rootFormOf(operation: Operation): OperationWorkload | null {
  const { kind } = operation;
  return kind in KINDS ? KINDS[kind as Workload['kind']].root(operation) : null;
}

/** Whether the compiler may make something to be tuned of an operation that is nothing of the kind as it is written. */
export const mayBecomeWork = (operation: Operation): boolean =>
  Object.values(KINDS).some((kind) => kind.mayBecome(operation));

/** Readable canonical key, such as `contraction m=512 n=512 k=512 f32,f32->f32 mk,kn->mn`. */
export const workloadKey = (workload: Workload): string => KINDS[workload.kind].key(workload);

export const workloadRank = (workload: Workload): number => KINDS[workload.kind].rank(workload);

/** Operations on numbers of one execution, two per multiply-add; at the largest sizes of dynamic dimensions. */
export const workloadFlops = (workload: Workload): number => KINDS[workload.kind].flops(workload);

/** Bytes of operands and result, once each: the least that one execution moves; at the largest sizes of dynamic dimensions. */
export const workloadBytes = (workload: Workload): number => KINDS[workload.kind].bytes(workload);

/** Whether a size is only known at run time. */
export const isDynamic = (workload: Workload): boolean => KINDS[workload.kind].isDynamic(workload);

/** The workload with sizes for its dynamic dimensions, or why it cannot be tuned. */
export const atSizes = (workload: Workload, sizes: TunedSizes): Workload | { readonly skipped: string } =>
  KINDS[workload.kind].atSizes(workload, sizes);

/** The workload at every combination of its dynamic dimensions' sizes; itself alone when all are static. */
export const staticForms = (workload: Workload): Workload[] => KINDS[workload.kind].staticForms(workload);

/** Whether a value is a workload as this type describes it: names in it are single words, since they are written into MLIR. */
export function isWorkload(value: unknown): value is Workload {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  const { kind } = value;
  return typeof kind === 'string' && isKindOfWork(kind) && KINDS[kind as Workload['kind']].isWorkload(value);
}

/** Whether this version tunes such work; another one may tune more. */
export const isKindOfWork = (kind: string): boolean => Object.hasOwn(KINDS, kind);

/** What one execution by the default takes, as far as one can tell: for comparing workloads of one program. */
export const likelyCost = (workload: Workload): number => KINDS[workload.kind].likelyCost(workload);

/** Whether it waits for operands that may have to come from memory. */
export const isBoundByMemory = (workload: Workload): boolean =>
  KINDS[workload.kind].isBoundByMemory(workload);

/** Whether one workload can be what the compiler has made of the other. */
export const isSameWork = (a: Workload, b: Workload): boolean => KINDS[a.kind].isSameWork(a, b);

/** Whether a workload can be what the compiler made of an operation that is nothing of the kind as it is written. */
export const isMadeOf = (workload: Workload, operation: Operation): boolean =>
  KINDS[workload.kind].isMadeOf(workload, operation);

/** Whether the tiles of a configuration mean the same for both workloads. */
export const areTiledAlike = (a: Workload, b: Workload): boolean => KINDS[a.kind].areTiledAlike(a, b);

/** Equal for workloads that a configuration is worth about as much for. */
export const kinOf = (workload: Workload): string => KINDS[workload.kind].kin(workload);

/** A workload of the compiler's making, with what only the input tells of the same operation. */
export const withInput = (made: Workload, written: Workload): Workload =>
  KINDS[made.kind].withInput(made, written);

/** Whether operands are constants of the program, which may be packed when it is loaded. */
export const hasConstants = (workload: Workload): boolean => KINDS[workload.kind].hasConstants(workload);

/** Element type of the result. */
export const resultTypeOf = (workload: Workload): string => KINDS[workload.kind].resultType(workload);

/** A type in which the results are exact; null when they are in their own, or in none. */
export const exactTypeOf = (workload: Workload): string | null => KINDS[workload.kind].exactType(workload);

/** For each loop of a candidate's operation, outermost first, the index of the workload's dimension it runs over. */
export const candidateLoops = (workload: Workload): readonly number[] =>
  KINDS[workload.kind].candidateLoops(workload);

/** The phase of the compiler at whose end functions of candidates are written; null for text as users write it. */
export const candidatePhase = (workload: Workload): string | null =>
  KINDS[workload.kind].candidatePhase(workload);

/** What a database keeps of a workload: no text that a compiler is given. */
export const storedForm = (workload: Workload): Workload => KINDS[workload.kind].stored(workload);

/** What fills the operands of its candidates, each once. */
export const fillersOf = (workload: Workload): Filler[] =>
  distinctFillers(KINDS[workload.kind].fillers(workload));

/** Text of the operands of all static forms, filled when a module is loaded: by functions that it does not have. */
export const operandsText = (workload: Workload): string => KINDS[workload.kind].operandsText(workload);

/** Text of a function without arguments that does the work on the operands of one static form. */
export const functionText = (workload: Workload, candidate: CandidateFunction): string =>
  KINDS[workload.kind].functionText(workload, candidate);

/** Whether results of full values say anything. */
export const canCompareFull = (workload: Workload): boolean => KINDS[workload.kind].canCompareFull(workload);

/** What results of full values may differ by, of a workload of static sizes. */
export const fullAllowance = (workload: Workload, hasTruth: boolean): Allowance =>
  KINDS[workload.kind].fullAllowance(workload, hasTruth);

/** Text of a matcher called `name` that gives the attribute `value` to the operations of a form. */
export const matcherOf = (form: WorkloadForm, name: string, value: string): string =>
  KINDS[form.workload.kind].matcher(form, name, value);

/** Equal for two forms exactly when one matcher would match the operations of both. */
export const matchKey = (form: WorkloadForm): string => matcherOf(form, 'match', '');

/** What an operation is matched by before anything is optimised: its loops in the order in which it is written. */
export const writtenForm = ({ workload, writtenLoops }: OperationWorkload): WorkloadForm => ({
  workload,
  loops: writtenLoops,
});
