// Compares a program in other forms with the written program, before tuning: first the results, then the times.
import { join } from 'node:path';
import { programRuns, type Uncompiled } from '../program/runs.ts';
import { isEitherFarAhead } from '../program/answered.ts';
import { timeBudget } from '../program/time-budget.ts';
import { notVerified, type ProgramVerdict } from '../program/verdict.ts';
import type { Command } from '../compiler/command.ts';
import { messageOf } from '../system/tell.ts';
import type { ExecutableTexts } from '../inject/executable-sources.ts';
import { callableOf, contestsOf, folderOf, measuringTools, type MeasuredProgram } from './callable.ts';
import { flowOf } from '../plan/kept-modules.ts';
import { programBuilds } from './program-builds.ts';
import { NO_REASON, because, type Reason } from '../system/reason.ts';

/** File name of the written program. */
const WRITTEN = 'written.vmfb';

/** Two running compiles: the written program, and the program in its forms. */
export interface FormsUnderWay {
  /** Configured executables of the program in its forms; null if the compile fails. */
  readonly configured: Promise<ExecutableTexts['configured'] | null>;
  /** Never rejects. */
  readonly compiled: Promise<CompiledForms>;
}

/** Path of each module, or its error. */
export interface CompiledForms {
  readonly written: string | Uncompiled;
  readonly formed: string | Uncompiled;
  /** Wall time of both. */
  readonly seconds: number;
}

/**
 * Starts both compiles. The survey runs at the same time.
 * @param program in its forms. Its modules are kept for the rounds
 * @param written the command without forms
 * @throws NotVerifiedError when nothing can be written
 */
export function compileForms(program: MeasuredProgram, written: Command): FormsUnderWay {
  const { command, kept, limits } = program;
  const folder = folderOf(program);
  const budget = timeBudget(limits.compileSeconds);
  const begun = performance.now();
  const builds = programBuilds(program, [], budget);
  const split = kept.split(flowOf(command, null), folder, builds.split);
  const compileWritten = async () => {
    const path = join(folder, WRITTEN);
    return (await programBuilds({ ...program, command: written }, [], budget).stock(path)) ?? path;
  };
  const compileFormed = async () => {
    await split;
    return kept.compiledStock(builds.stock, folder);
  };
  const both = Promise.all([compileWritten(), compileFormed()]).catch((error: unknown) => {
    const failed: Uncompiled = { problem: messageOf(error), isLate: true };
    return [failed, failed] as const;
  });
  return {
    configured: split.then((made) => (typeof made === 'string' ? null : made.configured)),
    compiled: both.then(([one, other]) => ({
      ...{ written: one, formed: other, seconds: (performance.now() - begun) / 1000 },
    })),
  };
}

export interface FormsProof {
  readonly verdict: ProgramVerdict;
  /** Whether no form can be used. */
  readonly isRefused: boolean;
  /** Seconds of dispatches by name, in both programs; empty if nothing was timed. */
  readonly written: ReadonlyMap<string, number>;
  readonly formed: ReadonlyMap<string, number>;
}

/** A program that was not run. */
export const unproven = (why: Reason, isRefused = false): FormsProof => ({
  ...{ verdict: notVerified(why), isRefused, written: new Map(), formed: new Map() },
});

/**
 * Runs both programs. The caller holds the measuring lock.
 * @param program in its forms
 * @param written the command without forms
 * @throws NotVerifiedError when the runtime's tools are missing
 * @throws StoppedError when the signal fires
 */
export async function proveForms(
  program: MeasuredProgram,
  written: Command,
  { written: path, formed: module }: CompiledForms,
): Promise<FormsProof> {
  const tools = measuringTools(program);
  if (typeof path !== 'string')
    return unproven(because('compile-failed', `the program does not compile: ${path.problem}`));
  if (typeof module !== 'string') return unproven(because('compile-failed', module.problem), !module.isLate);
  const callable = await callableOf({ ...program, command: written }, () => Promise.resolve(path));
  if (callable.called.length === 0) return unproven(because('nothing-callable'));
  const contests = await contestsOf(program, tools, callable, path);
  const formed = () => Promise.resolve({ module, dispatches: new Map<string, readonly string[]>() });
  const runs = programRuns(contests, formed, program.limits.runSeconds, isEitherFarAhead);
  const { results, why } = await runs.compare([]);
  if (results === 'equal') await runs.ratio([]);
  const { skipped } = callable;
  const { functions, stockSeconds, dispatchSeconds } = runs.measured([]);
  const told = why === null ? NO_REASON : because('results-unknown', why.reason);
  return {
    verdict: { functions, skipped, leftOut: [], injected: true, ...told },
    isRefused: false,
    written: stockSeconds,
    formed: dispatchSeconds,
  };
}
