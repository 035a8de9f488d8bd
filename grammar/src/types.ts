/** What {@link parse} found. Parsing never fails: what was not understood is in `problems`. */
export interface ParseResult {
  /** In the order of the text; they never overlap. */
  readonly operations: readonly Operation[];
  /** In the order of the text within each chunk. */
  readonly problems: readonly Problem[];
}

/** Something that was recognised but not understood, or text that is not well formed. */
export interface Problem {
  /** Byte offset into the input. */
  readonly offset: number;
  readonly message: string;
}

/** One operation of the table, with everything that is needed to tune it and to attach an attribute to it. */
export interface Operation {
  /** Such as `linalg.matmul`; `onnx.MatMul` for `torch.operator "onnx.MatMul"`. */
  readonly name: string;
  readonly kind: Kind;
  readonly form: 'custom' | 'quoted';
  /** Byte offsets [start, end), from the operation's name to the end of its types; results and `loc(...)` lie outside. */
  readonly start: number;
  readonly end: number;
  /** Index of the `// -----` chunk; always 0 without `splitInputFile`. */
  readonly chunk: number;
  /** Innermost enclosing symbol that opens a region (a function, or else a module), without the `@`. */
  readonly symbol: string | null;
  /** Inputs, then outputs; those `to-normalise` have no outputs among their operands. */
  readonly operands: readonly Operand[];
  /** The types of the results: none on buffers. */
  readonly results: readonly Type[];
  /** One per operand: explicit in the text, or the operation's default. Empty unless it is a contraction. */
  readonly indexingMaps: readonly AffineMap[];
  /** One per dimension of the indexing maps. Empty unless it is a contraction. */
  readonly iteratorTypes: readonly IteratorType[];
  readonly body: Body;
  /** Every name in the operation's dictionaries, inherent and discardable, in the order of the text. */
  readonly attributes: readonly Attribute[];
  readonly insertion: InsertionPoint;
}

/**
 * A contraction has indexing maps; a convolution is recognised with its shapes; what is `to-normalise` is an operation of
 * a front end, which the compiler turns into one of the others.
 */
export type Kind = 'contraction' | 'convolution' | 'to-normalise';

export type IteratorType = 'parallel' | 'reduction' | 'window';

/**
 * What the scalar region computes: `acc + lhs * rhs` with each input converted at most once to the accumulator's type
 * (`-unsigned` when that conversion is an unsigned one), which is what the named operations do, or anything else.
 */
export type Body = 'multiply-add' | 'multiply-add-unsigned' | 'other';

/** An `input` is what is neither multiplied nor added to: a zero point, a bias, a factor. */
export type Role = 'lhs' | 'rhs' | 'accumulator' | 'input' | 'output';

export interface Operand {
  readonly role: Role;
  /** As in the text: `%a`, `%0#1`. */
  readonly value: string;
  readonly type: Type;
  /** The text proves that the value is a constant, seen from inside the same function. False when in doubt. */
  readonly constant: boolean;
}

export type Type = ShapedType | OpaqueType;

export interface ShapedType {
  readonly kind: 'tensor' | 'memref' | 'vector' | 'vtensor';
  /** Dimension sizes in elements; -1 is dynamic (or scalable), null is unranked. */
  readonly shape: readonly number[] | null;
  /** As in the text: `f32`, `complex<f32>`; `unk` for a `!torch.vtensor` that says nothing. */
  readonly elementType: string;
  /** What follows the element type, as in the text: an encoding, a layout and a memory space. */
  readonly encoding: string | null;
}

/** A type that is kept as text, aliases as they are spelled. */
export interface OpaqueType {
  readonly kind: 'opaque';
  readonly text: string;
}

export interface AffineMap {
  /** Number of dimensions (`d0`, `d1`, ...), not of symbols. */
  readonly dimensions: number;
  /** The index of a plain dimension; null for anything else (constants, sums, symbols). */
  readonly results: readonly (number | null)[];
}

/** A whole `name = value`, or a lone `name`, as byte offsets [start, end). */
export interface Attribute {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** Where a discardable attribute can be added: `before + 'name = value' + after` at the byte `offset`. */
export interface InsertionPoint {
  readonly offset: number;
  readonly before: string;
  readonly after: string;
}

/** An operation that uses the result of another one, alone. */
export interface Consumer {
  /** Such as `linalg.generic`; `onnx.Relu` for `torch.operator "onnx.Relu"`. */
  readonly name: string;
  /** Byte offset of the operation's name. */
  readonly start: number;
  /**
   * The text tells that each element of its result comes from one element of each operand: a `linalg.generic` with
   * parallel iterators only (its maps may still repeat or reorder elements), or a name that says so. False when in doubt.
   */
  readonly elementwise: boolean;
  /**
   * The names of the operations in the region of a `linalg.generic` or `linalg.map`, in the order of the text and without
   * `linalg.yield`: `arith.addf`. Null for other operations, and for a region that is not understood or has an operation
   * without a result.
   */
  readonly body: readonly string[] | null;
}

/** One edit: `text` goes before the byte at `offset`. */
export interface Insertion {
  readonly offset: number;
  readonly text: string;
}
