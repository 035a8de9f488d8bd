// Parses lists of shapes: CSV with a header, or a JSON array of objects with the same names.
import { CsvError, parse as parseCsv } from 'csv-parse/sync';
import { parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser';
import { UserError } from '../system/user-error.ts';
import { CONSTANTS, elementTypesOf, isBatched, isOp, OPS, type Shape } from './shape.ts';

/** A shape, and its place in the list as `file:line`. */
export interface ListedShape {
  readonly shape: Shape;
  readonly where: string;
}

const REQUIRED = ['m', 'n', 'k'] as const;
const OPTIONAL = ['op', 'batch', 'lhs', 'rhs', 'acc', 'rhs_constant', 'count'] as const;
type Column = (typeof REQUIRED | typeof OPTIONAL)[number];
const COLUMNS: readonly string[] = [...REQUIRED, ...OPTIONAL];
const isColumn = (name: string): name is Column => COLUMNS.includes(name);

/** One line: its cells by column, without empty cells. */
interface Row {
  readonly where: string;
  readonly cells: ReadonlyMap<Column, string>;
}

/**
 * Parses a list of shapes. Columns are `m`, `n`, `k` and, with their defaults, `op` (`matmul`, or `batch_matmul` for a batch),
 * `batch` (1), `lhs` (f32), `rhs` (like `lhs`), `acc` (i32 for small integers, f32 for small floats), `rhs_constant` (yes, no, or
 * both, which gives two shapes) and `count` (1), in any order.
 * @param file its name, for messages; a name in `.json` selects JSON
 * @throws UserError with file, line and column of the problem
 */
export function parseShapeList(text: string, file: string): ListedShape[] {
  const rows = /\.json$/i.test(file) ? jsonRows(text, file) : csvRows(text, file);
  return rows.flatMap((row) => shapesOf(row).map((shape) => ({ shape, where: row.where })));
}

function shapesOf(row: Row): Shape[] {
  const fail = (column: Column, message: string): never => {
    throw new UserError(`${row.where}: column ${column}: ${message}`);
  };
  const size = (column: Column, otherwise?: number): number => {
    const text = row.cells.get(column);
    if (text === undefined) return otherwise ?? fail(column, 'the value is missing, and there is no default');
    const value = Number(text);
    if (!/^\d{1,15}$/.test(text) || value < 1)
      fail(column, `"${text}" is not a size: give a whole number from 1`);
    return value;
  };
  const batch = size('batch', 1);
  const op = row.cells.get('op') ?? (batch > 1 ? 'batch_matmul' : 'matmul');
  if (!isOp(op)) return fail('op', `"${op}" is not one of ${OPS.join(', ')}`);
  if (batch > 1 && !isBatched(op)) fail('batch', `${op} has no batch: use batch_${op}`);
  const [m, n, k] = REQUIRED.map((column) => size(column)) as [number, number, number];
  const types = (() => {
    try {
      const [rhs, acc] = [row.cells.get('rhs'), row.cells.get('acc')];
      return elementTypesOf({ lhs: row.cells.get('lhs') ?? 'f32', rhs, acc });
    } catch (error) {
      const given = (['acc', 'rhs', 'lhs'] as const).find((column) => row.cells.has(column));
      return fail(given ?? 'lhs', (error as Error).message);
    }
  })();
  const constant = row.cells.get('rhs_constant') ?? 'both';
  const word = constant.toLowerCase();
  const constants = CONSTANTS.get(WORDS[word] ?? word);
  if (constants === undefined) return fail('rhs_constant', `"${constant}" is not one of yes, no, both`);
  const count = size('count', 1);
  return constants.map((rhsConstant) => ({ op, batch, m, n, k, ...types, rhsConstant, count }));
}

/** Other words for `yes` and `no`. */
const WORDS: Readonly<Record<string, string>> = { true: 'yes', 1: 'yes', false: 'no', 0: 'no' };

/** A known name of a column that is not among those before. @throws UserError for other names */
function checkColumn(name: string, before: readonly string[], where: string): Column {
  if (!isColumn(name))
    throw new UserError(`${where}: unknown column "${name}": the columns are ${COLUMNS.join(', ')}`);
  if (before.includes(name)) throw new UserError(`${where}: column ${name} occurs twice`);
  return name;
}

function csvRows(text: string, file: string): Row[] {
  const lines = linesOf(text, file);
  const [head, ...rest] = lines;
  if (head === undefined)
    throw new UserError(`${file}: the file is empty; its first line must name the columns`);
  const header: Column[] = [];
  for (const name of head.cells) header.push(checkColumn(name, header, `${file}:${head.line}`));
  for (const name of REQUIRED)
    if (!header.includes(name)) throw new UserError(`${file}:${head.line}: column ${name} is missing`);
  return rest.map(({ line, cells }): Row => {
    if (cells.length > header.length)
      throw new UserError(
        `${file}:${line}: column ${header.length + 1} has no name: there are ${cells.length} cells under ${header.length} names`,
      );
    return {
      where: `${file}:${line}`,
      cells: new Map(cells.flatMap((cell, i) => (cell === '' ? [] : [[header[i]!, cell]]))),
    };
  });
}

/** The cells of each line that is not empty, with its number from 1. */
function linesOf(text: string, file: string): { line: number; cells: readonly string[] }[] {
  const options = {
    ...{ bom: true, trim: true, info: true, comment: '#', comment_no_infix: true },
    ...{ relax_column_count: true, skip_empty_lines: true, skip_records_with_empty_values: true },
  };
  try {
    const found = parseCsv(text, options) as unknown as { info: { lines: number }; record: string[] }[];
    return found.map(({ info, record }) => ({ line: info.lines, cells: record }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { lines } = error as { lines?: number };
    throw new UserError(`${file}${lines === undefined ? '' : `:${lines}`}: ${error.message}`);
  }
}

function jsonRows(text: string, file: string): Row[] {
  const whole = text.replace(/^\ufeff/, '');
  /** Line and column of an offset. */
  const at = (offset: number) => {
    const before = whole.slice(0, offset).split('\n');
    return { line: before.length, column: before.at(-1)!.length + 1 };
  };
  const fail = (offset: number, message: string): never => {
    const { line, column } = at(offset);
    throw new UserError(`${file}:${line}:${column}: ${message}`);
  };
  const errors: ParseError[] = [];
  const tree = parseTree(whole, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first !== undefined) fail(first.offset, `invalid JSON (${printParseErrorCode(first.error)})`);
  if (tree?.type !== 'array')
    return fail(
      tree?.offset ?? 0,
      'a list of shapes is an array of objects, such as [{"m": 64, "n": 64, "k": 64}]',
    );
  return (tree.children ?? []).map((node): Row => {
    if (node.type !== 'object')
      fail(node.offset, 'a shape is an object, such as {"m": 64, "n": 64, "k": 64}');
    const cells = new Map<Column, string>();
    for (const { children } of node.children ?? []) {
      const [key, value] = children as [Node, Node];
      const { line, column } = at(key.offset);
      const name = checkColumn(String(key.value), [...cells.keys()], `${file}:${line}:${column}`);
      if (!['string', 'number', 'boolean'].includes(value.type))
        fail(value.offset, `column ${name}: give a number or a word`);
      cells.set(name, String(value.value));
    }
    return { where: `${file}:${at(node.offset).line}`, cells };
  });
}
