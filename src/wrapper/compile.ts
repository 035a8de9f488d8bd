// Running the real compiler with an injection, and without it whenever anything goes wrong with it.
import { existsSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { applyInsertions } from 'mlir-parser-ts';
import { STALL_SECONDS, whenHung } from '../system/stall.ts';
import { exitLike, replaceProcess, replaceProcessFed, runCompiler, type RunResult } from '../system/run.ts';
import { isInjected, type Decision } from '../decision/decision.ts';
import { mapDiagnostics } from '../inject/diagnostics.ts';
import { specFlags } from '../inject/spec-flags.ts';
import type { Injection } from '../inject/plan.ts';
import { proveLanded } from '../inject/proof.ts';
import { substituteFlag, withoutNotes } from '../inject/substitute-flags.ts';
import { pathIn, SPECS } from '../system/cache.ts';
import type { Digest } from '../system/digest.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import type { Inspected } from './inspect.ts';
import { flowOf, type KeptModules } from './kept-modules.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { passesOf, withTrailingFlags, type Command, type Compile } from '../compiler/command.ts';
import { pipelineFlags } from '../spec/pipeline.ts';
import { planIdentity, planMemory } from './plan-memory.ts';
import { refuse } from './required.ts';
import { substituteFiles } from './substitutes.ts';
import { writeOnce } from './write-once.ts';
import { tidyUp } from '../system/tidy.ts';
import { messageOf, tell } from '../system/tell.ts';
import { compileLimit } from './compile-limit.ts';
import { cachedOutput } from './cached-output.ts';
import { canDeliver, deliverFile } from './deliver.ts';
import { commandIdentity, inputIdentity } from '../compiler/command-identity.ts';
import { surveyMemory } from '../input/survey-memory.ts';

/** A command as it is really run. */
export interface InjectedCommand {
  readonly argv: readonly string[];
  readonly route: Injection['route'];
  /** What is compiled to look at its executables: from the end of `flow` on where somebody has the program there. */
  readonly forExecutables: Compile;
  /** What was written for it into the cache directory. */
  readonly files: readonly string[];
  /** The input, when it has to be fed through stdin. */
  readonly stdin: Uint8Array | undefined;
  /** Says about the user's input what the compiler says about an edited copy; null when it reads the input itself. */
  readonly mapMessages: ((messages: string) => string) | null;
}

/** How one compile ended, told to whoever keeps count just before this process ends or is replaced. */
export interface Ending {
  readonly applied: boolean | null;
  readonly landed: readonly (boolean | null)[] | null;
  readonly argv: readonly string[];
  /** Set when the compile was done without the injection after all. */
  readonly fallback: string | null;
  /** Key of the output in the output cache; null if it is not there. */
  readonly output: string | null;
  /** Whether messages of the compiler are edited, so that it cannot replace this process. */
  readonly isEdited?: boolean;
  /**
   * The files of ours that were used, when the same command is sure to be run in the same way again; null otherwise.
   */
  readonly files: readonly string[] | null;
}

/** What a compile with an injection takes and tells. */
export interface CompileHooks {
  /** Whether a failed build may fall back to the original command. */
  readonly mayFallBack: boolean;
  /** Path of the module if this build has compiled it already. */
  readonly module: string | null;
  /** It is clear how it ends. */
  readonly onEnd: (ending: Ending) => void;
  /** A configuration was injected and did not land. */
  readonly onLost: () => Promise<void>;
  /** The injection broke the compile twice. Called with the compiler's messages, or null after a hang. */
  readonly onFailure: (stderr: string | null) => Promise<void> | void;
}

/** How a compile ends that need not be run. */
export const SUCCESS = { code: 0, signal: null, forwarded: null };

/** The command as the user gave it. */
export const originalCompile = (command: Command, { input }: Pick<Inspected, 'input'>): Compile => ({
  argv: command.argv,
  stdin: command.arguments.input?.kind === 'stdin' ? input.bytes : undefined,
});

/** The command without configurations, in the forms that it is compiled in. */
export function untunedCompile(command: Command, inspected: Pick<Inspected, 'input'>): Compile {
  const { argv, stdin } = originalCompile(command, inspected);
  return { argv: [...pipelineFlags(passesOf(command)), ...argv], stdin };
}

/** Arguments that go on from a file that holds the program at the end of `flow`. */
export const resumedCompile = ({ expanded, arguments: { input } }: Command, path: string): string[] =>
  withTrailingFlags(expanded.with(input!.index, path), ['--compile-from=flow']);

/** Runs the command as the user gave it, in our place where possible. Never returns. */
export async function runOriginal(
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
 * Writes what the injection needs into the cache directory, under names made from the content.
 * @param kept has the sources of the executables where the program was split
 * @returns null when executables were to be substituted and none can be
 */
export async function injectedCommand(
  injection: Injection,
  command: Command,
  inspected: Inspected,
  decisions: readonly Decision[],
  surroundings: Surroundings,
  digest: Digest,
  kept: KeptModules | null = null,
): Promise<InjectedCommand | null> {
  const write = (text: Uint8Array) =>
    writeOnce(pathIn(surroundings.cacheDirectory, SPECS, digest([text])), text);
  const split = kept?.splitOf(flowOf(command, injection)) ?? null;
  const complete = (whole: Omit<InjectedCommand, 'forExecutables'>): InjectedCommand => ({
    ...whole,
    forExecutables:
      split === null
        ? whole
        : // The compiler can hang where several threads read a tuning spec that no pass has read before: see `tuningSpecFlags`.
          {
            argv: ['--mlir-disable-threading', ...resumedInjection(whole, command, split.path)],
            stdin: undefined,
          },
  });
  const base = commandWithout(injection, command, inspected, write);
  const { route, dispatches = [] } = injection;
  const entries = injection.route === 'substitute' ? injection.entries : [];
  if (entries.length === 0 && dispatches.length === 0) return complete(base);
  const { argv, stdin } = base;
  const substitutes = await substituteFiles(
    {
      argv,
      stdin,
      route,
      entries,
      dispatches,
      texts: split,
    },
    command,
    inspected,
    decisions,
    surroundings,
    write,
  );
  if (substitutes === null) return route === 'substitute' ? null : complete(base);
  const paths = substitutes.map(({ path }) => path);
  const { mapMessages } = base;
  return complete({
    ...base,
    argv: [...substitutes.map(substituteFlag), ...argv],
    files: [...base.files, ...paths],
    mapMessages: (messages) => withoutNotes(mapMessages?.(messages) ?? messages, substitutes),
  });
}

/** What is injected, on a file that holds the program at the end of `flow`. */
export const resumedInjection = (
  { argv }: Pick<InjectedCommand, 'argv'>,
  command: Command,
  path: string,
): string[] => [...argv.slice(0, argv.length - command.argv.length), ...resumedCompile(command, path)];

/** The command with everything that is injected but for executables. */
function commandWithout(
  injection: Injection,
  command: Command,
  inspected: Inspected,
  write: (text: Uint8Array) => string,
): Omit<InjectedCommand, 'forExecutables'> {
  const input = command.arguments.input!;
  const { stdin } = originalCompile(command, inspected);
  const passes = passesOf(command);
  if (injection.route !== 'inline') {
    const files = command.rewriting === undefined ? [] : [command.rewriting.path];
    const keep = (text: string) => {
      files.push(write(Buffer.from(text)));
      return files.at(-1)!;
    };
    const flags = 'text' in injection ? specFlags(injection, keep, passes) : pipelineFlags(passes);
    // Inserted first, so that a flag of the user's own would win.
    return { argv: [...flags, ...command.argv], route: injection.route, files, stdin, mapMessages: null };
  }
  // Through stdin, because a name of ours would be found in the output, which must not depend on our folders.
  const { insertions } = injection;
  const name = input.kind === 'stdin' ? '<stdin>' : input.path;
  return {
    argv: input.kind === 'stdin' ? command.argv : command.expanded.with(input.index, '-'),
    route: injection.route,
    files: [],
    stdin: applyInsertions(inspected.input.bytes, insertions),
    mapMessages: (messages) => mapDiagnostics(messages, inspected.input.bytes, insertions, name),
  };
}

/**
 * Compiles a command without an injection, or copies its output from the output cache. Never returns.
 * @param module path of its module if this build has compiled it already
 * @param onEnd gets the output's key just before this process ends or is replaced
 */
export async function compileAsGiven(
  command: Command,
  { input }: Inspected,
  module: string | null,
  surroundings: Surroundings,
  onEnd: (output: string | null) => void,
): Promise<never> {
  const { env } = surroundings;
  const { executable } = command.compiler;
  const { argv, stdin } = originalCompile(command, { input });
  const cached = await cachedOutput(
    command,
    input,
    [input.digest, ...commandIdentity(command)],
    surroundings,
  );
  const end = (output: string | null): never => {
    isDelivered = true;
    onEnd(output);
    return exitLike(SUCCESS);
  };
  const delivered = cached.deliver(module);
  if (delivered !== null) return end(delivered.output);
  const mayKeep = surroundings.settings.outputs && stdin === undefined;
  const held = mayKeep ? heldOutput(command, surroundings.cacheDirectory) : null;
  if (held !== null) {
    const own = withColours(withTrailingFlags(argv, ['-o', held]), env);
    // The user's command may still have to read stdin.
    const result = await runCompiler(executable, own, { env, stdin: new Uint8Array(), capture: true });
    if (result.forwarded !== null) return exitLike(result);
    // A failed compile or copy runs again as the user's own command, whose messages are the compiler's.
    if (result.code === 0 && existsSync(held) && deliverFile(held, command)) {
      show(result, null);
      return end(result.stdout.length + result.stderr.length === 0 ? cached.keep(held) : null);
    }
  }
  onEnd(null);
  return runOriginal(executable, argv, stdin, env);
}

/**
 * Compiles with the injection. A plan that is proven replaces this process; a new one is run as a child, and when it
 * fails, the original command is run and only its output is seen. Never returns.
 * @param workSeconds how long a new plan may work; by default what is known of the input says it
 */
export async function compileInjected(
  injected: InjectedCommand,
  command: Command,
  inspected: Inspected,
  decisions: readonly Decision[],
  surroundings: Surroundings,
  { mayFallBack, module, onEnd, onLost, onFailure }: CompileHooks,
  workSeconds?: number,
): Promise<never> {
  const { env, cacheDirectory, settings } = surroundings;
  const { executable } = command.compiler;
  const { argv, route, stdin, mapMessages } = injected;
  const { stdin: ownStdin } = originalCompile(command, inspected);
  const identity = planIdentity(command, inspected.input.digest, decisions, route);
  const known = planMemory.recall(cacheDirectory, identity);
  const cached = await cachedOutput(command, inspected.input, [identity], surroundings);
  if (known?.state === 'broken') {
    const fallback = 'these configurations broke this compile before';
    onEnd({ ...NOT_APPLIED, argv: command.argv, fallback });
    if (!mayFallBack) return refuse(fallback, settings);
    return runOriginal(executable, command.argv, ownStdin, env);
  }
  const isInjecting = decisions.some(isInjected);
  /** `require=landed`: prove before the output is written. */
  const isSeenFirst = settings.require === 'landed' && isInjecting;
  // A plan from a build with budget 0 has no proof yet.
  const isUnseen = known?.landed === null && isInjecting && mayLook(settings);
  if (known !== null && !isUnseen) {
    if (isSeenFirst && allLanded(known.landed) === false) return refuse(LOST, settings);
    const capture = mapMessages !== null;
    const delivered = cached.deliver(module);
    const { output } = delivered ?? NOT_APPLIED;
    const files = stdin === undefined && (!capture || output !== null) ? injected.files : null;
    onEnd({
      ...{ applied: allLanded(known.landed), landed: known.landed, argv, fallback: null, files, output },
      isEdited: capture,
    });
    if (delivered !== null) return exitLike(SUCCESS);
    if (stdin === undefined && !capture) return replaceProcess(executable, argv, env);
    const shown = capture ? withColours(argv, env) : argv;
    const result = await runCompiler(executable, shown, { env, stdin, capture });
    if (capture) show(result, mapMessages);
    return exitLike(result);
  }

  // Whoever was killed while proving it left a folder.
  tidyUp(cacheDirectory);
  // The comparison of forms has compiled it already.
  const formed = isInjecting ? null : cached.deliver(module);
  if (formed !== null) {
    const landed = decisions.map(() => null);
    planMemory.remember(cacheDirectory, { identity, state: 'proven', landed });
    onEnd({ applied: null, landed, argv, fallback: null, files: injected.files, ...formed });
    return exitLike(SUCCESS);
  }
  const before = outputState(command);
  const held = heldOutput(command, cacheDirectory);
  const limit = workSeconds ?? compileLimit(surveySeconds(command, inspected, surroundings));
  const hung = whenHung({ stallSeconds: STALL_SECONDS, workSeconds: limit });
  const own = held === null ? argv : withTrailingFlags(argv, ['-o', held]);
  const result = await runCompiler(executable, withColours(own, env), {
    env,
    stdin,
    capture: true,
    limits: [hung],
  });
  const isWritten =
    held === null ? succeeded(result, command, before) : result.code === 0 && existsSync(held);
  if (isWritten || result.forwarded !== null) {
    const prove = async () => {
      const landed = await provenLanding(injected, command, decisions, surroundings);
      planMemory.remember(cacheDirectory, { identity, state: 'proven', landed });
      if (allLanded(landed) === false) await onLost();
      return landed;
    };
    const seen = result.forwarded === null && isSeenFirst ? await prove() : undefined;
    if (seen !== undefined && allLanded(seen) !== true)
      return refuse(seen === null ? UNSEEN : LOST, settings);
    const shown =
      result.forwarded === null && held !== null && !deliverFile(held, command)
        ? 'nothing'
        : show(result, mapMessages);
    if (result.forwarded !== null) return exitLike(result);
    // The user has the outcome: whatever fails now, nothing is compiled again.
    isDelivered = shown !== 'nothing';
    await attempt(async () => {
      const landed = seen ?? (await prove());
      const isSilent = result.stdout.length === 0 && shownOf(result, mapMessages).length === 0;
      const output = isSilent && held !== null ? cached.keep(held) : null;
      const isRepeatable = stdin === undefined && (mapMessages === null || output !== null);
      const files = isRepeatable && allLanded(landed) !== false ? injected.files : null;
      const isEdited = mapMessages !== null;
      onEnd({ applied: allLanded(landed), landed, argv, fallback: null, files, output, isEdited });
    }, surroundings);
    // With a full disk the compiler reports the error itself. After a partial write to stdout it must not write again.
    if (shown === 'nothing') return runOriginal(executable, argv, stdin, env);
    if (shown === 'a part') {
      tell('the output could not be written to the end', settings.log);
      return exitLike({ ...SUCCESS, code: 1 });
    }
    return exitLike(result);
  }

  // A refused build leaves the user's output unchanged.
  const originalArgv =
    mayFallBack || held === null ? command.argv : withTrailingFlags(command.argv, ['-o', held]);
  const original = await runCompiler(executable, originalArgv, {
    env,
    stdin: ownStdin,
    capture: false,
  });
  const isOurFault = original.code === 0;
  if (isOurFault) {
    tell('a tuned compile failed and was done again without tuning', settings.log);
    await attempt(async () => {
      // The user has the output by now, so a second compile delays nobody's result.
      const { failsAgain } = await import('./blame.ts');
      const hasHung = result.cut === 'hung';
      const said = hasHung ? null : await failsAgain(injected, executable, surroundings, limit);
      if (!hasHung && said === null) return;
      planMemory.remember(cacheDirectory, { identity, state: 'broken', landed: null });
      await onFailure(said);
    }, surroundings);
  }
  const ours = result.cut === 'hung' ? 'the tuned compile hung' : 'the tuned compile failed';
  const fallback = isOurFault ? ours : 'the input does not compile';
  await attempt(() => {
    onEnd({ ...NOT_APPLIED, argv: command.argv, fallback });
  }, surroundings);
  if (isOurFault && !mayFallBack) return refuse(ours, settings);
  return exitLike(original);
}

/** Fields of an ending without the injection. */
export const NOT_APPLIED = { applied: false, landed: null, files: null, output: null };

const LOST = 'a configuration was not seen in the executables';
const UNSEEN = 'nobody could look whether configurations are in the executables';

let isDelivered = false;

/** Whether the output is written. */
export const hasDelivered = (): boolean => isDelivered;

/**
 * Scratch path for the output of a new plan. A failed compile removes its output file, and with it the mode and links of the user's
 * file. Null if the output is no regular file.
 */
function heldOutput(command: Command, cacheDirectory: string): string | null {
  const folder = canDeliver(command) ? makeScratchFolder(cacheDirectory, 'output') : null;
  return folder && join(folder, 'output');
}

/** What the survey of an input has taken; undefined where nobody has looked. */
export const surveySeconds = (command: Command, { input }: Inspected, { cacheDirectory }: Surroundings) =>
  surveyMemory.recall(cacheDirectory, inputIdentity(command, input.digest))?.seconds;

/** Does what no build depends on. Never rejects. */
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

/** A build with budget 0 makes no proof, unless `require=landed` asks for one. */
const mayLook = ({ budgetSeconds, require }: Surroundings['settings']): boolean =>
  budgetSeconds > 0 || require === 'landed';

/** For each decision whether its configuration landed, found out once per plan; null when nobody looked. */
function provenLanding(
  { forExecutables, route }: InjectedCommand,
  command: Command,
  decisions: readonly Decision[],
  { env, cacheDirectory, settings }: Surroundings,
): Promise<readonly (boolean | null)[] | null> {
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

/**
 * Colours in messages are for terminals; the compiler, which writes to us, is told what it would have found itself. A
 * flag of the user's own comes later and wins.
 */
function withColours(argv: readonly string[], { TERM = '' }: Surroundings['env']): readonly string[] {
  const { isatty } = process.getBuiltinModule('node:tty');
  const hasColours = isatty(2) && /^(?:ansi|cygwin|linux|(?:screen|xterm|vt100|rxvt).*|.*color)$/.test(TERM);
  return hasColours ? ['--color', ...argv] : argv;
}

/** @returns the part of stdout that was written */
function show(result: RunResult, mapMessages: InjectedCommand['mapMessages']): 'all' | 'a part' | 'nothing' {
  // Not through process.stdout: writes to a pipe would be lost when the process ends by a signal.
  const written = writeAll(1, result.stdout);
  writeAll(2, shownOf(result, mapMessages));
  return written === result.stdout.length ? 'all' : written > 0 ? 'a part' : 'nothing';
}

/** Messages as the user sees them. */
const shownOf = ({ stderr }: RunResult, mapMessages: InjectedCommand['mapMessages']): Uint8Array =>
  mapMessages === null ? stderr : Buffer.from(mapMessages(stderr.toString()));

/** Writes bytes, blocking. Returns the number of written bytes: fewer after an error, such as a closed pipe or a full disk. */
function writeAll(descriptor: number, bytes: Uint8Array): number {
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(descriptor, bytes, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') break;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }
  }
  return written;
}

function allLanded(landed: readonly (boolean | null)[] | null): boolean | null {
  return landed === null ? null : landed.every((item) => item !== false);
}
