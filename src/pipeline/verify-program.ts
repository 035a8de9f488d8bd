// A whole program, stock against tuned: equal results, and no loss of speed.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { askCompiler, findRuntimeTool, makeScratchFolder } from '../compiler/index.ts';
import { isInjected, leaveOut, type Decision } from '../decision/decision.ts';
import { planInjection } from '../inject/plan.ts';
import { withTrailingFlags } from '../inject/proof.ts';
import { bestSubset } from '../program/best-subset.ts';
import { writeInputs } from '../program/inputs.ts';
import { functionsOf } from '../program/functions.ts';
import type { ProgramFunction } from '../program/signature.ts';
import { verifyProgram, type Verdict } from '../program/verify.ts';
import { elementTypeConversion } from '../workload/conversion.ts';
import { injectedCommand } from './compile.ts';
import { injectionOptions } from './decide.ts';
import { createDigest } from './digest.ts';
import type { Command, Subjects, Surroundings } from './inspect.ts';

/** A program below this ratio has got slower, and not by noise. */
const LEAST_RATIO = 0.98;

export interface FunctionVerdict extends Verdict {
  readonly name: string;
}

export interface ProgramVerdict {
  /** Of the program as it is to be compiled. */
  readonly functions: readonly FunctionVerdict[];
  /** Functions that were not run, with why. */
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
  /** Keys of the workloads that are better left to the default in this program. */
  readonly leftOut: readonly string[];
}

/** Seconds that one comparison may take, about. */
const BUDGET_SECONDS = 30;

/**
 * Compiles a program with and without its decisions and compares both; when something got worse, finds out which
 * configurations it takes to leave out.
 * @throws Error when the stock program cannot be compiled or the runtime's tools are missing
 */
export async function verifyTuned(
  command: Command,
  subjects: Subjects,
  decisions: readonly Decision[],
  surroundings: Surroundings,
): Promise<ProgramVerdict> {
  const { cacheDirectory, env, root } = surroundings;
  const folder = makeScratchFolder(cacheDirectory, 'verify');
  if (folder === null) throw new Error(`nothing can be written to the cache folder ${cacheDirectory}`);
  const tool = (name: string) => {
    const path = findRuntimeTool(name, command.compiler, env, { root, cacheDirectory });
    if (path === undefined) throw new Error(`${name} is not found (pip install iree-base-runtime)`);
    return path;
  };
  try {
    const tools = { runModule: tool('iree-run-module'), benchmarkModule: tool('iree-benchmark-module') };
    const stock = join(folder, 'stock.vmfb');
    const problem = await compile(command.argv, stdinOf(command, subjects), stock);
    if (problem !== null) throw new Error(`the program does not compile:\n${problem}`);
    const called = await functionsOf(subjects.bytes, elementTypeConversion(command.arguments), {
      module: stock,
      dumpModule: tool('iree-dump-module'),
    });
    const skipped = called.flatMap(({ name, unsupported }) =>
      unsupported === null ? [] : [{ name, reason: unsupported }],
    );
    const contests: { function: ProgramFunction; inputs: string[] }[] = [];
    for (const [i, fn] of called.entries()) {
      if (fn.unsupported !== null) continue;
      const own = join(folder, `inputs${i}`);
      await mkdir(own);
      contests.push({ function: fn, inputs: await writeInputs(fn, own, i) });
    }

    const all = [...new Set(decisions.filter(isInjected).map(({ tunable }) => tunable.key))];
    let functions: FunctionVerdict[] = [];
    const digest = await createDigest();
    const scoreOf = async (keys: readonly string[]): Promise<number> => {
      const kept = leaveOut(
        decisions,
        all.filter((key) => !keys.includes(key)),
        'left out',
      );
      const injection = planInjection(kept, injectionOptions(subjects, surroundings.settings.inject));
      if (injection.route === 'none') return 1;
      const tuned = join(folder, 'tuned.vmfb');
      const injected = await injectedCommand(injection, command, subjects, kept, surroundings, digest);
      if (injected === null) return 1;
      const { argv, stdin } = injected;
      if ((await compile(argv, stdin, tuned)) !== null) return 0;
      functions = [];
      for (const contest of contests)
        functions.push({
          name: contest.function.name,
          ...(await verifyProgram({
            ...contest,
            stock,
            tuned,
            tools,
            folder,
            device: subjects.device,
            rounds: 5,
            budgetSeconds: BUDGET_SECONDS,
          })),
        });
      return Math.min(1, ...functions.map(scoreOfVerdict));
    };
    const { subset } = await bestSubset(all, LEAST_RATIO, scoreOf);
    // The last program that was looked at is not always the one that is kept.
    if (subset.length < all.length) await scoreOf(subset);
    if (subset.length === 0) functions = [];
    return { functions, skipped, leftOut: all.filter((key) => !subset.includes(key)) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }

  /** Null when it worked, else what the compiler said. */
  async function compile(
    argv: readonly string[],
    stdin: Uint8Array | undefined,
    output: string,
  ): Promise<string | null> {
    const all = withTrailingFlags(argv, ['-o', output]);
    const result = await askCompiler(command.compiler.executable, all, { env, stdin });
    return result.code === 0 ? null : result.stderr.toString();
  }
}

/** 0 for wrong results; without a timing nobody knows of a loss. */
function scoreOfVerdict({ equal, timing }: FunctionVerdict): number {
  if (equal === false) return 0;
  return timing === null || timing.high > 1 ? 1 : timing.ratio;
}

function stdinOf(command: Command, subjects: Subjects): Uint8Array | undefined {
  return command.arguments.input?.kind === 'stdin' ? subjects.bytes : undefined;
}
