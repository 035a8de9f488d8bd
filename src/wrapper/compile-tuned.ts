// A compile that is looked at: from the command line to the real compiler in our place.
import { locate } from 'mlir-parser-ts';
import type { FoundCompiler } from '../compiler/index.ts';
import { isInjected, type Decision, type Injected } from '../decision/decision.ts';
import type { Place } from '../input/operation.ts';
import { matchesGenerated, type Injection } from '../inject/plan.ts';
import { compileInjected, injectedCommand, runOriginal, type Ending, attempt } from './compile.ts';
import { takenStdin } from '../system/bytes.ts';
import { createDigest } from '../system/digest.ts';
import { inspect, unread, type PassThrough, type Inspected } from './inspect.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { readCommand, type Command } from '../compiler/command.ts';
import { inputIdentity, programIdentity } from '../compiler/command-identity.ts';
import { lastWord } from './last-word.ts';
import { planIdentity, planMemory } from './plan-memory.ts';
import { planCompile } from './plan.ts';
import { programMemory } from './program-memory.ts';
import { rememberRun, stampsBefore } from './replay.ts';
import { reportCompile, reportPass } from './report-compile.ts';
import { resolve, withSurvey } from './resolve.ts';
import { surveyMemory } from '../input/survey-memory.ts';
import type { Counts } from '../report/counting.ts';
import { countsOf, countsOfPass } from '../report/counts.ts';
import { messageOf, tell, writeLog } from '../system/tell.ts';
import type { Settings } from '../settings/index.ts';
import { userName } from '../store/author.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';

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

/** Settings that are not understood: nobody knows what the user wants, except to compile. */
function passUntouched(problems: readonly string[], settings: Settings): PassThrough {
  const pass = `a setting is not understood: ${problems.join('; ')}`;
  tell(`${pass}; this build goes on without tuning`, settings.log);
  return unread(pass);
}

/** Looks up, tunes what is missing, injects and compiles. Returns only when nothing is to be injected. */
async function compileTuned(found: Inspected, command: Command, surroundings: Surroundings): Promise<void> {
  const { settings, cacheDirectory } = surroundings;
  const { store, problem } = await openDatabase(settings);
  const identity = programIdentity(command, found.input.digest, found.site.deviceKey);
  const before = stampsBefore(surroundings, [programMemory.pathOf(cacheDirectory, identity)]);
  const memory = programMemory.recall(cacheDirectory, identity);
  if (problem !== null) tell(`${problem}; this build goes on without tuning`, settings.log);
  let resolved = await resolve(found, store, problem, memory, command, surroundings);
  let injection = planCompile(resolved.decisions, resolved.inspected, command, surroundings);
  let tuning = resolved.seconds;
  if (!matchesGenerated(injection.route)) {
    // What an operation is written as is not always what was measured.
    const surveyed = await withSurvey(resolved.inspected, command, surroundings);
    if (surveyed !== resolved.inspected) {
      resolved = await resolve(surveyed, store, problem, memory, command, surroundings);
      injection = planCompile(resolved.decisions, surveyed, command, surroundings);
      tuning += resolved.seconds;
    }
  }
  const { inspected, whyNot } = resolved;
  const program = { command, inspected, decisions: resolved.decisions, identity, memory };
  const word = await lastWord(program, injection, whyNot, store, surroundings);
  const { decisions, verdict } = word;
  if (decisions !== resolved.decisions) injection = planCompile(decisions, inspected, command, surroundings);
  tuning += word.seconds;
  const handedOver = performance.now();
  const report = (ending: Ending) => {
    const times = { tuning, handedOver };
    reportCompile(ending, inspected, command, { decisions, injection, verdict }, times, surroundings);
    if (
      !resolved.settled ||
      !word.settled ||
      ending.files === null ||
      command.arguments.input?.kind !== 'file'
    )
      return;
    const input = { path: command.arguments.input.path, digest: inspected.input.digest };
    const memories = [
      surveyMemory.pathOf(cacheDirectory, inputIdentity(command, inspected.input.digest)),
      planMemory.pathOf(
        cacheDirectory,
        planIdentity(command, inspected.input.digest, decisions, injection.route),
      ),
    ];
    const run = { argv: ending.argv, counts: countsOfRepeat(decisions, injection, ending) };
    const files = [...memories, ...resolved.files, ...ending.files];
    rememberRun(run, command, input, before, files, surroundings, resolved.until);
  };
  if (injection.route === 'none') {
    store?.close();
    report({ applied: null, landed: null, argv: command.argv, fallback: null, files: [] });
    return;
  }
  const digest = await createDigest();
  const injected = await injectedCommand(injection, command, inspected, decisions, surroundings, digest);
  if (injected === null) {
    const identity = planIdentity(command, inspected.input.digest, decisions, injection.route);
    const landed = decisions.map((decision) => (isInjected(decision) ? false : null));
    planMemory.remember(cacheDirectory, { identity, state: 'proven', landed });
    store?.close();
    const fallback = 'no executable can be substituted';
    report({ applied: false, landed, argv: command.argv, fallback, files: null });
    return;
  }
  const onLost = async () => {
    // The next build decides about what the compiler really makes of this input.
    await withSurvey(inspected, command, surroundings);
  };
  const onFailure = (stderr: string | null) => {
    tell('a tuned compile failed and was done again without tuning', settings.log);
    if (store === null || settings.readonly || stderr === null) return;
    const written = { createdAt: new Date().toISOString(), createdBy: userName() };
    for (const { record, configuration } of brokenDecisions(decisions, inspected.input.bytes, stderr)) {
      const subject = record === null ? undefined : store.subject(record);
      if (subject === undefined) continue;
      store.addMarks(subject, [
        { configuration, kind: 'compile-error', reason: firstError(stderr), ...written },
      ]);
    }
  };
  await compileInjected(injected, command, inspected, decisions, surroundings, {
    onEnd: report,
    onLost,
    onFailure,
  });
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
  rememberRun(run, command, { path, digest }, stampsBefore(surroundings, []), [], surroundings);
}

/** A database that cannot be used is a build without tuning, and a message for who looks. */
async function openDatabase(settings: Settings): Promise<{ store: Store | null; problem: string | null }> {
  try {
    return { store: await openStore(settings.database, { readonly: settings.readonly }), problem: null };
  } catch (error) {
    return { store: null, problem: `no tuning database: ${messageOf(error)}` };
  }
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
