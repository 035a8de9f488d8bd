// Times the parser on one input per process, so that the first pass is cold and the peak memory is the parser's.
//
//   node --conditions=source bench/shared/parser-child.ts FILE ROUNDS
//   node --conditions=source bench/shared/parser-child.ts --huge BYTES
import { readFileSync } from 'node:fs';
import { locate, parse } from '../../grammar/src/main.ts';
import { hugeInput } from './parser-inputs.ts';

export interface ParserRun {
  readonly bytes: number;
  readonly operations: number;
  readonly problems: number;
  /** Locations of the first operations, as `line:column`. */
  readonly locations: readonly string[];
  readonly starts: readonly number[];
  readonly coldMs: number;
  readonly warmMs: readonly number[];
  /** Resident bytes of the process: before parsing with the input read, and the peak. */
  readonly rssBefore: number;
  readonly rssPeak: number;
}

const [what, count] = process.argv.slice(2);
const huge = what === '--huge';
const input = huge ? hugeInput(Number(count)) : readFileSync(what!);
const rounds = huge ? 0 : Number(count);
const rssBefore = process.memoryUsage().rss;

const begin = performance.now();
const { operations, problems } = parse(input);
const coldMs = performance.now() - begin;
const rssPeak = process.resourceUsage().maxRSS * 1024;

const warmMs = Array.from({ length: rounds }, () => {
  const start = performance.now();
  parse(input);
  return performance.now() - start;
});
const few = operations.slice(0, 4);
console.log(
  JSON.stringify({
    bytes: input.length,
    operations: operations.length,
    problems: problems.length,
    starts: few.map(({ start }) => start),
    locations: few.map(({ start }) => {
      const { line, column } = locate(input, start);
      return `${line}:${column}`;
    }),
    coldMs,
    warmMs,
    rssBefore,
    rssPeak,
  } satisfies ParserRun),
);
