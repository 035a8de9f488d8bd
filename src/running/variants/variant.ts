// Variants of a program: changes of the whole program that can make it faster. A build tries a variant once against the program as it stands.
// The database notes the verdict (`memory.ts`), and a program ships with a variant if its results are right and it is faster. A variant of the
// command is tried before the decisions (`try-command.ts`), a variant of the decisions after them (`verify-program.ts`, or in rounds).
import type { OwnConfiguration } from '../../backend/configuration.ts';
import type { Command } from '../../compiler/command.ts';
import type { FormedProgram } from '../../plan/inspected.ts';
import type { Measured, Uncompiled } from '../../program/runs.ts';
import type { Reason } from '../../system/reason.ts';
import type { MeasuredProgram } from '../callable.ts';

/** Reasons by the keys of parts. */
export type Reasons = ReadonlyMap<string, Reason>;

/** A variant of the command, in parts that can be left out. `forms.ts` has one, `sized.ts` another. */
export interface CommandVariant {
  /** All parts: for each key, here of an operation, the name of its change. */
  readonly parts: ReadonlyMap<string, string>;
  /** Keys of the parts without which the other parts are nothing. */
  readonly base: readonly string[];
  /** The command with these parts. */
  commandWith(keys: readonly string[]): Promise<Command>;
  /**
   * The parts that compute another result alone.
   * @param program with at least these parts
   * @param isRefused whether some of them do not compile: these are found, too, which takes longer
   * @returns null if they do not compile together; never with `isRefused`
   * @throws StoppedError when the signal fires
   */
  wrongAmong(program: MeasuredProgram, keys: readonly string[], isRefused?: boolean): Promise<Reasons | null>;
  /** The parts that the compiler's errors name. */
  blamedFor(failure: Uncompiled, keys: readonly string[]): Reasons;
  /**
   * The parts that are slower than the written operations.
   * @param times of the written program and of the program with these parts
   * @param isTuned whether the program is tuned with them later
   */
  slower(
    program: FormedProgram,
    keys: readonly string[],
    times: Times,
    isTuned: boolean,
  ): ReadonlySet<string>;
}

/** Seconds of the dispatches of two programs, by name; empty if nothing was timed. */
export type Times = Pick<Measured, 'stockSeconds' | 'dispatchSeconds'>;

/** A variant of the decisions: configurations of several workloads at once, by key; empty for none. `data-tiling.ts` finds one. */
export type DecisionsVariant = ReadonlyMap<string, OwnConfiguration>;

/** The verdict on a variant of the decisions. */
export interface VariantVerdict {
  /** The part of the variant with which the program is faster. */
  readonly chosen: DecisionsVariant;
  /** For users. */
  readonly reason: string;
  /** Whether the time was too short to try the variant. */
  readonly isOpen: boolean;
}

/** Without a variant, or without a run. */
export const NO_VERDICT: VariantVerdict = { chosen: new Map(), reason: '', isOpen: false };
