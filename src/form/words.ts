// Products with constant weights of 4 or 8 bits in words: 32 bits hold the weights of one column that follow each other along the summed dimension.
// Each weight is cut out of its word where it is, as an integer that is too large by a power of two, and the element that it multiplies is smaller
// by that power. So a vector of weights takes three instructions: to cut out, to convert, to multiply and add.
import { elementBits } from '../workload/element-type.ts';
import { tensorText } from '../workload/tensor.ts';
import { FloatBody } from './body.ts';
import { configurationText, MOST_WORKGROUPS, type Packing } from './packing.ts';
import { flipped, splitRows, sumsOfRows } from './parts.ts';
import { columnsOfStrip, MOST_IN_WORKGROUP, stripsOf } from './strips.ts';
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
  blocks: Blocks,
  shape: readonly number[],
  packing: Packing,
): Value {
  const m = blocks.rows.shape[0]!;
  const n = blocks.weights.shape[0]!;
  const columns = columnsOfStrip(packing.columns, n);
  const count = Math.ceil(n / columns);
  // The compiler drops a loop over one row.
  const own = m > 1 ? [0] : [];
  const row = own.map(() => 'm, ').join('');
  const { body, gives } = bodyOf(writer, blocks, columns, row);
  // Along the words of a block first: of factors that stay the same in the inner loop, the compiler would make scalars.
  const product = writer.generic({
    loops: `${row}s, c, w, g`,
    maps: [...body.maps, `${row}s, c`],
    inputs: body.inputs,
    into: writer.zeros({ elementType: FLOAT, shape: [...own.map(() => m), count, columns] }),
    ...{ body: body.lines, gives },
    configuration: configurationText(
      [
        [...own.map(() => Math.min(m, MOST_IN_WORKGROUP)), Math.ceil(count / MOST_WORKGROUPS), 0, 0, 0],
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

/**
 * Multiplies the weights of one word, and adds the products to the result.
 * @param row the loop over rows in the maps; empty for a single row
 */
function bodyOf(writer: Writer, blocks: Blocks, columns: number, row: string) {
  const { rows, weights, bits, isUnsigned } = blocks;
  const [m, groups, block] = rows.shape as [number, number, number];
  const perWord = WORD.bits / bits;
  const words = block / perWord;
  const body = new FloatBody();
  const ofRows = (value: Value, map: string) =>
    body.input(m > 1 ? value : writer.collapse(value, [[0, 1], [2]]), `${row}${map}`);
  const ofBlock = (value: Value) => body.float(stripsOf(writer, value, columns), 's, g, c');
  const split = writer.expand(rows, [[0], [1], [2, 3]], [m, groups, words, perWord]);
  const stored = writer.transpose(wordsOf(writer, weights, bits, isUnsigned), [2, 1, 0]);
  const factorsOfWord = elementsOf(writer, split, bits).map((one) => ofRows(one, 'w, g'));
  const word = body.input(stripsOf(writer, stored, columns), 's, w, g, c');
  const products = factorsOfWord.map((element, i) => {
    const isLast = i === perWord - 1;
    const by = body.constant(isLast ? bits * i : (2 ** bits - 1) * 2 ** (bits * i), WORD.elementType);
    const cut = body.define(`arith.${isLast ? 'shrui' : 'andi'} ${word}, ${by} : ${WORD.elementType}`);
    const float = body.define(`arith.sitofp ${cut} : ${WORD.elementType} to ${FLOAT}`);
    return body.combine('mulf', float, element);
  });
  let sum = products.reduce((all, one) => body.combine('addf', all, one));
  const hasSums = !isUnsigned || blocks.zeros !== null || blocks.offsets !== null;
  const ofWord = hasSums ? ofRows(sumsOfRows(writer, split), 'g, w') : '';
  const subtract = (one: string) => {
    sum = body.combine('subf', sum, body.combine('mulf', ofWord, one));
  };
  if (!isUnsigned) subtract(body.constant(2 ** (bits - 1)));
  if (blocks.zeros !== null) subtract(ofBlock(blocks.zeros));
  const scaled = body.combine('mulf', sum, ofBlock(blocks.factors));
  // A sum of products that ends in a multiplication would become another operation, whose code is scalar.
  const offset =
    blocks.offsets === null ? body.constant(0) : body.combine('mulf', ofWord, ofBlock(blocks.offsets));
  return { body, gives: body.combine('addf', '%out', body.combine('addf', scaled, offset)) };
}

/** Integers (n, groups, block) as words (n, groups, words). Only unsigned ones may have fewer bits than their type. */
function wordsOf(writer: Writer, value: Value, bits: number, isUnsigned: boolean): Value {
  const perWord = WORD.bits / bits;
  const [n, groups, block] = value.shape as [number, number, number];
  const type = { elementType: WORD.elementType, shape: [n, groups, block / perWord] };
  if (elementBits(value.elementType) === bits) {
    const words = writer.define(
      type,
      `flow.tensor.bitcast ${value.name} : ${tensorText(value)} -> ${tensorText(type)}`,
    );
    return isUnsigned ? words : flipped(writer, words, signsOf(bits));
  }
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

/** The sign bits of the integers in a word. */
const signsOf = (bits: number): number =>
  Array.from({ length: WORD.bits / bits }).reduce<number>(
    (all, _, i) => all | (1 << (bits * (i + 1) - 1)),
    0,
  );

/**
 * The elements (m, words, groups) that the first, second, ... weights of the words multiply.
 * @param rows (m, groups, words, weights of a word)
 */
function elementsOf(writer: Writer, rows: Value, bits: number): Value[] {
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
  return powers.map((_, i) => writer.slice(all, [[i, null, 1], ...whole]));
}
