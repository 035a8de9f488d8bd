#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { attributeValue, lineIndex, locationsOf, parse, typeText, type Operation } from 'mlir-parser-ts';

const USAGE = `usage: mlir-ops FILE [--json]

Lists the contractions, convolutions and poolings in MLIR text, one per line. - is stdin.
  --json  prints all properties of the operations, and the problems, as JSON

exit code: 0; 1 if a part of the text is not understood; 2 if there is no file to read
`;

function main(argv: readonly string[]): number {
  let input: Uint8Array;
  let name: string;
  let isJson: boolean;
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: { json: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
      allowPositionals: true,
    });
    if (values.help) {
      process.stdout.write(USAGE);
      return 0;
    }
    if (positionals.length !== 1) throw new Error('expected one file');
    [name] = positionals as [string];
    isJson = values.json;
    input = readFileSync(name === '-' ? 0 : name);
  } catch (error) {
    process.stderr.write(`mlir-ops: ${(error as Error).message}\n${USAGE}`);
    return 2;
  }

  const { operations, problems } = parse(input);
  const lines = lineIndex(input);
  const at = (offset: number): string => {
    const { line, column } = lines.locate(offset);
    return `${name}:${line}:${column}`;
  };
  for (const { offset, message } of problems) process.stderr.write(`${at(offset)}: ${message}\n`);
  if (isJson) {
    const locations = locationsOf(input, operations);
    const all = operations.map((operation, index) => ({
      ...operation,
      ...lines.locate(operation.start),
      locations: locations[index],
      attributes: operation.attributes.map((one) => ({ name: one.name, value: attributeValue(input, one) })),
    }));
    const text = {
      operations: all,
      problems: problems.map((one) => ({ ...one, ...lines.locate(one.offset) })),
    };
    process.stdout.write(`${JSON.stringify(text, plain, 2)}\n`);
  } else {
    for (const operation of operations)
      process.stdout.write(`${at(operation.start)} ${summary(operation)}\n`);
  }
  return problems.length > 0 ? 1 : 0;
}

/** `linalg.matmul @main (tensor<3x5xf32>, ...) -> (tensor<3x7xf32>)` */
function summary({ name, symbol, operands, results }: Operation): string {
  const place = symbol === null ? '' : ` @${symbol}`;
  const inputs = operands.map(({ type }) => typeText(type)).join(', ');
  return `${name}${place} (${inputs}) -> (${results.map(typeText).join(', ')})`;
}

/** JSON has no big integers and no maps. */
function plain(_: string, value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries(value as Map<string, unknown>);
  if (typeof value !== 'bigint') return value;
  return BigInt.asIntN(53, value) === value ? Number(value) : String(value);
}

process.exitCode = main(process.argv.slice(2));
