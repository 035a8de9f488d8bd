// What a lock file says: what every matmul of some programs gets and how it reaches the compiler, so that builds agree.
import type { Configuration, OwnConfiguration } from '../backend/configuration.ts';
import type { FormNames } from '../form/choose.ts';
import type { InjectRoute, Route } from '../settings/settings.ts';
import type { Speedup } from '../store/store.ts';

export interface Lock {
  /** Sorted as `sameProgram` tells them apart. */
  readonly programs: readonly LockedProgram[];
}

/** What a program is, as far as decisions depend on it: its text, and what its command decides. */
export interface ProgramKey {
  /** Digest of the input. */
  readonly digest: string;
  readonly compiler: string;
  readonly target: string;
  /** What the command says about the program, as given; the target's key holds the rest of it. */
  readonly flags: readonly string[];
  /** The setting. */
  readonly inject: InjectRoute;
  /** Sizes of dynamic dimensions, as `sizesText` writes them. */
  readonly dim: string;
}

export interface LockedProgram extends ProgramKey {
  /** Path of the input, relative to the lock file's folder, with slashes. */
  readonly program: string;
  /** The forms of its convolutions; none where it is compiled as it is written. */
  readonly forms: FormNames;
  /** How its configurations reach the compiler. */
  readonly route: Route | 'none';
  /** Whether that takes what the compiler is seen to make of the operations; false where their text is enough. */
  readonly surveyed: boolean;
  /** By the workload's key. */
  readonly workloads: ReadonlyMap<string, LockedWorkload>;
}

/**
 * - `record`: what was measured to be best, the default included
 * - `program`: what is better for all operations of this program at once
 * - `left-out`: this program is worse with the configuration: its operations get the default
 * - `unknown`: there was no record: the default
 */
export type LockedWorkload =
  | { readonly kind: 'record'; readonly configuration: Configuration; readonly speedup: Speedup }
  | { readonly kind: 'program'; readonly configuration: OwnConfiguration; readonly because: string }
  | { readonly kind: 'left-out'; readonly configuration: OwnConfiguration; readonly because: string }
  | { readonly kind: 'unknown'; readonly because: string };

/** Equal for two entries of which a lock file holds one: the same command for the same target, whatever the input says by now. */
export const entryKey = ({ program, target, flags, inject, dim }: Omit<LockedProgram, 'workloads'>): string =>
  JSON.stringify([program, target, inject, dim, flags]);

/** A lock file with these entries in place of those that they follow. */
export function withEntries(lock: Lock, entries: readonly LockedProgram[]): Lock {
  const all = new Map([...lock.programs, ...entries].map((entry) => [entryKey(entry), entry]));
  return { programs: [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry) };
}

export const EMPTY_LOCK: Lock = { programs: [] };
