// Compiles a program to measure it: untuned, and with the configurations of some workloads.
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compileAside } from '../compiler/ask.ts';
import { isAsBefore } from '../compiler/command-files.ts';
import { withTrailingFlags, type Compile } from '../compiler/command.ts';
import { isInjected, leaveOut, type Decision } from '../decision/decision.ts';
import { configurationsOf, dispatchesOf, landedOn, whatLanded } from '../inject/landed.ts';
import { splitProgram, type SplitProgram } from '../inject/split-program.ts';
import type { ProgramQuery } from '../program/judge.ts';
import { timeBudget } from '../program/time-budget.ts';
import { latest, type TunedProgram, type Uncompiled } from '../program/runs.ts';
import { injectedCommand, resumedCompile, untunedCompile } from '../plan/injected-command.ts';
import { flowOf } from '../plan/kept-modules.ts';
import { notePlan } from '../plan/ledger.ts';
import { planCompile } from '../plan/route.ts';
import { because } from '../system/reason.ts';
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
import type { Limits } from './limits.ts';

/** A program to compile. */
interface BuiltProgram extends Omit<MeasuredProgram, 'limits' | 'signal'> {
  readonly limits: Pick<Limits, 'compileSeconds'>;
}

/**
 * Compiles the user's output from the split program, and proves that the configurations landed. That is faster than the user's own command.
 * If it fails, no module is kept, and the user's own command shows the messages.
 */
export async function completeSplit(
  program: Omit<BuiltProgram, 'limits'>,
  decisions: readonly Decision[],
  seconds: number,
): Promise<void> {
  const limits = { compileSeconds: 2 * seconds };
  await programBuilds({ ...program, limits }, decisions).tuned(keysOf(decisions));
}

/** Keys of the workloads with a configuration. */
export const keysOf = (decisions: readonly Decision[]): string[] => [
  ...new Set(decisions.filter(isInjected).map(({ tunable }) => tunable.key)),
];

export interface ProgramBuilds {
  /** Compiles the program without configurations into this file; null on success. */
  readonly stock: (output: string) => Promise<Uncompiled | null>;
  /** Compiles the program up to its executables; the compiler's messages on failure. */
  readonly split: (folder: string) => Promise<SplitProgram | string>;
  /** Compiles the program with the configurations of these workloads alone. The next call overwrites the module. */
  readonly tuned: ProgramQuery<TunedProgram | Uncompiled>;
}

/**
 * @param budget time for all compiles together
 * @param name file of the tuned module; concurrent builds need different names
 * @throws NotVerifiedError when nothing can be written
 */
export function programBuilds(
  program: BuiltProgram,
  decisions: readonly Decision[],
  budget = timeBudget(program.limits.compileSeconds),
  name = 'tuned.vmfb',
): ProgramBuilds {
  const { command, surroundings, kept, limits } = program;
  const { env, cacheDirectory } = surroundings;
  const { executable } = command.compiler;
  const folder = folderOf(program);
  /** Limit of one compile now. */
  const secondsNow = () => Math.min(limits.compileSeconds / 2, budget.left);

  const compile = async (
    { argv, stdin }: Compile,
    output: string,
    workSeconds: number,
    shown = (messages: string) => messages,
    shorter: readonly string[] = argv,
  ): Promise<Uncompiled | null> => {
    const tooLong = { problem: `compiling it takes more than ${workSeconds.toFixed(0)} s`, isLate: true };
    if (workSeconds < LEAST_SECONDS) return tooLong;
    const known = await kept.find({ argv, stdin });
    if (known === output) return null;
    await kept.note(output, null);
    if (known !== null) {
      await copyFile(known, output);
      // Another compile may have begun to overwrite the module meanwhile.
      if ((await kept.find({ argv, stdin })) === known) {
        await kept.note(output, { argv, stdin });
        return null;
      }
    }
    const { code, signal, stdout, stderr, cut } = await compileAside(
      executable,
      withTrailingFlags(shorter, ['-o', output]),
      { env, cacheDirectory, stdin, workSeconds },
    );
    if (code === 0) {
      // A copy of the module would lose the messages.
      const isSilent = stdout.length === 0 && shown(stderr.toString()) === '';
      if (isSilent) await kept.note(output, { argv, stdin });
      return null;
    }
    if (cut === 'hung') return tooLong;
    // The user does not know the paths of our files.
    const [error] = /^.*\berror: .*$/m.exec(stderr.toString()) ?? [];
    const told = error?.startsWith(cacheDirectory) === true ? error.slice(error.indexOf('error: ')) : error;
    const ending = `the compiler ended ${signal === null ? `with exit code ${code}` : `by ${signal}`}`;
    return { problem: told ?? ending, isLate: false, messages: stderr.toString() };
  };

  const tuned = async (keys: readonly string[]): Promise<TunedProgram | Uncompiled> => {
    const own = leaveOut(decisions, (key) => (keys.includes(key) ? null : because('worse-in-program')));
    const plan = planCompile(program, own, surroundings);
    const { injection } = plan;
    if (injection.route === 'none') return { problem: injection.reason, isLate: false };
    const injected = await injectedCommand(plan, surroundings, kept);
    if (injected === null) return { problem: 'no executable can be substituted', isLate: false };
    const module = join(folder, name);
    const { argv, stdin, mapMessages } = injected;
    const workSeconds = secondsNow();
    // Two compiles, because a module that is compiled with dumps contains the names of the dumps.
    const [problem, texts] = await budget.spend(() =>
      Promise.all([
        // The split program compiles faster to the same module.
        compile({ argv, stdin }, module, workSeconds, mapMessages ?? undefined, injected.forExecutables.argv),
        workSeconds < LEAST_SECONDS
          ? null
          : configurationsOf(executable, injected.forExecutables, { env, cacheDirectory, workSeconds }),
      ]),
    );
    if (problem !== null) return problem;
    const landing = landedOn(texts ?? [], own, injection.route);
    const landed = texts && whatLanded(landing);
    // This build then needs no second proof. After a loss it looks again, and reports the loss.
    if (landed?.includes(false) === false && isAsBefore(command.files))
      notePlan(cacheDirectory, plan.identity, { landed });
    return { module, dispatches: dispatchesOf(landing, own) };
  };

  return {
    stock(output) {
      // The split program compiles faster to the same module.
      const whole = untunedCompile(program);
      const split = kept.splitOf(flowOf(command, null));
      const shorter = split?.resumed();
      return budget.spend(() => compile(whole, output, secondsNow(), undefined, shorter));
    },
    split(own) {
      const run = async (argv: readonly string[], stdin?: Uint8Array) => {
        const asked = { env, cacheDirectory, stdin, workSeconds: secondsNow() };
        const { code, stderr } = await budget.spend(() => compileAside(executable, argv, asked));
        return code === 0 ? null : stderr.toString();
      };
      const resumed = (path: string) => resumedCompile(command, path);
      return splitProgram(run, untunedCompile(program), resumed, own);
    },
    tuned: latest(tuned),
  };
}

/** Shortest compile, in seconds of processor time. */
const LEAST_SECONDS = 1;

/** An untuned program, compiled, with its tools and inputs. */
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
