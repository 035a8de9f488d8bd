// A chain of operations between two integers of 8 bits, such as an activation between two quantized operations: dequantization, exponential, divisions,
// quantization. There are 256 possible results. Its form reads them from a table.
import { createHash } from 'node:crypto';
import { bufferOf } from '../system/bytes.ts';
import type { ReplaceableKind } from './form.ts';
import { isChain, isSlow, lineText, tableOf, type Line } from './scalar-chain.ts';
import { genericText, listOf, type Value, type Writer, type Written } from './text.ts';
import { tensorText } from '../workload/tensor.ts';

export interface Table {
  readonly name: typeof NAME;
  readonly lines: readonly Line[];
}

const NAME = 'table';

/** Such as `table i8->i8 instead of 24 operations, among them math.exp 3f5a01c2`. */
const tableKey = ({ lines }: Table): string => {
  const slow = lines.filter((one) => isSlow([one])).map(({ name }) => name);
  const digest = createHash('sha256').update(JSON.stringify(lines)).digest('hex').slice(0, 8);
  return `${NAME} i8->i8 instead of ${lines.length} operations, among them ${[...new Set(slow)].join(', ')} ${digest}`;
};

/** An operation of a text. */
interface Definition extends Omit<Line, 'of'> {
  readonly of: readonly string[];
  /** Types of its operands. */
  readonly from: readonly string[];
}

const BLOCK = String.raw`\^bb\d+\(`;
const OPERATION = String.raw` (?<result>%\w+) = (?<name>(?:arith|math)\.\w+) (?<rest>[^\n]*?)(?: loc\([^\n]*)?$`;
const STEP = new RegExp(`^ *(?:${BLOCK}|${OPERATION})`, 'gm');
const REST =
  /^(?:(?<text>[^%\s,]+)(?:, | ))?(?<of>%\w+(?:, %\w+)*)?(?:^| )?: (?<from>\w+)(?: to (?<to>\w+))?$/;

function definitionFrom(name: string, rest: string): Definition | null {
  const { text, of = '', from, to } = REST.exec(rest)?.groups ?? {};
  if (from === undefined) return null;
  const operands = of === '' ? [] : of.split(', ');
  const types = operands.map((_, i) => (name === 'arith.select' && i === 0 ? 'i1' : from));
  const type = name === 'arith.cmpf' ? 'i1' : (to ?? from);
  return { name, of: operands, from: types, type, ...(text !== undefined && { text }) };
}

/** The slow chains in a text of the compiler, each with all that lies between two integers. */
export function readTables(text: Uint8Array): Table[] {
  const bytes = bufferOf(text);
  if (!bytes.includes('math.roundeven')) return [];
  const definitions = new Map<string, Definition>();
  let found = new Map<string, Table>();
  const all: Table[] = [];
  /** The integer of 8 bits that each other one is made of alone. */
  const bases = new Map<string, string>();
  for (const { groups } of bytes.toString('latin1').matchAll(STEP)) {
    const result = groups?.['result'];
    if (result === undefined) {
      all.push(...found.values());
      found = new Map();
      bases.clear();
      continue;
    }
    const definition = definitionFrom(groups!['name']!, groups!['rest']!);
    if (definition === null) definitions.delete(result);
    else definitions.set(result, definition);
    if (definition?.type !== 'i8' || !/^arith\.fpto[us]i$/.test(definition.name)) continue;
    const base = baseOf(definition, definitions, bases);
    const chain = base === null ? null : chainOf(result, base, definitions);
    if (chain === null) continue;
    bases.set(result, base!);
    if (!isSlow(chain.lines) || tableOf(chain.lines) === null) continue;
    for (const inner of chain.names) found.delete(inner);
    found.set(result, { name: NAME, lines: chain.lines });
  }
  return [...all, ...found.values()];
}

/** The only integer of 8 bits that an operation is made of, apart from constants; null if there is more. */
function baseOf(
  from: Definition,
  definitions: ReadonlyMap<string, Definition>,
  bases: ReadonlyMap<string, string>,
): string | null {
  const found = new Set<string>();
  const open = [from];
  const seen = new Set<Definition>();
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (seen.has(one)) continue;
    seen.add(one);
    for (const [i, operand] of one.of.entries()) {
      const definition = definitions.get(operand);
      if (one.from[i] === 'i8' && definition?.name !== 'arith.constant')
        found.add(bases.get(operand) ?? operand);
      else if (definition === undefined) return null;
      else open.push(definition);
    }
  }
  return found.size === 1 ? [...found][0]! : null;
}

/** The operations from one integer to another, and their names in the text; null if they are no chain. */
function chainOf(result: string, base: string, definitions: ReadonlyMap<string, Definition>) {
  const names = [base];
  const lines: Line[] = [];
  const add = (value: string): number => {
    const known = names.indexOf(value);
    if (known >= 0) return known;
    const { name, of, type, text } = definitions.get(value)!;
    const operands = of.map(add);
    lines.push({ name, of: operands, type, ...(text !== undefined && { text }) });
    return names.push(value) - 1;
  };
  add(result);
  return isChain(lines) ? { names, lines } : null;
}

/** Whether a value, for example from a file, is such an operation. */
export function isTable(value: unknown): value is Table {
  const { name, lines } = (value ?? {}) as Partial<Record<keyof Table, unknown>>;
  return name === NAME && isChain(lines) && isSlow(lines) && tableOf(lines) !== null;
}

const VALUE: Value = { elementType: 'i8', shape: [], name: '%value', isScalar: true };
const TENSOR = { elementType: 'i8', shape: [4096] };

/** The operation as the program has it. A function of its own computes it for each integer. */
function writtenTable({ lines }: Table): Written {
  const nameOf = (i: number) => (i === 0 ? VALUE.name : `%line${i}`);
  const texts = lines.map((_, i) => lineText(lines, i, nameOf));
  const before = texts.slice(0, -1).map((text, i) => `${nameOf(i + 1)} = ${text}`);
  const operation = texts.at(-1)!;
  const tensor = { ...TENSOR, name: '%tensor' };
  const into = { ...TENSOR, name: '%into' };
  const each = [
    '%place = linalg.index 0 : index',
    '%low = arith.index_cast %place : index to i8',
    '%value = arith.addi %x0, %low : i8',
  ];
  const computed = genericText({
    ...{ loops: 'i', maps: ['i', 'i'], inputs: [tensor], into },
    ...{ body: [...each, ...before, `%result = ${operation}`], gives: '%result' },
  });
  return {
    ...{ operands: [VALUE], list: listOf([VALUE]), before: before.join('\n      '), operation, type: 'i8' },
    alone: {
      operands: [tensor],
      body: `%into = tensor.empty() : ${tensorText(into)}\n  %0 = ${computed}`,
    },
  };
}

/** Writes the reading of a scalar's result. */
function fromTable(writer: Writer, { lines }: Table, [value]: readonly Value[]): Value {
  const results = tableOf(lines)!;
  const table = { elementType: 'i8', shape: [results.length] };
  const define = (text: string, elementType: string) => writer.define({ elementType, shape: [] }, text).name;
  const all = writer.define(table, `arith.constant dense<[${results.join(', ')}]> : ${tensorText(table)}`);
  const wide = define(`arith.extui ${value!.name} : i8 to i32`, 'i32');
  const place = define(`arith.index_cast ${wide} : i32 to index`, 'index');
  return writer.define(
    { elementType: 'i8', shape: [] },
    `tensor.extract ${all.name}[${place}] : ${tensorText(table)}`,
  );
}

export const tables: ReplaceableKind<Table> = {
  is: isTable,
  key: tableKey,
  read: (text) => readTables(text),
  writtenOf: writtenTable,
  resultOf: () => TENSOR,
  formsOf: (_, { isForCpu }) => (isForCpu ? [{ name: 'looked-up' }] : []),
  write: (writer, one, operands) => ({ value: fromTable(writer, one, operands) }),
  turn: 1,
};
