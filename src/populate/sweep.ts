// Sweeps: all combinations of operations, sizes and element types, from one command line or from the lines of a list.
import { CsvError, parse as parseCsv } from 'csv-parse/sync';
import { UserError } from '../system/user-error.ts';
import { isFloat } from '../workload/element-type.ts';
import { isProgramOp, type Op, OPS, parseElementTypes, type Shape } from './shape.ts';

/** The text of a sweep's options. Each is a list with commas. */
export interface SweepText {
  /** Names of `OPS`. Default: `matmul`. */
  readonly op?: string | undefined;
  readonly m?: string | undefined;
  readonly n?: string | undefined;
  readonly k?: string | undefined;
  /** Default 1. `softmax` and `attention` take several leading dimensions, such as `1x16`; `matmul` takes none. */
  readonly batch?: string | undefined;
  /** Default f32. */
  readonly dtype?: string | undefined;
  /** `yes`, `no` or `both`. Default `both`: weights of a model are constant, activations are not. */
  readonly rhsConstant?: string | undefined;
}

const SWEPT = ['op', 'm', 'n', 'k', 'batch', 'dtype', 'rhsConstant'] as const satisfies (keyof SweepText)[];

export type Swept = (typeof SWEPT)[number];

export const isSwept = (options: SweepText): boolean => SWEPT.some((name) => options[name] !== undefined);

/** The flag of an option, for messages: `--rhs-constant` for `rhsConstant`. */
export const optionFlag = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** For each choice of a user, the values of `rhsConstant`. The words of spreadsheets are among them. */
const CONSTANTS: ReadonlyMap<string, readonly boolean[]> = new Map(
  Object.entries({
    ...{ yes: [true], true: [true], 1: [true] },
    ...{ no: [false], false: [false], 0: [false] },
    both: [false, true],
  }),
);

/** A larger sweep would not end. */
const MOST_SHAPES = 1_000_000;

/**
 * All combinations of a sweep. The last option varies fastest.
 * @param known the possible operations
 * @param placeOf the place of an option, for messages
 * @throws UserError naming the option
 */
export function shapesOf(
  sweep: SweepText,
  known: readonly Op[] = OPS,
  placeOf: (option: Swept) => string = optionFlag,
): Shape[] {
  const fail = (option: Swept, why: string): never => {
    throw new UserError(`${placeOf(option)}: ${why}`);
  };
  const inPlace = <T>(option: Swept, read: () => T): T => {
    try {
      return read();
    } catch (error) {
      return fail(option, (error as Error).message);
    }
  };
  const partsOf = (text: string) => text.split(',').map((part) => part.trim());
  const ops = partsOf(sweep.op ?? 'matmul').map(
    (word) => known.find((one) => one === word) ?? fail('op', `"${word}" is not one of ${known.join(', ')}`),
  );
  const types = inPlace('dtype', () => partsOf(sweep.dtype ?? 'f32').map(parseElementTypes));
  const batches = inPlace('batch', () => partsOf(sweep.batch ?? '1').flatMap(batchesOf));
  const constant = sweep.rhsConstant ?? 'both';
  const constants =
    CONSTANTS.get(constant.toLowerCase()) ?? fail('rhsConstant', `"${constant}" is not one of yes, no, both`);
  const checkProgram = (op: Op) => {
    if (sweep.rhsConstant !== undefined) fail('rhsConstant', `${op} has no right-hand side`);
    if (op === 'softmax' && sweep.k !== undefined) fail('k', `${op} has no such size`);
    if (types.some(({ lhs, rhs }) => lhs !== rhs || !isFloat(lhs)))
      fail('dtype', `${op} takes one float type, such as f32`);
  };
  const checkContraction = (op: Op) => {
    if (!op.startsWith('batch_') && batches.some((batch) => batch.join() !== '1'))
      fail('batch', `${op} has no batch: use batch_${op}`);
    if (batches.some(({ length }) => length > 1)) fail('batch', `${op} has one batch dimension`);
  };
  const found = ops.map((op) => {
    const isProgram = isProgramOp(op);
    (isProgram ? checkProgram : checkContraction)(op);
    const sizes = (option: 'm' | 'n' | 'k') => {
      if (option === 'k' && op === 'softmax') return [0];
      const text = sweep[option];
      if (text !== undefined) return inPlace(option, () => parseSizeList(text));
      const needed = op === 'softmax' ? 'm, n' : 'm, n, k';
      throw new UserError(`${placeOf(option)} is missing: ${op} needs ${needed}`);
    };
    const rhs = isProgram ? [false] : constants;
    return [[op], types, batches, sizes('m'), sizes('n'), sizes('k'), rhs] as const;
  });
  const total = found.reduce((sum, lists) => sum + lists.reduce((count, { length }) => count * length, 1), 0);
  if (total > MOST_SHAPES) throw new UserError(`the sweep has ${total} shapes: the limit is ${MOST_SHAPES}`);
  return found.flatMap((lists) =>
    product(...lists).map(([op, type, batch, m, n, k, rhsConstant]): Shape => ({
      ...{ op, batch, m, n, k, ...type, rhsConstant, count: 1, source: 'sweep' },
    })),
  );
}

/** `1x16` has two leading dimensions, `1:16` has fifteen batches. */
const batchesOf = (part: string): number[][] =>
  part.includes('x') ? [part.split('x').flatMap(parseSizeList)] : parseSizeList(part).map((size) => [size]);

/** A longer list is probably a typing error. */
const MOST_SIZES = 100_000;

/**
 * Parses `512`, `256,512`, `64:1024:128` (8 values from 64 in steps of 128, without 1024), or several of these between commas.
 * `64:1024` has steps of 1. Each size once, in the order of the text.
 * @throws UserError naming the invalid part
 */
export function parseSizeList(text: string): number[] {
  const sizes = new Set<number>();
  for (const part of text.split(',')) {
    for (const size of rangeOf(part.trim())) {
      sizes.add(size);
      if (sizes.size > MOST_SIZES) throw new UserError(`${text}: more than ${MOST_SIZES} sizes`);
    }
  }
  return [...sizes];
}

function* rangeOf(part: string): Generator<number> {
  const numbers = part.split(':').map((word) => word.trim());
  const isWritten = numbers.length <= 3 && numbers.every((word) => /^\d{1,15}$/.test(word));
  if (!isWritten)
    throw new UserError(
      `"${part}" is not a size; write 512, a list such as 256,512, or FROM:END:STEP such as 64:1024:128`,
    );
  const [from, end, step] = numbers.map(Number) as [number, number?, number?];
  if (from < 1) throw new UserError(`a size must be at least 1, not ${from}`);
  if (end === undefined) {
    yield from;
    return;
  }
  if (step === 0) throw new UserError('the step must be at least 1');
  if (end <= from)
    throw new UserError(`the range from ${from} to ${end} is empty, because ${end} is excluded`);
  for (let size = from; size < end; size += step ?? 1) yield size;
}

/** All combinations. The last list varies fastest. */
const product = <T extends readonly unknown[]>(...lists: { readonly [K in keyof T]: readonly T[K][] }): T[] =>
  lists.reduce<unknown[][]>(
    (begun, list) => begun.flatMap((one) => list.map((value) => [...one, value])),
    [[]],
  ) as unknown as T[];

const COLUMNS = ['m', 'n', 'k', 'op', 'batch', 'lhs', 'rhs', 'acc', 'rhs_constant', 'count'] as const;
type Column = (typeof COLUMNS)[number];
const isColumn = (name: string): name is Column => COLUMNS.some((one) => one === name);

/** The columns of an option, for messages. */
const placeIn = (line: string) => (option: Swept) =>
  `${line}: column ${option === 'dtype' ? 'lhs, rhs or acc' : option === 'rhsConstant' ? 'rhs_constant' : option}`;

/**
 * Parses a list of shapes. Columns are `m`, `n`, `k` and, with their defaults, `op` (`matmul`, or `batch_matmul` for a batch),
 * `batch` (1), `lhs` (f32), `rhs` (like `lhs`), `acc` (i32 for small integers, f32 for small floats), `rhs_constant` (yes, no, or
 * both, which gives two shapes) and `count` (1), in any order.
 * @param file its name, for messages
 * @throws UserError with file, line and column of the problem
 */
export function parseShapeList(text: string, file: string): Shape[] {
  const [head, ...lines] = linesOf(text, file);
  if (head === undefined)
    throw new UserError(`${file}: the file is empty; its first line must name the columns`);
  const header: Column[] = [];
  for (const name of head.cells) {
    if (!isColumn(name))
      throw new UserError(`${head.where}: unknown column "${name}": the columns are ${COLUMNS.join(', ')}`);
    if (header.includes(name)) throw new UserError(`${head.where}: column ${name} occurs twice`);
    header.push(name);
  }
  return lines.flatMap(({ where, cells }) => {
    if (cells.length > header.length)
      throw new UserError(
        `${where}: column ${header.length + 1} has no name: there are ${cells.length} cells under ${header.length} names`,
      );
    const row: Partial<Record<Column, string>> = {};
    for (const [i, cell] of cells.entries()) if (cell !== '') row[header[i]!] = cell;
    return shapesOfRow(row, where);
  });
}

function shapesOfRow(row: Partial<Record<Column, string>>, where: string): Shape[] {
  const { m, n, k, batch, lhs = 'f32', rhs = lhs, acc, count: times = '1' } = row;
  const op = row.op ?? (Number(batch) > 1 ? 'batch_matmul' : 'matmul');
  const dtype = [lhs, rhs, ...(acc === undefined ? [] : [acc])].join('x');
  if (!/^[1-9]\d{0,14}$/.test(times))
    throw new UserError(`${where}: column count: "${times}" is not a whole number from 1`);
  const shapes = shapesOf({ op, m, n, k, batch, dtype, rhsConstant: row.rhs_constant }, OPS, placeIn(where));
  return shapes.map((shape) => ({ ...shape, count: Number(times), source: where }));
}

/** The cells of each line that is not empty, with its place. */
function linesOf(text: string, file: string): { where: string; cells: readonly string[] }[] {
  const options = {
    ...{ bom: true, trim: true, info: true, comment: '#', comment_no_infix: true },
    ...{ relax_column_count: true, skip_empty_lines: true, skip_records_with_empty_values: true },
  };
  try {
    const found = parseCsv(text, options) as unknown as { info: { lines: number }; record: string[] }[];
    return found.map(({ info, record }) => ({ where: `${file}:${info.lines}`, cells: record }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { lines } = error as { lines?: number };
    throw new UserError(`${file}${lines === undefined ? '' : `:${lines}`}: ${error.message}`);
  }
}
