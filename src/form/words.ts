// Products with constant weights of 4 or 8 bits in words: 32 bits hold the weights of one column that follow each other along the summed dimension.
// Each weight is cut out of its word where it is, as an integer that is too large by a power of two, and the element that it multiplies is smaller
// by that power. So a vector of weights takes three instructions: to cut out, to convert, to multiply and add.
import { elementBits } from '../workload/element-type.ts';
import { tensorText } from '../workload/tensor.ts';
import { configurationText, MOST_WORKGROUPS, type Packing } from './packing.ts';
import { splitRows } from './parts.ts';
import { MOST_IN_WORKGROUP, stripOf } from './strips.ts';
import type { Value, Writer } from './text.ts';

const WORD = { elementType: 'i32', bits: 32 };

const FLOAT = 'f32';

/** Rows of a tile of registers. Each weight is cut out for all of them. */
const MOST_ROWS = 4;

export interface Blocks {
  /** (m, groups, block), f32. */
  readonly rows: Value;
  /** (n, groups, block), integers. Signed ones count from the least one, as if they were unsigned. */
  readonly weights: Value;
  /** Of the integers: their type may have more. */
  readonly bits: number;
  readonly isUnsigned: boolean;
  /** (groups, n), floats: what is subtracted from each weight of a block. */
  readonly zeros: Value | null;
  /** (groups, n), floats: the factor of a block. */
  readonly factors: Value;
  /** (groups, n), floats: what is added to each weight of a block behind its factor. */
  readonly offsets: Value | null;
}

/** Whether there are several words in a block, and several blocks: the compiler drops loops of one step, and with them the configuration. */
export function areInWords(shape: readonly number[], bits: number): boolean {
  const perWord = WORD.bits / bits;
  return shape[1]! > 1 && shape[2]! % perWord === 0 && shape[2]! > perWord;
}

/**
 * The product of rows, and of weights that values of their block make floats.
 * @param shape of the result, which may have more dimensions instead of m
 */
export function productOfWords(
  writer: Writer,
  { rows, weights, bits, isUnsigned, ...ofBlocks }: Blocks,
  shape: readonly number[],
  packing: Packing,
): Value {
  const [m, groups, block] = rows.shape as [number, number, number];
  const n = weights.shape[0]!;
  const perWord = WORD.bits / bits;
  const words = block / perWord;
  const columns = stripOf(packing.columns, n);
  const count = Math.ceil(n / columns);
  // Along the words of a block first, so that no step of the inner loop reads the factors of the step before: the compiler would keep these as scalars.
  const inStrips = (value: Value, before: readonly number[]) => {
    const padded = writer.pad(
      value,
      [...before.map(() => 0), 0],
      [...before.map(() => 0), count * columns - n],
    );
    const outer = before.map((_, d) => [d]);
    const split = writer.expand(
      padded,
      [...outer, [before.length, before.length + 1]],
      [...before, count, columns],
    );
    const inner = before.map((_, d) => d);
    return writer.settle(writer.transpose(split, [before.length, ...inner, before.length + 1]));
  };
  const stored = wordsOf(writer, weights, bits);
  const strips = inStrips(
    writer.transpose(isUnsigned ? stored : withFlippedSigns(writer, stored, bits), [2, 1, 0]),
    [words, groups],
  );
  const values = [ofBlocks.factors, ofBlocks.zeros, ofBlocks.offsets].map((one) =>
    one === null ? null : inStrips(one, [groups]),
  );
  const { elements, sums } = elementsOf(
    writer,
    writer.expand(rows, [[0], [1], [2, 3]], [m, groups, words, perWord]),
    bits,
  );
  const body = Array.from({ length: perWord }, (_, i) => {
    const [cut, convert] =
      i === perWord - 1
        ? [`%c${i} = arith.shrui %x${perWord}, %b${i} : i32`, `arith.constant ${bits * i} : i32`]
        : [
            `%c${i} = arith.andi %x${perWord}, %b${i} : i32`,
            `arith.constant ${(2 ** bits - 1) * 2 ** (bits * i)} : i32`,
          ];
    return [
      `%b${i} = ${convert}`,
      cut,
      `%f${i} = arith.sitofp %c${i} : i32 to ${FLOAT}`,
      `%p${i} = arith.mulf %f${i}, %x${i} : ${FLOAT}`,
      ...(i === 0 ? [] : [`%t${i} = arith.addf ${i === 1 ? '%p0' : `%t${i - 1}`}, %p${i} : ${FLOAT}`]),
    ];
  }).flat();
  const inputs: { readonly value: Value; readonly map: readonly string[]; readonly ofRows: boolean }[] = [];
  /** The name of a further input of the body, as f32. */
  const add = (value: Value, ofRows: boolean): string => {
    const name = `%x${perWord + 1 + inputs.length}`;
    inputs.push({ value, ofRows, map: ofRows ? ['w', 'g'] : ['s', 'g', 'c'] });
    if (value.elementType === FLOAT) return name;
    body.push(`${name}_wide = arith.extf ${name} : ${value.elementType} to ${FLOAT}`);
    return `${name}_wide`;
  };
  const [factors, zeros, offsets] = values as [Value, Value | null, Value | null];
  const hasSums = !isUnsigned || zeros !== null || offsets !== null;
  const sum = hasSums ? add(sums(), true) : '';
  let last = `%t${perWord - 1}`;
  if (!isUnsigned) {
    body.push(
      `%half = arith.constant ${2 ** (bits - 1)}.0 : ${FLOAT}`,
      `%h = arith.mulf ${sum}, %half : ${FLOAT}`,
      `%centred = arith.subf ${last}, %h : ${FLOAT}`,
    );
    last = '%centred';
  }
  if (zeros !== null) {
    const zero = add(zeros, false);
    body.push(`%z = arith.mulf ${sum}, ${zero} : ${FLOAT}`, `%moved = arith.subf ${last}, %z : ${FLOAT}`);
    last = '%moved';
  }
  const factor = add(factors, false);
  const offset = offsets === null ? null : add(offsets, false);
  body.push(
    `%scaled = arith.mulf ${last}, ${factor} : ${FLOAT}`,
    // A sum of products that ends in a multiplication would become another operation, whose code is scalar.
    offset === null ? `%o = arith.constant 0.0 : ${FLOAT}` : `%o = arith.mulf ${sum}, ${offset} : ${FLOAT}`,
    `%added = arith.addf %scaled, %o : ${FLOAT}`,
    `%sum = arith.addf %out, %added : ${FLOAT}`,
  );
  // The compiler drops a loop over one row.
  const own = m > 1 ? [0] : [];
  const mapOf = (...loops: string[]) => [...own.map(() => 'm'), ...loops].join(', ');
  const flat = (value: Value) => (m > 1 ? value : writer.collapse(value, [[0, 1], [2]]));
  const ofStrips = Math.ceil(count / MOST_WORKGROUPS);
  const product = writer.generic({
    loops: mapOf('s', 'c', 'w', 'g'),
    maps: [
      ...elements.map(() => mapOf('w', 'g')),
      's, w, g, c',
      ...inputs.map(({ map, ofRows }) => (ofRows ? mapOf(...map) : map.join(', '))),
      mapOf('s', 'c'),
    ],
    inputs: [
      ...elements.map(flat),
      strips,
      ...inputs.map(({ value, ofRows }) => (ofRows ? flat(value) : value)),
    ],
    into: writer.zeros({ elementType: FLOAT, shape: [...own.map(() => m), count, columns] }),
    ...{ body, gives: '%sum' },
    configuration: configurationText(
      [
        [...own.map(() => Math.min(m, MOST_IN_WORKGROUP)), ofStrips, 0, 0, 0],
        [...own.map(() => Math.min(m, MOST_ROWS)), 1, columns, 0, 0],
        [...own, 0, 0, 1, 1],
      ],
      '#iree_cpu.pipeline<DoubleTilingExpert>, {enable_loop_peeling}',
    ),
  });
  const all = writer.collapse(product, m > 1 ? [[0], [1, 2]] : [[0, 1]]);
  const whole = writer.slice(all, [...own.map(() => [0, m, 1] as const), [0, n, 1]]);
  return splitRows(writer, whole, shape);
}

/** Integers (n, groups, block) as words (n, groups, words). */
function wordsOf(writer: Writer, value: Value, bits: number): Value {
  const perWord = WORD.bits / bits;
  const [n, groups, block] = value.shape as [number, number, number];
  const type = { elementType: WORD.elementType, shape: [n, groups, block / perWord] };
  if (elementBits(value.elementType) === bits)
    return writer.define(
      type,
      `flow.tensor.bitcast ${value.name} : ${tensorText(value)} -> ${tensorText(type)}`,
    );
  const places = Array.from({ length: perWord }, (_, i) => bits * i);
  const table = { elementType: WORD.elementType, shape: [perWord] };
  return writer.generic({
    loops: 'n, g, w, i',
    maps: ['n, g, w, i', 'i', 'n, g, w'],
    inputs: [
      writer.expand(value, [[0], [1], [2, 3]], [...type.shape, perWord]),
      writer.define(table, `arith.constant dense<[${places.join(', ')}]> : ${tensorText(table)}`),
    ],
    into: writer.zeros(type),
    body: [
      `%e = arith.extui %x0 : ${value.elementType} to ${WORD.elementType}`,
      `%m = arith.shli %e, %x1 : ${WORD.elementType}`,
      `%s = arith.ori %out, %m : ${WORD.elementType}`,
    ],
    gives: '%s',
  });
}

/** Words of signed integers as words of unsigned ones, each more by half of the values. */
function withFlippedSigns(writer: Writer, words: Value, bits: number): Value {
  const type = tensorText(words);
  const signs = Number(
    BigInt.asIntN(
      WORD.bits,
      ((2n ** BigInt(WORD.bits) - 1n) / (2n ** BigInt(bits) - 1n)) << BigInt(bits - 1),
    ),
  );
  const half = writer.define(words, `arith.constant dense<${signs}> : ${type}`);
  return writer.define(words, `arith.xori ${words.name}, ${half.name} : ${type}`);
}

/**
 * The elements (m, words, groups) that the first, second, ... weights of the words multiply, and the sums of those of one word.
 * @param rows (m, groups, words, weights of a word)
 */
function elementsOf(writer: Writer, rows: Value, bits: number) {
  const [m, groups, words, perWord] = rows.shape as [number, number, number, number];
  const shape = [m, words, groups];
  // The last weight of a word is shifted.
  const powers = Array.from({ length: perWord }, (_, i) => (i === perWord - 1 ? 1 : 2 ** (-bits * i)));
  const table = { elementType: FLOAT, shape: [perWord] };
  const factors = writer.define(
    table,
    `arith.constant dense<[${powers.map((one) => one.toExponential(17)).join(', ')}]> : ${tensorText(table)}`,
  );
  const all = writer.settle(
    writer.generic({
      loops: 'i, m, w, g',
      maps: ['m, g, w, i', 'i', 'i, m, w, g'],
      inputs: [rows, factors],
      into: writer.empty({ elementType: FLOAT, shape: [perWord, ...shape] }),
      body: [`%p = arith.mulf %x0, %x1 : ${FLOAT}`],
      gives: '%p',
    }),
  );
  const whole = shape.map((size) => [0, size, 1] as const);
  const elements = powers.map((_, i) => writer.slice(all, [[i, null, 1], ...whole]));
  const sums = () =>
    writer.generic({
      loops: 'm, w, g, i',
      maps: ['m, g, w, i', 'm, w, g'],
      inputs: [rows],
      into: writer.zeros({ elementType: FLOAT, shape }),
      body: [`%s = arith.addf %out, %x0 : ${FLOAT}`],
      gives: '%s',
    });
  return { elements, sums };
}
