// Compares a program in other forms with the written program, before tuning: first the results, then the times.
import { join } from 'node:path';
import { programRuns, type Uncompiled } from '../program/runs.ts';
import { isEitherFarAhead } from '../program/answered.ts';
import { timeBudget } from '../program/time-budget.ts';
import { notVerified, type ProgramVerdict } from '../program/verdict.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Command } from '../compiler/command.ts';
import { messageOf } from '../system/tell.ts';
import { UserError } from '../system/user-error.ts';
import type { ExecutableTexts } from '../inject/executable-sources.ts';
import { callableOf, contestsOf, measuringTools } from './callable.ts';
import type { Inspected } from '../plan/inspected.ts';
import { flowOf, type KeptModules } from '../plan/kept-modules.ts';
import { programBuilds } from './program-builds.ts';
import type { FormedProgram } from '../plan/rewritten.ts';
import type { Limits } from './limits.ts';
import { roundedTypes } from './verify-program.ts';
import { NO_REASON, because, type Reason } from '../system/reason.ts';

/** File name of the written program. */
const WRITTEN = 'written.vmfb';

/** Two running compiles: the written program, and the program in its forms. */
export interface FormsUnderWay {
  /** Folder of both modules. */
  readonly folder: string;
  /** Configured executables of the program in its forms; null if the compile fails. */
  readonly configured: Promise<ExecutableTexts['configured'] | null>;
  /** Never rejects. */
  readonly compiled: Promise<CompiledForms>;
}

interface CompiledForms {
  /** Path of each module, or its error. */
  readonly written: string | Uncompiled;
  readonly formed: string | Uncompiled;
  /** Wall time of both. */
  readonly seconds: number;
}

/**
 * Starts both compiles. The survey runs at the same time.
 * @param kept receives the split program and its module, for the rounds
 * @returns null if the cache folder is not writable
 */
export function compileForms(
  formed: Command,
  written: Command,
  inspected: Inspected,
  surroundings: Surroundings,
  kept: KeptModules,
  { compileSeconds }: Limits,
): FormsUnderWay | null {
  const folder = kept.folder(surroundings);
  if (folder === null) return null;
  const means = { kept, folder, budget: timeBudget(compileSeconds), mostSeconds: compileSeconds / 2 };
  const begun = performance.now();
  const builds = programBuilds(formed, inspected, [], surroundings, means);
  const split = kept.split(flowOf(formed, null), folder, builds.split);
  const compileWritten = async () => {
    const path = join(folder, WRITTEN);
    return (await programBuilds(written, inspected, [], surroundings, means).stock(path)) ?? path;
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
    folder,
    configured: split.then((made) => (typeof made === 'string' ? null : made.configured)),
    compiled: both.then(([one, other]) => ({
      ...{ written: one, formed: other, seconds: (performance.now() - begun) / 1000 },
    })),
  };
}

/** The verdict, and the seconds of dispatches by name; empty if nothing was timed. */
export interface FormsProof {
  readonly verdict: ProgramVerdict;
  readonly written: ReadonlyMap<string, number>;
  readonly formed: ReadonlyMap<string, number>;
}

/**
 * Runs both programs. The caller holds the measuring lock.
 * @param written the command without forms
 * @throws FormsError when the program does not compile in its forms
 * @throws NotVerifiedError when the runtime's tools are missing
 * @throws StoppedError when the signal fires
 */
export async function proveForms(
  { command, inspected }: FormedProgram,
  written: Command,
  { folder, compiled: underWay }: FormsUnderWay,
  surroundings: Surroundings,
  limits: Limits,
  signal: AbortSignal,
): Promise<FormsProof> {
  const unproven = (why: Reason): FormsProof => ({
    verdict: notVerified(why),
    written: new Map(),
    formed: new Map(),
  });
  const tools = measuringTools(command, surroundings);
  const { written: path, formed: module } = await underWay;
  if (typeof path !== 'string')
    return unproven(because('compile-failed', `the program does not compile: ${path.problem}`));
  if (typeof module !== 'string') {
    // A program that does not compile in its forms ships as written.
    if (!module.isLate) throw new FormsError(module.problem);
    return unproven(because('compile-failed', module.problem));
  }
  const compiled = () => Promise.resolve(path);
  const callable = await callableOf(written, inspected, surroundings, compiled, limits.inputBytes);
  if (callable.called.length === 0) return unproven(because('nothing-callable'));
  // The forms add the terms of a convolution in another order.
  const roundsTo = roundedTypes([], inspected.input.bytes);
  const shared = { stock: path, tools, folder, signal, device: inspected.site.device, roundsTo };
  const contests = await contestsOf(callable, shared);
  const formed = () => Promise.resolve({ module, dispatches: new Map<string, readonly string[]>() });
  const runs = programRuns(contests, formed, limits.runSeconds, isEitherFarAhead);
  const { results, why } = await runs.compare([]);
  if (results === 'equal') await runs.ratio([]);
  const { skipped } = callable;
  const { functions, stockSeconds, dispatchSeconds } = runs.measured([]);
  return {
    verdict: {
      functions,
      skipped,
      leftOut: [],
      injected: true,
      ...(why === null ? NO_REASON : because('results-unknown', why.reason)),
    },
    written: stockSeconds,
    formed: dispatchSeconds,
  };
}

/** A program does not compile in its forms. */
export class FormsError extends UserError {
  override readonly name = 'FormsError';
}
