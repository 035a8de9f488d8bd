// A compile from the command line to the real compiler in our place.
import { readCommand, type Command } from '../compiler/command.ts';
import type { FoundCompiler } from '../compiler/find.ts';
import { isInjected, type Decision } from '../decision/decision.ts';
import { surveyMemory } from '../input/survey-memory.ts';
import { countsOf, countsOfPass } from '../report/counts.ts';
import { explainedAgain, isExplained } from '../report/explain-file.ts';
import { unknownFlag, unknownVariables } from '../report/unknown-settings.ts';
import type { Settings } from '../settings/index.ts';
import { withoutTuning, type Surroundings } from '../settings/surroundings.ts';
import { takenStdin } from '../system/bytes.ts';
import { exitLike, runCompiler } from '../system/run.ts';
import { messageOf, tell, writeLog } from '../system/tell.ts';
import { limitFor } from './compile-limit.ts';
import { decide, type Decided } from './decide.ts';
import { canDeliver } from './deliver.ts';
import { injectedCommand, originalCompile, type InjectedCommand } from '../plan/injected-command.ts';
import type { FormedProgram } from '../plan/inspected.ts';
import { inspect, untuned, type SeveralTargets, type Untuned } from './inspect.ts';
import { withSurvey } from '../plan/surveyed.ts';
import { flowOf } from '../plan/kept-modules.ts';
import { ledgerPath, notePlan } from '../plan/ledger.ts';
import { knownTimes } from '../running/program-times.ts';
import { rememberRun, stampsBefore } from './replay.ts';
import { NOT_APPLIED, SUCCESS, type Ending, type Run } from './ending.ts';
import { attempt, hasDelivered, runInPlace } from './in-place.ts';
import { reportCompile, reportUntuned } from './report-compile.ts';
import { mayFallBack, refuse, whyRefused } from './required.ts';
import { runPlan } from './run-plan.ts';
import { because, isReason, type Reason } from '../system/reason.ts';

/**
 * Compiles with the tuned configurations. Never returns; rejects only when the compiler cannot be started.
 * @param problems settings that are invalid or unsafe
 */
export async function compile(
  argv: readonly string[],
  compiler: FoundCompiler,
  problems: readonly string[],
  surroundings: Surroundings,
): Promise<never> {
  const { env, settings } = surroundings;
  let command: Command | undefined;
  // A failure of ours must not fail the build.
  const goOn = async (error: unknown): Promise<never> => {
    if (hasDelivered()) return exitLike(SUCCESS);
    if (settings.require !== undefined) return refuse(messageOf(error), settings);
    const stdin = takenStdin();
    tell(`${messageOf(error)}; this build goes on without tuning`, settings.log);
    if (settings.log !== undefined && error instanceof Error) writeLog(error.stack ?? '', settings.log);
    await attempt(() => {
      if (command === undefined) return;
      const why = because('internal-error', `tuning failed: ${messageOf(error)}`);
      reportUntuned(untuned(why), command, surroundings);
    }, surroundings);
    return runInPlace(compiler.executable, { argv, stdin }, env);
  };
  // An uncaught rejection would end this process with an error, and a promise that never settles would end it with success.
  process.once('uncaughtException', (error) => void goOn(error));
  process.once('beforeExit', () => void goOn('the build stopped without a result'));
  try {
    command = await readCommand(argv, compiler, surroundings);
    for (const message of unknownVariables(env)) tell(message, settings.log);
    const unknown = unknownFlag(command.argv);
    if (unknown !== null) return await runMisspelt(unknown, command, surroundings);
    const inspected =
      problems.length > 0 ? withProblems(problems, settings) : await inspect(command, surroundings);
    const decided = await decideIfTunable(inspected, command, surroundings);
    return isReason(decided)
      ? await compileUntuned(decided, command, surroundings)
      : await compileTuned(decided, command, surroundings);
  } catch (error) {
    return goOn(error);
  }
}

/**
 * Runs the original command with a misspelt flag of ours. The compiler refuses the flag, but cannot suggest the right name: the message
 * does, after the compiler's.
 */
async function runMisspelt(message: string, command: Command, surroundings: Surroundings): Promise<never> {
  const { env, settings } = surroundings;
  reportUntuned(untuned(because('command-unclear', message)), command, surroundings);
  const result = await runCompiler(command.compiler.executable, command.argv, { env, capture: false });
  tell(message, settings.log, result.code !== 0);
  return exitLike(result);
}

/** With an invalid or unsafe setting, the input is compiled untuned. */
function withProblems(problems: readonly string[], settings: Settings): Untuned {
  const why = because('setting-invalid', `a setting cannot be used: ${problems.join('; ')}`);
  tell(`${why.reason}; this build goes on without tuning`, settings.log);
  return untuned(why);
}

async function decideIfTunable(
  found: FormedProgram | Untuned | SeveralTargets,
  command: Command,
  surroundings: Surroundings,
): Promise<Decided | Untuned> {
  if (!isReason(found)) return decide(found, surroundings);
  if (!('targets' in found)) return found;
  // Not loaded for one target.
  const { decideEach } = await import('./several-targets.ts');
  return decideEach(found, command, surroundings);
}

/**
 * Plans and runs the plan. Never returns.
 * @param given the user's own surroundings; they identify a replay
 */
async function compileTuned(decided: Decided, asked: Command, given: Surroundings): Promise<never> {
  const { command, inspected, decisions, injection, lock, store, kept, surroundings } = decided;
  const { settings, cacheDirectory } = surroundings;
  const workSeconds = () => limitFor(inspected.input, surroundings);
  const report = reporting(decided, asked, given);
  const run = async (injected: InjectedCommand | null, onEnd = report): Promise<never> => {
    const module = await kept.find(injected ?? originalCompile(command, inspected.input));
    const own: Run = {
      ...{ command, input: inspected.input, injected, module, workSeconds, onEnd },
      mayFallBack: mayFallBack(settings, lock),
      async onLost() {
        // With this survey the next build decides about the generated operations.
        await withSurvey(decided, surroundings);
      },
      async onFailure(stderr) {
        if (store === null || settings.readonly) return;
        const { markBroken } = await import('./blame.ts');
        await markBroken(decided, stderr, store, surroundings);
      },
    };
    // `iree-tuned lock` has proven that locked configurations land.
    return runPlan(own, lock?.whole ? withoutTuning(surroundings) : surroundings);
  };

  const refuseAs = (ending: Pick<Ending, 'landed'> & { readonly fallback: Reason }): never => {
    store?.close();
    report({ ...NOT_APPLIED, ...ending, argv: command.argv });
    return refuse(ending.fallback.reason, settings);
  };

  const whyNot = whyRefused(settings, decisions, decided.unproven);
  if (whyNot !== null) return refuseAs({ landed: null, fallback: whyNot });
  if (injection.route === 'none' && command.rewriting === undefined) {
    store?.close();
    return run(null);
  }
  const injected = await injectedCommand(decided, surroundings, kept);
  if (injected === null) {
    const landed = decisions.map((decision) => (isInjected(decision) ? false : null));
    notePlan(cacheDirectory, decided.identity, { landed });
    const lost = { landed, fallback: because('not-substitutable') };
    if (!mayFallBack(settings, lock)) return refuseAs(lost);
    store?.close();
    return run(null, (ending) => {
      report({ ...ending, ...lost, replayFiles: null });
    });
  }
  const isWanted = kept.splitOf(flowOf(command, injection)) !== null && decisions.some(isInjected);
  if (isWanted && canDeliver(command) && (await kept.find(injected)) === null) {
    // Not loaded on a hit.
    const { completeSplit } = await import('../running/program-builds.ts');
    await completeSplit(decided, decisions, workSeconds());
  }
  return run(injected);
}

/** Reports the ending of a compile, and remembers the compile if the next build would repeat it. */
function reporting(decided: Decided, asked: Command, given: Surroundings): (ending: Ending) => void {
  const { decisions, injection, identity, isFinal, until } = decided;
  const before = [...decided.before, ...decided.files];
  // Only the explanation shows times.
  const isTimed = isExplained(decided.surroundings.settings);
  const programTimes = knownTimes(decided, isTimed ? decided.store : null);
  const handedOver = performance.now();
  const { input } = decided.inspected;
  return (ending) => {
    const told = reportCompile(ending, decided, programTimes, handedOver);
    if (!isFinal) return;
    const { landed, fallback } = ending;
    const { cacheDirectory } = given;
    const files = [surveyMemory.pathOf(cacheDirectory, input.identity), ledgerPath(cacheDirectory, identity)];
    // A workload that this build tuned is a hit in the next build.
    const hits = decisions.map((one): Decision =>
      one.outcome === 'tuned' ? { ...one, outcome: 'hit' } : one,
    );
    const known = { decisions: hits, injection, verdict: null, landed, fallback, tuningSeconds: 0 };
    const again = { counts: countsOf(known), explanation: told && explainedAgain(told) };
    rememberRun(ending, again, asked, input, before, files, given, until);
  };
}

/** Runs the user's own command. Never returns. */
async function compileUntuned(
  untuned: Untuned,
  command: Command,
  surroundings: Surroundings,
): Promise<never> {
  const { input: text } = untuned;
  const report = () => reportUntuned(untuned, command, surroundings);
  if (text === undefined || command.arguments.input?.kind !== 'file') {
    report();
    const own = { argv: command.argv, stdin: takenStdin() };
    return runInPlace(command.compiler.executable, own, surroundings.env);
  }
  const before = stampsBefore(surroundings);
  const onEnd = (ending: Ending) => {
    const again = { counts: countsOfPass(untuned, untuned.decisions), explanation: report() };
    rememberRun(ending, again, command, text, before, [], surroundings);
  };
  const own = { command, input: text, injected: null, module: null, mayFallBack: true };
  return runPlan({ ...own, workSeconds: () => Infinity, onEnd }, surroundings);
}
