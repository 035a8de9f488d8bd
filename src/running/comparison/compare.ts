// Compares builds of a user's program: stock, stock with other flags, and tuned.
import { join } from 'node:path';
import type { MeasuringTools } from '../../compiler/find.ts';
import { bytesOfFlags } from '../../compiler/command-files.ts';
import type { Command } from '../../compiler/command.ts';
import { inputIdentity } from '../../compiler/command-identity.ts';
import { readingOf } from '../../input/input.ts';
import { knownRewritables } from '../../input/operations.ts';
import { callName } from '../../input/signature.ts';
import { readInput } from '../../input/text.ts';
import { comparisonOf } from '../../measure/compare-modules.ts';
import { sumOf, undisturbed, undisturbedRatio, type Interval } from '../../measure/statistics.ts';
import { KeptModules } from '../../plan/kept-modules.ts';
import { compareProgram, failureOf, type Compared } from '../../program/results.ts';
import type { SkippedFunction } from '../../program/verdict.ts';
import type { StockContest } from '../../program/verify.ts';
import type { Explanation } from '../../report/explain.ts';
import { callableOf, contestsOf, folderOf, type Callable, type CalledProgram } from '../callable.ts';
import { limitsWithin } from '../limits.ts';
import type { Surroundings } from '../../settings/surroundings.ts';
import type { Site } from '../../site/site.ts';
import { takeTurn } from '../../site/turn.ts';
import { UserError } from '../../system/user-error.ts';
import { build, buildTuned, buildVariants, DEFAULT, type Variant } from './build.ts';
import { fastest, moduleTimer, timeBuilds, type Timed, type Timer } from './rounds.ts';

/** A comparison to make. */
export interface Asked {
  readonly command: Command;
  readonly site: Site;
  readonly tools: MeasuringTools;
  readonly surroundings: Surroundings;
  /** Path of the wrapper's launcher. */
  readonly wrapper: string;
  /** Variables that differ from this process's, for the wrapper. */
  readonly env: Readonly<Record<string, string>>;
}

export interface Comparison {
  /** The default, the variants, and tuned. */
  readonly builds: readonly ComparedBuild[];
  /** Name of the fastest build of stock. */
  readonly best: string;
  /** Results of tuned against those of stock's default, for each called function. */
  readonly results: readonly FunctionResults[];
  /** Functions that are not called. */
  readonly skipped: readonly SkippedFunction[];
  /** The wrapper's explain JSON; null if there is none. */
  readonly explanation: Explanation | null;
  /** Rounds of timing. */
  readonly rounds: number;
}

export interface ComparedBuild {
  readonly name: string;
  /** Flags besides the user's. */
  readonly flags: readonly string[];
  /** Why it was not built or timed; null if it was. */
  readonly error: string | null;
  /** Name of the earlier build with the same code; null for none. */
  readonly sameCodeAs: string | null;
  /** Wall time; that of tuned includes tuning. */
  readonly compileSeconds: number;
  /** Undisturbed seconds of one call of each function together, with their 99% interval; null after an error. */
  readonly seconds: { readonly seconds: number; readonly low: number; readonly high: number } | null;
  /** Time of the best of stock over its own: above 1, it is faster. Null after an error. */
  readonly againstBest: Interval | null;
  /** The same against stock's default. */
  readonly againstDefault: Interval | null;
}

export interface FunctionResults extends Pick<Compared, 'equal' | 'maxError' | 'compared' | 'reason'> {
  readonly name: string;
}

export const TUNED = 'tuned';

/** Limit of a compile of stock. */
const STOCK_SECONDS = 3600;
/** Limit of the other compiles if stock compiles fast, and their limit in times of stock. */
const OTHER_SECONDS = 600;
const OTHER_TIMES = 3;
/** Tuning, and the compiles and runs of the whole program, take at most about so many budgets. */
const BUDGETS = 6;
/** Time limit of a process that calls a function once. */
const CALL_SECONDS = 60;
/** Limits of the timing. */
const EXTENT = { rounds: 15, seconds: 120 };
/** Longest wait for another process that measures. */
const LOCK_SECONDS = 600;

/**
 * Builds a program in several ways, compares the results, then times all builds in interleaved rounds. Nothing compiles while it times.
 * @param tell shows the current step
 * @throws UserError when stock does not compile, or its program cannot be called here
 */
export async function compareBuilds(
  { command, site, tools, surroundings, wrapper, env }: Asked,
  tell: (step: string) => void,
): Promise<Comparison> {
  const { settings } = surroundings;
  using kept = new KeptModules();
  const input = await inputOf(command, surroundings);
  const program: CalledProgram = {
    ...{ command, surroundings, kept, inspected: { input, site } },
    // The tuned build finds them.
    rewritables: () => knownRewritables(inputIdentity(command, input.digest), surroundings),
    limits: limitsWithin({ ...settings, budgetSeconds: OTHER_SECONDS }, false),
    signal: new AbortController().signal,
  };
  const folder = folderOf(program);
  const { executable } = command.compiler;
  const compile = (limitSeconds: number) => (flags: readonly string[], module: string) =>
    build({ compiler: executable, argv: [...command.expanded, ...flags], limitSeconds }, module);

  tell('compiling with the given flags');
  const path = join(folder, 'default.vmfb');
  const stock = { name: DEFAULT, flags: [], module: path, ...(await compile(STOCK_SECONDS)([], path)) };
  if (stock.error !== null) throw new UserError(`it does not compile: ${stock.error}`);
  // Before the long compiles: they have no use if the program cannot be called.
  const callable = await callableOf(program, () => Promise.resolve(path));
  if (callable.called.length === 0) throw new UserError(whyNotCallable(callable));
  const contests = await contestsOf(program, tools, callable, path);
  tell('running it once');
  for (const contest of contests) {
    const failure = await failureOf(contest, CALL_SECONDS);
    if (failure !== null)
      throw new UserError(`@${callName(contest.function)} of stock cannot be run here: ${failure}`);
  }

  const limitSeconds = Math.max(OTHER_SECONDS, OTHER_TIMES * stock.seconds);
  const { flags } = command.arguments;
  const variants = await buildVariants(flags, compile(limitSeconds), folder, (name) => {
    tell(`compiling with ${name}`);
  });
  tell(`tuning and compiling (budget ${settings.budgetSeconds} s)`);
  const module = join(folder, 'tuned.vmfb');
  const { explanation, ...made } = await buildTuned(
    {
      ...{ compiler: wrapper, argv: command.expanded, env },
      limitSeconds: limitSeconds + BUDGETS * settings.budgetSeconds,
    },
    module,
  );
  let tuned: Variant = { name: TUNED, flags: [], module, ...made };

  tell('waiting for another process that measures');
  using turn = await takeTurn({ ...surroundings, device: site.device }, LOCK_SECONDS);
  if (turn === null)
    throw new UserError(`another process measured for ${LOCK_SECONDS} s: repeat the command after its end`);
  tell('comparing the results');
  const results = tuned.error === null ? await compareResults(contests, tuned.module, variants) : [];
  const failed = results.find(({ hasFailed }) => hasFailed);
  if (failed !== undefined) tuned = { ...tuned, error: failed.reason };
  tell('timing');
  const times = await timeBuilds([stock, ...variants, tuned], timerOf(contests), EXTENT);
  const [standard] = times;
  if (standard!.error !== null) throw new UserError(`it cannot be timed: ${standard!.error}`);
  const best = fastest(times.slice(0, -1))!;
  return {
    builds: times.map((one) => comparedBuild(one, best.rounds!, standard!.rounds!)),
    best: best.name,
    results: results.map(({ name, equal, maxError, compared, reason }) => ({
      ...{ name, equal, maxError, compared, reason },
    })),
    ...{ skipped: callable.skipped, explanation, rounds: best.rounds!.length },
  };
}

async function inputOf({ arguments: args }: Command, { cacheDirectory }: Surroundings) {
  const { input, flags } = args;
  // A pipe can be read only once.
  if (input?.kind !== 'file') throw new UserError('it is compiled several times: name a file');
  const text = await readInput(input.path, cacheDirectory, undefined, bytesOfFlags(flags));
  if (text === null) throw new UserError('it has too much text beside its weights: convert it to bytecode');
  return { ...text, reading: readingOf(args) };
}

function whyNotCallable({ skipped }: Callable): string {
  if (skipped.length === 0) return 'it has no public function to call';
  const each = skipped.map(({ name, reason }) => `@${name}: ${reason}`).join('; ');
  return `none of its functions can be called with generated inputs (${each})`;
}

/** Compares the results of each function. */
async function compareResults(
  contests: readonly StockContest[],
  tuned: string,
  variants: readonly Variant[],
): Promise<(Compared & { readonly name: string })[]> {
  // Integers cannot be moved in their last bits, so only other builds show how far rounding moves such results.
  const honest = variants.filter(({ error }) => error === null).map(({ module }) => module);
  const all: (Compared & { readonly name: string })[] = [];
  for (const contest of contests) {
    const otherBuilds = async () => [...honest, ...((await contest.otherBuilds?.()) ?? [])];
    const compared = await compareProgram({ ...contest, otherBuilds, tuned }, CALL_SECONDS);
    all.push({ name: callName(contest.function), ...compared });
  }
  return all;
}

/** Times one call of each function, in processes of their own. */
const timerOf =
  (contests: readonly StockContest[]) =>
  (module: string): Timer =>
  async (effort) => {
    const seconds: number[] = [];
    for (const contest of contests) seconds.push(await moduleTimer(contest, module)(effort));
    return sumOf(seconds);
  };

function comparedBuild(
  { name, flags, error, sameCodeAs, seconds: compileSeconds, rounds }: Timed<Variant>,
  best: readonly number[],
  standard: readonly number[],
): ComparedBuild {
  const over = (other: readonly number[]): Interval | null => {
    if (rounds === null) return null;
    // Bootstrap samples of the same times would differ.
    if (rounds.join() === other.join()) return { ratio: 1, low: 1, high: 1 };
    const { ratio, low, high } = comparisonOf(other.map((seconds, i) => [seconds, rounds[i]!]));
    return { ratio, low, high };
  };
  return {
    ...{ name, flags, error, sameCodeAs, compileSeconds },
    seconds: rounds && secondsOf(rounds),
    ...{ againstBest: over(best), againstDefault: over(standard) },
  };
}

function secondsOf(rounds: readonly number[]) {
  const { low, high } = undisturbedRatio(rounds.map((seconds) => [seconds, 1]));
  return { seconds: undisturbed(rounds), low, high };
}
