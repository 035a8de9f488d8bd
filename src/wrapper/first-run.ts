// Runs a plan that may not compile. Its output is held back until it is complete. If the injection fails in any way, the user's own command
// runs.
import { existsSync, statSync } from 'node:fs';
import { withTrailingFlags, type Command } from '../compiler/command.ts';
import { isInjected } from '../decision/decision.ts';
import { proveLanded } from '../inject/proof.ts';
import { originalCompile, type InjectedCommand } from '../plan/injected-command.ts';
import { notePlan, type Landed } from '../plan/ledger.ts';
import { exitLike, runCompiler, type RunResult } from '../system/run.ts';
import { STALL_SECONDS, whenHung } from '../system/stall.ts';
import { tell } from '../system/tell.ts';
import { tidyUp } from '../system/tidy.ts';
import { deliverFile } from './deliver.ts';
import { allLanded, NOT_APPLIED, SUCCESS, type RunningPlan } from './ending.ts';
import { attempt, noteDelivered, runInPlace } from './in-place.ts';
import { capture, messagesOf, show, stdoutBytes, type Captured } from './capture.ts';
import { LOST, mayLook, refuse } from './required.ts';
import { because } from '../system/reason.ts';

const UNSEEN = 'the executables could not be searched for the configurations';

/**
 * Runs a plan for the first time. Never returns.
 * @param held scratch path for the output; null if the compiler writes to the user's path
 */
export async function firstRun(run: RunningPlan, held: string | null): Promise<never> {
  const { command, injected, surroundings, compile, end, workSeconds } = run;
  const { executable } = command.compiler;
  const { argv, stdin, mapMessages } = compile;
  const { env, cacheDirectory } = surroundings;
  // A killed build may have left a folder.
  if (injected !== null) tidyUp(cacheDirectory);
  const before = outputState(command);
  const options = {
    env,
    // If this compile fails, the user's command reads our stdin.
    stdin: stdin ?? (injected === null ? new Uint8Array() : undefined),
    limits: injected === null ? [] : [whenHung({ stallSeconds: STALL_SECONDS, workSeconds: workSeconds() })],
  };
  const result = await capture(command, heldArgv(argv, held), options, cacheDirectory);
  if (result.forwarded !== null) {
    if (injected !== null) show(result, mapMessages);
    return exitLike(result);
  }
  const isWritten =
    held === null ? succeeded(result, command, before) : result.code === 0 && existsSync(held);
  if (isWritten) return deliver(run, result, held);
  if (injected !== null) return recover(run, injected, result, held);
  // The command fails again, and its messages reach the user directly.
  end(null, null);
  return runInPlace(executable, argv, stdin, env);
}

/** Delivers a complete output, and notes in the ledger whether its configurations landed. With `require=landed` the proof comes first. */
async function deliver(run: RunningPlan, result: Captured, held: string | null): Promise<never> {
  const { command, surroundings, compile, cached, isInjecting, end, onEnd } = run;
  const { argv, stdin, mapMessages } = compile;
  const { env, settings } = surroundings;
  const seen = settings.require === 'landed' && isInjecting ? await prove(run) : undefined;
  if (seen !== undefined && allLanded(seen) !== true) return refuse(seen === null ? UNSEEN : LOST, settings);
  const isCopied = held === null || deliverFile(held, command);
  const shown = isCopied ? show(result, mapMessages) : 'nothing';
  if (shown !== 'nothing') noteDelivered();
  await attempt(async () => {
    const landed = seen ?? (await prove(run));
    const isKept = held !== null && stdoutBytes(result) === 0;
    const output = isKept ? cached.keep(held, messagesOf(result, mapMessages)) : null;
    // After a loss the next build decides again.
    if (allLanded(landed) === false) onEnd({ landed, argv, fallback: null, output, replayFiles: null });
    else end(landed, output);
  }, surroundings);
  // With a full disk the compiler reports the error itself. After a partial write to stdout it must not write again.
  if (shown === 'nothing') return runInPlace(command.compiler.executable, argv, stdin, env);
  if (shown === 'all') return exitLike(result);
  tell('the output could not be written to the end', settings.log);
  return exitLike({ ...SUCCESS, code: 1 });
}

/** Proves for each decision whether its configuration landed, and notes the proof; null if this build may not look. */
async function prove(run: RunningPlan): Promise<Landed | null> {
  const { command, decisions, injected, surroundings, identity, onLost, workSeconds } = run;
  if (injected === null) return null;
  const { cacheDirectory, settings } = surroundings;
  const asking = { ...surroundings, workSeconds: workSeconds() };
  const look = () => proveLanded(command.compiler.executable, injected, decisions, asking);
  const seen = decisions.some(isInjected) ? look : () => decisions.map(() => null);
  const landed = mayLook(settings) ? await seen() : null;
  notePlan(cacheDirectory, identity, { landed });
  if (allLanded(landed) === false) await onLost?.();
  return landed;
}

/** After a failed plan, runs the user's own command. If that succeeds, the injection is to blame. */
async function recover(
  run: RunningPlan,
  injected: InjectedCommand,
  failed: RunResult,
  held: string | null,
): Promise<never> {
  const { command, input, surroundings, identity, workSeconds, mayFallBack, onEnd, onFailure } = run;
  const { env, cacheDirectory, settings } = surroundings;
  const { executable } = command.compiler;
  const { argv, stdin } = originalCompile(command, input);
  // A refused build leaves the user's output unchanged.
  const original = await runCompiler(executable, mayFallBack ? argv : heldArgv(argv, held), {
    env,
    stdin,
    capture: false,
  });
  const hasHung = failed.cut === 'hung';
  const ours = because(hasHung ? 'tuned-compile-hung' : 'tuned-compile-failed');
  const isOurFault = original.code === 0;
  if (isOurFault) {
    tell('a tuned compile failed and was done again without tuning', settings.log);
    await attempt(async () => {
      // The user has the output by now. A second compile delays nothing.
      const { failsAgain, firstError } = await import('./blame.ts');
      const said = hasHung ? null : await failsAgain(injected, executable, surroundings, workSeconds());
      if (!hasHung && said === null) return;
      const reason = said === null ? ours.reason : firstError(said);
      notePlan(cacheDirectory, identity, { reason });
      if (said !== null) await onFailure?.(said);
    }, surroundings);
  }
  const fallback = isOurFault ? ours : because('input-does-not-compile');
  await attempt(() => {
    onEnd({ ...NOT_APPLIED, argv: command.argv, fallback });
  }, surroundings);
  if (isOurFault && !mayFallBack) return refuse(ours.reason, settings);
  return exitLike(original);
}

const heldArgv = (argv: readonly string[], held: string | null): readonly string[] =>
  held === null ? argv : withTrailingFlags(argv, ['-o', held]);

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
