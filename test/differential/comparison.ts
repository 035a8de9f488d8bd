// One file in one shape: stock once, the wrapper in every mode, and the verdict on differences.
import type { Mode } from './modes.ts';
import { compileIn, TOO_LONG, TooLargeError, type Outcome } from './outcome.ts';
import type { CompareModules, ModuleVerdict } from './programs.ts';
import type { Shape } from './shapes.ts';

type Aspect = 'ending' | 'stdout' | 'stderr' | 'output' | 'left';

const ASPECTS: readonly Aspect[] = ['ending', 'stdout', 'stderr', 'output', 'left'];

/** `unstable`: stock differs from itself as well. */
export type State = 'same' | 'different' | 'unstable' | 'other code';

export interface Comparison {
  readonly file: string;
  readonly shape: string;
  readonly mode: string;
  readonly state: State;
  /** A line for each aspect; none for `same`. */
  readonly notes: readonly string[];
  /** Exit code or signal of stock. */
  readonly ending: string;
  /** Result of running both programs if their code differs. */
  readonly verdict: ModuleVerdict | null;
}

/** No comparison is possible. */
export interface NoComparison {
  readonly file: string;
  readonly shape: string;
  readonly reason: string;
  /** Whether stock is the reason: it takes too long, or its output is too large. */
  readonly excused: boolean;
}

export interface Compilers {
  /** Path of the real compiler. */
  readonly stock: string;
  /** Path of the launcher. */
  readonly wrapper: string;
  environment(mode: Mode): NodeJS.ProcessEnv;
  /** Null when no mode tunes. */
  readonly compareModules: CompareModules | null;
}

/** Time limit of stock. */
const STOCK_SECONDS = 60;

/** Number of runs of stock to see whether it differs from itself. Races of threads show up soon. */
const RERUNS = 4;

/** Compares one file in one shape in several modes. `folder` is for its files alone. */
export async function compareFile(
  file: string,
  shape: Shape,
  modes: readonly Mode[],
  compilers: Compilers,
  folder: string,
): Promise<Comparison[] | NoComparison> {
  const where = { file, shape: shape.name };
  const code = shape.output === 'stdout' ? 'stdout' : 'output';
  const run = (executable: string, env: NodeJS.ProcessEnv, timeoutSeconds: number) =>
    compileIn(shape, file, { executable, env, folder, timeoutSeconds });
  const runStock = () => run(compilers.stock, process.env, STOCK_SECONDS);
  let first: Outcome;
  try {
    first = await runStock();
  } catch (error) {
    if (!(error instanceof TooLargeError)) throw error;
    return { ...where, reason: error.message, excused: true };
  }
  if (first.ending === TOO_LONG)
    return { ...where, reason: `stock takes more than ${STOCK_SECONDS} s`, excused: true };
  const stock = [first];

  const comparisons: Comparison[] = [];
  for (const mode of modes) {
    const runWrapper = () =>
      run(compilers.wrapper, compilers.environment(mode), STOCK_SECONDS + mode.extraSeconds);
    const wrapper = [await runWrapper()];
    const [seen] = wrapper as [Outcome];
    const differences = differing(first, seen);
    const codes = mode.tunes && differences.includes(code) ? modulesOf(first, seen, code) : null;
    const open = () =>
      differences.filter(
        (aspect) => !(codes !== null && aspect === code) && !isUnstable(stock, wrapper, aspect),
      );
    for (let rerun = 0; rerun < RERUNS && open().length > 0; rerun++) {
      stock.push(await runStock());
      wrapper.push(await runWrapper());
    }
    const notes = differences.map((aspect) => `${aspect}: ${describeDifference(first, seen, aspect)}`);
    const about = { ...where, mode: mode.name, ending: first.ending, notes, verdict: null };
    if (open().length > 0) comparisons.push({ ...about, state: 'different' });
    else if (codes !== null) {
      const verdict = await compilers.compareModules!(file, shape.argv(file), codes, folder);
      comparisons.push({ ...about, state: verdict.equal === false ? 'different' : 'other code', verdict });
    } else comparisons.push({ ...about, state: differences.length === 0 ? 'same' : 'unstable' });
  }
  return comparisons;
}

/**
 * Whether stock differs from itself in an aspect. Crashing threads race, and some endings are rare. After a crash it is enough that the wrapper
 * ends as stock once.
 */
function isUnstable(stock: readonly Outcome[], wrapper: readonly Outcome[], aspect: Aspect): boolean {
  const [first] = stock as [Outcome];
  if (stock.some((other) => !isSame(first, other, aspect))) return true;
  return first.ending.startsWith('signal') && wrapper.some((other) => isSame(first, other, aspect));
}

/** The modules of both; null if one of them has no module. */
function modulesOf(
  stock: Outcome,
  wrapper: Outcome,
  code: 'stdout' | 'output',
): readonly [Buffer, Buffer] | null {
  if (stock.ending !== 'exit code 0' || wrapper.ending !== stock.ending) return null;
  const [a, b] = [stock[code], wrapper[code]];
  return a === null || b === null ? null : [a, b];
}

/** The aspects in which two outcomes differ. */
function differing(a: Outcome, b: Outcome): Aspect[] {
  return ASPECTS.filter((aspect) => !isSame(a, b, aspect));
}

/** Whether two outcomes have the same bytes in one aspect; addresses in a stack trace do not count. */
function isSame(a: Outcome, b: Outcome, aspect: Aspect): boolean {
  const [x, y] = [bytesOf(a, aspect), bytesOf(b, aspect)];
  return x === null || y === null ? x === y : x.equals(y);
}

/** The first line that differs, for the report. */
function describeDifference(stock: Outcome, wrapper: Outcome, aspect: Aspect): string {
  const [a, b] = [bytesOf(stock, aspect), bytesOf(wrapper, aspect)];
  if (a === null || b === null) return `stock ${isThere(a)}, wrapper ${isThere(b)}`;
  if (a.includes(0) || b.includes(0)) {
    let at = 0;
    while (at < a.length && a[at] === b[at]) at++;
    return `${a.length} and ${b.length} bytes, different from byte ${at} on`;
  }
  const [before, after] = [linesOf(a), linesOf(b)];
  const line = before.findIndex((text, i) => text !== after[i]);
  const at = line < 0 ? before.length : line;
  return `line ${at + 1}: stock ${quoted(before[at])}, wrapper ${quoted(after[at])}`;
}

function bytesOf(outcome: Outcome, aspect: Aspect): Buffer | null {
  switch (aspect) {
    case 'ending':
      return Buffer.from(outcome.ending);
    case 'left':
      return Buffer.from(outcome.left.join('\n'));
    case 'stderr':
      return outcome.ending.startsWith('signal') ? withoutAddresses(outcome.stderr) : outcome.stderr;
    case 'stdout':
    case 'output':
      return outcome[aspect];
  }
}

/** The stack trace of a crash has the load address of the compiler's code. */
const withoutAddresses = (text: Buffer) =>
  Buffer.from(text.toString('latin1').replace(/\b0x[0-9a-f]{16}\b/g, '0x...'), 'latin1');

const isThere = (bytes: Buffer | null) => (bytes === null ? 'has none' : `has ${bytes.length} bytes`);
const linesOf = (bytes: Buffer) => bytes.toString('latin1').split('\n');
const quoted = (line: string | undefined) =>
  line === undefined ? 'has ended' : JSON.stringify(line.slice(0, 200));
