// Compiles a program to measure it: untuned, and with the configurations of some workloads.
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { askCompiler } from '../compiler/ask.ts';
import { withTrailingFlags, type Command, type Compile } from '../compiler/command.ts';
import { isInjected, leaveOut, type Decision } from '../decision/decision.ts';
import { dispatchesOf, landedOn, whatLanded } from '../inject/landed.ts';
import { configurationsOf } from '../inject/proof.ts';
import { splitProgram, type SplitProgram } from '../inject/split-program.ts';
import type { ProgramQuery } from '../program/judge.ts';
import { timeBudget, type TimeBudget } from '../program/time-budget.ts';
import { latest, type TunedProgram, type Uncompiled } from '../program/runs.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { injectedCommand, resumedCompile, untunedCompile } from '../plan/injected-command.ts';
import type { Inspected } from '../plan/inspected.ts';
import { flowOf, type KeptModules } from '../plan/kept-modules.ts';
import { notePlan, planIdentity } from '../plan/ledger.ts';
import { planCompile } from '../plan/route.ts';
import { because } from '../system/reason.ts';

/**
 * Compiles the user's output from the split program, and proves that the configurations landed. That is faster than the user's own command.
 * If it fails, no module is kept, and the user's own command shows the messages.
 */
export async function completeSplit(
  command: Command,
  inspected: Inspected,
  decisions: readonly Decision[],
  surroundings: Surroundings,
  kept: KeptModules,
  seconds: number,
): Promise<void> {
  const folder = kept.folder(surroundings);
  if (folder === null) return;
  const means = { kept, folder, budget: timeBudget(seconds), mostSeconds: seconds };
  const builds = programBuilds(command, inspected, decisions, surroundings, means);
  await builds.tuned(decisions.flatMap((decision) => (isInjected(decision) ? [decision.tunable.key] : [])));
}

export interface ProgramBuilds {
  /** Compiles the program without configurations into this file; null on success. */
  readonly stock: (output: string) => Promise<Uncompiled | null>;
  /** Compiles the program up to its executables; the compiler's messages on failure. */
  readonly split: (folder: string) => Promise<SplitProgram | string>;
  /** Compiles the program with the configurations of these workloads alone. The next call overwrites the module. */
  readonly tuned: ProgramQuery<TunedProgram | Uncompiled>;
}

/** Folder and time limits of compiles. */
export interface BuildMeans {
  /** Notes the command of each module. */
  readonly kept: KeptModules;
  /** Folder for modules; the caller removes it. */
  readonly folder: string;
  /** Time for all compiles together. */
  readonly budget: TimeBudget;
  /** Limit of one compile. */
  readonly mostSeconds: number;
}

/** @param name file of the tuned module; concurrent builds need different names */
export function programBuilds(
  command: Command,
  inspected: Inspected,
  decisions: readonly Decision[],
  surroundings: Surroundings,
  { kept, folder, budget, mostSeconds }: BuildMeans,
  name = 'tuned.vmfb',
): ProgramBuilds {
  const { env, cacheDirectory } = surroundings;
  const { executable } = command.compiler;
  /** Limit of one compile now. */
  const secondsNow = () => Math.min(mostSeconds, budget.left);

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
    const { code, signal, stdout, stderr, cut } = await askCompiler(
      executable,
      withTrailingFlags(shorter, ['-o', output]),
      { env, stdin, workSeconds },
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
    return { problem: told ?? ending, isLate: false };
  };

  const tuned = async (keys: readonly string[]): Promise<TunedProgram | Uncompiled> => {
    const own = leaveOut(decisions, (key) => (keys.includes(key) ? null : because('worse-in-program')));
    const injection = planCompile(own, inspected, command, surroundings);
    if (injection.route === 'none') return { problem: injection.reason, isLate: false };
    const injected = await injectedCommand(injection, command, inspected, own, surroundings, kept);
    if (injected === null) return { problem: 'no executable can be substituted', isLate: false };
    const module = join(folder, name);
    const { argv, stdin, route, mapMessages } = injected;
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
    const landing = landedOn(texts ?? [], own, route);
    const landed = texts && whatLanded(landing);
    // This build then needs no second proof. After a loss it looks again, and reports the loss.
    if (landed?.includes(false) === false) {
      const plan = planIdentity(command, inspected.input.digest, own, route);
      notePlan(cacheDirectory, plan, { state: 'seen', landed });
    }
    return { module, dispatches: dispatchesOf(landing, own) };
  };

  return {
    stock(output) {
      // The split program compiles faster to the same module.
      const whole = untunedCompile(command, inspected);
      const split = kept.splitOf(flowOf(command, null));
      const shorter = split === null ? undefined : resumedCompile(command, split.path);
      return budget.spend(() => compile(whole, output, secondsNow(), undefined, shorter));
    },
    async split(own) {
      const { argv, stdin } = untunedCompile(command, inspected);
      const run = async (flags: readonly string[], input?: Uint8Array) => {
        const asked = { env, stdin: input, workSeconds: secondsNow() };
        const { code, stderr } = await budget.spend(() => askCompiler(executable, flags, asked));
        return code === 0 ? null : stderr.toString();
      };
      return splitProgram(
        {
          whole: (flags) => run(withTrailingFlags(argv, flags), stdin),
          resumed: (path, flags) => run(withTrailingFlags(resumedCompile(command, path), flags)),
        },
        own,
      );
    },
    tuned: latest(tuned),
  };
}

/** Shortest compile, in seconds of processor time. */
const LEAST_SECONDS = 1;
