// Running the real compiler with an injection, and without it whenever anything goes wrong with it.
import { mkdirSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { applyInsertions } from 'mlir-parser-ts';
import {
  exitLike,
  replaceProcess,
  runCompiler,
  STALL_SECONDS,
  temporaryName,
  type RunResult,
} from '../compiler/index.ts';
import type { Decision } from '../decision/decision.ts';
import { mapDiagnostics } from '../inject/diagnostics.ts';
import { specFlags } from '../inject/flags.ts';
import type { Injection, Route } from '../inject/plan.ts';
import { proveLanded } from '../inject/proof.ts';
import { substituteFlag, withoutNotes } from '../inject/substitute-flags.ts';
import { writeSlices } from './bytes.ts';
import type { Digest } from './digest.ts';
import type { Command, Subjects, Surroundings } from './inspect.ts';
import { planIdentity, planMemory } from './plan-memory.ts';
import { substituteFiles } from './substitutes.ts';
import { isFresh, tidyUp } from './tidy.ts';

/** A command as it is really run. */
export interface InjectedCommand {
  readonly argv: readonly string[];
  readonly route: Route;
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
  /**
   * The files of ours that were used, when the same command is sure to be run in the same way again; null otherwise.
   */
  readonly files: readonly string[] | null;
}

/** What happens in a compile with an injection. */
export interface CompileEvents {
  /** It is clear how it ends. */
  readonly onEnd: (ending: Ending) => void;
  /** A configuration was injected and did not land. */
  readonly onLost: () => Promise<void>;
  /** The injection broke the compile; called with what the compiler said, null when it did not end by itself. */
  readonly onFailure: (stderr: string | null) => void;
}

/** Runs the command as the user gave it, in our place where possible. Never returns. */
export async function runOriginal(
  command: Command,
  stdin: Uint8Array | undefined,
  env: Surroundings['env'],
): Promise<never> {
  const { executable } = command.compiler;
  if (stdin === undefined) return replaceProcess(executable, command.argv, env);
  return exitLike(await runCompiler(executable, command.argv, { env, stdin, capture: false }));
}

/**
 * Writes what the injection needs into the cache directory, under names made from the content.
 * @returns null when executables were to be substituted and none can be
 */
export async function injectedCommand(
  injection: Exclude<Injection, { route: 'none' }>,
  command: Command,
  subjects: Subjects,
  decisions: readonly Decision[],
  surroundings: Surroundings,
  digest: Digest,
): Promise<InjectedCommand | null> {
  const input = command.arguments.input!;
  const stdin = input.kind === 'stdin' ? subjects.bytes : undefined;
  const files: string[] = [];
  const write = (text: Uint8Array) => {
    const path = writeOnce(join(surroundings.cacheDirectory, 'specs'), [text], digest);
    files.push(path);
    return path;
  };
  // Inserted first, so that a flag of the user's own would win.
  const withFlags = (flags: readonly string[]) => [...flags, ...command.argv];
  if (injection.route === 'substitute') {
    const { entries } = injection;
    const substitutes = await substituteFiles(entries, command, subjects, decisions, surroundings, write);
    if (substitutes === null) return null;
    const paths = substitutes.map(({ path }) => path);
    return {
      argv: withFlags(substitutes.map(({ name, path }) => substituteFlag(name, path))),
      route: injection.route,
      files: paths,
      stdin,
      mapMessages: (messages) => withoutNotes(messages, paths),
    };
  }
  if (injection.route !== 'inline') {
    const flags = specFlags(injection, (text) => write(Buffer.from(text)));
    return { argv: withFlags(flags), route: injection.route, files, stdin, mapMessages: null };
  }
  // Through stdin, because a name of ours would be found in the output, which must not depend on our folders.
  const { insertions } = injection;
  const name = input.kind === 'stdin' ? '<stdin>' : input.path;
  return {
    argv: input.kind === 'stdin' ? command.argv : command.expanded.with(input.index, '-'),
    route: injection.route,
    files,
    stdin: applyInsertions(subjects.bytes, insertions),
    mapMessages: (messages) => mapDiagnostics(messages, subjects.bytes, insertions, name),
  };
}

/**
 * Compiles with the injection. A plan that is proven replaces this process; a new one is run as a child, and when it
 * fails, the original command is run and only its output is seen. Never returns.
 */
export async function compileInjected(
  injected: InjectedCommand,
  command: Command,
  subjects: Subjects,
  decisions: readonly Decision[],
  surroundings: Surroundings,
  { onEnd, onLost, onFailure }: CompileEvents,
): Promise<never> {
  const { env, cacheDirectory } = surroundings;
  const { executable } = command.compiler;
  const { argv, route, stdin, mapMessages } = injected;
  const ownStdin = command.arguments.input?.kind === 'stdin' ? subjects.bytes : undefined;
  const identity = planIdentity(command, subjects.digest, decisions, route);
  const known = planMemory.recall(cacheDirectory, identity);
  if (known?.state === 'broken') {
    onEnd({
      applied: false,
      landed: null,
      argv: command.argv,
      fallback: 'these configurations broke this compile before',
      files: null,
    });
    return runOriginal(command, ownStdin, env);
  }
  if (known !== null) {
    const capture = mapMessages !== null;
    const files = stdin === undefined && !capture ? injected.files : null;
    onEnd({ applied: allLanded(known.landed), landed: known.landed, argv, fallback: null, files });
    if (stdin === undefined && !capture) return replaceProcess(executable, argv, env);
    const shown = capture ? withColours(argv, env) : argv;
    const result = await runCompiler(executable, shown, { env, stdin, capture });
    if (capture) show(result, mapMessages);
    return exitLike(result);
  }

  // Whoever was killed while proving it left a folder.
  tidyUp(cacheDirectory);
  const before = outputState(command);
  const result = await runCompiler(executable, withColours(argv, env), {
    env,
    stdin,
    capture: true,
    stallSeconds: STALL_SECONDS,
  });
  if (succeeded(result, command, before) || result.forwarded !== null) {
    const isShown = show(result, mapMessages);
    if (result.forwarded !== null) return exitLike(result);
    const landed = await whatLanded(injected, command, decisions, surroundings);
    planMemory.remember(cacheDirectory, { identity, state: 'proven', landed });
    if (allLanded(landed) === false) await onLost();
    const isSettled = stdin === undefined && mapMessages === null && allLanded(landed) !== false;
    const files = isSettled ? injected.files : null;
    onEnd({ applied: allLanded(landed), landed, argv, fallback: null, files });
    // Nobody takes its output (a full disk, a reader that has gone): the compiler itself says so best.
    if (!isShown && stdin === undefined) return replaceProcess(executable, argv, env);
    if (!isShown) return exitLike(await runCompiler(executable, argv, { env, stdin, capture: false }));
    return exitLike(result);
  }

  const original = await runCompiler(executable, command.argv, {
    env,
    stdin: ownStdin,
    capture: false,
  });
  const isOurFault = original.code === 0;
  // Whoever runs out of memory kills somebody: that says nothing about the configurations.
  const wasKilled = result.signal === 'SIGKILL' && !result.stalled;
  if (isOurFault) {
    if (!wasKilled) planMemory.remember(cacheDirectory, { identity, state: 'broken', landed: null });
    onFailure(result.code === null ? null : result.stderr.toString());
  }
  const ours = result.stalled ? 'the tuned compile hung' : 'the tuned compile failed';
  const fallback = isOurFault ? ours : 'the input does not compile';
  onEnd({ applied: false, landed: null, argv: command.argv, fallback, files: null });
  return exitLike(original);
}

/** For each decision whether its configuration landed, found out once per plan; null when nobody looked. */
function whatLanded(
  { argv, route, stdin }: InjectedCommand,
  command: Command,
  decisions: readonly Decision[],
  { env, cacheDirectory, settings }: Surroundings,
): Promise<readonly (boolean | null)[] | null> {
  // The proof is part of tuning: where none is wanted, nobody looks.
  if (settings.budgetSeconds === 0) return Promise.resolve(null);
  return proveLanded(command.compiler.executable, argv, decisions, route, { env, stdin, cacheDirectory });
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

/** @returns whether the whole output could be written */
function show(result: RunResult, mapMessages: InjectedCommand['mapMessages']): boolean {
  // Not through process.stdout: writes to a pipe would be lost when the process ends by a signal.
  const isWritten = writeAll(1, result.stdout);
  writeAll(2, mapMessages === null ? result.stderr : Buffer.from(mapMessages(result.stderr.toString())));
  return isWritten;
}

/** Writes all bytes, blocking; false when they are not wanted or there is no room for them. */
function writeAll(descriptor: number, bytes: Uint8Array): boolean {
  for (let offset = 0; offset < bytes.length;) {
    try {
      offset += writeSync(descriptor, bytes, offset);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return false;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }
  }
  return true;
}

function allLanded(landed: readonly (boolean | null)[] | null): boolean | null {
  return landed === null ? null : landed.every((item) => item !== false);
}

/** Writes a file named by its content in one step; one that is there already with this size is left alone for a time. */
function writeOnce(folder: string, slices: readonly Uint8Array[], digest: Digest): string {
  const path = join(folder, `${digest(slices)}.mlir`);
  const size = slices.reduce((sum, slice) => sum + slice.length, 0);
  const there = statSync(path, { throwIfNoEntry: false });
  if (there?.size === size && isFresh(there.mtimeMs)) return path;
  mkdirSync(folder, { recursive: true });
  const temporary = temporaryName(path);
  try {
    writeSlices(temporary, slices);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return path;
}
