// An untuned program, compiled, with its tools and inputs.
import type { SplitProgram } from '../inject/split-program.ts';
import { flowOf } from '../plan/kept-modules.ts';
import type { Uncompiled } from '../program/runs.ts';
import type { StockContest } from '../program/verify.ts';
import {
  callableOf,
  contestsOf,
  folderOf,
  measuringTools,
  NotVerifiedError,
  type Callable,
  type MeasuredProgram,
} from './callable.ts';
import { programBuilds, type ProgramBuilds } from './program-builds.ts';
import { because } from '../system/reason.ts';

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

/** Path of a program's untuned module. @throws NotVerifiedError when the program does not compile in the time */
export async function stockOf(program: MeasuredProgram, builds: ProgramBuilds): Promise<string> {
  const stock = await program.kept.compiledStock(builds.stock, folderOf(program));
  if (typeof stock === 'string') return stock;
  throw doesNotCompile('the program', stock);
}

export const doesNotCompile = (what: string, { problem, isLate }: Uncompiled) =>
  new NotVerifiedError(because('compile-failed', `${what} does not compile: ${problem}`), isLate);

/**
 * Compiles an untuned program, and generates its inputs. The caller holds the measuring lock.
 * @param isSplit whether the program is split first
 * @throws NotVerifiedError when the program does not compile in the time, none of its functions can be run, or the runtime's tools are missing
 */
export async function runnable(program: MeasuredProgram, isSplit = false): Promise<Runnable> {
  const folder = folderOf(program);
  const tools = measuringTools(program);
  const builds = programBuilds(program, []);
  const flow = flowOf(program.command, null);
  const split = isSplit ? await program.kept.split(flow, folder, builds.split) : null;
  if (typeof split === 'string')
    throw new NotVerifiedError(
      because('not-compiled', 'the compiler does not get as far as its executables'),
    );
  const callable = await callableOf(program, () => stockOf(program, builds));
  if (callable.called.length === 0) throw new NotVerifiedError(because('nothing-callable'));
  const stock = await stockOf(program, builds);
  return { folder, callable, stock, contests: await contestsOf(program, tools, callable, stock), split };
}
