// An untuned program, compiled, with its tools and inputs.
import { askCompiler } from '../compiler/ask.ts';
import type { Command } from '../compiler/command.ts';
import type { SplitProgram } from '../inject/split-program.ts';
import { StoppedError } from '../measure/toolchain.ts';
import { timeBudget } from '../program/time-budget.ts';
import type { StockContest } from '../program/runs.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { callableOf, contestsOf, measuringTools, NotVerifiedError, type Callable } from './callable.ts';
import type { Inspected } from '../plan/inspected.ts';
import { flowOf, type KeptModules } from '../plan/kept-modules.ts';
import { programBuilds } from './program-builds.ts';
import type { Limits } from './limits.ts';
import { doesNotCompile, roundedTypes } from './verify-program.ts';
import { because, cacheUnwritable } from '../system/reason.ts';

export interface Runnable {
  readonly folder: string;
  readonly callable: Callable;
  /** Path of the program's module. */
  readonly stock: string;
  /** One for each function that can be called. */
  readonly contests: readonly StockContest[];
  /** Null unless a split was asked for. */
  readonly split: SplitProgram | null;
}

/** A program to compile and run, with its limits. */
export interface MeasuredProgram {
  readonly command: Command;
  readonly inspected: Inspected;
  readonly surroundings: Surroundings;
  /** Modules of this build; new ones are added. */
  readonly kept: KeptModules;
  readonly limits: Limits;
  /** Ends every process. */
  readonly signal: AbortSignal;
}

/**
 * Runs the compiler on a program. Its result is the messages on failure, else null.
 * @throws StoppedError when the signal fires
 */
export const compiling =
  ({ command, surroundings: { env }, limits, signal }: MeasuredProgram) =>
  async (argv: readonly string[], stdin?: Uint8Array): Promise<string | null> => {
    const options = { env, stdin, workSeconds: limits.compileSeconds / 2 };
    const { code, stderr } = await askCompiler(command.compiler.executable, argv, options);
    if (signal.aborted) throw new StoppedError('measuring was stopped');
    return code === 0 ? null : stderr.toString();
  };

/**
 * Compiles an untuned program, and generates its inputs. The caller holds the measuring lock.
 * @param isSplit whether the program is split first
 * @throws NotVerifiedError when the program does not compile in the time, none of its functions can be run, or the runtime's tools are missing
 */
export async function runnable(
  { command, inspected, surroundings, kept, limits, signal }: MeasuredProgram,
  isSplit = false,
): Promise<Runnable> {
  const folder = kept.folder(surroundings);
  if (folder === null) throw new NotVerifiedError(cacheUnwritable(surroundings.cacheDirectory));
  const tools = measuringTools(command, surroundings);
  const { compileSeconds } = limits;
  const means = { kept, folder, budget: timeBudget(compileSeconds), mostSeconds: compileSeconds };
  const builds = programBuilds(command, inspected, [], surroundings, means);
  const split = isSplit ? await kept.split(flowOf(command, null), folder, builds.split) : null;
  if (typeof split === 'string')
    throw new NotVerifiedError(
      because('not-compiled', 'the compiler does not get as far as its executables'),
    );
  const compileStock = async () => {
    const made = await kept.compiledStock(builds.stock, folder);
    if (typeof made === 'string') return made;
    throw doesNotCompile('the program', made);
  };
  const callable = await callableOf(command, inspected, surroundings, compileStock, limits.inputBytes);
  if (callable.called.length === 0) throw new NotVerifiedError(because('nothing-callable'));
  const stock = await compileStock();
  const roundsTo = roundedTypes([], inspected.input.bytes);
  const shared = { stock, tools, folder, signal, device: inspected.site.device, roundsTo };
  const contests = await contestsOf(callable, shared);
  return { folder, callable, stock, contests, split };
}
