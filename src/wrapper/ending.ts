// A run: a compile to start. An ending: the outcome of the compile.
import type { Command } from '../compiler/command.ts';
import type { InputText } from '../input/text.ts';
import type { InjectedCommand } from '../plan/injected-command.ts';
import type { Finding, Landed, LedgerEntry } from '../plan/ledger.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { CachedOutput } from './deliver.ts';
import type { Reason } from '../system/reason.ts';

/** A compile to run: of a plan, or of the user's own command. */
export interface Run {
  readonly command: Command;
  readonly input: Pick<InputText, 'bytes' | 'stdin' | 'digest' | 'file'>;
  /** Null for the user's own command. */
  readonly injected: InjectedCommand | null;
  /** Path of the module if this build has compiled it already. */
  readonly module: string | null;
  /** Limit of processor time of a compile with the injection, in seconds. */
  readonly workSeconds: () => number;
  /** Whether a failed build may fall back to the original command. */
  readonly mayFallBack: boolean;
  /** Reports the ending. */
  readonly onEnd: (ending: Ending) => void;
  /** A configuration was injected and did not land. */
  readonly onLost?: () => Promise<void>;
  /** The injection broke the compile twice, with these messages of the compiler. */
  readonly onFailure?: (stderr: string) => Promise<void>;
}

/** The outcome of a compile, reported just before this process ends or is replaced. */
export interface Ending {
  /** For each decision, whether its configuration landed; null if no build has looked. */
  readonly landed: Landed | null;
  readonly argv: readonly string[];
  /** Why the compile had no injection in the end; null if it had the planned one. */
  readonly fallback: Reason | null;
  /** Key of the output in the output cache; null if it is not there. */
  readonly output: string | null;
  /** Whether messages of the compiler are edited, so that it cannot replace this process. */
  readonly isEdited?: boolean;
  /** Our files that a replay of the command reads; null if the next build must not replay it. */
  readonly replayFiles: readonly string[] | null;
}

/** A run with its entries in the ledger and in the output cache. */
export interface KnownRun extends Run {
  readonly surroundings: Surroundings;
  readonly compile: Pick<InjectedCommand, 'argv' | 'stdin' | 'mapMessages' | 'files'>;
  /** The ledger's entry from earlier builds; null for none, for a plan that was killed, and for the user's own command. */
  readonly entry: LedgerEntry | null;
  readonly isInjecting: boolean;
  /** Whether the build may deliver its output only with a proof that the configurations landed. */
  readonly mustProve: boolean;
  readonly cached: CachedOutput;
  /** Notes a finding in the ledger, unless the compiler was replaced meanwhile. */
  readonly note: (finding: Finding) => void;
  /** Reports that the compile ended as planned. */
  readonly end: (landed: Landed | null, output: string | null) => void;
}

/** Result of a compile that succeeds without running the compiler. */
export const SUCCESS = { code: 0, signal: null, forwarded: null };

/** Fields of an ending without the injection. */
export const NOT_APPLIED = { landed: null, replayFiles: null, output: null };

/** Whether all configurations landed; null if no build has looked. */
export const allLanded = (landed: Landed | null): boolean | null =>
  landed === null ? null : !landed.includes(false);
