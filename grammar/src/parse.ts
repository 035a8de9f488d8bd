import { splitChunks } from './chunks.ts';
import { isBytecode } from './bytecode.ts';
import { IslandParser } from './island.ts';
import { Text } from './text.ts';
import { TypeCache } from './type-cache.ts';
import type { Operation, ParseResult, Problem } from './types.ts';

export interface ParseOptions {
  /** Read each `// -----` chunk on its own, like the compiler's flag `--split-input-file`. Default: false. */
  readonly splitInputFile?: boolean;
}

/**
 * Finds the operations of the table in MLIR text. Bytecode gives one problem and no operations. Never throws, and takes
 * time linear in the input.
 */
export function parse(input: Uint8Array, options: ParseOptions = {}): ParseResult {
  const operations: Operation[] = [];
  const problems: Problem[] = [];
  if (isBytecode(input)) {
    problems.push({ offset: 0, message: 'this is MLIR bytecode, not text' });
    return { operations, problems };
  }
  const hasMark = input[0] === 0xef && input[1] === 0xbb && input[2] === 0xbf;
  if (hasMark) problems.push({ offset: 0, message: 'a byte order mark, which the compiler does not accept' });
  const chunks = options.splitInputFile === true ? splitChunks(input) : [{ start: 0, end: input.length }];
  const shared = { bytes: input, text: new Text(input), types: new TypeCache(input), operations, problems };
  chunks.forEach(({ start, end }, chunk) => {
    new IslandParser(shared, start, end, chunk).run();
  });
  return { operations, problems };
}
