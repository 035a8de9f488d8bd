// Runs a plan: in our place if it is known to compile, else as a child whose output is held back until it is whole. If the injection
// fails in any way, the user's own command runs.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { inputIdentity } from '../compiler/command-identity.ts';
import { withTrailingFlags, type Command } from '../compiler/command.ts';
import { isInjected, type Decision } from '../decision/decision.ts';
import { proveLanded } from '../inject/proof.ts';
import { surveyMemory } from '../input/survey-memory.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { exitLike, replaceProcess, replaceProcessFed, runCompiler, type RunResult } from '../system/run.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import { STALL_SECONDS, whenHung } from '../system/stall.ts';
import { messageOf, tell } from '../system/tell.ts';
import { tidyUp } from '../system/tidy.ts';
import { cachedOutput } from './cached-output.ts';
import { compileLimit } from './compile-limit.ts';
import { canDeliver, deliverFile } from './deliver.ts';
import { originalCompile, type InjectedCommand } from '../plan/injected-command.ts';
import type { Inspected } from '../plan/inspected.ts';
import { notePlan, planIdentity, recallPlan, type Landed } from '../plan/ledger.ts';
import { isSilent, show, withColours } from './messages.ts';
import { refuse } from './required.ts';

/** A command that is to be run. */
export interface Plan {
  readonly command: Command;
  readonly inspected: Inspected;
  readonly decisions: readonly Decision[];
  /** Null for the user's own command. */
  readonly injected: InjectedCommand | null;
  /** Path of the module if this build has compiled it already. */
  readonly module: string | null;
}

/** How one compile ended. It is reported just before this process ends or is replaced. */
export interface Ending {
  /** Whether every configuration was seen in the executables; null if no build has looked. */
  readonly applied: boolean | null;
  readonly landed: Landed | null;
  readonly argv: readonly string[];
  /** Set when the compile was done without the injection after all. */
  readonly fallback: string | null;
  /** Key of the output in the output cache; null if it is not there. */
  readonly output: string | null;
  /** Whether messages of the compiler are edited, so that it cannot replace this process. */
  readonly isEdited?: boolean;
  /** The files of ours that were used, when the same command is sure to be run in the same way again; null otherwise. */
  readonly files: readonly string[] | null;
}

/** Callbacks of a running plan. */
export interface PlanHooks {
  /** Whether a failed build may fall back to the original command. */
  readonly mayFallBack: boolean;
  /** It is clear how it ends. */
  readonly onEnd: (ending: Ending) => void;
  /** A configuration was injected and did not land. */
  readonly onLost: () => Promise<void>;
  /** The injection broke the compile twice. Called with the compiler's messages, or null after a hang. */
  readonly onFailure: (stderr: string | null) => Promise<void> | void;
}

/** How a compile ends that need not be run. */
export const SUCCESS = { code: 0, signal: null, forwarded: null };

/** Fields of an ending without the injection. */
export const NOT_APPLIED = { applied: false, landed: null, files: null, output: null };

const LOST = 'a configuration was not seen in the executables';
const UNSEEN = 'nobody could look whether configurations are in the executables';

let isDelivered = false;

/** Whether the output is written. */
export const hasDelivered = (): boolean => isDelivered;

/** Does something that no build depends on. Never rejects. */
export async function attempt(
  deed: () => Promise<void> | void,
  { settings }: Pick<Surroundings, 'settings'>,
): Promise<void> {
  try {
    await deed();
  } catch (error) {
    tell(messageOf(error), settings.log);
  }
}

/** Seconds of the input's survey; undefined if there was none. */
export const surveySeconds = (command: Command, { input }: Inspected, { cacheDirectory }: Surroundings) =>
  surveyMemory.recall(cacheDirectory, inputIdentity(command, input.digest))?.seconds;

/** Runs a command in our place where possible. Never returns. */
export async function runInPlace(
  executable: string,
  argv: readonly string[],
  stdin: Uint8Array | undefined,
  env: Surroundings['env'],
): Promise<never> {
  if (stdin === undefined) return replaceProcess(executable, argv, env);
  try {
    return exitLike(await runCompiler(executable, argv, { env, stdin, capture: false }));
  } catch (error) {
    return replaceProcessFed(executable, argv, stdin, env, error);
  }
}

/**
 * Runs a plan. Never returns.
 * @param workSeconds limit of a new plan; the default follows from the survey of the input
 */
export async function runPlan(
  plan: Plan,
  hooks: PlanHooks,
  surroundings: Surroundings,
  workSeconds?: number,
): Promise<never> {
  const { command, inspected, decisions, injected, module } = plan;
  const { env, cacheDirectory, settings } = surroundings;
  const { executable } = command.compiler;
  const own = originalCompile(command, inspected);
  const isOwn = injected === null;
  const { argv, stdin, mapMessages, files } = injected ?? { ...own, mapMessages: null, files: [] };
  const isInjecting = !isOwn && decisions.some(isInjected);
  const { digest } = inspected.input;
  const identity = isOwn
    ? planIdentity(command, digest, [], 'none')
    : planIdentity(command, digest, decisions, injected.route);
  const entry = isOwn ? null : recallPlan(cacheDirectory, identity);
  const end = (landed: Landed | null, output: string | null) => {
    // Only this program can edit messages again, or read an input from a pipe.
    const isRepeatable = stdin === undefined && (mapMessages === null || output !== null);
    hooks.onEnd({
      ...{ applied: allLanded(landed), landed, argv, fallback: null, output },
      ...{ files: isRepeatable ? files : null, isEdited: mapMessages !== null },
    });
  };

  if (entry?.state === 'broken') {
    const fallback = `these configurations broke this compile before: ${entry.reason}`;
    hooks.onEnd({ ...NOT_APPLIED, argv: command.argv, fallback });
    if (!hooks.mayFallBack) return refuse(fallback, settings);
    return runInPlace(executable, own.argv, own.stdin, env);
  }
  /** `require=landed`: prove before the output is written. */
  const isSeenFirst = settings.require === 'landed' && isInjecting;
  if (isSeenFirst && entry?.state === 'lost') return refuse(LOST, settings);
  /** Whether this build has to prove it: a plan from a build with budget 0 has no proof yet. */
  const isUnseen = isInjecting && (entry === null || entry.state === 'compiled') && mayLook(settings);
  const cached = await cachedOutput(command, inspected.input, [identity], surroundings);
  if (!isUnseen && (entry !== null || !isInjecting)) {
    const delivered = cached.deliver(module);
    if (delivered !== null) {
      isDelivered = true;
      if (!isOwn) notePlan(cacheDirectory, identity, { state: 'compiled' });
      end(entry?.landed ?? null, delivered.output);
      return exitLike(SUCCESS);
    }
  }
  const isProven = entry !== null && !isUnseen;
  const mayKeep = settings.outputs && stdin === undefined;
  const held = isProven || (isOwn && !mayKeep) ? null : heldOutput(command, cacheDirectory);
  if (isProven || (isOwn && held === null)) {
    end(entry?.landed ?? null, null);
    if (mapMessages === null) return runInPlace(executable, argv, stdin, env);
    const result = await runCompiler(executable, withColours(argv, env), { env, stdin, capture: true });
    show(result, mapMessages);
    return exitLike(result);
  }

  // A killed build may have left a folder.
  if (!isOwn) tidyUp(cacheDirectory);
  const before = outputState(command);
  const limit = workSeconds ?? compileLimit(surveySeconds(command, inspected, surroundings));
  const result = await runCompiler(executable, withColours(heldArgv(argv, held), env), {
    env,
    // The user's command may still have to read ours.
    stdin: stdin ?? (isOwn ? new Uint8Array() : undefined),
    capture: true,
    limits: isOwn ? [] : [whenHung({ stallSeconds: STALL_SECONDS, workSeconds: limit })],
  });
  if (result.forwarded !== null) {
    if (!isOwn) show(result, mapMessages);
    return exitLike(result);
  }
  const isWritten =
    held === null ? succeeded(result, command, before) : result.code === 0 && existsSync(held);
  if (isWritten) {
    const prove = async (): Promise<Landed | null> => {
      if (isOwn) return null;
      const landed = await provenLanding(injected, plan, surroundings);
      notePlan(cacheDirectory, identity, landed === null ? { state: 'compiled' } : { state: 'seen', landed });
      if (allLanded(landed) === false) await hooks.onLost();
      return landed;
    };
    const seen = isSeenFirst ? await prove() : undefined;
    if (seen !== undefined && allLanded(seen) !== true)
      return refuse(seen === null ? UNSEEN : LOST, settings);
    const isCopied = held === null || deliverFile(held, command);
    const shown = isCopied ? show(result, mapMessages) : 'nothing';
    // The user has the output: a failure from here on starts no other compile.
    isDelivered = shown !== 'nothing';
    await attempt(async () => {
      const landed = seen ?? (await prove());
      const isKept = held !== null && isSilent(result, mapMessages);
      const output = isKept ? cached.keep(held) : null;
      if (allLanded(landed) === false) hooks.onEnd(lostEnding(landed, argv, output));
      else end(landed, output);
    }, surroundings);
    // With a full disk the compiler reports the error itself. After a partial write to stdout it must not write again.
    if (shown === 'nothing') return runInPlace(executable, argv, stdin, env);
    if (shown === 'a part') {
      tell('the output could not be written to the end', settings.log);
      return exitLike({ ...SUCCESS, code: 1 });
    }
    return exitLike(result);
  }
  if (isOwn) {
    // The command fails again, with the messages that the compiler writes to the user.
    end(null, null);
    return runInPlace(executable, argv, stdin, env);
  }
  return recover(plan, injected, identity, result, held, limit, hooks, surroundings);
}

/** A plan that has failed: runs the user's own command, and finds out whether the injection is to blame. */
async function recover(
  { command, inspected }: Plan,
  injected: InjectedCommand,
  identity: string,
  failed: RunResult,
  held: string | null,
  limit: number,
  { mayFallBack, onEnd, onFailure }: PlanHooks,
  surroundings: Surroundings,
): Promise<never> {
  const { env, cacheDirectory, settings } = surroundings;
  const { executable } = command.compiler;
  const { argv, stdin } = originalCompile(command, inspected);
  // A refused build leaves the user's output unchanged.
  const original = await runCompiler(executable, mayFallBack ? argv : heldArgv(argv, held), {
    env,
    stdin,
    capture: false,
  });
  const hasHung = failed.cut === 'hung';
  const ours = hasHung ? 'the tuned compile hung' : 'the tuned compile failed';
  const isOurFault = original.code === 0;
  if (isOurFault) {
    tell('a tuned compile failed and was done again without tuning', settings.log);
    await attempt(async () => {
      // The user has the output by now, so a second compile delays no result.
      const { failsAgain, firstError } = await import('./blame.ts');
      const said = hasHung ? null : await failsAgain(injected, executable, surroundings, limit);
      if (!hasHung && said === null) return;
      notePlan(cacheDirectory, identity, {
        state: 'broken',
        reason: said === null ? ours : firstError(said),
      });
      await onFailure(said);
    }, surroundings);
  }
  const fallback = isOurFault ? ours : 'the input does not compile';
  await attempt(() => {
    onEnd({ ...NOT_APPLIED, argv: command.argv, fallback });
  }, surroundings);
  if (isOurFault && !mayFallBack) return refuse(ours, settings);
  return exitLike(original);
}

/** The next build decides anew. */
const lostEnding = (landed: Landed | null, argv: readonly string[], output: string | null): Ending => ({
  ...{ applied: false, landed, argv, fallback: null, output, files: null },
});

/**
 * Scratch path for the output. A failed compile removes its output file, and with it the mode and links of the user's file. Null if the
 * output is no regular file.
 */
function heldOutput(command: Command, cacheDirectory: string): string | null {
  const folder = canDeliver(command) ? makeScratchFolder(cacheDirectory, 'output') : null;
  return folder && join(folder, 'output');
}

const heldArgv = (argv: readonly string[], held: string | null): readonly string[] =>
  held === null ? argv : withTrailingFlags(argv, ['-o', held]);

/** A build with budget 0 makes no proof, unless `require=landed` asks for one. */
const mayLook = ({ budgetSeconds, require }: Surroundings['settings']): boolean =>
  budgetSeconds > 0 || require === 'landed';

/** For each decision whether its configuration landed; null if this build may not look. */
function provenLanding(
  { forExecutables, route }: InjectedCommand,
  { command, decisions }: Plan,
  { env, cacheDirectory, settings }: Surroundings,
): Promise<Landed | null> {
  if (!mayLook(settings)) return Promise.resolve(null);
  if (!decisions.some(isInjected)) return Promise.resolve(decisions.map(() => null));
  return proveLanded(command.compiler.executable, forExecutables, decisions, route, { env, cacheDirectory });
}

/**
 * The compiler can exit with 0 and leave nothing but a crash reproducer: then there is no output, or still an old one.
 * @param before the output's state before the compile
 */
function succeeded(result: RunResult, command: Command, before: string): boolean {
  if (result.code !== 0) return false;
  return command.arguments.output.kind === 'stdout' || outputState(command) !== before;
}

/** A text that is another one when the output has been written; for a device, which does not tell, always another. */
function outputState({ arguments: { output } }: Command): string {
  if (output.kind === 'stdout') return '';
  const status = statSync(output.path, { bigint: true, throwIfNoEntry: false });
  if (status === undefined) return 'missing';
  return status.isFile()
    ? `${status.ino} ${status.mtimeNs} ${status.ctimeNs}`
    : `device ${performance.now()}`;
}

const allLanded = (landed: Landed | null): boolean | null =>
  landed === null ? null : !landed.includes(false);
