/** The result of {@link parse}. Parsing never fails: text that is not understood is in `problems`. */
export interface ParseResult {
  /** In the order of the text; they never overlap. */
  readonly operations: readonly Operation[];
  /** In the order of the text within each chunk. */
  readonly problems: readonly Problem[];
}

/** Malformed text, or a known operation that is not understood. */
export interface Problem {
  /** Byte offset into the input. */
  readonly offset: number;
  readonly message: string;
}

/** One operation of the table. */
export interface Operation {
  /** Such as `linalg.matmul`, or `onnx.MatMul` for `torch.operator "onnx.MatMul"`. */
  readonly name: string;
  readonly kind: Kind;
  readonly form: 'custom' | 'quoted';
  /** Byte offsets [start, end), from the operation's name to the end of its types: without results and `loc(...)`. */
  readonly start: number;
  readonly end: number;
  /** Index of the `// -----` chunk; always 0 without `splitInputFile`. */
  readonly chunk: number;
  /** Innermost enclosing symbol with a region (a function, or else a module), without the `@`. */
  readonly symbol: string | null;
  /** Inputs, then outputs. An operation of the kind `to-normalise` has no outputs here. */
  readonly operands: readonly Operand[];
  /** The types of the results; empty for an operation on buffers. */
  readonly results: readonly Type[];
  /** The values of the results, `%0` or `%0#1`; empty if the text gives them no names. */
  readonly resultNames: readonly string[];
  /** One for each operand, from the text or by default. Empty for other kinds than contractions. */
  readonly indexingMaps: readonly AffineMap[];
  /** One for each dimension of the indexing maps. Empty for other kinds than contractions. */
  readonly iteratorTypes: readonly IteratorType[];
  readonly body: Body;
  /** All inherent and discardable attributes, in the order of the text. */
  readonly attributes: readonly Attribute[];
  readonly insertion: InsertionPoint;
}

/**
 * A contraction has indexing maps. A convolution or a pooling has the types of its operands. An operation `to-normalise`
 * belongs to a front end: the compiler turns it into one of the other kinds.
 */
export type Kind = 'contraction' | 'convolution' | 'pooling' | 'to-normalise';

export type IteratorType = 'parallel' | 'reduction' | 'window';

/**
 * The computation of the scalar region.
 * - `multiply-add`: `acc + lhs * rhs`, with each input converted at most once, to the accumulator's type.
 * - `multiply-add-unsigned`: the same with an unsigned conversion.
 * - `multiply-add-like`: the compiler's matchers accept it as a contraction, but it also changes single values (it rounds a
 *   product or negates an input), or it combines bits by `and` and `or`.
 * - `other`: anything else.
 */
export type Body = 'multiply-add' | 'multiply-add-unsigned' | 'multiply-add-like' | 'other';

/**
 * An `input` is a zero point, a bias or a scale, or an operand `to-normalise` whose role the table does not know.
 */
export type Role = 'lhs' | 'rhs' | 'accumulator' | 'input' | 'output';

export interface Operand {
  readonly role: Role;
  /** As in the text: `%a` or `%0#1`. */
  readonly value: string;
  readonly type: Type;
  /** Whether the text of the function proves that the value is a constant. */
  readonly constant: boolean;
}

export type Type = ShapedType | OpaqueType;

export interface ShapedType {
  /** `vtensor` is `!torch.vtensor`; `torch-tensor` is `!torch.tensor`, which can be overwritten. */
  readonly kind: 'tensor' | 'memref' | 'vector' | 'vtensor' | 'torch-tensor';
  /** Sizes in elements; -1 for a dynamic or scalable size. Null for an unranked type. */
  readonly shape: readonly number[] | null;
  /** As in the text: `f32` or `complex<f32>`; `unk` for a type of the torch dialect without one. */
  readonly elementType: string;
  /** The rest of the type, as in the text: an encoding, or a layout and a memory space. Null without one. */
  readonly encoding: string | null;
}

/** Any other type, as text. Aliases in it are not resolved. */
export interface OpaqueType {
  readonly kind: 'opaque';
  readonly text: string;
}

export interface AffineMap {
  /** Number of dimensions (`d0`, `d1`, ...), not of symbols. */
  readonly dimensions: number;
  /** The index of a plain dimension; null for any other expression. */
  readonly results: readonly (number | null)[];
  /** The results of the form `d0 * 2`; absent without any. */
  readonly strided?: readonly StridedResult[];
  /** The results of the form `d0 * 2 + d3`, as in a convolution; absent without any. */
  readonly windows?: readonly WindowResult[];
}

/** The sum of two dimensions, each times a stride. */
export interface WindowResult {
  /** Index among the map's results, which have null there. */
  readonly result: number;
  /** In the order of the text. */
  readonly terms: readonly [Term, Term];
}

export interface Term {
  readonly dimension: number;
  /** The constant factor; 1 without one. */
  readonly stride: number;
}

/** One dimension times a constant. */
export interface StridedResult extends Term {
  /** Index among the map's results, which have null there. */
  readonly result: number;
}

/** `name = value` or a lone `name`, as byte offsets [start, end). */
export interface Attribute {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** The place of a new discardable attribute: insert `before + 'name = value' + after` at the byte `offset`. */
export interface InsertionPoint {
  readonly offset: number;
  readonly before: string;
  readonly after: string;
}

/** A public function with a body. */
export interface PublicFunction {
  /** Its symbol, without the `@`. */
  readonly name: string;
  /** Byte offsets [start, end), from `func.func` to the end of its body. */
  readonly start: number;
  readonly end: number;
  /** A malformed type is `opaque`; a missing type has an empty text. */
  readonly arguments: readonly Type[];
  readonly results: readonly Type[];
}

/** An attribute `#dialect.name<...>` of the text. */
export interface DialectAttribute {
  /** Byte offsets [start, end), from the `#` to the `>`. */
  readonly start: number;
  readonly end: number;
  /** The values without a name, as text in their order: `"cuda"` with its quotes. Aliases are resolved. */
  readonly values: readonly string[];
  /** The text of each `name = value`, also of dictionaries among the values. `unit` for a lone name in a dictionary. */
  readonly entries: ReadonlyMap<string, string>;
}

/** A place in a `loc(...)`. Lines and columns count from 1. */
export interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** One edit: inserts `text` before the byte at `offset`. */
export interface Insertion {
  readonly offset: number;
  readonly text: string;
}
