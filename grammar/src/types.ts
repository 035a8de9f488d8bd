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
  /** As their uses are spelled, `%0` or `%0#1`, one for each result; empty where the text gives them no names. */
  readonly resultNames: readonly string[];
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
 * A contraction has indexing maps; a convolution and a pooling are recognised with their shapes; what is `to-normalise` is an operation of
 * a front end, which the compiler turns into one of the others.
 */
export type Kind = 'contraction' | 'convolution' | 'pooling' | 'to-normalise';

export type IteratorType = 'parallel' | 'reduction' | 'window';

/**
 * What the scalar region computes: `acc + lhs * rhs` with each input converted at most once to the accumulator's type
 * (`-unsigned` when that conversion is an unsigned one), which is what the named operations do, or anything else. `-like`
 * is what the compiler takes for a contraction although it computes something else: values are changed on the way, each by
 * itself (a product or a sum is rounded, an input negated), or bits are combined by `and` and `or`.
 */
export type Body = 'multiply-add' | 'multiply-add-unsigned' | 'multiply-add-like' | 'other';

/**
 * An `input` is what is neither multiplied nor added to: a zero point, a bias, a factor; or any operand where the name of
 * an operation `to-normalise` does not say more.
 */
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
  /** `!torch.vtensor` is a `vtensor`; `!torch.tensor`, which can be overwritten, a `torch-tensor`. */
  readonly kind: 'tensor' | 'memref' | 'vector' | 'vtensor' | 'torch-tensor';
  /** Dimension sizes in elements; -1 is dynamic (or scalable), null is unranked. */
  readonly shape: readonly number[] | null;
  /** As in the text: `f32`, `complex<f32>`; `unk` for a type of the torch dialect that says nothing. */
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
  /** The results of the form `d0 * 2`; absent when there are none. */
  readonly strided?: readonly StridedResult[];
  /** The results of the form `d0 * 2 + d3`, as a filter moves over an image; absent when there are none. */
  readonly windows?: readonly WindowResult[];
}

/** The sum of two dimensions, each times a constant, which is 1 where it is not written. */
export interface WindowResult {
  /** Index among the map's results, where null stands. */
  readonly result: number;
  /** In the order in which they are written. */
  readonly terms: readonly [Term, Term];
}

export interface Term {
  readonly dimension: number;
  readonly stride: number;
}

/** One dimension times a constant. */
export interface StridedResult extends Term {
  /** Index among the map's results, where null stands. */
  readonly result: number;
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

/** A function that a program offers: public, and with a body. */
export interface PublicFunction {
  /** Its symbol, without the `@`. */
  readonly name: string;
  /** Byte offsets [start, end), from `func.func` to the end of its body. */
  readonly start: number;
  readonly end: number;
  /** What is not understood is `opaque`; its text is empty where no type stands. */
  readonly arguments: readonly Type[];
  readonly results: readonly Type[];
}

/** An attribute `#dialect.name<...>` as it stands in the text. */
export interface DialectAttribute {
  /** Byte offsets [start, end), from the `#` to the `>`. */
  readonly start: number;
  readonly end: number;
  /** The values without a name, in their order, as text: `"cuda"` with its quotes. What an alias stands for is there instead of it. */
  readonly values: readonly string[];
  /** Each `name = value`, also of dictionaries among the values, as text likewise; `unit` for a lone name in a dictionary. */
  readonly entries: ReadonlyMap<string, string>;
}

/** A place that a `loc(...)` names; both numbers count from 1. */
export interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** One edit: `text` goes before the byte at `offset`. */
export interface Insertion {
  readonly offset: number;
  readonly text: string;
}
