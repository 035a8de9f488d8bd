// A chain of operations between two integers of 8 bits, such as an activation between two quantized operations: dequantization, exponential, divisions,
// quantization. There are 256 possible results. Its form reads them from a table.
import { createHash } from 'node:crypto';
import type { ReplaceableKind } from './form.ts';
import { definitionsIn, stepOf, stepText, TO_INTEGER, type ScalarOperation, type Step } from './body.ts';
import { isChain, isSlow, tableOf, typeIn } from './scalar-chain.ts';
import { listOf, ofEach, type Value, type Writer, type Written } from './text.ts';
import { tensorText } from '../workload/tensor.ts';

export interface Table {
  readonly name: typeof NAME;
  readonly steps: readonly Step[];
}

const NAME = 'table';

/** Such as `table i8->i8 instead of 24 operations, among them math.exp 3f5a01c2`. */
const tableKey = ({ steps }: Table): string => {
  const slow = steps.filter((one) => isSlow([one])).map(({ name }) => name);
  const digest = createHash('sha256').update(JSON.stringify(steps)).digest('hex').slice(0, 8);
  return `${NAME} i8->i8 instead of ${steps.length} operations, among them ${[...new Set(slow)].join(', ')} ${digest}`;
};

/** The slow chains in a text of the compiler, each with all that lies between two integers. */
export function readTables(text: Uint8Array): Table[] {
  const definitions = new Map<string, ScalarOperation>();
  let found = new Map<string, Table>();
  const all: Table[] = [];
  /** The integer of 8 bits that each other one is made of alone. */
  const bases = new Map<string, string>();
  for (const defined of definitionsIn(text, definitions)) {
    if (defined === null) {
      all.push(...found.values());
      found = new Map();
      bases.clear();
      continue;
    }
    const { result, definition } = defined;
    if (definition?.type !== 'i8' || !TO_INTEGER.test(definition.name)) continue;
    const base = baseOf(definition, definitions, bases);
    const chain = base === null ? null : chainOf(result, base, definitions);
    if (chain === null) continue;
    bases.set(result, base!);
    if (!isSlow(chain.steps) || tableOf(chain.steps) === null) continue;
    for (const inner of chain.names) found.delete(inner);
    found.set(result, { name: NAME, steps: chain.steps });
  }
  return [...all, ...found.values()];
}

/** The only integer of 8 bits that an operation is made of, apart from constants; null if there is more. */
function baseOf(
  from: ScalarOperation,
  definitions: ReadonlyMap<string, ScalarOperation>,
  bases: ReadonlyMap<string, string>,
): string | null {
  const found = new Set<string>();
  const open = [from];
  const seen = new Set<ScalarOperation>();
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
function chainOf(result: string, base: string, definitions: ReadonlyMap<string, ScalarOperation>) {
  const names = [base];
  const steps: Step[] = [];
  const placeOf = (value: string): number => {
    const known = names.indexOf(value);
    if (known >= 0) return known;
    steps.push(stepOf(definitions.get(value)!, placeOf));
    return names.push(value) - 1;
  };
  placeOf(result);
  return isChain(steps) ? { names, steps } : null;
}

/** Whether a value, for example from a file, is such an operation. */
export function isTable(value: unknown): value is Table {
  const { name, steps } = (value ?? {}) as Partial<Record<keyof Table, unknown>>;
  return name === NAME && isChain(steps) && isSlow(steps);
}

const VALUE: Value = { elementType: 'i8', shape: [], name: '%value', isScalar: true };
const TENSOR = { elementType: 'i8', shape: [4096] };

/** The operation as the program has it. A function of its own computes it for each integer. */
function writtenTable({ steps }: Table): Written {
  const nameOf = (i: number) => (i === 0 ? VALUE.name : `%step${i}`);
  const texts = steps.map((one) => stepText(one, (i) => typeIn(steps, i), nameOf));
  const before = texts.slice(0, -1).map((text, i) => `${nameOf(i + 1)} = ${text}`);
  const operation = texts.at(-1)!;
  const each = [
    '%place = linalg.index 0 : index',
    '%low = arith.index_cast %place : index to i8',
    '%value = arith.addi %x0, %low : i8',
  ];
  return {
    ...{ operands: [VALUE], list: listOf([VALUE]), before: before.join('\n      '), operation, type: 'i8' },
    alone: ofEach(TENSOR, [...each, ...before, `%result = ${operation}`], '%result', 'i8'),
  };
}

/**
 * Writes the reading of a scalar's result.
 * @throws RangeError for a chain with values that are no numbers
 */
function fromTable(writer: Writer, { steps }: Table, [value]: readonly Value[]): Value {
  const results = tableOf(steps);
  if (results === null) throw new RangeError('a table of what is no number');
  const table = { elementType: 'i8', shape: [results.length] };
  const all = writer.define(table, `arith.constant dense<[${results.join(', ')}]> : ${tensorText(table)}`);
  const wide = writer.scalar('i32', `arith.extui ${value!.name} : i8 to i32`);
  const place = writer.scalar('index', `arith.index_cast ${wide.name} : i32 to index`);
  return writer.scalar('i8', `tensor.extract ${all.name}[${place.name}] : ${tensorText(table)}`);
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
