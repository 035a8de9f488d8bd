// A program that is open for decisions: in the forms in which it ships, and looked up in the database. Builds, lock files, explanations and
// tuning ahead begin here, so all of them decide the same.
import type { Command } from '../compiler/command.ts';
import type { Decision, Override } from '../decision/decision.ts';
import { lookUp, type Lookup } from '../decision/look-up.ts';
import type { FormedProgram, Inspected } from '../plan/inspected.ts';
import type { KeptModules } from '../plan/kept-modules.ts';
import { keysElsewhere, programOf } from '../running/program-notes.ts';
import { inBetterForms, type BetterForms } from '../running/variants/better-forms.ts';
import { withVariant } from '../running/variants/data-tiling.ts';
import {
  inProgram,
  programMemory,
  type KnownProgram,
  type ProgramMemory,
} from '../running/variants/memory.ts';
import type { InjectRoute } from '../settings/settings.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Store } from '../store/store.ts';

/** The database and the settings of decisions. */
export interface Means {
  /** Null without a database. */
  readonly store: Store | null;
  /** The user's settings; read-only if the database cannot be written. */
  readonly surroundings: Surroundings;
  /** Decides before the database. */
  readonly override?: Override | undefined;
  /** The injection that decisions are for; default: that of the settings. */
  readonly inject?: InjectRoute | undefined;
}

export class OpenProgram {
  readonly command: Command;
  readonly inspected: Inspected;
  /** Key of its notes in the database. */
  readonly identity: string;
  /** The verdict of its last run; null if there is none. */
  readonly memory: ProgramMemory | null;
  /** When it was looked up, in milliseconds of the system's clock. Other builds may have written records since. */
  readonly since = Date.now();
  readonly lookup: Lookup;
  readonly #means: Means;

  /** Keys of its notes on other devices. */
  readonly #elsewhere: readonly string[];

  private constructor(
    { command, inspected }: FormedProgram,
    identity: string,
    elsewhere: readonly string[],
    means: Means,
  ) {
    const { store, surroundings, override } = means;
    this.command = command;
    this.inspected = inspected;
    this.identity = identity;
    this.memory = programMemory.recall(store, identity, elsewhere);
    this.lookup = lookUp(store, inspected.input, inspected.site, surroundings.settings, override);
    this.#elsewhere = elsewhere;
    this.#means = means;
  }

  /**
   * Opens a program in these forms.
   * @param mayMeasure whether anything may be measured
   */
  static async in(program: FormedProgram, means: Means, mayMeasure = false): Promise<OpenProgram> {
    const { command, inspected } = program;
    const { store, surroundings } = means;
    const identity = await programOf(command, inspected, store, surroundings);
    const elsewhere = keysElsewhere(identity, inspected, store, surroundings.settings, mayMeasure);
    return new OpenProgram(program, identity, elsewhere, means);
  }

  /**
   * Opens a program in the forms in which it is faster.
   * @param kept receives the compiled modules if the forms are measured; null if nothing may be measured
   */
  static async inBetterForms(
    written: FormedProgram,
    means: Means,
    kept: KeptModules | null = null,
  ): Promise<{ readonly open: OpenProgram; readonly better: Omit<BetterForms, 'program'> }> {
    const { store, surroundings, inject } = means;
    // Flags and specs for other compiles leave the user's input as it is.
    const isOwn = inject === undefined;
    const { program, ...better } = await inBetterForms(written, store, surroundings, kept, isOwn);
    return { open: await OpenProgram.in(program, means, kept !== null), better };
  }

  /** The same program, looked up again: its database has changed, or a survey has found its generated operations. */
  again(program: FormedProgram = this): OpenProgram {
    return new OpenProgram(program, this.identity, this.#elsewhere, this.#means);
  }

  /** The decision about each operation by the records, then by the verdict on the program. */
  decide(...known: Parameters<Lookup['decide']>): readonly Decision[] {
    const { surroundings, inject = surroundings.settings.inject } = this.#means;
    return inProgram(this.lookup.decide(...known), this.memory, this.lookup.marked, inject);
  }

  /** The program with decisions about it, and the variant of these to try. */
  with(decisions: readonly Decision[]): KnownProgram {
    const { command, inspected, identity, memory } = this;
    const program = { command, inspected, identity, memory, decisions };
    return withVariant(program, this.#means.surroundings.settings);
  }
}
