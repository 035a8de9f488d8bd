// A compile that is looked at: from the command line to the real compiler in our place.
import { locate } from 'mlir-parser-ts';
import type { FoundCompiler } from '../compiler/index.ts';
import { isInjected, leaveOut, type Decision, type Injected } from '../decision/decision.ts';
import type { Place } from '../input/operation.ts';
import type { Injection } from '../inject/plan.ts';
import {
  compileAsGiven,
  compileInjected,
  hasDelivered,
  surveySeconds,
  injectedCommand,
  NOT_APPLIED,
  originalCompile,
  runOriginal,
  SUCCESS,
  type Ending,
  attempt,
} from './compile.ts';
import { compileLimit } from './compile-limit.ts';
import { canDeliver } from './deliver.ts';
import { flowOf } from './kept-modules.ts';
import { takenStdin } from '../system/bytes.ts';
import { exitLike } from '../system/run.ts';
import { createDigest, type Digest } from '../system/digest.ts';
import { inspect, unread, type PassThrough, type Inspected } from './inspect.ts';
import { decide, type Decided } from './decide.ts';
import { readCommand, type Command } from '../compiler/command.ts';
import { inputIdentity } from '../compiler/command-identity.ts';
import { planIdentity, planMemory } from './plan-memory.ts';
import { planCompile } from './plan.ts';
import { knownTimes } from './program-times.ts';
import { rememberRun, stampsBefore } from './replay.ts';
import { reportCompile, reportPass } from './report-compile.ts';
import { mayFallBack, refuse, whyNotTuned } from './required.ts';
import { withSurvey } from './resolve.ts';
import { surveyMemory } from '../input/survey-memory.ts';
import type { Counts } from '../report/counting.ts';
import { countsOf, countsOfPass } from '../report/counts.ts';
import { messageOf, tell, writeLog } from '../system/tell.ts';
import type { Settings } from '../settings/index.ts';
import { NAMES } from '../settings/settings.ts';
import { userName } from '../store/author.ts';
import { withoutTuning, type Surroundings } from '../settings/surroundings.ts';

/**
 * Compiles, with everything that is known or can be found out. Never returns; rejects only when the compiler cannot be
 * started.
 * @param problems settings that are not understood
 */
export async function compile(
  argv: readonly string[],
  compiler: FoundCompiler,
  problems: readonly string[],
  surroundings: Surroundings,
): Promise<never> {
  const { env, settings } = surroundings;
  let command: Command | undefined;
  // Whatever fails on our side, the build is the user's.
  const goOn = async (error: unknown): Promise<never> => {
    if (hasDelivered()) return exitLike(SUCCESS);
    if (settings.require !== undefined) return refuse(messageOf(error), settings);
    const stdin = takenStdin();
    tell(`${messageOf(error)}; this build goes on without tuning`, settings.log);
    if (settings.log !== undefined && error instanceof Error) writeLog(error.stack ?? '', settings.log);
    await attempt(() => {
      if (command === undefined) return;
      reportPass(unread(`tuning failed: ${messageOf(error)}`, stdin), command, surroundings);
    }, surroundings);
    return runOriginal(compiler.executable, argv, stdin, env);
  };
  // What fails where nobody waits for it would end this process, and what never comes to an end would end it with success.
  process.once('uncaughtException', (error) => void goOn(error));
  process.once('beforeExit', () => void goOn('nothing goes on'));
  let stdin: Uint8Array | undefined;
  try {
    await tellUnknown(argv, settings);
    command = await readCommand(argv, compiler, surroundings.cacheDirectory);
    const inspected =
      problems.length > 0 ? passUntouched(problems, settings) : await inspect(command, surroundings);
    if ('pass' in inspected) {
      stdin = inspected.stdin;
      reportPass(inspected, command, surroundings);
      await rememberPass(inspected, command, surroundings);
    } else {
      if (command.arguments.input?.kind === 'stdin') stdin = inspected.input.bytes;
      await compileTuned(inspected, command, surroundings);
    }
  } catch (error) {
    return goOn(error);
  }
  return runOriginal(compiler.executable, argv, stdin, env);
}

/** Flags that look like ours are the compiler's to refuse, who knows no name that is near. */
async function tellUnknown(argv: readonly string[], { log }: Settings): Promise<void> {
  const flag = argv.find((argument) => /^--?iree-tuned-/.test(argument))?.replace(/=.*/s, '');
  if (flag === undefined) return;
  const { didYouMean } = await import('../report/nearest.ts');
  const flags = NAMES.map((name) => `--iree-tuned-${name}`);
  tell(`${flag} is no setting${didYouMean(flag, flags)}`, log);
}

/** Settings that are not understood: nobody knows what the user wants, except to compile. */
function passUntouched(problems: readonly string[], settings: Settings): PassThrough {
  const pass = `a setting is not understood: ${problems.join('; ')}`;
  tell(`${pass}; this build goes on without tuning`, settings.log);
  return unread(pass);
}

/**
 * Decides, injects and compiles. Never returns.
 * @param given as the user has set things, which is what a repeated command is known by
 */
async function compileTuned(found: Inspected, asked: Command, given: Surroundings): Promise<never> {
  const decided = await decide(found, asked, given);
  const { command, inspected, decisions, injection, verdict, forms, tuning } = decided;
  const { lock, store, kept, surroundings } = decided;
  const { settings, cacheDirectory } = surroundings;
  const isFree = mayFallBack(settings, lock);
  const whyNot = settings.require === undefined ? null : whyNotTuned(decisions);
  const handedOver = performance.now();
  // For who looks alone.
  const isTold = settings.explain !== undefined || settings.log !== undefined;
  const programTimes = knownTimes({ command, inspected }, isTold ? store : null);
  const report = (ending: Ending) => {
    const times = { tuning, handedOver };
    const what = { decisions, injection, verdict, forms, lock, programTimes };
    reportCompile(ending, inspected, command, what, times, surroundings);
    if (!decided.settled || ending.files === null || command.arguments.input?.kind !== 'file') return;
    const input = { path: command.arguments.input.path, digest: inspected.input.digest };
    const memories = [
      surveyMemory.pathOf(cacheDirectory, inputIdentity(command, inspected.input.digest)),
      planMemory.pathOf(
        cacheDirectory,
        planIdentity(command, inspected.input.digest, decisions, injection.route),
      ),
    ];
    const { output } = command.arguments;
    const isKept = ending.output !== null && output.kind === 'file';
    const own = isKept && { identity: ending.output, path: output.path, isAll: ending.isEdited === true };
    const counts = countsOfRepeat(decisions, injection, ending);
    const run = { argv: ending.argv, counts, ...(own && { output: own }) };
    const files = [...memories, ...decided.files, ...ending.files];
    rememberRun(run, asked, input, decided.before, files, given, decided.until);
  };
  const compileOriginal = async (ending: Omit<Ending, 'argv' | 'output'>) =>
    compileAsGiven(
      command,
      inspected,
      await kept.find(originalCompile(command, inspected)),
      surroundings,
      (output) => {
        report({ ...ending, argv: command.argv, output });
      },
    );
  if (whyNot !== null) {
    store?.close();
    report({ ...NOT_APPLIED, applied: null, argv: command.argv, fallback: whyNot });
    return refuse(whyNot, settings);
  }
  if (injection.route === 'none' && command.rewriting === undefined) {
    store?.close();
    return compileOriginal({ ...NOT_APPLIED, applied: null, fallback: null, files: [] });
  }
  const digest = await createDigest();
  const injected = await injectedCommand(
    injection,
    command,
    inspected,
    decisions,
    surroundings,
    digest,
    kept,
  );
  if (injected === null) {
    const identity = planIdentity(command, inspected.input.digest, decisions, injection.route);
    const landed = decisions.map((decision) => (isInjected(decision) ? false : null));
    planMemory.remember(cacheDirectory, { identity, state: 'proven', landed });
    store?.close();
    const fallback = 'no executable can be substituted';
    if (isFree) return compileOriginal({ ...NOT_APPLIED, landed, fallback });
    report({ ...NOT_APPLIED, landed, argv: command.argv, fallback });
    return refuse(fallback, settings);
  }
  const isWanted = kept.splitOf(flowOf(command, injection)) !== null && decisions.some(isInjected);
  if (isWanted && canDeliver(command) && (await kept.find(injected)) === null) {
    const seconds = compileLimit(surveySeconds(command, inspected, surroundings));
    // Nothing of this is loaded on a hit.
    const { completeSplit } = await import('./program-builds.ts');
    await completeSplit(command, inspected, decisions, surroundings, kept, seconds);
  }
  const onLost = async () => {
    // The next build decides about what the compiler really makes of this input.
    await withSurvey(inspected, command, surroundings);
  };
  const onFailure = async (stderr: string | null) => {
    if (store === null || settings.readonly || stderr === null) return;
    const written = { createdAt: new Date().toISOString(), createdBy: userName() };
    const failsAlone = failingAlone(decided, stderr, digest);
    for (const one of brokenDecisions(decisions, inspected.input.bytes, stderr)) {
      const subject = one.record === null ? undefined : store.subject(one.record);
      const said = subject === undefined ? null : await failsAlone(one);
      if (subject === undefined || said === null) continue;
      const reason = firstError(said);
      store.addMarks(subject, [
        { configuration: one.configuration, kind: 'compile-error', reason, ...written },
      ]);
    }
  };
  // What is locked was looked for in the executables when the lock file was made.
  const own = lock?.whole ? withoutTuning(surroundings) : surroundings;
  const hooks = {
    mayFallBack: isFree,
    module: await kept.find(injected),
    onEnd: report,
    onLost,
    onFailure,
  };
  return compileInjected(injected, command, inspected, decisions, own, hooks);
}

/**
 * Compiles with the configuration of one operation alone. Gives the messages if that fails, null otherwise.
 * @param stderr messages of the compile with all configurations
 */
function failingAlone(
  { decisions, inspected, command, surroundings }: Decided,
  stderr: string,
  digest: Digest,
): (one: Injected) => Promise<string | null> {
  return async (one) => {
    const own = leaveOut(decisions, (key) => (key === one.tunable.key ? null : 'left out'));
    if (own.filter(isInjected).length === decisions.filter(isInjected).length) return stderr;
    const injection = planCompile(own, inspected, command, surroundings);
    const alone = await injectedCommand(injection, command, inspected, own, surroundings, digest);
    if (alone === null || injection.route === 'none') return null;
    const { failsAgain } = await import('./blame.ts');
    const seconds = compileLimit(surveySeconds(command, inspected, surroundings));
    return failsAgain(alone, command.compiler.executable, surroundings, seconds);
  };
}

/** What the same compile will be counted as next time: nothing is tuned twice. */
function countsOfRepeat(
  decisions: readonly Decision[],
  injection: Injection,
  { landed, fallback }: Ending,
): Counts {
  const again = decisions.map((decision): Decision =>
    decision.outcome === 'tuned' ? { ...decision, outcome: 'hit' } : decision,
  );
  return countsOf({ decisions: again, injection, verdict: null, landed, fallback, tuningSeconds: 0 });
}

/** An input that is read and passed on is passed on again, as long as it is the same. */
async function rememberPass(
  { pass, decisions, input, lasting }: PassThrough,
  command: Command,
  surroundings: Surroundings,
): Promise<void> {
  if (!lasting || input === undefined || command.arguments.input?.kind !== 'file') return;
  const { path } = command.arguments.input;
  const digest = (await createDigest())([input]);
  const run = { argv: command.argv, counts: countsOfPass(pass, decisions) };
  rememberRun(run, command, { path, digest }, stampsBefore(surroundings), [], surroundings);
}

/**
 * The decisions whose operations a failed compile's messages point at; the only one, when there is just one. An error
 * that has no place in the input, such as a full disk, is nobody's.
 */
function brokenDecisions(decisions: readonly Decision[], input: Uint8Array, stderr: string): Injected[] {
  const injected = decisions.filter(isInjected);
  const lines = new Set([...stderr.matchAll(/:(\d+):\d+: error:/g)].map((match) => Number(match[1])));
  if (lines.size > 0 && injected.length === 1) return injected;
  return injected.filter(({ place }) => lines.has(lineOf(place, input)));
}

const lineOf = ({ operation, location }: Place, input: Uint8Array): number =>
  operation === null ? Number(/:(\d+):\d+$/.exec(location ?? '')?.[1]) : locate(input, operation.start).line;

const firstError = (stderr: string) =>
  stderr.split('\n').find((line) => line.includes('error')) ?? 'no message';
