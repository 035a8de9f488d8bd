// Writes small programs in StableHLO, correct ones and ones with a planted fault.
import { encodeElements } from '../../src/measure/elements.ts';
import { seededRandom } from '../../src/search/strategy.ts';

/** A value of a program. */
export interface Value {
  readonly name: string;
  readonly shape: readonly number[];
  readonly type: string;
}

/** Mistakes that generated code could make. */
export const FAULTS = [
  'zeros',
  'missing tail',
  'dropped row',
  'swapped rows',
  'one wrong element in 1,000',
  'product in bf16',
  'unwritten memory',
  'operand times 1.001',
] as const;

export type Fault = (typeof FAULTS)[number];

/** A fault at a value inside the program, or at its results. */
export interface Plant {
  readonly fault: Fault;
  readonly at: 'inside' | 'end';
}

export const typeText = ({ shape, type }: Pick<Value, 'shape' | 'type'>): string =>
  `tensor<${[...shape, type].join('x')}>`;

/** Adds operations to the body of a function. A plant changes the values that `inside` and `results` name. */
export class Builder {
  readonly #plant: Plant | null;
  readonly #lines: string[] = [];
  readonly #arguments: Value[] = [];
  readonly #random = seededRandom(5);
  #results: readonly Value[] = [];
  #count = 0;

  constructor(plant: Plant | null) {
    this.#plant = plant;
  }

  argument(type: string, ...shape: number[]): Value {
    const value = { name: `%arg${this.#arguments.length}`, shape, type };
    this.#arguments.push(value);
    return value;
  }

  /** Random normal weights inside the program, of the size of one over the root of the summed dimension. */
  weights(type: string, ...shape: number[]): Value {
    const summed = shape.length === 1 ? 4 : shape.slice(0, -1).reduce((product, size) => product * size, 1);
    const length = shape.reduce((product, size) => product * size, 1);
    const normal = () =>
      Math.sqrt(-2 * Math.log(this.#random() + 1e-12)) * Math.cos(2 * Math.PI * this.#random());
    const values =
      type === 'i8'
        ? Array.from({ length }, () => Math.max(-127, Math.min(127, Math.round(40 * normal()))))
        : Array.from({ length }, () => normal() / Math.sqrt(summed));
    const bytes = Buffer.from(encodeElements(values, type).buffer);
    return this.constant(type, shape, `"0x${bytes.toString('hex').toUpperCase()}"`);
  }

  constant(type: string, shape: readonly number[], value: string): Value {
    return this.add(`stablehlo.constant dense<${value}> : ${typeText({ shape, type })}`, shape, type);
  }

  splat(value: number, like: Value): Value {
    const text = /^b?f/.test(like.type) ? value.toExponential(8) : String(value);
    return this.constant(like.type, like.shape, text);
  }

  add(text: string, shape: readonly number[], type: string): Value {
    const name = `%v${this.#count++}`;
    this.#lines.push(`    ${name} = ${text}`);
    return { name, shape, type };
  }

  /** An element-wise operation. */
  map(operation: string, ...operands: readonly Value[]): Value {
    const [first] = operands as [Value];
    const names = operands.map(({ name }) => name).join(', ');
    return this.add(`stablehlo.${operation} ${names} : ${typeText(first)}`, first.shape, first.type);
  }

  convert(value: Value, type: string): Value {
    if (value.type === type) return value;
    const to = { shape: value.shape, type };
    return this.add(
      `stablehlo.convert ${value.name} : (${typeText(value)}) -> ${typeText(to)}`,
      value.shape,
      type,
    );
  }

  /** Repeats a value along new dimensions. @param dimensions of the result, for each dimension of the value */
  broadcast(value: Value, shape: readonly number[], dimensions: readonly number[]): Value {
    const to = typeText({ shape, type: value.type });
    return this.add(
      `stablehlo.broadcast_in_dim ${value.name}, dims = [${dimensions.join(', ')}] : (${typeText(value)}) -> ${to}`,
      shape,
      value.type,
    );
  }

  /** A bias or a scale for each of the last dimension. */
  alongLast(operation: string, value: Value, bias: Value): Value {
    return this.map(operation, value, this.broadcast(bias, value.shape, [value.shape.length - 1]));
  }

  /**
   * A product of `...xMxK` and `KxN`, or of `BxMxK` and `BxKxN`.
   * @param isInside whether a plant inside concerns it
   */
  dot(lhs: Value, rhs: Value, to = lhs.type, isInside = false): Value {
    const fault = isInside && this.#plant?.at === 'inside' ? this.#plant.fault : null;
    let operands = [lhs, rhs] as const;
    // In bf16, 1.001 is 1, and the product is in bf16 already.
    const isFloat = lhs.type === 'f32' || lhs.type === 'f16';
    if (fault === 'product in bf16' && isFloat) {
      // Barriers keep the compiler from removing both conversions.
      const narrow = (value: Value) => this.convert(this.barrier(this.convert(value, 'bf16')), value.type);
      operands = [narrow(lhs), narrow(rhs)];
    }
    if (fault === 'operand times 1.001' && isFloat)
      operands = [this.map('multiply', lhs, this.splat(1.001, lhs)), rhs];
    const [a, b] = operands;
    const batches = b.shape.length - 2;
    const batching = batches === 0 ? '' : `batching_dims = [0] x [0], `;
    const last = a.shape.length - 1;
    const shape = [...a.shape.slice(0, -1), b.shape.at(-1)!];
    const types = `(${typeText(a)}, ${typeText(b)}) -> ${typeText({ shape, type: to })}`;
    const product = this.add(
      `stablehlo.dot_general ${a.name}, ${b.name}, ${batching}contracting_dims = [${last}] x [${batches}] : ${types}`,
      shape,
      to,
    );
    return isInside ? this.#faulty(product, 'inside') : product;
  }

  /** Keeps the compiler from moving operations across it. */
  barrier(value: Value): Value {
    return this.add(
      `stablehlo.optimization_barrier ${value.name} : ${typeText(value)}`,
      value.shape,
      value.type,
    );
  }

  /** Sum or maximum along the last dimension, repeated along it. */
  reduced(operation: 'add' | 'maximum', value: Value): Value {
    const rows = value.shape.slice(0, -1);
    const last = value.shape.length - 1;
    const zero = this.constant(value.type, [], operation === 'add' ? '0.0' : '-3.0e4');
    const type = typeText({ shape: rows, type: value.type });
    const reduced = this.add(
      `stablehlo.reduce(${value.name} init: ${zero.name}) applies stablehlo.${operation} across dimensions = [${last}] : (${typeText(value)}, ${typeText(zero)}) -> ${type}`,
      rows,
      value.type,
    );
    return this.broadcast(
      reduced,
      value.shape,
      rows.map((_, i) => i),
    );
  }

  softmax(value: Value): Value {
    const exponentials = this.map('exponential', this.map('subtract', value, this.reduced('maximum', value)));
    return this.map('divide', exponentials, this.reduced('add', exponentials));
  }

  layerNorm(value: Value): Value {
    const size = this.splat(1 / value.shape.at(-1)!, value);
    const mean = this.map('multiply', this.reduced('add', value), size);
    const centred = this.map('subtract', value, mean);
    const squares = this.map('multiply', centred, centred);
    const variance = this.map('multiply', this.reduced('add', squares), size);
    const root = this.map('rsqrt', this.map('add', variance, this.splat(1e-5, value)));
    return this.map('multiply', centred, root);
  }

  relu(value: Value): Value {
    return this.map('maximum', value, this.splat(0, value));
  }

  /** Rounds to i8 in steps. */
  quantized(value: Value, step: number): Value {
    const scaled = this.map('multiply', value, this.splat(1 / step, value));
    const rounded = this.map('round_nearest_even', scaled);
    const low = this.map('maximum', rounded, this.splat(-128, value));
    return this.convert(this.map('minimum', low, this.splat(127, value)), 'i8');
  }

  dequantized(value: Value, step: number): Value {
    const wide = this.convert(value, 'f32');
    return this.map('multiply', wide, this.splat(step, wide));
  }

  reshape(value: Value, ...shape: number[]): Value {
    const to = typeText({ shape, type: value.type });
    return this.add(`stablehlo.reshape ${value.name} : (${typeText(value)}) -> ${to}`, shape, value.type);
  }

  results(...values: readonly Value[]): void {
    this.#results = values.map((value, i) => (i === 0 ? this.#faulty(value, 'end') : value));
  }

  /** The text of the program. */
  get text(): string {
    const args = this.#arguments.map((one) => `${one.name}: ${typeText(one)}`).join(', ');
    const types = this.#results.map(typeText).join(', ');
    const names = this.#results.map(({ name }) => name).join(', ');
    return `module {\n  func.func @main(${args}) -> (${types}) {\n${this.#lines.join('\n')}\n    return ${names} : ${types}\n  }\n}\n`;
  }

  /** The value with the planted fault. */
  #faulty(value: Value, at: Plant['at']): Value {
    if (this.#plant?.at !== at) return value;
    const { fault } = this.#plant;
    const { shape } = value;
    const [rows, columns] = [shape.length - 2, shape.length - 1];
    const isFloat = value.type === 'f32' || value.type === 'f16';
    // Such a fault changes nothing in this type: the program without it is left out.
    if (!isFloat && (fault === 'product in bf16' || fault === 'operand times 1.001')) return value;
    const zero = this.splat(0, value);
    const select = (chosen: Value, other: Value) =>
      this.add(
        `stablehlo.select ${chosen.name}, ${other.name}, ${value.name} : ${typeText(chosen)}, ${typeText(value)}`,
        shape,
        value.type,
      );
    const index = (dimension: number) =>
      this.add(`stablehlo.iota dim = ${dimension} : ${typeText({ shape, type: 'i32' })}`, shape, 'i32');
    const isIn = (direction: 'GE' | 'EQ', values: Value, bound: number) => {
      const limit = this.splat(bound, values);
      const types = `(${typeText(values)}, ${typeText(values)}) -> ${typeText({ shape, type: 'i1' })}`;
      return this.add(
        `stablehlo.compare ${direction}, ${values.name}, ${limit.name} : ${types}`,
        shape,
        'i1',
      );
    };
    const tail = () => isIn('GE', index(columns), Math.ceil((shape[columns]! * 7) / 8));
    switch (fault) {
      case 'zeros':
        return zero;
      case 'missing tail':
        return select(tail(), zero);
      case 'unwritten memory':
        return select(tail(), this.splat(value.type.includes('f') ? 1234.5 : 85, value));
      case 'dropped row':
        return shape.length > 1 && shape[rows]! > 1
          ? select(isIn('EQ', index(rows), shape[rows]! >> 1), zero)
          : select(tail(), zero);
      case 'swapped rows': {
        const axis = shape.length > 1 && shape[rows]! > 1 ? rows : columns;
        const part = (from: number, to: number) => {
          const ranges = shape.map((size, i) => (i === axis ? `${from}:${to}` : `0:${size}`)).join(', ');
          const own = shape.with(axis, to - from);
          const to_ = typeText({ shape: own, type: value.type });
          return this.add(
            `stablehlo.slice ${value.name} [${ranges}] : (${typeText(value)}) -> ${to_}`,
            own,
            value.type,
          );
        };
        const parts = [part(0, 1), part(2, 3), part(1, 2), part(3, shape[axis]!)].filter(
          (one) => one.shape[axis]! > 0,
        );
        return this.add(
          `stablehlo.concatenate ${parts.map(({ name }) => name).join(', ')}, dim = ${axis} : (${parts.map(typeText).join(', ')}) -> ${typeText(value)}`,
          shape,
          value.type,
        );
      }
      case 'one wrong element in 1,000': {
        let flat = index(columns);
        let stride = shape[columns]!;
        for (let dimension = columns - 1; dimension >= 0; dimension--) {
          const own = index(dimension);
          flat = this.map('add', flat, this.map('multiply', own, this.splat(stride, own)));
          stride *= shape[dimension]!;
        }
        const rest = this.map('remainder', flat, this.splat(1000, flat));
        return select(isIn('EQ', rest, Math.min(7, stride - 1)), this.map('negate', value));
      }
      case 'operand times 1.001':
        return at === 'end' && isFloat ? this.map('multiply', value, this.splat(1.001, value)) : value;
      case 'product in bf16':
        return at === 'end' && isFloat
          ? this.convert(this.barrier(this.convert(value, 'bf16')), value.type)
          : value;
    }
  }
}
