// The drop-in: iree-compile's own command line in, the real compiler's behaviour out.
import { appendFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { locate } from 'mlir-parser-ts';
import {
  cacheDirectory as cacheDirectoryOf,
  CompilerNotFoundError,
  findCompiler,
  RecursionError,
  replaceProcess,
} from '../compiler/index.ts';
import type { Decision } from '../decision/decision.ts';
import { planInjection, type Injection } from '../inject/plan.ts';
import { compileInjected, injectedCommand, runOriginal, type Ending } from '../pipeline/compile.ts';
import { lookUp, subjectOf, type Lookup } from '../pipeline/decide.ts';
import { createDigest } from '../pipeline/digest.ts';
import {
  inspect,
  readCommand,
  type Command,
  type PassThrough,
  type Subjects,
  type Surroundings,
} from '../pipeline/inspect.ts';
import { noteCounts } from '../report/counting.ts';
import { explainOperations, type Explanation } from '../report/explain.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { readSettings, SettingsError, splitSettings, type Settings } from './settings.ts';

const started = performance.now();
const env = process.env;
const root = join(import.meta.dirname, import.meta.dirname.endsWith('dist') ? '..' : '../..');

/** Says something to a person, never into a build's captured stderr. */
function tell(message: string, settings: Settings | null): void {
  const line = `iree-compile-tuned: ${message}\n`;
  // Not process.stderr: merely looking at it would leave a pipe non-blocking for the compiler.
  if (process.getBuiltinModule('node:tty').isatty(2)) writeSync(2, line);
  const log = settings?.log ?? env['IREE_TUNED_LOG'];
  if (log === undefined || log === '') return;
  try {
    appendFileSync(log, `${new Date().toISOString()} ${line}`);
  } catch {
    // A log that cannot be written must not stop a build.
  }
}

async function main(): Promise<never> {
  const { given, rest: argv } = splitSettings(process.argv.slice(2));
  const cacheDirectory = cacheDirectoryOf(env);
  let settings: Settings;
  try {
    settings = readSettings(env, given);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    tell(`${error.message}; this build goes on without tuning`, null);
    const compiler = given.get('compiler') ?? env['IREE_TUNED_COMPILER'];
    const { executable } = findCompiler(env, { compiler, root, cacheDirectory });
    return replaceProcess(executable, argv, env);
  }
  const surroundings: Surroundings = { env, settings, root, cacheDirectory };
  if (settings.disabled) {
    const { executable } = findCompiler(env, { compiler: settings.compiler, root, cacheDirectory });
    return replaceProcess(executable, argv, env);
  }
  const command = await readCommand(argv, surroundings);
  let stdin: Uint8Array | undefined;
  try {
    const inspected = await inspect(command, surroundings);
    if ('pass' in inspected) {
      stdin = inspected.stdin;
      finishPass(inspected, command, surroundings);
    } else {
      if (command.arguments.input?.kind === 'stdin') stdin = inspected.bytes;
      await compileTuned(inspected, command, surroundings);
    }
  } catch (error) {
    // Whatever fails on our side, the build is the user's.
    tell(`${describe(error)}; this build goes on without tuning`, settings);
    noteCounts(cacheDirectory, { compiles: 1, 'error: internal': 1 });
    if (settings.log !== undefined && error instanceof Error) tell(error.stack ?? '', { ...settings });
  }
  return runOriginal(command, stdin, env);
}

/** Looks up, tunes what is missing, injects and compiles. Returns only when nothing is to be injected. */
async function compileTuned(subjects: Subjects, command: Command, surroundings: Surroundings): Promise<void> {
  const { settings, cacheDirectory } = surroundings;
  const { store, problem } = await open(settings);
  if (problem !== null) tell(problem, settings);
  const lookup = lookUp(store, subjects, settings);
  const { tuned, whyNot, seconds } = await resolveMisses(store, lookup, subjects, command, surroundings);
  const decisions = lookup.decide(tuned, problem ?? whyNot);
  const markFailed = (stderr: string) => {
    const failed = brokenDecisions(decisions, subjects.bytes, stderr);
    tell('a tuned compile failed and was done again without tuning', settings);
    if (store === null || settings.readonly) return;
    for (const { tunable } of failed)
      store.markFailed(subjectOf(tunable!, subjects), `compile failed: ${firstError(stderr)}`);
  };
  const injection = planInjection(decisions, {
    wanted: settings.inject,
    release: subjects.description.release,
    dataTiling: subjects.dataTiling,
  });
  const report = reporter(subjects, command, decisions, injection, seconds, surroundings);
  if (injection.route === 'none') {
    store?.close();
    report({ applied: null, landed: null, argv: command.argv, fallback: null });
    return;
  }
  const digest = await createDigest();
  const injected = injectedCommand(injection, command, subjects, cacheDirectory, digest);
  await compileInjected(injected, command, subjects, decisions, surroundings, digest, report, markFailed);
}

/** A database that cannot be used is a build without tuning, and a message for who looks. */
async function open(settings: Settings): Promise<{ store: Store | null; problem: string | null }> {
  try {
    return { store: await openStore(settings.database, { readonly: settings.readonly }), problem: null };
  } catch (error) {
    const isMissing =
      settings.readonly && error instanceof Error && 'kind' in error && error.kind === 'unavailable';
    return { store: null, problem: isMissing ? null : describe(error) };
  }
}

async function resolveMisses(
  store: Store | null,
  lookup: Lookup,
  subjects: Subjects,
  command: Command,
  surroundings: Surroundings,
): Promise<{ tuned: Parameters<Lookup['decide']>[0]; whyNot: string; seconds: number }> {
  const none = new Map<string, never>();
  const { settings } = surroundings;
  const { misses } = lookup;
  if (misses.length === 0) return { tuned: none, whyNot: '', seconds: 0 };
  if (settings.onMiss === 'record' && store !== null && !settings.readonly)
    for (const miss of misses) store.noteMiss(subjectOf(miss, subjects));
  const whyNot =
    subjects.whyNotHere ??
    (settings.onMiss !== 'tune'
      ? `no record, and tuning is off (on-miss=${settings.onMiss})`
      : settings.budgetSeconds === 0
        ? 'no record, and the tuning budget is 0'
        : settings.readonly
          ? 'no record, and the database is read-only'
          : store === null
            ? 'no tuning database'
            : null);
  if (whyNot !== null || store === null) return { tuned: none, whyNot: whyNot ?? '', seconds: 0 };

  const begun = performance.now();
  const [{ tuneMisses }, { progressDisplay }, { exitLike }] = await Promise.all([
    import('../tuner/tune-misses.ts'),
    import('../report/progress.ts'),
    import('../compiler/run.ts'),
  ]);
  const interrupted = new AbortController();
  let signal: NodeJS.Signals | null = null;
  const interrupt = (by: NodeJS.Signals) => {
    signal = by;
    interrupted.abort();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, interrupt);
  const display = progressDisplay();
  try {
    const { results, whyNot: untuned } = await tuneMisses(misses, store, command, subjects, surroundings, {
      budgetSeconds: settings.budgetSeconds,
      signal: interrupted.signal,
      onProgress: (progress) => {
        display.show(progress);
      },
    });
    const ending = signal as NodeJS.Signals | null;
    if (ending !== null) {
      display.clear();
      store.close();
      exitLike({ code: null, signal: ending, forwarded: ending });
    }
    return { tuned: results, whyNot: untuned, seconds: (performance.now() - begun) / 1000 };
  } finally {
    display.clear();
    for (const name of signals) process.off(name, interrupt);
  }
}

/** The decisions whose operations a failed compile's messages point at; the only one, when there is just one. */
function brokenDecisions(decisions: readonly Decision[], input: Uint8Array, stderr: string): Decision[] {
  const injected = decisions.filter(
    ({ configuration }) => configuration !== null && configuration.kind !== 'default',
  );
  if (injected.length === 1) return injected;
  const lines = new Set([...stderr.matchAll(/:(\d+):\d+: error:/g)].map((match) => Number(match[1])));
  return injected.filter(({ operation }) => lines.has(locate(input, operation.start).line));
}

const firstError = (stderr: string) =>
  stderr.split('\n').find((line) => line.includes('error')) ?? 'no message';

/** Writes the explain JSON, the log and the counters when it is clear how the compile ended. */
function reporter(
  subjects: Pick<Subjects, 'bytes' | 'description' | 'target' | 'device'>,
  command: Command,
  decisions: readonly Decision[],
  injection: Injection,
  tuningSeconds: number,
  { settings, cacheDirectory }: Surroundings,
): (ending: Ending) => void {
  const before = performance.now();
  return (ending) => {
    const counts: Record<string, number> = { compiles: 1 };
    const add = (name: string, by = 1) => (counts[name] = (counts[name] ?? 0) + by);
    for (const { outcome, reason } of decisions) {
      add(`operations: ${outcome}`);
      if (outcome === 'skipped' || outcome === 'default') add(`${outcome}: ${reason}`);
    }
    if (tuningSeconds > 0) add('seconds tuning', tuningSeconds);
    if (ending.fallback !== null) add(`fallback: ${ending.fallback}`);
    else if (injection.route !== 'none') add(`route: ${injection.route}`);
    for (const landed of ending.landed ?? []) if (landed === false) add('not applied');
    noteCounts(cacheDirectory, counts);

    const input = command.arguments.input;
    const explanation: Explanation = {
      version: 1,
      compiler: { ...subjects.description, executable: command.compiler.executable },
      target: subjects.target.target,
      device: subjects.device,
      route: ending.fallback === null ? injection.route : 'none',
      applied: ending.applied,
      command: [command.compiler.executable, ...ending.argv],
      reason: ending.fallback ?? (injection.route === 'none' ? injection.reason : null),
      operations: [],
      seconds: {
        total: (performance.now() - started) / 1000,
        tuning: tuningSeconds,
        overhead: (before - started) / 1000 - tuningSeconds,
      },
    };
    explain(settings, () => ({
      ...explanation,
      operations: explainOperations(
        subjects.bytes,
        input?.kind === 'file' ? input.path : '<stdin>',
        decisions,
        ending.landed,
      ),
    }));
  };
}

/** A compile that is passed on as it is. */
function finishPass(pass: PassThrough, command: Command, { settings, cacheDirectory }: Surroundings): void {
  const { arguments: args } = command;
  noteCounts(cacheDirectory, { compiles: 1, [`passed: ${pass.pass.replace(/=.*| .*: .*/, '')}`]: 1 });
  if (args.informational) return;
  explain(settings, () => ({
    version: 1,
    compiler: { executable: command.compiler.executable },
    target: null,
    device: null,
    route: 'none',
    applied: null,
    command: [command.compiler.executable, ...command.argv],
    reason: pass.pass,
    operations: explainOperations(
      pass.input ?? new Uint8Array(),
      args.input?.kind === 'file' ? args.input.path : '<stdin>',
      pass.decisions,
      null,
    ),
    seconds: {
      total: (performance.now() - started) / 1000,
      tuning: 0,
      overhead: (performance.now() - started) / 1000,
    },
  }));
}

function explain(settings: Settings, explanation: () => Explanation): void {
  if (settings.log !== undefined) tell(`explained: ${JSON.stringify(explanation())}`, settings);
  if (settings.explain === undefined) return;
  const text = `${JSON.stringify(explanation(), null, 2)}\n`;
  try {
    if (settings.explain === '-') writeSync(2, text);
    else writeFileSync(settings.explain, text);
  } catch (error) {
    tell(`the explanation could not be written: ${describe(error)}`, settings);
  }
}

const describe = (error: unknown) => (error instanceof Error ? error.message : String(error));

try {
  await main();
} catch (error) {
  // No compiler, or no way to run it: there is nothing to fall back to.
  const known = error instanceof CompilerNotFoundError || error instanceof RecursionError;
  writeSync(2, `iree-compile-tuned: ${known ? error.message : describe(error)}\n`);
  process.exit(1);
}
