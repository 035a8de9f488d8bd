// Writes the MLIR text of forms.
import { VALUE } from '../compiler/symbol.ts';
import type { Steps } from './convolution.ts';
import { isFloat } from '../workload/element-type.ts';
import { tensorText, type Tensor } from '../workload/tensor.ts';

/** A value with its type. */
export interface Value extends Tensor {
  /** Such as `%image`. */
  readonly name: string;
  /** Whether it is a value of the element type, and no tensor. Its shape is empty. */
  readonly isScalar?: true;
}

/** The type of a tensor or of a scalar. */
export const typeText = (one: Value): string => (one.isScalar ? one.elementType : tensorText(one));

/** An operation as the program has it. */
export interface Written {
  readonly operands: readonly Value[];
  /** The operands with their types, as a function's parameters. */
  readonly list: string;
  /** Definition of a further operand. */
  readonly before?: string;
  /** The operation, without the name of its result. */
  readonly operation: string;
  /**
   * Present for the last operation in the body of a generic operation, which the form replaces as a whole: the numbers of the operands on the way to
   * the reading of an element of the first operand.
   */
  readonly inBody?: readonly number[];
  /** Type of the result. */
  readonly type: string;
  /** Parameters and body of a function that gives the result as `%0`; absent for the operation alone with its operands. */
  readonly alone?: { readonly operands: readonly Value[]; readonly body: string };
  /** Body of such a function that is more exact than the operation. Forms that are as exact are compared with it. */
  readonly exact?: string;
}

/** Matches a generic operation that makes a batch of a matrix (k, n): the same matrix for each. The first group is the matrix. */
export const batchOf = (elementType: string): RegExp =>
  new RegExp(
    String.raw`^linalg\.generic \{indexing_maps = \[affine_map<\(d0, d1, d2\) -> \(d1, d2\)>, affine_map<\(d0, d1, d2\) -> \(d0, d1, d2\)>\], iterator_types = \[(?:"parallel"(?:, )?)+\]\} ins\((${VALUE}) : tensor<[\dx]+${elementType}>\) outs\([^\n]*\n\s*\^bb0\((%\w+): ${elementType}, %\w+: ${elementType}\):\s*linalg\.yield \2 : ${elementType}`,
  );

/** Such an operation. @param into its result */
export const batchText = (matrix: Value, into: Value): string =>
  genericText({ loops: 'd0, d1, d2', maps: ['d1, d2', 'd0, d1, d2'], inputs: [matrix], into });

/** Values with their types, as a function's parameters. */
export const listOf = (values: readonly Value[]): string =>
  values.map((one) => `${one.name}: ${typeText(one)}`).join(', ');

/** A generic operation. */
export interface Generic {
  /** Names of its loops, separated by commas. Those that the map of the result lacks are reductions. */
  readonly loops: string;
  /** Results of the indexing map of each input, and of the result. */
  readonly maps: readonly string[];
  readonly inputs: readonly Value[];
  readonly into: Value;
  /** Operations on `%x0`, `%x1`, ... of the inputs and `%out` of the result. */
  readonly body?: readonly string[];
  /** The value that the body gives; default: the first input's. */
  readonly gives?: string;
  /** A configuration of its code, such as `#iree_codegen.compilation_info<...>`. */
  readonly configuration?: string;
}

export function genericText({
  loops,
  maps,
  inputs,
  into,
  body = [],
  gives = '%x0',
  configuration,
}: Generic): string {
  const all = maps.map((results) => `affine_map<(${loops}) -> (${results})>`).join(', ');
  const kept = new Set(maps.at(-1)!.split(', '));
  const kinds = loops.split(', ').map((one) => (kept.has(one) ? '"parallel"' : '"reduction"'));
  const [names, types] = [inputs.map(({ name }) => name), inputs.map(tensorText)];
  const elements = [
    ...inputs.map(({ elementType }, i) => `%x${i}: ${elementType}`),
    `%out: ${into.elementType}`,
  ];
  const type = tensorText(into);
  const lines = [...body, `linalg.yield ${gives} : ${into.elementType}`].map((line) => `      ${line}\n`);
  const own = configuration === undefined ? '' : `compilation_info = ${configuration}, `;
  const ins = inputs.length === 0 ? '' : ` ins(${names.join(', ')} : ${types.join(', ')})`;
  return `linalg.generic {${own}indexing_maps = [${all}], iterator_types = [${kinds.join(', ')}]}${ins} outs(${into.name} : ${type}) {
    ^bb0(${elements.join(', ')}):
${lines.join('')}    } -> ${type}`;
}

/**
 * Parameters and body of a function that computes something of each element of a tensor of one dimension.
 * @param body operations on `%x0`
 * @param gives their result, of the type `type`
 */
export function ofEach(
  { shape, elementType }: Tensor,
  body: readonly string[],
  gives: string,
  type: string,
): NonNullable<Written['alone']> {
  const tensor = { shape, elementType, name: '%tensor' };
  const into = { shape, elementType: type, name: '%into' };
  const computed = genericText({ loops: 'i', maps: ['i', 'i'], inputs: [tensor], into, body, gives });
  return { operands: [tensor], body: `%into = tensor.empty() : ${tensorText(into)}\n  %0 = ${computed}` };
}

/** A transpose of an image. Fused into the operation that reads it, it would make scalar code. */
export interface Move {
  readonly image: Tensor;
  readonly permutation: readonly number[];
}

/** The type of a transposed tensor. @param permutation for each dimension of the result, the dimension of the tensor */
export const permuted = ({ shape, elementType }: Tensor, permutation: readonly number[]): Tensor => ({
  ...{ elementType, shape: permutation.map((d) => shape[d]!) },
});

/** Writes the operations of a function in order, with unique names. */
export class Writer {
  readonly #lines: string[] = [];
  readonly #moves: Move[] = [];
  #count = 0;

  /** Writes one operation. @param text of an operation with one result, without the name of the result */
  define({ shape, elementType }: Tensor, text: string): Value {
    const name = `%v${this.#count++}`;
    this.#lines.push(`    ${name} = ${text}`);
    return { shape, elementType, name };
  }

  /** Writes one operation whose result is a scalar. */
  scalar(elementType: string, text: string): Value {
    return this.define({ elementType, shape: [] }, text);
  }

  /** A dispatch of its own, whose operations `write` writes. */
  region(type: Tensor, write: () => Value): Value {
    const name = `%v${this.#count++}`;
    this.#lines.push(`    ${name} = flow.dispatch.region -> (${tensorText(type)}) {`);
    const result = write();
    this.#lines.push(`    flow.return ${result.name} : ${tensorText(type)}`, '    }');
    return { ...type, name };
  }

  get text(): string {
    return this.#lines.join('\n');
  }

  get moves(): readonly Move[] {
    return this.#moves;
  }

  empty(type: Tensor): Value {
    return this.define(type, `tensor.empty() : ${tensorText(type)}`);
  }

  /** A scalar. */
  zero(elementType: string): Value {
    const zero = isFloat(elementType) ? '0.0' : '0';
    return this.scalar(elementType, `arith.constant ${zero} : ${elementType}`);
  }

  zeros(type: Tensor): Value {
    const { elementType } = type;
    const zero = this.zero(elementType);
    const into = this.empty(type);
    return this.define(
      into,
      `linalg.fill ins(${zero.name} : ${elementType}) outs(${into.name} : ${tensorText(into)}) -> ${tensorText(into)}`,
    );
  }

  /** Adds two values of one type. */
  add(one: Value, other: Value): Value {
    const operation = isFloat(one.elementType) ? 'arith.addf' : 'arith.addi';
    return this.define(one, `${operation} ${one.name}, ${other.name} : ${tensorText(one)}`);
  }

  /**
   * Multiplies two values and adds the product to a third.
   * @param dimensions of each value, one letter for each; dimensions that the result lacks are reductions
   */
  contraction(
    [lhs, rhs]: readonly [Value, Value],
    into: Value,
    dimensions: readonly [lhs: string, rhs: string, into: string],
  ): Value {
    const named = NAMED_CONTRACTIONS[dimensions.join()];
    if (named !== undefined) {
      const type = tensorText(into);
      const operands = `ins(${lhs.name}, ${rhs.name} : ${tensorText(lhs)}, ${tensorText(rhs)}) outs(${into.name} : ${type})`;
      return this.define(into, `${named} ${operands} -> ${type}`);
    }
    const { elementType } = into;
    const [multiply, add] = isFloat(elementType) ? ['mulf', 'addf'] : ['muli', 'addi'];
    return this.generic({
      loops: Array.from(new Set(dimensions[2] + dimensions[0])).join(', '),
      maps: dimensions.map((results) => Array.from(results).join(', ')),
      ...{ inputs: [lhs, rhs], into },
      body: [
        `%p = arith.${multiply} %x0, %x1 : ${elementType}`,
        `%s = arith.${add} %out, %p : ${elementType}`,
      ],
      gives: '%s',
    });
  }

  generic(operation: Generic): Value {
    return this.define(operation.into, genericText(operation));
  }

  /** @param permutation for each dimension of the result, the dimension of `value` */
  transpose(value: Value, permutation: readonly number[]): Value {
    if (permutation.every((d, i) => d === i)) return value;
    const into = this.empty(permuted(value, permutation));
    return this.define(
      into,
      `linalg.transpose ins(${value.name} : ${tensorText(value)}) outs(${into.name} : ${tensorText(into)}) permutation = [${permutation.join(', ')}]`,
    );
  }

  /** The same as `transpose`, for an image. A transpose that no neighbour cancels keeps a dispatch of its own: see `Move`. */
  move(image: Value, permutation: readonly number[]): Value {
    const moved = this.transpose(image, permutation);
    if (moved !== image) this.#moves.push({ image, permutation });
    return moved;
  }

  /** A barrier that keeps the layout of a value: earlier transposes are not fused into later operations. */
  settle(value: Value): Value {
    const type = tensorText(value);
    return this.define(value, `iree_tensor_ext.compute_barrier.start ${value.name} : ${type} -> ${type}`);
  }

  /** @param slices offset, size and stride of each dimension; a null size is 1 and drops the dimension */
  slice(
    value: Value,
    slices: readonly (readonly [offset: number, size: number | null, stride: number])[],
  ): Value {
    const shape = slices.flatMap(([, size]) => size ?? []);
    const isWhole = slices.every(
      ([offset, size, stride], d) => offset === 0 && stride === 1 && size === value.shape[d],
    );
    if (isWhole) return value;
    const list = (part: (slice: readonly [number, number | null, number]) => number) =>
      `[${slices.map(part).join(', ')}]`;
    const to = { ...value, shape };
    return this.define(
      to,
      `tensor.extract_slice ${value.name}${list(([offset]) => offset)} ${list(([, size]) => size ?? 1)} ${list(([, , stride]) => stride)} : ${tensorText(value)} to ${tensorText(to)}`,
    );
  }

  /** `into` with `part` at one place of the dimension `d`, which `part` lacks. */
  insert(part: Value, into: Value, d: number, place: number): Value {
    return this.insertAt(
      part,
      into,
      into.shape.map((_, at) => (at === d ? place : null)),
    );
  }

  /** Values of one type, one after the other along a new dimension `d`. */
  stack(parts: readonly Value[], d: number): Value {
    const [first] = parts as readonly [Value];
    const into = this.empty({ ...first, shape: first.shape.toSpliced(d, 0, parts.length) });
    return parts.reduce((all, part, place) => this.insert(part, all, d, place), into);
  }

  /** `into` with `part` at these places. @param places of the dimensions that `part` lacks; null for its own dimensions */
  insertAt(part: Value, into: Value, places: readonly (number | null)[]): Value {
    const list = (own: (place: number) => number, other: (size: number) => number) => {
      const all = into.shape.map((size, d) => {
        const place = places[d] ?? null;
        return place === null ? other(size) : own(place);
      });
      return `[${all.join(', ')}]`;
    };
    const [zero, one] = [() => 0, () => 1];
    const offsets = list((place) => place, zero);
    const sizes = list(one, (size) => size);
    const strides = list(one, one);
    return this.define(
      into,
      `tensor.insert_slice ${part.name} into ${into.name}${offsets} ${sizes} ${strides} : ${tensorText(part)} into ${tensorText(into)}`,
    );
  }

  /** A value with zeros before and after it, along each dimension. */
  pad(value: Value, low: readonly number[], high: readonly number[]): Value {
    const shape = value.shape.map((size, d) => low[d]! + size + high[d]!);
    if (shape.every((size, d) => size === value.shape[d])) return value;
    const into = this.zeros({ ...value, shape });
    const list = (of: (size: number) => number) => `[${value.shape.map(of).join(', ')}]`;
    return this.define(
      into,
      `tensor.insert_slice ${value.name} into ${into.name}[${low.join(', ')}] ${list((size) => size)} ${list(() => 1)} : ${tensorText(value)} into ${tensorText(into)}`,
    );
  }

  /** A value with other dimensions of as many elements. */
  reshape(value: Value, shape: readonly number[]): Value {
    const flat = this.collapse(value, [value.shape.map((_, d) => d)]);
    return this.expand(flat, [shape.map((_, d) => d)], shape);
  }

  /** @param groups for each dimension of the result, the adjacent dimensions of `value` that it joins */
  collapse(value: Value, groups: readonly (readonly number[])[]): Value {
    if (groups.length === value.shape.length) return value;
    const shape = groups.map((group) => group.reduce((product, d) => product * value.shape[d]!, 1));
    const to = { ...value, shape };
    return this.define(
      to,
      `tensor.collapse_shape ${value.name} ${groupsText(groups)} : ${tensorText(value)} into ${tensorText(to)}`,
    );
  }

  /** @param groups for each dimension of `value`, the adjacent dimensions of the result that it splits into */
  expand(value: Value, groups: readonly (readonly number[])[], shape: readonly number[]): Value {
    if (value.shape.length === shape.length) return value;
    const to = { ...value, shape };
    return this.define(
      to,
      `tensor.expand_shape ${value.name} ${groupsText(groups)} output_shape [${shape.join(', ')}] : ${tensorText(value)} into ${tensorText(to)}`,
    );
  }
}

/** Named contractions, by the dimensions of their operands. */
const NAMED_CONTRACTIONS: Readonly<Record<string, string>> = {
  'mk,kp,mp': 'linalg.matmul',
  'gmk,gkp,gmp': 'linalg.batch_matmul',
};

/** Such as `[[0, 1], [2]]`: dimensions that are joined. */
export const groupsText = (groups: readonly (readonly number[])[]): string =>
  `[${groups.map((group) => `[${group.join(', ')}]`).join(', ')}]`;

/** `{dilations = ..., strides = ...}` of a named convolution; empty for a program without these attributes. */
export function movesText(
  strides: readonly number[],
  dilations: readonly number[],
  written: Steps = 'vector',
): string {
  if (written === 'none') return '';
  const type = `${written}<${strides.length}xi64>`;
  return `{dilations = dense<[${dilations.join(', ')}]> : ${type}, strides = dense<[${strides.join(', ')}]> : ${type}}`;
}
