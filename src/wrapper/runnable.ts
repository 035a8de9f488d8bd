// A program as it is, compiled, with all that running it takes.
import type { Command } from '../compiler/command.ts';
import type { SplitProgram } from '../inject/split-program.ts';
import { purseOf, type Purse } from '../program/purse.ts';
import type { StockContest } from '../program/runs.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { untunedCompile } from './compile.ts';
import { callableOf, callsOf, measuringTools, NotVerifiedError, type Callable } from './callable.ts';
import type { Inspected } from './inspect.ts';
import type { KeptModules } from './kept-modules.ts';
import { programBuilds } from './program-builds.ts';
import { roundedTypes, type Limits } from './verify-program.ts';

export interface Runnable {
  readonly folder: string;
  readonly purse: Purse;
  readonly callable: Callable;
  /** Path of the program's module. */
  readonly stock: string;
  /** One for each function that can be called. */
  readonly contests: readonly StockContest[];
  /** Where it was asked for. */
  readonly split: SplitProgram | null;
}

/** A program that is compiled and run by ourselves, and within what limits. */
export interface MeasuredProgram {
  readonly command: Command;
  readonly inspected: Inspected;
  readonly surroundings: Surroundings;
  /** What was compiled of it; takes what is. */
  readonly kept: KeptModules;
  readonly limits: Limits;
  /** Ends whatever is run. */
  readonly signal: AbortSignal;
}

/**
 * For whoever has the turn to measure.
 * @param isSplit whether it is split first
 * @throws NotVerifiedError when it does not compile in the time, nothing of it can be run, or the runtime's tools are missing
 */
export async function runnable(
  { command, inspected, surroundings, kept, limits, signal }: MeasuredProgram,
  isSplit = false,
): Promise<Runnable> {
  const folder = kept.folder(surroundings);
  if (folder === null)
    throw new NotVerifiedError(`nothing can be written to the cache folder ${surroundings.cacheDirectory}`);
  const tools = measuringTools(command, surroundings);
  const purse = purseOf(limits.compileSeconds);
  const means = { kept, folder, purse, mostSeconds: limits.compileSeconds };
  const builds = programBuilds(command, inspected, [], surroundings, means);
  const split = isSplit ? await kept.split(untunedCompile(command, inspected), folder, builds) : null;
  if (typeof split === 'string')
    throw new NotVerifiedError('the compiler does not get as far as its executables');
  const compileStock = async () => {
    const made = await kept.compiledStock(builds, folder);
    if (typeof made === 'string') return made;
    throw new NotVerifiedError(`the program does not compile: ${made.problem}`, made.isLate);
  };
  const callable = await callableOf(command, inspected, surroundings, compileStock, limits.inputBytes);
  if (callable.called.length === 0) throw new NotVerifiedError('none of its functions can be run');
  const stock = await compileStock();
  const shared = { stock, tools, folder, signal, device: inspected.site.device };
  const roundsTo = roundedTypes([], inspected.input.bytes);
  const calls = await callsOf(callable, folder);
  const contests = calls.map((call) => ({ ...shared, ...call, roundsTo }));
  return { folder, purse, callable, stock, contests, split };
}
