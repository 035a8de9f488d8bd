// One compile of a build, from the ledger to the end of this process: of a plan, or of the user's own command. A broken plan is replaced by
// the user's own command, and a cached output is copied. A settled plan and the user's own command run in our place, or as a child if the
// output goes into the cache. Any other plan runs as a child. If the injection fails in any way, the user's own command runs.
import { existsSync, statSync } from 'node:fs';
import type { CompilerOutput } from '../compiler/arguments.ts';
import { isAsBefore } from '../compiler/command-files.ts';
import { originalCompile, withTrailingFlags, type Command, type Compile } from '../compiler/command.ts';
import { isInjected } from '../decision/decision.ts';
import type { InputText } from '../input/text.ts';
import type { InjectedCommand } from '../plan/injected-command.ts';
import type { KeptModules } from '../plan/kept-modules.ts';
import {
  ledger,
  notePlan,
  planIdentity,
  type Finding,
  type Landed,
  type LedgerEntry,
} from '../plan/ledger.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { STALL_SECONDS, whenHung } from '../system/limits.ts';
import { because, type Reason } from '../system/reason.ts';
import { exitLike, runCompiler, runInPlace, type RunResult } from '../system/run.ts';
import { messageOf, tell } from '../system/tell.ts';
import { tidyUp } from '../system/tidy.ts';
import { capture, messagesOf, show, stdoutBytes, type Captured } from './capture.ts';
import {
  cachedOutput,
  deliverFile,
  heldOutput,
  noteDelivered,
  SUCCESS,
  type CachedOutput,
} from './deliver.ts';
import { LOST, mayLook, refuse } from './required.ts';

/** A compile to run: of a plan, or of the user's own command. */
export interface CompileToRun {
  readonly command: Command;
  readonly input: Pick<InputText, 'bytes' | 'stdin' | 'digest' | 'file'>;
  /** Null for the user's own command. */
  readonly injected: InjectedCommand | null;
  /** Modules that this build has compiled already; null for none. */
  readonly kept: Pick<KeptModules, 'find'> | null;
  /** Limit of processor time of a compile with the injection, in seconds. */
  readonly workSeconds: () => number;
  /** Whether a failed build may fall back to the original command. */
  readonly mayFallBack: boolean;
  /** Reports the ending. */
  readonly onEnd: (ending: Ending) => void;
  /** The user has an output that no build has delivered before. This path has the same bytes. */
  readonly onNew?: (module: string, landed: Landed | null) => Promise<void>;
  /** A configuration was injected and did not land. */
  readonly onLost?: () => Promise<void>;
  /** The injection broke the compile twice, with these messages of the compiler. */
  readonly onFailure?: (stderr: string) => Promise<void>;
}

/** The outcome of a compile, reported just before this process ends or is replaced. */
export interface Ending {
  /** For each decision, whether its configuration landed; null if no build has looked. */
  readonly landed: Landed | null;
  /** Why the compile had no injection in the end; null if it had the planned one. */
  readonly fallback: Reason | null;
  /** Key of the output in the output cache; null if it is not there. */
  readonly output: string | null;
  /** Whether messages of the compiler are edited, so that it cannot replace this process. */
  readonly isEdited?: boolean;
  /** Our files that a replay of the command reads; null if the next build must not replay it. */
  readonly replayFiles: readonly string[] | null;
}

/** Fields of an ending without the injection. */
export const NOT_APPLIED = { landed: null, replayFiles: null, output: null };

/** Whether all configurations landed; null if no build has looked. */
export const allLanded = (landed: Landed | null): boolean | null =>
  landed === null ? null : !landed.includes(false);

const UNSEEN = 'the executables could not be searched for the configurations';

/** Messages about a full or broken disk. */
const ABOUT_DISK = /no space left|quota exceeded|file too large|input\/output error|read-only file system/i;

/** A compile that has ended. */
interface Ended {
  readonly result: Captured;
  /** Scratch path of the output; null if the compiler wrote to the user's path. */
  readonly held: string | null;
  readonly isWritten: boolean;
  /** The proof, if the output was written to the user's path and `require=landed` needs a proof before. */
  readonly seen: Landed | null | undefined;
}

export class PlanRun {
  readonly #asked: CompileToRun;
  readonly #surroundings: Surroundings;
  /** The user's own command. */
  readonly #own: Compile;
  readonly #compile: Pick<InjectedCommand, 'argv' | 'stdin' | 'mapMessages' | 'files'>;
  /** Key of the plan. */
  readonly #identity: string;
  /** The ledger's entry from earlier builds; null for none, for a plan that was killed, and for the user's own command. */
  readonly #entry: LedgerEntry | null;
  readonly #isInjecting: boolean;
  /** Whether nothing is left to find out about the plan: it compiles, and its configurations landed or are known to be lost. */
  readonly #isSettled: boolean;
  /** Whether the build may deliver its output only with a proof that the configurations landed. */
  readonly #mustProve: boolean;
  readonly #cached: CachedOutput;

  constructor(asked: CompileToRun, surroundings: Surroundings) {
    const { command, input, injected } = asked;
    this.#asked = asked;
    this.#surroundings = surroundings;
    this.#own = originalCompile(command, input);
    this.#compile = injected ?? { ...this.#own, mapMessages: null, files: [] };
    this.#identity = injected?.plan.identity ?? planIdentity(command, input.digest, [], 'none');
    const known = injected && ledger.recall(surroundings.cacheDirectory, this.#identity);
    this.#entry = known?.state === 'killed' ? null : known;
    this.#isInjecting = injected?.plan.decisions.some(isInjected) === true;
    // This build must prove that the configurations landed. A build with budget 0 leaves no proof.
    const isUnseen =
      (this.#entry === null || this.#entry.state === 'compiled') && mayLook(surroundings.settings);
    this.#isSettled = this.#entry !== null && !(this.#isInjecting && isUnseen);
    this.#mustProve = this.#isInjecting && surroundings.settings.require === 'landed';
    this.#cached = cachedOutput(command, input, this.#identity, surroundings);
  }

  /** Runs the compile. Never returns. */
  async run(): Promise<never> {
    const { command, injected, mayFallBack, onEnd } = this.#asked;
    const { settings, env } = this.#surroundings;
    const entry = this.#entry;
    if (entry?.state === 'broken') {
      const fallback = because(
        'broke-before',
        `these configurations broke this compile before: ${entry.reason}`,
      );
      onEnd({ ...NOT_APPLIED, fallback });
      if (!mayFallBack) return refuse(fallback.reason, settings);
      return runInPlace(command.compiler.executable, this.#own, env);
    }
    if (this.#mustProve && entry?.state === 'lost') return refuse(LOST, settings);
    if (this.#isSettled || !this.#isInjecting) await this.#deliverKnown();
    if (injected !== null && !this.#isSettled) return this.#runAsChild(injected);
    // A compile with nothing to find out runs as a child only to keep its output.
    const isKept = this.#cached.isPossible && this.#compile.stdin === undefined;
    return isKept ? this.#runToKeep() : this.#replaceOurselves();
  }

  /** Delivers the output from the output cache or from this build's modules, and ends this process. Returns if neither has it. */
  async #deliverKnown(): Promise<void> {
    const { kept, injected } = this.#asked;
    const module = kept && (await kept.find(this.#compile));
    const delivered = await this.#cached.deliver(module);
    if (delivered === null) return;
    noteDelivered();
    if (injected !== null) this.#note({ landed: null });
    const landed = this.#entry?.landed ?? null;
    if (delivered.isNew) await attempt(() => this.#tellNew(landed), this.#surroundings);
    this.#end(landed, delivered.output);
    exitLike(SUCCESS);
  }

  /** Runs a plan that compiles for certain, or the user's own command, in our place. */
  async #replaceOurselves(): Promise<never> {
    const { command } = this.#asked;
    const { env, cacheDirectory } = this.#surroundings;
    const { argv, stdin, mapMessages } = this.#compile;
    this.#end(this.#entry?.landed ?? null, null);
    if (mapMessages === null) return runInPlace(command.compiler.executable, this.#compile, env);
    const result = await capture(command, argv, { env, stdin }, cacheDirectory);
    show(result, mapMessages);
    return exitLike(result);
  }

  /** Runs a plan that compiles for certain, or the user's own command, and puts the output into the cache. */
  async #runToKeep(): Promise<never> {
    const { result, isWritten } = await this.#compileTo(null);
    if (result.forwarded === null) {
      show(result, this.#compile.mapMessages);
      if (isWritten) noteDelivered();
      const landed = this.#entry?.landed ?? null;
      await attempt(async () => {
        if (isWritten) await this.#tellNew(landed);
        this.#end(landed, isWritten ? await this.#keep(result, null) : null);
      }, this.#surroundings);
    }
    return exitLike(result);
  }

  /**
   * Tells of an output in a file that no build has delivered before.
   * @param held a file with the same bytes that no other build writes; null for none
   */
  async #tellNew(landed: Landed | null, held: string | null = null): Promise<void> {
    const { command, onNew } = this.#asked;
    const { output } = command.arguments;
    if (output.kind === 'file') await onNew?.(held ?? output.path, landed);
  }

  /** Runs a plan that may not compile, or that nobody has looked at. */
  async #runAsChild(injected: InjectedCommand): Promise<never> {
    const { command, mayFallBack } = this.#asked;
    // A killed build may have left a folder.
    tidyUp(this.#surroundings.cacheDirectory);
    const held = heldOutput(command, mayFallBack, this.#surroundings);
    let ended = await this.#compileTo(held);
    // The user's disk may have the room that the cache's disk lacks.
    if (held !== null && !ended.isWritten && ABOUT_DISK.test(ended.result.stderr.toString()))
      ended = await this.#compileTo(null);
    const { result, isWritten } = ended;
    if (result.forwarded !== null) {
      show(result, this.#compile.mapMessages);
      return exitLike(result);
    }
    return isWritten ? this.#deliver(ended) : this.#recover(injected, result);
  }

  /** @param held scratch path for the output; null for the user's path */
  async #compileTo(held: string | null): Promise<Ended> {
    const { command, injected, workSeconds } = this.#asked;
    const { env, cacheDirectory } = this.#surroundings;
    const { argv, stdin } = this.#compile;
    const { output } = command.arguments;
    const isOpen = injected !== null && !this.#isSettled;
    const seen = isOpen && held === null && this.#mustProve ? await this.#prove() : undefined;
    const limit = { stallSeconds: STALL_SECONDS, workSeconds: workSeconds() };
    const limits = isOpen ? [whenHung(limit)] : [];
    const before = outputState(output);
    const own = held === null ? argv : withTrailingFlags(argv, ['-o', held]);
    const result = await capture(command, own, { stdin, limits, env }, cacheDirectory);
    // The compiler can exit with 0 after writing only a crash reproducer.
    const isThere =
      held === null ? output.kind === 'stdout' || outputState(output) !== before : existsSync(held);
    return { result, held, isWritten: result.code === 0 && isThere, seen };
  }

  /** Delivers a complete output, and notes in the ledger whether its configurations landed. */
  async #deliver({ result, held, seen: proof }: Ended): Promise<never> {
    const { command, onEnd } = this.#asked;
    const { env, settings } = this.#surroundings;
    const seen = proof ?? (this.#mustProve ? await this.#prove() : undefined);
    const isCopied = held === null || deliverFile(held, command);
    const shown = isCopied ? show(result, this.#compile.mapMessages) : 'nothing';
    if (shown !== 'nothing') noteDelivered();
    await attempt(async () => {
      const landed = seen ?? (await this.#prove());
      if (isCopied) await this.#tellNew(landed, held);
      const output = isCopied ? await this.#keep(result, held) : null;
      // After a loss the next build decides again.
      if (allLanded(landed) === false) onEnd({ landed, fallback: null, output, replayFiles: null });
      else this.#end(landed, output);
    }, this.#surroundings);
    // With a full disk the compiler reports the error itself. After a partial write to stdout it must not write again.
    if (shown === 'nothing') return runInPlace(command.compiler.executable, this.#compile, env);
    if (shown === 'all') return exitLike(result);
    tell('the output could not be written to the end', settings.log);
    return exitLike({ ...SUCCESS, code: 1 });
  }

  /**
   * Proves for each decision whether its configuration landed, and notes the proof. Refuses the build if it needs a proof, and there is
   * none.
   * @returns null if this build may not look, or if the executables could not be searched
   */
  async #prove(): Promise<Landed | null> {
    const { injected, workSeconds, onLost } = this.#asked;
    const { settings } = this.#surroundings;
    if (injected === null) return null;
    let landed: Landed | null = null;
    if (mayLook(settings)) {
      // Not loaded on a hit.
      const { proveLanded } = await import('../inject/landed.ts');
      landed = this.#isInjecting
        ? await proveLanded(injected, { ...this.#surroundings, workSeconds: workSeconds() })
        : injected.plan.decisions.map(() => null);
    }
    this.#note({ landed });
    if (allLanded(landed) === false) await onLost?.();
    return this.#mustProve && allLanded(landed) !== true
      ? refuse(landed === null ? UNSEEN : LOST, settings)
      : landed;
  }

  /** Puts the output of a compile into the cache. @returns its key, or null */
  async #keep(result: Captured, held: string | null): Promise<string | null> {
    const { output } = this.#asked.command.arguments;
    if (output.kind === 'stdout' || stdoutBytes(result) > 0) return null;
    return this.#cached.keep(held ?? output.path, messagesOf(result, this.#compile.mapMessages));
  }

  /** After a failed plan, runs the user's own command. If that succeeds, the injection is to blame. */
  async #recover(injected: InjectedCommand, failed: RunResult): Promise<never> {
    const { command, mayFallBack, onEnd } = this.#asked;
    const { env, settings } = this.#surroundings;
    const { argv, stdin } = this.#own;
    // A refused build has no output.
    const own = mayFallBack ? argv : withTrailingFlags(argv, ['-o', '/dev/null']);
    const original = await runCompiler(command.compiler.executable, own, { env, stdin, capture: false });
    const ours = because(failed.cut === 'hung' ? 'tuned-compile-hung' : 'tuned-compile-failed');
    const isOurFault = original.code === 0;
    if (isOurFault) {
      tell('a tuned compile failed and was done again without tuning', settings.log);
      await attempt(() => this.#noteFailure(injected, failed, ours.reason), this.#surroundings);
    }
    const fallback = isOurFault ? ours : because('input-does-not-compile');
    await attempt(() => {
      onEnd({ ...NOT_APPLIED, fallback });
    }, this.#surroundings);
    if (isOurFault && !mayFallBack) return refuse(ours.reason, settings);
    return exitLike(original);
  }

  /** Notes a failed plan in the ledger, and finds its cause. The user has the output by now, or the refusal. */
  async #noteFailure(injected: InjectedCommand, failed: RunResult, reason: string): Promise<void> {
    const { command, workSeconds, onFailure } = this.#asked;
    const { failsAgain, firstError, isOfMachine, wasKilled } = await import('./blame.ts');
    if (failed.cut === 'hung') this.#note({ reason });
    else if (wasKilled(failed)) this.#note('killed');
    if (isOfMachine(failed)) return;
    const said = await failsAgain(injected, command.compiler.executable, this.#surroundings, workSeconds());
    // A failure of a compiler that is being replaced says nothing about the configurations.
    if (said === null || !isAsBefore(command.files)) return;
    this.#note({ reason: firstError(said) });
    await onFailure?.(said);
  }

  /** Notes a finding in the ledger, unless the compiler was replaced meanwhile. */
  #note(finding: Finding): void {
    if (isAsBefore(this.#asked.command.files))
      notePlan(this.#surroundings.cacheDirectory, this.#identity, finding);
  }

  /** Reports that the compile ended as planned. */
  #end(landed: Landed | null, output: string | null): void {
    const { stdin, mapMessages, files } = this.#compile;
    // A replay can neither edit messages nor read a pipe.
    const isReplayable = stdin === undefined && (mapMessages === null || output !== null);
    this.#asked.onEnd({
      ...{ landed, fallback: null, output },
      ...{ replayFiles: isReplayable ? files : null, isEdited: mapMessages !== null },
    });
  }
}

/** State of the output file. It differs after every write; for a device it always differs. */
function outputState(output: CompilerOutput): string {
  if (output.kind === 'stdout') return '';
  const status = statSync(output.path, { bigint: true, throwIfNoEntry: false });
  if (status === undefined) return 'missing';
  return status.isFile()
    ? `${status.ino} ${status.mtimeNs} ${status.ctimeNs}`
    : `device ${performance.now()}`;
}

/** Runs an action whose failure must not fail the build. Never rejects. */
export async function attempt(
  action: () => Promise<void> | void,
  { settings }: Pick<Surroundings, 'settings'>,
): Promise<void> {
  try {
    await action();
  } catch (error) {
    tell(messageOf(error), settings.log);
  }
}
