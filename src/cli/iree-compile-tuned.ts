// The drop-in: iree-compile's own command line in, the real compiler's behaviour out.
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { locate } from 'mlir-parser-ts';
import { findCompiler, readProcess, replaceProcess } from '../compiler/index.ts';
import { isInjected, type Decision, type Site } from '../decision/decision.ts';
import { matchesGenerated } from '../inject/plan.ts';
import { compileInjected, injectedCommand, runOriginal, type Ending } from '../pipeline/compile.ts';
import { subjectOf } from '../pipeline/decide.ts';
import { createDigest } from '../pipeline/digest.ts';
import {
  inspect,
  readCommand,
  type Command,
  type PassThrough,
  type Subjects,
  type Surroundings,
} from '../pipeline/inspect.ts';
import { planIdentity, planMemory } from '../pipeline/plan-memory.ts';
import { planCompile } from '../pipeline/plan.ts';
import { reportCompile, reportPass } from '../pipeline/report.ts';
import { resolve, withSurvey } from '../pipeline/resolve.ts';
import { messageOf, tell, writeLog } from '../report/tell.ts';
import { readSettings, splitFlags, type Settings } from '../settings/index.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';

const { argv: wholeArgv, env } = readProcess();
const root = join(import.meta.dirname, import.meta.dirname.endsWith('dist') ? '..' : '../..');

async function main(): Promise<never> {
  const { given, rest: argv } = splitFlags(wholeArgv);
  const { settings, problems, refused } = readSettings(env, given);
  const cacheDirectory = settings.cache;
  if (settings.disabled) {
    const { executable } = findCompiler(env, { compiler: settings.compiler, root, cacheDirectory });
    return replaceProcess(executable, argv, env);
  }
  for (const message of refused) tell(message, settings.log);

  const surroundings: Surroundings = { env, settings, root, cacheDirectory };
  const command = await readCommand(argv, surroundings);
  let stdin: Uint8Array | undefined;
  try {
    const inspected =
      problems.length > 0 ? passUntouched(problems, settings) : await inspect(command, surroundings);
    if ('pass' in inspected) {
      stdin = inspected.stdin;
      reportPass(inspected, command, surroundings);
    } else {
      if (command.arguments.input?.kind === 'stdin') stdin = inspected.bytes;
      await compileTuned(inspected, command, surroundings);
    }
  } catch (error) {
    // Whatever fails on our side, the build is the user's.
    tell(`${messageOf(error)}; this build goes on without tuning`, settings.log);
    if (settings.log !== undefined && error instanceof Error) writeLog(error.stack ?? '', settings.log);
    const pass = `tuning failed: ${messageOf(error)}`;
    reportPass({ pass, decisions: [], input: undefined, stdin }, command, surroundings);
  }
  return runOriginal(command, stdin, env);
}

/** Settings that are not understood: nobody knows what the user wants, except to compile. */
function passUntouched(problems: readonly string[], settings: Settings): PassThrough {
  const pass = `a setting is not understood: ${problems.join('; ')}`;
  tell(`${pass}; this build goes on without tuning`, settings.log);
  return { pass, decisions: [], input: undefined, stdin: undefined };
}

/** Looks up, tunes what is missing, injects and compiles. Returns only when nothing is to be injected. */
async function compileTuned(
  inspected: Subjects,
  command: Command,
  surroundings: Surroundings,
): Promise<void> {
  const { settings, cacheDirectory } = surroundings;
  const { store, problem } = await openDatabase(settings);
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
    reportCompile(ending, subjects, command, decisions, injection, { tuning, handedOver }, surroundings);
  };
  if (injection.route === 'none') {
    store?.close();
    report({ applied: null, landed: null, argv: command.argv, fallback: null });
    return;
  }
  const digest = await createDigest();
  const injected = await injectedCommand(injection, command, subjects, decisions, surroundings, digest);
  if (injected === null) {
    const identity = planIdentity(command, subjects.digest, decisions, injection.route);
    const landed = decisions.map((decision) => (isInjected(decision) ? false : null));
    planMemory.remember(cacheDirectory, { identity, state: 'proven', landed });
    store?.close();
    report({ applied: false, landed, argv: command.argv, fallback: 'no executable can be substituted' });
    return;
  }
  const onLost = async () => {
    // The next build decides about what the compiler really makes of this input.
    await withSurvey(subjects, command, surroundings);
  };
  const onFailure = (stderr: string) => {
    tell('a tuned compile failed and was done again without tuning', settings.log);
    if (store === null || settings.readonly) return;
    for (const { tunable } of brokenDecisions(decisions, subjects.bytes, stderr))
      store.markFailed(subjectOf(tunable!, subjects), `compile failed: ${firstError(stderr)}`);
  };
  await compileInjected(injected, command, subjects, decisions, surroundings, {
    onEnd: report,
    onLost,
    onFailure,
  });
}

/** A database that cannot be used is a build without tuning, and a message for who looks. */
async function openDatabase(settings: Settings): Promise<{ store: Store | null; problem: string | null }> {
  try {
    return { store: await openStore(settings.database, { readonly: settings.readonly }), problem: null };
  } catch (error) {
    return { store: null, problem: `no tuning database: ${messageOf(error)}` };
  }
}

/** The decisions whose operations a failed compile's messages point at; the only one, when there is just one. */
function brokenDecisions(decisions: readonly Decision[], input: Uint8Array, stderr: string): Decision[] {
  const injected = decisions.filter(isInjected);
  if (injected.length === 1) return injected;
  const lines = new Set([...stderr.matchAll(/:(\d+):\d+: error:/g)].map((match) => Number(match[1])));
  return injected.filter(({ site }) => lines.has(lineOf(site, input)));
}

const lineOf = ({ operation, location }: Site, input: Uint8Array): number =>
  operation === null ? Number(/:(\d+):\d+$/.exec(location ?? '')?.[1]) : locate(input, operation.start).line;

const firstError = (stderr: string) =>
  stderr.split('\n').find((line) => line.includes('error')) ?? 'no message';

try {
  await main();
} catch (error) {
  // No compiler, or no way to run it: there is nothing to fall back to.
  writeSync(2, `${messageOf(error).replace(/^(?!iree-compile-tuned: )/, 'iree-compile-tuned: ')}\n`);
  process.exit(1);
}
