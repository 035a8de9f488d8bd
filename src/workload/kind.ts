// The interface of a kind of work. Each folder beside this file exports one object of it.
import type { Contraction } from './contraction/contraction.ts';
import type { TunedSizes } from './sizes.ts';
import type { Reason } from '../system/reason.ts';

/** All operations with the same work and the same order of loops. A matcher finds exactly these. */
export interface Form<W> {
  readonly workload: W;
  /** For each loop, outermost first, the index of its dimension in the workload. */
  readonly loops: readonly number[];
}

/** The form that a matcher finds. */
export type MatchedForm = Form<Contraction>;

/** The work of one operation, with the order of its loops. Dynamic dimensions have no sizes yet. */
export interface OperationWorkload extends MatchedForm {
  /** The operation's order with reductions innermost: the compiler moves them there before it reads configurations. */
  readonly loops: readonly number[];
  /** The order of the text, which matchers of the whole program see. */
  readonly writtenLoops: readonly number[];
}

/** The reason why an operation is not tuned. */
export interface SkippedOperation extends Reason {
  /** The form whose matchers also match this operation, because matchers ignore bodies. Null without one. */
  readonly matched: OperationWorkload | null;
}

/** Maps an element type of the input to the type that code is generated for. */
export type Convert = (elementType: string) => string;

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
  /** Executions of the work in one call; above 1 only for work with `rotates`. Each execution reads the next buffers. */
  readonly executions: number;
}

/** The amount of work of one call of a dispatch. Null for an unknown number. */
export interface Amount {
  /** Multiplications of its products: each is one multiply-add. Single multiplications of other work do not count. */
  readonly multiplications: number | null;
  /** Element type of both factors, such as `f32`; `f16,f32` for two types; null without products. */
  readonly type: string | null;
  /** Bytes of all operands and results, each once. */
  readonly bytes: number | null;
}

/** Numbers of elements. */
export interface TensorSizes {
  /** Of each operand that is no constant of the program. */
  readonly inputs: readonly number[];
  readonly result: number;
}

/** The answers of a kind of work to the questions of all other code. Pure. */
export interface KindOfWork<W extends { readonly kind: string }> {
  /** Whether it runs only in its program. Other work has candidates in a module of their own. */
  readonly needsProgram: boolean;
  /**
   * Whether its configuration is an attribute of one operation, the root, which matchers find. The configuration of other work is
   * the tiles of all operations in its executable.
   */
  readonly hasRoot: boolean;
  /** Whether rounds of its program try configurations of it. */
  joinsRounds(workload: W): boolean;
  /** The same work without the rest of its dispatch; null if it is measured without already, or if it is the whole dispatch. */
  withoutDispatch(workload: W): Contraction | null;
  /** Whether an operand has strides, so that only a changed executable reaches it. */
  hasStrides(workload: W): boolean;
  /** Readable canonical key, such as `contraction m=512 n=512 k=512 f32,f32->f32 mk,kn->mn`. Starts with the kind. */
  key(workload: W): string;
  /** Whether a value, for example from a database, is such a workload. Checks every key. */
  isWorkload(value: object): value is W;
  /** The same work with sizes for its dynamic dimensions, or the reason why it cannot be tuned. */
  atSizes(workload: W, sizes: TunedSizes): W | Reason;
  /** The work at every combination of the sizes of its dynamic dimensions. Only the work itself if all are static. */
  staticForms(workload: W): W[];
  /** Arithmetic operations of one execution, two for a multiply-add, at the largest sizes of dynamic dimensions. */
  flops(workload: W): number;
  /** Amount of one execution; null where only a program tells. */
  amount(workload: W): Amount;
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
  /** Equal for two forms if and only if one matcher finds the operations of both. */
  matchKey(workload: W, loops: readonly number[]): string;
  /** Element type of the first operand. */
  inputType(workload: W): string;
  /** Element type of the result. */
  resultType(workload: W): string;
  /** Null for an unknown number of results and operands. */
  tensorSizes(workload: W): TensorSizes | null;
  /** Whether an operand is a constant of the program, so that packing it costs nothing at run time. */
  hasConstants(workload: W): boolean;
  /** The part that a database stores: no text for a compiler. */
  stored(workload: W): W;
}
