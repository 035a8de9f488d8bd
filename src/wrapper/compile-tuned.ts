// A compile from the command line to the real compiler in our place.
import { readCommand, type Command } from '../compiler/command.ts';
import type { FoundCompiler } from '../compiler/find.ts';
import { isInjected } from '../decision/decision.ts';
import { countsOf } from '../report/counts.ts';
import { unknownFlag, unknownVariables } from '../report/unknown-settings.ts';
import type { Settings } from '../settings/index.ts';
import { withoutTuning, type Surroundings } from '../settings/surroundings.ts';
import { takenStdin } from '../system/bytes.ts';
import { exitLike, runCompiler, runInPlace } from '../system/run.ts';
import { messageOf, tell, writeLog } from '../system/tell.ts';
import { decide, type Decided } from './decide.ts';
import { canDeliver, hasDelivered, SUCCESS } from './deliver.ts';
import { injectedCommand, limitFor, type InjectedCommand } from '../plan/injected-command.ts';
import { withSurvey } from '../input/operations.ts';
import { inspect, untuned, type Untuned } from './inspect.ts';
import { flowOf } from '../plan/kept-modules.ts';
import { notePlan, type Landed } from '../plan/ledger.ts';
import { rememberRun, stampsBefore } from './replay.ts';
import { attempt, NOT_APPLIED, PlanRun, type Ending } from './plan-run.ts';
import { reporting, reportUntuned } from './report-compile.ts';
import { mayFallBack, refuse, whyRefused } from './required.ts';
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
  // An uncaught rejection would end this process with an error, and a promise that never settles would end it with success.
  process.once('uncaughtException', (error) => void goOn(error));
  process.once('beforeExit', () => void goOn('the build stopped without a result'));
  try {
    const misspelt = unknownFlag(argv);
    command = await readCommand(argv, compiler, surroundings);
    for (const message of unknownVariables(env)) tell(message, settings.log);
    const why = misspelt === null ? whyUnusable(problems, settings) : because('command-unclear', misspelt);
    const found = why === null ? await inspect(command, surroundings) : untuned(why);
    let decided: Decided | Untuned;
    if (!isReason(found)) decided = await decide(found, surroundings);
    else if (!('targets' in found)) decided = found;
    else {
      // Not loaded for one target.
      const { decideEach } = await import('./several-targets.ts');
      decided = await decideEach(found, command, surroundings);
    }
    return isReason(decided)
      ? await compileUntuned(decided, misspelt, command, surroundings)
      : await compileTuned(decided, command, surroundings);
  } catch (error) {
    return goOn(error);
  }

  /** Goes on without tuning: a failure of ours must not fail the build. */
  async function goOn(error: unknown): Promise<never> {
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
  }
}

/** Why the input is compiled untuned with an invalid or unsafe setting; null without one. */
function whyUnusable(problems: readonly string[], settings: Settings): Reason | null {
  if (problems.length === 0) return null;
  const why = because('setting-invalid', `a setting cannot be used: ${problems.join('; ')}`);
  tell(`${why.reason}; this build goes on without tuning`, settings.log);
  return why;
}

/**
 * Plans and runs the plan. Never returns.
 * @param given the user's own surroundings; they identify a replay
 */
async function compileTuned(decided: Decided, asked: Command, given: Surroundings): Promise<never> {
  const { command, inspected, decisions, injection, lock, store, kept, surroundings } = decided;
  const { settings, cacheDirectory } = surroundings;
  const workSeconds = () => limitFor(inspected.input, surroundings);
  const report = await reporting(decided, asked, given);
  // Without it, new records stay in a second file, which a copy of the database may leave out.
  process.once('exit', () => store?.close());

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
    return run(null, { ...lost, replayFiles: null });
  }
  const isWanted = kept.splitOf(flowOf(command, injection)) !== null && decisions.some(isInjected);
  if (isWanted && canDeliver(command) && (await kept.find(injected)) === null) {
    // Not loaded on a hit.
    const { completeSplit } = await import('../running/program-builds.ts');
    await completeSplit(decided, decisions, workSeconds());
  }
  return run(injected);

  /** @param known a part of the ending that is known before */
  function run(injected: InjectedCommand | null, known: Partial<Ending> = {}): Promise<never> {
    const own = {
      ...{ command, input: inspected.input, injected, kept, workSeconds },
      mayFallBack: mayFallBack(settings, lock),
      onEnd(ending: Ending) {
        report({ ...ending, ...known }, injected);
      },
      async onNew(module: string, landed: Landed | null) {
        if (injected === null) return;
        const { noteModule } = await import('./provenance.ts');
        await noteModule(decided, module, landed, given);
      },
      async onLost() {
        // With this survey the next build decides about the generated operations.
        await withSurvey(decided, surroundings);
      },
      async onFailure(stderr: string) {
        if (store === null || settings.readonly) return;
        const { markBroken } = await import('./blame.ts');
        await markBroken(decided, stderr, store, surroundings);
      },
    };
    // `iree-tuned lock` has proven that locked configurations land.
    return new PlanRun(own, lock?.used === true ? withoutTuning(surroundings) : surroundings).run();
  }

  function refuseAs(ending: Pick<Ending, 'landed'> & { readonly fallback: Reason }): never {
    store?.close();
    report({ ...NOT_APPLIED, ...ending }, null);
    return refuse(ending.fallback.reason, settings);
  }
}

/**
 * Runs the user's own command. Never returns.
 * @param misspelt message about a flag that is nearly one of ours; null for none. The compiler refuses the flag, but cannot suggest the
 *   right name: the message does, after the compiler's
 */
async function compileUntuned(
  untuned: Untuned,
  misspelt: string | null,
  command: Command,
  surroundings: Surroundings,
): Promise<never> {
  const { input: text } = untuned;
  const report = () => reportUntuned(untuned, command, surroundings);
  if (text === undefined || command.arguments.input?.kind !== 'file') {
    report();
    const { executable } = command.compiler;
    const { env, settings } = surroundings;
    if (misspelt === null) return runInPlace(executable, { argv: command.argv, stdin: takenStdin() }, env);
    const result = await runCompiler(executable, command.argv, { env, capture: false });
    tell(misspelt, settings.log, result.code !== 0);
    return exitLike(result);
  }
  const before = stampsBefore(surroundings);
  const onEnd = (ending: Ending) => {
    const { decisions, code, reason } = untuned;
    const counts = countsOf({ decisions, injection: { route: 'none', code, reason } });
    const again = { argv: command.argv, counts, explanation: report() };
    rememberRun(ending, again, command, text, before, [], surroundings);
  };
  const own = { command, input: text, injected: null, kept: null, mayFallBack: true };
  return new PlanRun({ ...own, workSeconds: () => Infinity, onEnd }, surroundings).run();
}
