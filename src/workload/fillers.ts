// Fillers: functions that fill the operands of candidates. They have a module of their own, so the compiler compiles them once for all
// candidates. Each set of values has its own module, so one binary is timed on one set and verified on both.
import { elementBits, isFloat } from './element-type.ts';
import { elementsOf, type Tensor } from './tensor.ts';

/**
 * - `exact`: small integers. They and their sums are exact in every element type, so every order of summation gives the same
 *   result. They do not reveal a kernel that computes in too few bits.
 * - `full`: values that use all bits of their type. Floats are between -1 and 1, integers anywhere in their range.
 */
export type Values = 'exact' | 'full';

/** Fills operands of one element type. */
export interface Filler {
  readonly elementType: string;
  /** Number of elements; null for any number. Types below a byte need a fixed one. */
  readonly size: number | null;
}

/** Factors that make the full values of two operands independent, although both use the same hashes. */
export const FACTORS = { lhs: -1028477387, rhs: 668265263 } as const;

/** The filler of an operand. @param size number of elements */
export function fillerOf(elementType: string, size: number): Filler {
  // The compiler cannot write single elements that share a byte.
  return { elementType, size: elementBits(elementType) < 8 ? size : null };
}

const MODULE = 'fillers';

/** Name of the function inside its module. */
const ownNameOf = ({ elementType, size }: Filler): string =>
  `${elementType}${size === null ? '' : `_${size}`}`;

/** Name of the function for other modules. */
const nameOf = (filler: Filler): string => `${MODULE}.${ownNameOf(filler)}`;

const PARAMETERS = '(index, i32, i32, index) -> !hal.buffer_view';

/** Each filler once, in a fixed order. */
export function distinctFillers(fillers: readonly Filler[]): Filler[] {
  const byName = new Map(fillers.map((filler) => [nameOf(filler), filler]));
  return [...byName].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, filler]) => filler);
}

/** Declarations for a module that calls fillers of the other module. */
export const fillerDeclarations = (fillers: readonly Filler[]): string =>
  fillers.map((filler) => `util.func private @${nameOf(filler)}${PARAMETERS}\n`).join('');

/** The module of the fillers. */
export const fillersModule = (fillers: readonly Filler[], values: Values): string =>
  `module @${MODULE} {\n${definitions(fillers, values, ownNameOf)}}\n`;

/** Definitions of fillers, for a module that needs no second module. */
export const fillerDefinitions = (fillers: readonly Filler[]): string =>
  definitions(fillers, 'exact', nameOf);

const definitions = (
  fillers: readonly Filler[],
  values: Values,
  nameIn: (filler: Filler) => string,
): string => fillers.map((filler) => definition(filler, values, nameIn(filler))).join('');

/**
 * Bytes of each guard before and after an operand or a result. A kernel that reads outside of its operand reads NaN there, and
 * its result shows it. Without guards it would mostly read zeros, which change no sum.
 */
export const GUARD_BYTES = 65_536;

/**
 * A function that returns a view of values hashed from the seed and each element's position, between guards in one buffer. The
 * guards are whole pages, so the elements have the alignment of a separate buffer.
 */
function definition({ elementType, size }: Filler, values: Values, name: string): string {
  const bits = elementBits(elementType);
  const guard = (GUARD_BYTES * 8) / Math.max(8, bits);
  const type = `tensor<${size === null ? '?' : size + 2 * guard}x${elementType}>`;
  const dynamic = size === null;
  return `util.func public @${name}(%seed: index, %unused: i32, %factor: i32, %size: index) -> !hal.buffer_view {
  %guard = arith.constant ${guard} : index
  %guards = arith.constant ${2 * guard} : index
  %whole_size = arith.addi %size, %guards : index
  %empty = tensor.empty(${dynamic ? '%whole_size' : ''}) : ${type}
  %filled = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%empty : ${type}) {
  ^bb0(%old: ${elementType}):
    %i = linalg.index 0 : index
    %own = arith.subi %i, %guard : index
    // Positions before the first element are huge when unsigned.
    %inside = arith.cmpi ult, %own, %size : index
    %first = arith.muli %seed, %size : index
    %position = arith.addi %first, %own : index
    %h0 = arith.index_cast %position : index to i32
    %m0 = arith.constant -1640531535 : i32
    %m1 = arith.constant -2048144777 : i32
    %r0 = arith.constant 15 : i32
    %r1 = arith.constant 13 : i32
    %h1 = arith.muli %h0, %m0 : i32
    %h2 = arith.shrui %h1, %r0 : i32
    %h3 = arith.xori %h1, %h2 : i32
    %h4 = arith.muli %h3, %m1 : i32
    %h5 = arith.shrui %h4, %r1 : i32
    %hash = arith.xori %h4, %h5 : i32
${values === 'exact' ? exactValue(elementType) : fullValue(elementType)}
    %outside = arith.constant ${guardValue(elementType)} : ${elementType}
    %guarded = arith.select %inside, %value, %outside : ${elementType}
    linalg.yield %guarded : ${elementType}
  } -> ${type}
  %with_guards = hal.tensor.export %filled : ${type}${dynamic ? '{%whole_size}' : ''} -> !hal.buffer_view
  %buffer = hal.buffer_view.buffer<%with_guards : !hal.buffer_view> : !hal.buffer
  %bits = arith.constant ${bits} : index
  %seven = arith.constant 7 : index
  %eight = arith.constant 8 : index
  %size_bits = arith.muli %size, %bits : index
  %up = arith.addi %size_bits, %seven : index
  %length = arith.divui %up, %eight : index
  %offset = arith.constant ${(guard * bits) / 8} : index
  %type = hal.element_type<${elementType}> : i32
  %encoding = hal.encoding_type<dense_row_major> : i32
  %view = hal.buffer_view.create buffer(%buffer : !hal.buffer)[%offset, %length] shape([%size]) type(%type) encoding(%encoding) : !hal.buffer_view
  util.return %view : !hal.buffer_view
}
`;
}

/** NaN for most float types: all bits but the sign. The largest number for float types with another NaN. A large integer. */
export function guardValue(elementType: string): string {
  const bits = elementBits(elementType);
  if (!isFloat(elementType)) return bits === 1 ? 'true' : String(2 ** (Math.min(bits, 20) - 2));
  return `0x${((1n << BigInt(bits - 1)) - 1n).toString(16).toUpperCase()}`;
}

export interface Filled extends Tensor {
  /** Prefix of values in the text. */
  readonly name: string;
  readonly seed: number;
  /** Bits of exact values. */
  readonly exactBits: number;
  /** One of `FACTORS`. */
  readonly factor: number;
}

/** Lines that define `%name_view`, a filled buffer view in its own allocation. */
export function fillLines({ name, shape, elementType, seed, exactBits, factor }: Filled): string {
  const size = elementsOf(shape);
  return `  %${name}_seed = arith.constant ${seed} : index
  %${name}_unused = arith.constant ${32 - exactBits} : i32
  %${name}_factor = arith.constant ${factor} : i32
  %${name}_size = arith.constant ${size} : index
  %${name}_filled = util.call @${nameOf(fillerOf(elementType, size))}(%${name}_seed, %${name}_unused, %${name}_factor, %${name}_size) : ${PARAMETERS}
${viewLines({ name, shape, elementType })}`;
}

/**
 * Lines that define `%name_view`, a buffer view in its own allocation, with arbitrary values that are quick to write. For
 * operands that are only timed.
 * @param number an index value; different numbers give different allocations
 */
export function anyLines({ name, shape, elementType }: Viewed, number: string): string {
  const bytes = Math.ceil((elementsOf(shape) * elementBits(elementType)) / 8);
  // These bytes are a normal number in every float type.
  return `  %${name}_number = arith.index_cast ${number} : index to i32
  %${name}_seven = arith.constant 7 : i32
  %${name}_low = arith.andi %${name}_number, %${name}_seven : i32
  %${name}_high = arith.constant 56 : i32
  %${name}_both = arith.ori %${name}_low, %${name}_high : i32
  %${name}_byte = arith.trunci %${name}_both : i32 to i8
  %${name}_bytes = flow.tensor.splat %${name}_byte : tensor<${bytes}xi8>
  %${name}_filled = hal.tensor.export %${name}_bytes : tensor<${bytes}xi8> -> !hal.buffer_view
${viewLines({ name, shape, elementType })}`;
}

type Viewed = Tensor & Pick<Filled, 'name'>;

/**
 * Lines that define `%name_view` on the buffer of the view `%name_filled`.
 * @param part in bytes; null for the whole buffer
 */
export function viewLines(
  { name, shape, elementType }: Viewed,
  part: { readonly offset: number; readonly length: number } | null = null,
): string {
  const constants = shape.map((one, i) => `  %${name}_d${i} = arith.constant ${one} : index\n`).join('');
  const sizes = shape.map((_, i) => `%${name}_d${i}`).join(', ');
  return `  %${name}_buffer = hal.buffer_view.buffer<%${name}_filled : !hal.buffer_view> : !hal.buffer
  %${name}_offset = arith.constant ${part?.offset ?? 0} : index
  %${name}_length = ${part === null ? `hal.buffer.length<%${name}_buffer : !hal.buffer>` : `arith.constant ${part.length}`} : index
${constants}  %${name}_type = hal.element_type<${elementType}> : i32
  %${name}_encoding = hal.encoding_type<dense_row_major> : i32
  %${name}_view = hal.buffer_view.create buffer(%${name}_buffer : !hal.buffer)[%${name}_offset, %${name}_length] shape([${sizes}]) type(%${name}_type) encoding(%${name}_encoding) : !hal.buffer_view`;
}

/** Lines that define `%value` from the first bits of `%hash`, an i32. */
function exactValue(elementType: string): string {
  const few = '    %few = arith.shrsi %hash, %unused : i32';
  if (!isFloat(elementType)) return `${few}\n${resized('few', 'i32', 'value', elementType)}`;
  return elementType === 'bf16'
    ? `${few}\n    %whole = arith.sitofp %few : i32 to f32\n${cutOff('whole')}`
    : `${few}\n    %value = arith.sitofp %few : i32 to ${elementType}`;
}

/** Lines that truncate `%from`, an f32, to `%value`, a bf16. The compiler cannot round to bf16 on every processor. */
const cutOff = (from: string): string => `    %half = arith.constant 16 : i32
    %bits = arith.bitcast %${from} : f32 to i32
    %upper = arith.shrui %bits, %half : i32
    %short = arith.trunci %upper : i32 to i16
    %value = arith.bitcast %short : i16 to bf16`;

/** Lines that define `%value` from all bits of `%hash`, an i32. */
function fullValue(elementType: string): string {
  const bits = elementBits(elementType);
  const [integer, float] = bits > 32 ? (['i64', 'f64'] as const) : (['i32', 'f32'] as const);
  const wide =
    bits > 32
      ? `    %extended = arith.extsi %all : i32 to i64
    %wide_factor = arith.constant -7046029254386353131 : i64
    %wide = arith.muli %extended, %wide_factor : i64`
      : resized('all', 'i32', 'wide', 'i32');
  const all = `    %all = arith.muli %hash, %factor : i32\n${wide}`;
  if (!isFloat(elementType)) return `${all}\n${resized('wide', integer, 'value', elementType)}`;
  return `${all}
    %whole = arith.sitofp %wide : ${integer} to ${float}
    %scale = arith.constant ${(bits > 32 ? 2 ** -63 : 2 ** -31).toExponential()} : ${float}
    %fraction = arith.mulf %whole, %scale : ${float}
${fromFraction(elementType, float)}`;
}

/** Lines that convert `%fraction` to `%value`. */
function fromFraction(elementType: string, float: string): string {
  if (elementType === 'bf16') return cutOff('fraction');
  const bits = elementBits(elementType);
  return `    %value = arith.${elementType === float ? 'bitcast' : bits > 64 ? 'extf' : 'truncf'} %fraction : ${float} to ${elementType}`;
}

/** A line that converts the integer `%from` to the integer `%to`. */
function resized(from: string, fromType: string, to: string, toType: string): string {
  const [before, after] = [elementBits(fromType), elementBits(toType)];
  const operation = before === after ? 'bitcast' : before > after ? 'trunci' : 'extsi';
  return `    %${to} = arith.${operation} %${from} : ${fromType} to ${toType}`;
}
