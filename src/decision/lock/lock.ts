// The content of a lock file: the configuration of every workload of some programs, and the route to the compiler, so that builds
// agree.
import type { Configuration, OwnConfiguration } from '../../backend/configuration.ts';
import type { FormNames } from '../../form/choose.ts';
import type { InjectRoute, Route } from '../../settings/settings.ts';
import type { Speedup } from '../../store/store.ts';

export interface Lock {
  /** Sorted by `entryKey`. */
  readonly programs: readonly LockedProgram[];
}

/** The parts of a program and its command that decisions depend on. */
export interface ProgramKey {
  /** Digest of the input. */
  readonly digest: string;
  readonly compiler: string;
  readonly target: string;
  /** Flags about the program, as given. The target's key covers the others. */
  readonly flags: readonly string[];
  /** The setting. */
  readonly inject: InjectRoute;
  /** Sizes of dynamic dimensions, as `sizesText` writes them. */
  readonly dim: string;
}

export interface LockedProgram extends ProgramKey {
  /** Path of the input, relative to the lock file's folder, with slashes. */
  readonly program: string;
  /** Forms of its operations; empty for a program that is compiled as written. */
  readonly forms: FormNames;
  /** The route of its configurations to the compiler. */
  readonly route: Route | 'none';
  /** Whether a build has to ask the compiler for the generated operations; false if the text is enough. */
  readonly surveyed: boolean;
  /** By the workload's key. */
  readonly workloads: ReadonlyMap<string, LockedWorkload>;
}

/**
 * - `record`: the configuration that was measured to be best, or the default
 * - `program`: a configuration that is better for all operations of this program at once
 * - `left-out`: the configuration makes this program worse: its operations get the default
 * - `unknown`: there was no record: its operations get the default
 */
export type LockedWorkload =
  | { readonly kind: 'record'; readonly configuration: Configuration; readonly speedup: Speedup }
  | { readonly kind: 'program'; readonly configuration: OwnConfiguration; readonly because: string }
  | { readonly kind: 'left-out'; readonly configuration: OwnConfiguration; readonly because: string }
  | { readonly kind: 'unknown'; readonly because: string };

/** A lock file has one entry for each key: the same command for the same target and compiler, with any content of the input. */
export const entryKey = ({ program, target, compiler, flags, inject, dim }: LockedProgram): string =>
  JSON.stringify([program, target, inject, dim, flags, compiler]);

export const entryName = ({ program, target, compiler }: LockedProgram): string =>
  `${program}: ${target}, compiler ${compiler}`;

/** The lock file with these entries added, in place of entries with the same keys. */
export function withEntries(lock: Lock, entries: readonly LockedProgram[]): Lock {
  const all = new Map([...lock.programs, ...entries].map((entry) => [entryKey(entry), entry]));
  return { programs: [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry) };
}

export const EMPTY_LOCK: Lock = { programs: [] };
