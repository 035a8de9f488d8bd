// A command to run, and how its compile ends.
import type { Command } from '../compiler/command.ts';
import type { Decision } from '../decision/decision.ts';
import type { InputText } from '../input/text.ts';
import type { InjectedCommand } from '../plan/injected-command.ts';
import type { Landed, LedgerEntry } from '../plan/ledger.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { CachedOutput } from './cached-output.ts';
import type { Run as ReplayedRun } from './replay.ts';
import type { Reason } from '../system/reason.ts';

/** A command that is to be run. */
export interface Plan {
  readonly command: Command;
  readonly input: Pick<InputText, 'bytes' | 'digest' | 'file'>;
  readonly decisions: readonly Decision[];
  /** Null for the user's own command. */
  readonly injected: InjectedCommand | null;
  /** Path of the module if this build has compiled it already. */
  readonly module: string | null;
}

/** How one compile ended. It is reported just before this process ends or is replaced. */
export interface Ending {
  /** Whether every configuration was seen in the executables; null if no build has looked. */
  readonly applied: boolean | null;
  readonly landed: Landed | null;
  readonly argv: readonly string[];
  /** Set when the compile was done without the injection after all. */
  readonly fallback: Reason | null;
  /** Key of the output in the output cache; null if it is not there. */
  readonly output: string | null;
  /** Whether messages of the compiler are edited, so that it cannot replace this process. */
  readonly isEdited?: boolean;
  /** The files of ours that were used, when the same command is sure to be run in the same way again; null otherwise. */
  readonly files: readonly string[] | null;
}

/** Callbacks of a running plan. */
export interface PlanHooks {
  /** Whether a failed build may fall back to the original command. */
  readonly mayFallBack: boolean;
  /** It is clear how it ends. */
  readonly onEnd: (ending: Ending) => void;
  /** A configuration was injected and did not land. */
  readonly onLost: () => Promise<void>;
  /** The injection broke the compile twice. Called with the compiler's messages, or null after a hang. */
  readonly onFailure: (stderr: string | null) => Promise<void> | void;
}

/** A plan that is being run. */
export interface Run {
  readonly plan: Plan;
  readonly hooks: PlanHooks;
  readonly surroundings: Surroundings;
  readonly compile: Pick<InjectedCommand, 'argv' | 'stdin' | 'mapMessages' | 'files'>;
  /** Key of the plan in the ledger. */
  readonly identity: string;
  /** The ledger's entry from earlier builds; null for none, and for the user's own command. */
  readonly entry: LedgerEntry | null;
  readonly isInjecting: boolean;
  readonly cached: CachedOutput;
  /** Reports that the compile ended as planned. */
  readonly end: (landed: Landed | null, output: string | null) => void;
}

/** The same compile the next time, with its output where that is in the output cache. */
export const nextRun = (
  { argv, output, isEdited }: Ending,
  { arguments: { output: to } }: Command,
  counts: ReplayedRun['counts'],
  explanation: ReplayedRun['explanation'] | null,
): ReplayedRun => ({
  ...{ argv, counts },
  ...(explanation && { explanation }),
  ...(output !== null &&
    to.kind === 'file' && { output: { identity: output, path: to.path, isAll: isEdited === true } }),
});

/** How a compile ends that need not be run. */
export const SUCCESS = { code: 0, signal: null, forwarded: null };

/** Fields of an ending without the injection. */
export const NOT_APPLIED = { applied: false, landed: null, files: null, output: null };

/** Whether all configurations landed; null if no build has looked. */
export const allLanded = (landed: Landed | null): boolean | null =>
  landed === null ? null : !landed.includes(false);
