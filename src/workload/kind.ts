// The interface of a kind of work. Each folder beside this file exports one object of it.
import type { Operation } from 'mlir-parser-ts';
import type { Filler } from './fillers.ts';
import type { TunedSizes } from './sizes.ts';
import type { Reason } from '../system/reason.ts';

/** All operations with the same work and the same order of loops. A matcher finds exactly these. */
export interface Form<W> {
  readonly workload: W;
  /** For each loop, outermost first, the index of its dimension in the workload. */
  readonly loops: readonly number[];
}

/** The work of one operation, with the order of its loops. */
export interface OperationForm<W> extends Form<W> {
  /** The operation's order with reductions innermost: the compiler moves them there before it reads configurations. */
  readonly loops: readonly number[];
  /** The order of the text, which matchers of the whole program see. */
  readonly writtenLoops: readonly number[];
}

/** An operation that is not tuned. */
export interface Skipped<W> {
  /** The reason. */
  readonly skipped: Reason;
  /** The form whose matchers also match this operation, because matchers ignore bodies. Null without one. */
  readonly alike: OperationForm<W> | null;
}

/** Maps an element type of the input to the type that code is generated for. */
export type Convert = (elementType: string) => string;

/** The largest allowed errors of an element of an output. */
export interface Allowance {
  /** Largest difference from the expected value, which is the default's result. */
  readonly fromExpected: (value: number) => number;
  /** Largest difference from the true value. The expected value is at most `expectedError` away from the true one. */
  readonly fromTruth: (value: number, expectedError: number) => number;
}

/** One function of a module of candidates. */
export interface CandidateFunction {
  readonly name: string;
  /** Index of the static form whose operands the function uses. */
  readonly form: number;
  /** Attribute of the operation, `name = value`; null for none. */
  readonly attribute: string | null;
  /** Element type of the result. */
  readonly resultType: string;
  /** Whether the function writes its result between guards: see `guarded.ts`. */
  readonly isGuarded: boolean;
}

/** Functions of any kind of work. Pure. */
export interface KindOfWork<W extends { readonly kind: string }> {
  /** Readable canonical key, such as `contraction m=512 n=512 k=512 f32,f32->f32 mk,kn->mn`. Starts with the kind. */
  key(workload: W): string;
  /** Whether a value, for example from a database, is such a workload. Checks every key. */
  isWorkload(value: object): value is W;
  /** Number of iteration dimensions. A configuration has a tile for each. */
  rank(workload: W): number;
  /** Whether a size is known only at run time. */
  isDynamic(workload: W): boolean;
  /** The same work with sizes for its dynamic dimensions, or the reason why it cannot be tuned. */
  atSizes(workload: W, sizes: TunedSizes): W | { readonly skipped: Reason };
  /** The work at every combination of the sizes of its dynamic dimensions. Only the work itself if all are static. */
  staticForms(workload: W): W[];
  /** Arithmetic operations of one execution, two for a multiply-add, at the largest sizes of dynamic dimensions. */
  flops(workload: W): number;
  /** Bytes of the operands and the result, each counted once, at the largest sizes of dynamic dimensions. */
  bytes(workload: W): number;
  /** Estimated cost of one execution by the default, in vectorised arithmetic operations. Compares workloads of a program. */
  likelyCost(workload: W): number;
  /** Whether reading operands from memory limits its speed. */
  isBoundByMemory(workload: W): boolean;
  /** Digest of the dispatch in which it is measured; null if it is measured alone. */
  dispatch(workload: W): string | null;
  /** Equal for kin: workloads for which a configuration gains about as much. */
  kin(workload: W): string;
  /** Equal for workloads that differ only in sizes and surroundings: tiles have the same meaning for them. */
  structure(workload: W): string;
  /** Element type of the result. */
  resultType(workload: W): string;
  /** The part that a database stores: no text for a compiler. */
  stored(workload: W): W;
}

/** A kind for the work of one operation, which is read from programs, matched in them and measured alone. Pure. */
export interface KindOfOperation<W extends { readonly kind: string }> extends KindOfWork<W> {
  /** The canonical form of an operation, or the reason why it has none. Dynamic dimensions have no sizes yet. */
  read(operation: Operation, convert: Convert): OperationForm<W> | Skipped<W>;
  /** The form of an operation that the compiler made, with or without a configuration. Null without a form. */
  generated(operation: Operation): OperationForm<W> | null;
  /** The form of a dispatch's root operation, strides of its operands ignored. Null without one. */
  root(operation: Operation): OperationForm<W> | null;
  /** Whether the compiler may make such work of an operation that is of another kind as written. */
  mayBecome(operation: Operation): boolean;
  /** Text of a transform-dialect matcher called `name` that gives the attribute `value` to the operations of a form. */
  matcher(form: Form<W>, name: string, value: string): string;
  /** Whether the compiler can have made one of the other: both do the same amount of work, with sums of one type. */
  isSameWork(a: W, b: W): boolean;
  /** Whether the compiler can have made the workload of an operation that is of another kind as written. */
  isMadeOf(workload: W, operation: Operation): boolean;
  /** Whether the tiles of a configuration have the same meaning for both. */
  areTiledAlike(a: W, b: W): boolean;
  /** A workload that the compiler made, with the facts that only the input has: which operands are constants. */
  withInput(made: W, written: W): W;
  /** Whether operands are constants of the program, so that it may pack them when it is loaded. */
  hasConstants(workload: W): boolean;
  /** A wider type with exact results; null if the result type is exact, or if no type is. */
  exactType(workload: W): string | null;
  /** For each loop of a candidate's operation, outermost first, the index of its dimension in the workload. */
  candidateLoops(workload: W): readonly number[];
  /** The compiler phase after which the functions of candidates are valid text; null for input text. */
  candidatePhase(workload: W): string | null;
  /** The fillers of the operands. */
  fillers(workload: W): readonly Filler[];
  /** Text of the operands of all static forms. Calls of fillers in another module fill them when the module is loaded. */
  operandsText(workload: W): string;
  /** Text of a function that does the work on the operands of one static form. */
  functionText(workload: W, candidate: CandidateFunction): string;
  /** Whether results of full values can be compared. */
  canCompareFull(workload: W): boolean;
  /**
   * The allowed errors of results of full values.
   * @param workload with static sizes
   * @param hasTruth whether results are also compared with true values
   */
  fullAllowance(workload: W, hasTruth: boolean): Allowance;
}
