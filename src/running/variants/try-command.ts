// Tries a variant of the command, before decisions: the program with all its parts, then without the parts that are wrong or slower than the
// written operations. Not loaded on a hit.
import { join } from 'node:path';
import type { Command } from '../../compiler/command.ts';
import { isExtraCall } from '../../input/signature.ts';
import { surveyed, type FormedProgram } from '../../plan/inspected.ts';
import { flowOf, type KeptModules } from '../../plan/kept-modules.ts';
import { isEitherFarAhead } from '../../program/answered.ts';
import { NOT_MEASURED, programRuns, type Uncompiled } from '../../program/runs.ts';
import { LEAST_RATIO } from '../../program/slower.ts';
import { timeBudget } from '../../program/time-budget.ts';
import { notVerified, type ProgramVerdict } from '../../program/verdict.ts';
import { terminalOf } from '../../report/terminal.ts';
import type { Surroundings } from '../../settings/surroundings.ts';
import { formatRatio } from '../../system/format.ts';
import { NO_REASON, because } from '../../system/reason.ts';
import { messageOf } from '../../system/tell.ts';
import {
  callableOf,
  contestsOf,
  folderOf,
  measuringTools,
  NotVerifiedError,
  type CalledProgram,
  type MeasuredProgram,
} from '../callable.ts';
import { interruptible } from '../interruptible.ts';
import { limitsWithin } from '../limits.ts';
import { doesNotCompile, programBuilds } from '../program-builds.ts';
import type { CommandNote } from './memory.ts';
import type { CommandVariant, Reasons, Times } from './variant.ts';

/** The result of comparing a variant with the written program. */
export interface TriedCommand extends Times {
  /** Keys of the parts that it was tried with. */
  readonly keys: readonly string[];
  /** Null if the compiler does not reach code generation. */
  readonly program: FormedProgram | null;
  readonly verdict: ProgramVerdict;
  /** The smallest ratio of all calls but those that only check results; 0 if a call was not timed or has wrong results. */
  readonly ratio: number;
  /** Whether no part can be used. */
  readonly isRefused: boolean;
  /** The parts that do not compile or are wrong. */
  readonly wrong: Reasons;
  /** Seconds of compiling the program as written and with these parts. */
  readonly compileSeconds: number;
}

/** Other parts are compiled only if the first compile, or all before, took at most this share of the budget. */
const SECOND_SHARE = 0.5;

/**
 * Time for runs, in times of that for other runs. Each process loads the weights, which takes seconds for gigabytes, and without a verdict the
 * compiles are lost.
 */
const RUNS = 3;

/** Tries with fewer parts after failures. */
const MOST_FAILURES = 3;

/** Compiles the variant during its survey, then runs it. The caller holds the measuring lock. */
export async function tryCommand(
  variant: CommandVariant,
  { command: written, inspected }: FormedProgram,
  surroundings: Surroundings,
  kept: KeptModules,
): Promise<TriedCommand> {
  const { budgetSeconds } = surroundings.settings;
  const usual = limitsWithin(surroundings.settings, true);
  const limits = { ...usual, runSeconds: RUNS * usual.runSeconds };
  const terminal = terminalOf(null);
  terminal.tryForms();

  /** Keys of the parts that are right. */
  const right = new Set<string>();
  const tryThese = async (keys: readonly string[], signal: AbortSignal): Promise<TriedCommand> => {
    const command = await variant.commandWith(keys);
    const measured = { command, inspected, surroundings, kept, limits, signal };
    let tried: Omit<TriedCommand, 'verdict'> = {
      ...NOT_MEASURED,
      ...{ keys, program: null, isRefused: false, wrong: new Map(), compileSeconds: 0, ratio: 0 },
    };
    try {
      const unchecked = keys.filter((key) => !right.has(key));
      const underWay = compileBoth(measured, written);
      // The split and the written program keep both cores busy. The check runs beside the compile that follows them.
      const checked = underWay.configured.then(() => variant.wrongAmong(measured, unchecked));
      checked.catch(() => undefined);
      const means = { configured: () => underWay.configured, hasTurn: true };
      const [program, compiled] = await Promise.all([
        surveyed(command, inspected, surroundings, means),
        underWay.compiled,
      ]);
      tried = { ...tried, program, compileSeconds: compiled.seconds };
      // Another check would use the same folder.
      const wrongTogether = await checked;
      const wrongAlone = async (some: readonly string[]): Promise<Reasons> =>
        (await variant.wrongAmong(measured, some, true)) ?? new Map();
      const { changed } = compiled;
      let wrong = tried.wrong;
      if (typeof changed === 'string') {
        wrong = wrongTogether ?? (await wrongAlone(unchecked));
        for (const key of unchecked) if (!wrong.has(key)) right.add(key);
      } else if (!changed.isLate) {
        wrong = variant.blamedFor(changed, keys);
        if (wrong.size === 0) wrong = await wrongAlone(keys);
      }
      const [why] = wrong.values();
      if (why !== undefined)
        return { ...tried, wrong, isRefused: keys.every((key) => wrong.has(key)), verdict: notVerified(why) };
      if (program === null) throw new NotVerifiedError(because('not-compiled'));
      const both = { ...measured, ...program, rewritables: () => inspected.input.rewritables };
      return { ...tried, ...(await compareBoth(both, written, compiled)) };
    } catch (error) {
      if (!(error instanceof NotVerifiedError)) throw error;
      return { ...tried, verdict: notVerified(error.why) };
    }
  };

  const work = async (signal: AbortSignal): Promise<TriedCommand> => {
    const begun = performance.now();
    const spent = () => (performance.now() - begun) / 1000;
    let first = await tryThese([...variant.parts.keys()], signal);
    const { compileSeconds } = first;
    const without = (keys: { has(key: string): boolean }): readonly string[] =>
      first.keys.filter((key) => !keys.has(key));
    /** Tries some of the parts; null if these are none or all, or if that would take too long. */
    const tryOnly = async (
      some: readonly string[],
      seconds: number,
      share = SECOND_SHARE,
    ): Promise<TriedCommand | null> => {
      const isPart = some.length > 0 && some.length < first.keys.length;
      if (!isPart || seconds > share * budgetSeconds) return null;
      kept.forgetStock();
      return tryThese(some, signal);
    };
    // A part that fails costs its own operation only. It may hide another failure.
    for (let turn = 0; turn < MOST_FAILURES && first.wrong.size > 0; turn++) {
      const next = await tryOnly(without(first.wrong), compileSeconds);
      if (next === null) return first;
      first = next;
    }
    // Parts that are right alone can be wrong together. Half of them mostly gain more than all other tuning.
    const { base } = variant;
    const halves = isWrong(first) ? halvesOf(first.keys.filter((key) => !base.includes(key))) : [];
    for (let half = halves.shift(); half !== undefined; half = halves.shift()) {
      const next = await tryOnly([...base, ...half], spent(), 1);
      if (next === null) return first;
      if (!isWrong(next)) {
        first = next;
        break;
      }
      halves.push(...halvesOf(half));
    }
    // A program that is slower with the variant is not tuned with it.
    const isBetter = first.ratio >= LEAST_RATIO;
    const { program, keys } = first;
    const slower = program === null ? new Set<string>() : variant.slower(program, keys, first, isBetter);
    // Rounds gain more than a few parts.
    const second = await tryOnly(without(slower), spent());
    if (second === null) return first;
    if (second.ratio > first.ratio) return second;
    // The next untuned module is that of the first program.
    kept.forgetStock();
    return first;
  };
  const tried = await interruptible(terminal, work, () => {
    kept.discard();
  });
  terminal.endForms(tried.verdict);
  return tried;
}

const isWrong = ({ verdict, wrong }: TriedCommand): boolean =>
  wrong.size === 0 && verdict.functions.some(({ equal }) => equal === false);

/** Both halves; none of a single part. */
const halvesOf = (keys: readonly string[]): (readonly string[])[] => {
  const middle = Math.ceil(keys.length / 2);
  return keys.length > 1 ? [keys.slice(0, middle), keys.slice(middle)] : [];
};

/** Path of each module, or its error. */
interface CompiledBoth {
  readonly written: string | Uncompiled;
  readonly changed: string | Uncompiled;
  /** Wall time of both. */
  readonly seconds: number;
}

/**
 * Starts the compiles of the written program and of the variant. The survey runs at the same time.
 * @param program with the variant. Its modules are kept for the rounds
 * @returns the variant's configured executables, null if the compile fails, and both modules; the latter never rejects
 */
function compileBoth(program: MeasuredProgram, written: Command) {
  const { command, kept, limits } = program;
  const folder = folderOf(program);
  const budget = timeBudget(limits.compileSeconds);
  const begun = performance.now();
  const builds = programBuilds(program, [], budget);
  const split = kept.split(flowOf(command, null), folder, builds.split);
  const compileWritten = async () => {
    const path = join(folder, 'written.vmfb');
    return (await programBuilds({ ...program, command: written }, [], budget).stock(path)) ?? path;
  };
  const compileChanged = async () => {
    await split;
    return kept.compiledStock(builds.stock, folder);
  };
  const both = Promise.all([compileWritten(), compileChanged()]).catch((error: unknown) => {
    const failed: Uncompiled = { problem: messageOf(error), isLate: true };
    return [failed, failed] as const;
  });
  return {
    configured: split.then((made) => (typeof made === 'string' ? null : made.configured)),
    compiled: both.then(([own, changed]): CompiledBoth => ({
      ...{ written: own, changed, seconds: (performance.now() - begun) / 1000 },
    })),
  };
}

/**
 * Runs both programs: first the results, then the times. The caller holds the measuring lock.
 * @param program with the variant
 * @throws NotVerifiedError when the runtime's tools are missing, or nothing can be compared
 * @throws StoppedError when the signal fires
 */
async function compareBoth(
  program: MeasuredProgram & Pick<CalledProgram, 'rewritables'>,
  written: Command,
  { written: stock, changed: module }: CompiledBoth,
): Promise<Times & Pick<TriedCommand, 'verdict' | 'isRefused' | 'ratio'>> {
  const tools = measuringTools(program);
  if (typeof stock !== 'string') throw doesNotCompile('the program', stock);
  if (typeof module !== 'string') {
    const verdict = notVerified(because('compile-failed', module.problem));
    return { ...NOT_MEASURED, verdict, isRefused: !module.isLate, ratio: 0 };
  }
  const callable = await callableOf({ ...program, command: written }, () => Promise.resolve(stock));
  if (callable.called.length === 0) throw new NotVerifiedError(because('nothing-callable'));
  const contests = await contestsOf(program, tools, callable, stock);
  const changed = () => Promise.resolve({ module, dispatches: new Map<string, readonly string[]>() });
  const runs = programRuns(contests, changed, program.limits.runSeconds, isEitherFarAhead);
  const { results, why } = await runs.compare([]);
  if (results === 'equal') await runs.ratio([]);
  const { functions, ...times } = runs.measured([]);
  const told = why === null ? NO_REASON : because('results-unknown', why.reason);
  const verdict = { functions, skipped: callable.skipped, leftOut: [], injected: true, ...told };
  const ratios = functions
    .filter((_, i) => !isExtraCall(contests[i]!.function))
    .map(({ equal, timing }) => (equal === true ? (timing?.ratio ?? 0) : 0));
  const ratio = ratios.length === 0 ? 0 : Math.min(...ratios);
  return { ...times, verdict, isRefused: false, ratio };
}

/** The note about a variant that was tried. @param before the note of earlier builds */
export function noteOf(
  tried: TriedCommand,
  { parts }: CommandVariant,
  budgetSeconds: number,
  before: CommandNote | null,
): CommandNote {
  const { keys, isRefused, ratio: least } = tried;
  const { functions, reason: problem } = tried.verdict;
  const note = (verdict: CommandNote['verdict'], reason: string): CommandNote => ({
    ...{ verdict, reason, budgetSeconds },
    asWritten: [...parts.keys()].filter((key) => !keys.includes(key)),
    attempts: 1 + (before?.attempts ?? 0),
  });
  const unknown = problem ?? 'there was no time to find out';
  if (isRefused) return note('worse', unknown);
  const wrong = functions.find(({ equal }) => equal === false);
  // A build with more time tries fewer of them.
  if (wrong !== undefined)
    return note(keys.length > 1 ? 'open' : 'worse', wrong.reason ?? 'its results are different');
  if (least === 0) return note('open', unknown);
  return least >= LEAST_RATIO
    ? note('better', `${formatRatio(least)} as fast as it is written`)
    : note('worse', `it takes ${formatRatio(1 / least)} as long as it is written`);
}
