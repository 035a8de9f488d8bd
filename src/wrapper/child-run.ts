// Runs a compile as a child: a plan that may not compile, or the user's own command if its output goes into the cache. If the injection
// fails in any way, the user's own command runs.
import { existsSync, statSync } from 'node:fs';
import { isAsBefore } from '../compiler/command-files.ts';
import { withTrailingFlags, type Command } from '../compiler/command.ts';
import { proveLanded } from '../inject/landed.ts';
import { originalCompile, type InjectedCommand } from '../plan/injected-command.ts';
import type { Landed } from '../plan/ledger.ts';
import { exitLike, runCompiler, type RunResult } from '../system/run.ts';
import { STALL_SECONDS, whenHung } from '../system/limits.ts';
import { tell } from '../system/tell.ts';
import { tidyUp } from '../system/tidy.ts';
import { deliverFile, heldOutput } from './deliver.ts';
import { allLanded, NOT_APPLIED, SUCCESS, type KnownRun } from './ending.ts';
import { attempt, noteDelivered, runInPlace } from './in-place.ts';
import { capture, messagesOf, show, stdoutBytes, type Captured } from './capture.ts';
import { LOST, mayLook, refuse } from './required.ts';
import { because } from '../system/reason.ts';

const UNSEEN = 'the executables could not be searched for the configurations';

/** Messages about a full or broken disk. */
const ABOUT_DISK = /no space left|quota exceeded|file too large|input\/output error|read-only file system/i;

/** A compile that has ended. */
interface Ended {
  readonly result: Captured;
  /** Scratch path of the output; null if the compiler wrote to the user's path. */
  readonly held: string | null;
  readonly isWritten: boolean;
  /** The proof, if the output was written to the user's path and `require=landed` needs a proof before. */
  readonly seen?: Landed | undefined;
}

/** Runs a plan that may not compile, or that nobody has looked at. Never returns. */
export async function runPlanAsChild(run: KnownRun, injected: InjectedCommand): Promise<never> {
  const { command, surroundings, mayFallBack, compile } = run;
  // A killed build may have left a folder.
  tidyUp(surroundings.cacheDirectory);
  const held = heldOutput(command, mayFallBack, surroundings);
  let ended = await compileTo(held, run);
  // The user's disk may have the room that the cache's disk lacks.
  if (held !== null && !ended.isWritten && ABOUT_DISK.test(ended.result.stderr.toString()))
    ended = await compileTo(null, run);
  if (ended.result.forwarded !== null) {
    show(ended.result, compile.mapMessages);
    return exitLike(ended.result);
  }
  return ended.isWritten ? deliver(run, ended) : recover(run, injected, ended.result);
}

/** Runs the user's own command, and puts its output into the cache. Never returns. */
export async function runOwnAsChild(run: KnownRun): Promise<never> {
  const { surroundings, end } = run;
  const { result, isWritten } = await compileTo(null, run);
  if (result.forwarded === null) {
    show(result, null);
    if (isWritten) noteDelivered();
    await attempt(() => {
      end(null, isWritten ? kept(run, result, null) : null);
    }, surroundings);
  }
  return exitLike(result);
}

/** Compiles a plan, or the user's own command. @param held scratch path for the output; null for the user's path */
async function compileTo(held: string | null, run: KnownRun): Promise<Ended> {
  const { command, compile, injected, mustProve, surroundings, workSeconds } = run;
  const { env, cacheDirectory } = surroundings;
  const seen = held === null && mustProve ? await seenOrRefused(run) : undefined;
  const limit = { stallSeconds: STALL_SECONDS, workSeconds: workSeconds() };
  const limits = injected === null ? [] : [whenHung(limit)];
  const before = outputState(command);
  const argv = held === null ? compile.argv : withTrailingFlags(compile.argv, ['-o', held]);
  const result = await capture(command, argv, { stdin: compile.stdin, limits, env }, cacheDirectory);
  const isWritten =
    held === null ? succeeded(result, command, before) : result.code === 0 && existsSync(held);
  return { result, held, isWritten, seen };
}

/** The proof that all configurations landed. Refuses the build without it. */
async function seenOrRefused(run: KnownRun): Promise<Landed> {
  const seen = await prove(run);
  return seen !== null && allLanded(seen) === true
    ? seen
    : refuse(seen === null ? UNSEEN : LOST, run.surroundings.settings);
}

/** Delivers a complete output, and notes in the ledger whether its configurations landed. */
async function deliver(run: KnownRun, { result, held, seen: proof }: Ended): Promise<never> {
  const { command, surroundings, compile, end, onEnd } = run;
  const { env, settings } = surroundings;
  const seen = proof ?? (run.mustProve ? await seenOrRefused(run) : undefined);
  const isCopied = held === null || deliverFile(held, command);
  const shown = isCopied ? show(result, compile.mapMessages) : 'nothing';
  if (shown !== 'nothing') noteDelivered();
  await attempt(async () => {
    const landed = seen ?? (await prove(run));
    const output = isCopied ? kept(run, result, held) : null;
    // After a loss the next build decides again.
    if (allLanded(landed) === false)
      onEnd({ landed, argv: compile.argv, fallback: null, output, replayFiles: null });
    else end(landed, output);
  }, surroundings);
  // With a full disk the compiler reports the error itself. After a partial write to stdout it must not write again.
  if (shown === 'nothing') return runInPlace(command.compiler.executable, compile, env);
  if (shown === 'all') return exitLike(result);
  tell('the output could not be written to the end', settings.log);
  return exitLike({ ...SUCCESS, code: 1 });
}

/** Puts the output of a compile into the cache. @returns its key, or null */
function kept({ command, compile, cached }: KnownRun, result: Captured, held: string | null): string | null {
  const { output } = command.arguments;
  if (output.kind === 'stdout' || stdoutBytes(result) > 0) return null;
  return cached.keep(held ?? output.path, messagesOf(result, compile.mapMessages));
}

/** Proves for each decision whether its configuration landed, and notes the proof; null if this build may not look. */
async function prove(run: KnownRun): Promise<Landed | null> {
  const { injected, isInjecting, surroundings, note, onLost, workSeconds } = run;
  if (injected === null) return null;
  const look = () => proveLanded(injected, { ...surroundings, workSeconds: workSeconds() });
  const seen = isInjecting ? look : () => injected.plan.decisions.map(() => null);
  const landed = mayLook(surroundings.settings) ? await seen() : null;
  note({ landed });
  if (allLanded(landed) === false) await onLost?.();
  return landed;
}

/** After a failed plan, runs the user's own command. If that succeeds, the injection is to blame. */
async function recover(run: KnownRun, injected: InjectedCommand, failed: RunResult): Promise<never> {
  const { command, input, surroundings, mayFallBack, onEnd } = run;
  const { env, settings } = surroundings;
  const { argv, stdin } = originalCompile(command, input);
  // A refused build has no output.
  const own = mayFallBack ? argv : withTrailingFlags(argv, ['-o', '/dev/null']);
  const original = await runCompiler(command.compiler.executable, own, { env, stdin, capture: false });
  const ours = because(failed.cut === 'hung' ? 'tuned-compile-hung' : 'tuned-compile-failed');
  const isOurFault = original.code === 0;
  if (isOurFault) {
    tell('a tuned compile failed and was done again without tuning', settings.log);
    await attempt(() => noteFailure(run, injected, failed, ours.reason), surroundings);
  }
  const fallback = isOurFault ? ours : because('input-does-not-compile');
  await attempt(() => {
    onEnd({ ...NOT_APPLIED, argv: command.argv, fallback });
  }, surroundings);
  if (isOurFault && !mayFallBack) return refuse(ours.reason, settings);
  return exitLike(original);
}

/** Notes a failed plan in the ledger, and finds its cause. The user has the output by now, or the refusal. */
async function noteFailure(
  { command, surroundings, note, workSeconds, onFailure }: KnownRun,
  injected: InjectedCommand,
  failed: RunResult,
  reason: string,
): Promise<void> {
  const { failsAgain, firstError, isOfMachine, wasKilled } = await import('./blame.ts');
  if (failed.cut === 'hung') note({ reason });
  else if (wasKilled(failed)) note('killed');
  if (isOfMachine(failed)) return;
  const said = await failsAgain(injected, command.compiler.executable, surroundings, workSeconds());
  // A failure of a compiler that is being replaced says nothing about the configurations.
  if (said === null || !isAsBefore(command.files)) return;
  note({ reason: firstError(said) });
  await onFailure?.(said);
}

/**
 * Whether the compile wrote its output. The compiler can exit with 0 after writing only a crash reproducer.
 * @param before the output's state before the compile
 */
function succeeded(result: RunResult, command: Command, before: string): boolean {
  if (result.code !== 0) return false;
  return command.arguments.output.kind === 'stdout' || outputState(command) !== before;
}

/** State of the output file. It differs after every write; for a device it always differs. */
function outputState({ arguments: { output } }: Command): string {
  if (output.kind === 'stdout') return '';
  const status = statSync(output.path, { bigint: true, throwIfNoEntry: false });
  if (status === undefined) return 'missing';
  return status.isFile()
    ? `${status.ino} ${status.mtimeNs} ${status.ctimeNs}`
    : `device ${performance.now()}`;
}
