// A compile that is looked at: from the command line to the real compiler in our place.
import { locate } from 'mlir-parser-ts';
import type { FoundCompiler } from '../compiler/index.ts';
import { isInjected, type Decision, type Site } from '../decision/decision.ts';
import { matchesGenerated, type Injection } from '../inject/plan.ts';
import { compileInjected, injectedCommand, runOriginal, type Ending } from '../pipeline/compile.ts';
import { takenStdin } from '../pipeline/bytes.ts';
import { subjectOf } from '../pipeline/decide.ts';
import { createDigest } from '../pipeline/digest.ts';
import {
  inspect,
  readCommand,
  unread,
  type Command,
  type PassThrough,
  type Subjects,
  type Surroundings,
} from '../pipeline/inspect.ts';
import { inputIdentity, planIdentity, planMemory, programIdentity } from '../pipeline/plan-memory.ts';
import { planCompile } from '../pipeline/plan.ts';
import { programMemory } from '../pipeline/program-memory.ts';
import { rememberRun, stampsBefore } from '../pipeline/replay.ts';
import { reportCompile, reportPass } from '../pipeline/report.ts';
import { resolve, withSurvey } from '../pipeline/resolve.ts';
import { surveyMemory } from '../pipeline/survey-memory.ts';
import type { Counts } from '../report/counting.ts';
import { countsOf, countsOfPass } from '../report/counts.ts';
import { messageOf, tell, writeLog } from '../report/tell.ts';
import type { Settings } from '../settings/index.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';

/**
 * Compiles, with everything that is known or can be found out. Never returns.
 * @param problems settings that are not understood
 */
export async function compile(
  argv: readonly string[],
  compiler: FoundCompiler,
  problems: readonly string[],
  surroundings: Surroundings,
): Promise<never> {
  const { env, settings } = surroundings;
  const command = await readCommand(argv, compiler, surroundings);
  let stdin: Uint8Array | undefined;
  try {
    const inspected =
      problems.length > 0 ? passUntouched(problems, settings) : await inspect(command, surroundings);
    if ('pass' in inspected) {
      stdin = inspected.stdin;
      reportPass(inspected, command, surroundings);
      await rememberPass(inspected, command, surroundings);
    } else {
      if (command.arguments.input?.kind === 'stdin') stdin = inspected.bytes;
      await compileTuned(inspected, command, surroundings);
    }
  } catch (error) {
    // Whatever fails on our side, the build is the user's.
    stdin ??= takenStdin();
    tell(`${messageOf(error)}; this build goes on without tuning`, settings.log);
    if (settings.log !== undefined && error instanceof Error) writeLog(error.stack ?? '', settings.log);
    reportPass(unread(`tuning failed: ${messageOf(error)}`, stdin), command, surroundings);
  }
  return runOriginal(command, stdin, env);
}

/** Settings that are not understood: nobody knows what the user wants, except to compile. */
function passUntouched(problems: readonly string[], settings: Settings): PassThrough {
  const pass = `a setting is not understood: ${problems.join('; ')}`;
  tell(`${pass}; this build goes on without tuning`, settings.log);
  return unread(pass);
}

/** Looks up, tunes what is missing, injects and compiles. Returns only when nothing is to be injected. */
async function compileTuned(
  inspected: Subjects,
  command: Command,
  surroundings: Surroundings,
): Promise<void> {
  const { settings, cacheDirectory } = surroundings;
  const { store, problem } = await openDatabase(settings);
  const programFile = programMemory.pathOf(cacheDirectory, programIdentity(command, inspected.digest));
  const before = stampsBefore(surroundings, [programFile]);
  if (problem !== null) tell(`${problem}; this build goes on without tuning`, settings.log);
  let resolved = await resolve(inspected, store, problem, command, surroundings);
  let injection = planCompile(resolved.decisions, resolved.subjects, command, surroundings);
  let tuning = resolved.seconds;
  if (!matchesGenerated(injection.route)) {
    // What an operation is written as is not always what was measured.
    const surveyed = await withSurvey(resolved.subjects, command, surroundings);
    if (surveyed !== resolved.subjects) {
      resolved = await resolve(surveyed, store, problem, command, surroundings);
      injection = planCompile(resolved.decisions, surveyed, command, surroundings);
      tuning += resolved.seconds;
    }
  }
  const { subjects, decisions } = resolved;
  const handedOver = performance.now();
  const report = (ending: Ending) => {
    const times = { tuning, handedOver };
    reportCompile(ending, subjects, command, decisions, injection, times, surroundings);
    if (!resolved.settled || ending.files === null || command.arguments.input?.kind !== 'file') return;
    const input = { path: command.arguments.input.path, digest: subjects.digest };
    const memories = [
      surveyMemory.pathOf(cacheDirectory, inputIdentity(command, subjects.digest)),
      planMemory.pathOf(cacheDirectory, planIdentity(command, subjects.digest, decisions, injection.route)),
    ];
    const run = { argv: ending.argv, counts: countsOfRepeat(decisions, injection, ending) };
    rememberRun(run, command, input, before, [...memories, ...ending.files], surroundings);
  };
  if (injection.route === 'none') {
    store?.close();
    report({ applied: null, landed: null, argv: command.argv, fallback: null, files: [] });
    return;
  }
  const digest = await createDigest();
  const injected = await injectedCommand(injection, command, subjects, decisions, surroundings, digest);
  if (injected === null) {
    const identity = planIdentity(command, subjects.digest, decisions, injection.route);
    const landed = decisions.map((decision) => (isInjected(decision) ? false : null));
    planMemory.remember(cacheDirectory, { identity, state: 'proven', landed });
    store?.close();
    const fallback = 'no executable can be substituted';
    report({ applied: false, landed, argv: command.argv, fallback, files: null });
    return;
  }
  const onLost = async () => {
    // The next build decides about what the compiler really makes of this input.
    await withSurvey(subjects, command, surroundings);
  };
  const onFailure = (stderr: string | null) => {
    tell('a tuned compile failed and was done again without tuning', settings.log);
    if (store === null || settings.readonly || stderr === null) return;
    for (const { tunable } of brokenDecisions(decisions, subjects.bytes, stderr))
      store.markFailed(subjectOf(tunable!, subjects), `compile failed: ${firstError(stderr)}`);
  };
  await compileInjected(injected, command, subjects, decisions, surroundings, {
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
  return countsOf({ decisions: again, injection, landed, fallback, tuningSeconds: 0 });
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
function brokenDecisions(decisions: readonly Decision[], input: Uint8Array, stderr: string): Decision[] {
  const injected = decisions.filter(isInjected);
  const lines = new Set([...stderr.matchAll(/:(\d+):\d+: error:/g)].map((match) => Number(match[1])));
  if (lines.size > 0 && injected.length === 1) return injected;
  return injected.filter(({ site }) => lines.has(lineOf(site, input)));
}

const lineOf = ({ operation, location }: Site, input: Uint8Array): number =>
  operation === null ? Number(/:(\d+):\d+$/.exec(location ?? '')?.[1]) : locate(input, operation.start).line;

const firstError = (stderr: string) =>
  stderr.split('\n').find((line) => line.includes('error')) ?? 'no message';
