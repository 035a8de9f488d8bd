import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const environment = join(import.meta.dirname, '../../.venv');

/**
 * Path of `iree-opt`, or null: from IREE_OPT, from PATH, or from the virtual environment of the repository. There the executable is
 * faster than pip's script.
 */
export const ireeOpt: string | null =
  [
    process.env['IREE_OPT'] ?? '',
    ...(process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'iree-opt')),
    ...globSync(join(environment, 'lib/*/site-packages/iree/compiler/_mlir_libs/iree-opt')),
    join(environment, 'bin/iree-opt'),
  ].find((path) => path !== '' && existsSync(path)) ?? null;

/** The output of iree-opt for a text. @throws Error with its diagnostics if it rejects the text */
export function reprint(text: string, ...flags: string[]): string {
  const { status, stdout, stderr } = spawnSync(ireeOpt!, [...flags, '-'], { input: text, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

/** The names that the compiler does not know. */
export function unregistered(names: readonly string[]): string[] {
  const input = names.map((name) => `"${name}"() : () -> ()\n`).join('// -----\n');
  const { stderr } = spawnSync(ireeOpt!, ['--split-input-file', '-'], { input, encoding: 'utf8' });
  return [...stderr.matchAll(/unregistered operation '([^']+)'/g)].map((match) => match[1]!);
}

/** An operation in the output of `--mlir-print-op-generic`, read line by line and without the parser. */
export interface Printed {
  readonly name: string;
  /** The line with the name, and the line with the types. */
  readonly head: string;
  readonly tail: string;
  readonly types: readonly string[];
}

/** The operations with these names, in the order of their ends. Generics need two inputs, one output and a reduction. */
export function readGenericPrint(print: string, names: readonly string[]): Printed[] {
  const found: Printed[] = [];
  const open: { indent: number; name: string; head: string }[] = [];
  let skipped = -1;
  for (const line of print.split('\n')) {
    const indent = line.search(/\S/);
    if (skipped >= 0) {
      if (indent === skipped && line.trim().startsWith('}')) skipped = -1;
      continue;
    }
    if (line.includes('"transform.named_sequence"(')) {
      skipped = indent;
      continue;
    }
    const called = /^\s*(?:%[\w:]+ = )?"([\w.]+)"\(/.exec(line)?.[1];
    const name = called === 'torch.operator' ? /<\{name = "([\w.]+)"/.exec(line)?.[1] : called;
    if (name !== undefined && names.includes(name) && !line.endsWith('({')) {
      found.push({ name, head: line, tail: line, types: typesOf(line) });
      continue;
    }
    if (name !== undefined && names.includes(name)) {
      open.push({ indent, name, head: line });
    } else if (open.at(-1)?.indent === indent && line.trim().startsWith('})')) {
      const { name, head } = open.pop()!;
      const contracts = name !== 'linalg.generic' || /iterator_type<reduction>.*array<i32: 2, 1>/.test(head);
      if (contracts) found.push({ name, head, tail: line, types: typesOf(line) });
    }
  }
  return found;
}

function typesOf(line: string): string[] {
  const list = / : \((.*)\) -> /.exec(line)![1]!;
  return list.split(/, (?=tensor|memref|vector|!|i32)/);
}

/** The maps and iterator types of an operation after `--linalg-generalize-named-ops`. */
export interface Generalized {
  /** For each operand, as `d0, d2`. */
  readonly maps: readonly string[];
  readonly iterators: readonly string[];
}

/** All generics in the custom form, in order, read without the parser. */
export function readGenerics(print: string): Generalized[] {
  const aliases = new Map(
    [...print.matchAll(/^(#\w+) = affine_map<\(.*\) -> \((.*)\)>$/gm)].map((match) => [match[1]!, match[2]!]),
  );
  return [
    ...print.matchAll(/linalg\.generic \{indexing_maps = \[(.*?)\], iterator_types = \[(.*?)\]\}/g),
  ].map((match) => ({
    maps: match[1]!.split(', ').map((name) => aliases.get(name) ?? name),
    iterators: match[2]!.split(', ').map((type) => type.slice(1, -1)),
  }));
}
