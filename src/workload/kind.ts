// What a kind of work is to the rest of the program: one object for each folder beside this file.
import type { Operation } from 'mlir-parser-ts';
import type { Filler } from './fillers.ts';
import type { TunedSizes } from './sizes.ts';
import type { Reason } from '../system/reason.ts';

/** All operations that do the same work in the same order of loops; what a matcher finds. */
export interface Form<W> {
  readonly workload: W;
  /** For each loop, outermost first, the index of the workload's iteration dimension it runs over. */
  readonly loops: readonly number[];
}

/** The work of one operation, with the order in which the operation runs over its dimensions. */
export interface OperationForm<W> extends Form<W> {
  /** The operation's own order, with reductions moved innermost, as the compiler does before any configuration is looked at. */
  readonly loops: readonly number[];
  /** The same in the order in which the operation itself is written, as matchers of the whole program see it. */
  readonly writtenLoops: readonly number[];
}

/** Why an operation is not tuned. */
export interface Skipped<W> {
  readonly skipped: Reason;
  /** What matchers, which do not look into bodies, take it for; null when they do not. */
  readonly alike: OperationForm<W> | null;
}

/** What the compile makes of an element type before code is generated. */
export type Convert = (elementType: string) => string;

/** How far an element of an output may be from what it should be. */
export interface Allowance {
  /** From an element of what was expected. */
  readonly fromExpected: (value: number) => number;
  /** From an element of the truth, of which what was expected is at most `expectedError` away. */
  readonly fromTruth: (value: number, expectedError: number) => number;
}

/** One function of a module of candidates. */
export interface CandidateFunction {
  readonly name: string;
  /** Index of the static form, of which the function has the operands. */
  readonly form: number;
  /** Of the operation, as text; null for none. */
  readonly attribute: string | null;
  /** Element type of the result. */
  readonly resultType: string;
  /** Whether it writes its result between guards: see `guarded.ts`. */
  readonly isGuarded: boolean;
}

/** What there is to know of any kind of work. Pure. */
export interface KindOfWork<W extends { readonly kind: string }> {
  /** Readable canonical key, which begins with the name of the kind. */
  key(workload: W): string;
  /** Whether a value, of a database say, is such a workload, down to the last key. */
  isWorkload(value: object): value is W;
  /** Number of iteration dimensions; configurations have a tile for each. */
  rank(workload: W): number;
  /** Whether a size is only known at run time. */
  isDynamic(workload: W): boolean;
  /** The same work with sizes for its dynamic dimensions, or why it cannot be tuned. */
  atSizes(workload: W, sizes: TunedSizes): W | { readonly skipped: Reason };
  /** The work at every combination of its dynamic dimensions' sizes; itself alone when all are static. */
  staticForms(workload: W): W[];
  /** Operations on numbers of one execution, at the largest sizes of dynamic dimensions. */
  flops(workload: W): number;
  /** Bytes of its operands and its result, once each; at the largest sizes of dynamic dimensions. */
  bytes(workload: W): number;
  /** What one execution by the default takes, in operations on numbers in vectors: for comparing workloads of one program. */
  likelyCost(workload: W): number;
  /** Whether it waits for operands that may have to come from memory. */
  isBoundByMemory(workload: W): boolean;
  /** Digest of the dispatch of a program that it is measured in; null where it is measured by itself. */
  dispatch(workload: W): string | null;
  /** Equal for those that a configuration is worth about as much for. */
  kin(workload: W): string;
  /** Equal for those that differ in nothing but sizes and surroundings: tiles mean the same for them. */
  structure(workload: W): string;
  /** Element type of the result. */
  resultType(workload: W): string;
  /** What a database keeps of it. */
  stored(workload: W): W;
}

/** A kind whose work is that of one operation: it is read from programs, matched in them, and measured by itself. Pure. */
export interface KindOfOperation<W extends { readonly kind: string }> extends KindOfWork<W> {
  /** The canonical form of an operation, or the reason why it has none. Dynamic dimensions have no sizes yet. */
  read(operation: Operation, convert: Convert): OperationForm<W> | Skipped<W>;
  /** The same of an operation of the compiler's, whatever configuration it already has; null when it has none. */
  generated(operation: Operation): OperationForm<W> | null;
  /** The work that a dispatch of the compiler's does around an operation, its operands' strides aside; null for none. */
  root(operation: Operation): OperationForm<W> | null;
  /** Whether the compiler may make such work of an operation that is none as it is written. */
  mayBecome(operation: Operation): boolean;
  /** Text of a transform-dialect matcher called `name` that gives the attribute `value` to the operations of a form. */
  matcher(form: Form<W>, name: string, value: string): string;
  /** Whether one can be what the compiler has made of the other: the same amount of work, summed in the same type. */
  isSameWork(a: W, b: W): boolean;
  /** Whether a workload can be what the compiler made of an operation that is none as it is written. */
  isMadeOf(workload: W, operation: Operation): boolean;
  /** Whether the tiles of a configuration mean the same for both. */
  areTiledAlike(a: W, b: W): boolean;
  /** A workload of the compiler's making, with what only the input tells of the same operation. */
  withInput(made: W, written: W): W;
  /** Whether operands are constants of the program, which may be packed when it is loaded. */
  hasConstants(workload: W): boolean;
  /** A type in which the results are exact; null when they are in their own, or in none. */
  exactType(workload: W): string | null;
  /** For each loop of a candidate's operation, outermost first, the index of the workload's dimension it runs over. */
  candidateLoops(workload: W): readonly number[];
  /** The phase of the compiler at whose end functions of candidates are written; null for text as users write it. */
  candidatePhase(workload: W): string | null;
  /** What fills the operands. */
  fillers(workload: W): readonly Filler[];
  /** Text of the operands of all static forms, filled when a module is loaded. */
  operandsText(workload: W): string;
  /** Text of a function that does the work on the operands of one static form. */
  functionText(workload: W, candidate: CandidateFunction): string;
  /** Whether results of full values say anything. */
  canCompareFull(workload: W): boolean;
  /**
   * What results of full values may differ by.
   * @param workload of static sizes
   * @param hasTruth whether they are compared with the truth, too
   */
  fullAllowance(workload: W, hasTruth: boolean): Allowance;
}
