// Finds a program, and its workloads, in a lock file. Pure.
import { isInputFlag } from '../../compiler/flag-roles.ts';
import type { LockedProgram, LockedWorkload, Lock, ProgramKey } from './lock.ts';

/** The key of a program to find. */
export interface AskedProgram extends ProgramKey {
  /** Path of the input, as in a lock file; null for stdin. */
  readonly program: string | null;
}

/** The entry of this program; null for none. Of equal entries the one with the same name. */
export function programIn({ programs }: Lock, asked: AskedProgram): LockedProgram | null {
  const same = programs.filter((entry) => DIFFERENCES.every(({ of }) => of(entry) === of(asked)));
  return same.find(({ program }) => program === asked.program) ?? same[0] ?? null;
}

/**
 * The differences between a program and the most similar entry of its name, such as `its text has changed`; null without an
 * entry.
 */
export function differencesFrom({ programs }: Lock, asked: AskedProgram): readonly string[] | null {
  const named = programs
    .filter(({ program }) => program === asked.program)
    .map((entry) =>
      DIFFERENCES.filter(({ of }) => of(entry) !== of(asked)).map(({ say }) => say(asked, entry)),
    )
    .sort((a, b) => a.length - b.length);
  return named[0] ?? null;
}

interface Difference {
  readonly of: (program: ProgramKey) => string;
  readonly say: (asked: ProgramKey, locked: ProgramKey) => string;
}

const DIFFERENCES: readonly Difference[] = [
  { of: ({ digest }) => digest, say: () => 'its text has changed' },
  {
    of: ({ compiler }) => compiler,
    say: (asked, locked) => `the compiler is ${asked.compiler} instead of ${locked.compiler}`,
  },
  {
    of: ({ target }) => target,
    say: (asked, locked) => `the target is "${asked.target}" instead of "${locked.target}"`,
  },
  { of: ({ flags }) => readingFlags(flags).join(' '), say: () => 'its input flags have changed' },
  {
    of: ({ inject }) => inject,
    say: (asked, locked) => `inject is ${asked.inject} instead of ${locked.inject}`,
  },
  {
    of: ({ dim }) => dim,
    say: (asked, locked) => `dim is ${asked.dim || 'not set'} instead of ${locked.dim || 'not set'}`,
  },
];

/** Flags that the target's key does not cover: see `inputFlags`. */
const readingFlags = (flags: readonly string[]): string[] =>
  flags.filter((flag) => isInputFlag(/^--([^=]*)/.exec(flag)?.[1] ?? ''));

/** A locked workload that counts in any program. */
type LockedChoice = Extract<LockedWorkload, { kind: 'record' | 'left-out' }>;

/** Locked workloads of any program, by key. */
export type LockedRecords = ReadonlyMap<string, LockedChoice>;

/**
 * The locked workloads of all programs with this target and compiler. Entries with the program's name come first. Of several entries
 * of a workload, one that leaves its configuration out decides, then the highest lower bound of the speedup. A choice for all
 * operations of one program does not count in another.
 */
export function recordsIn({ programs }: Lock, asked: AskedProgram): LockedRecords {
  const records = new Map<string, LockedChoice>();
  const near = programs.filter(
    ({ compiler, target }) => compiler === asked.compiler && target === asked.target,
  );
  const [own, others] = [true, false].map((isOwn) =>
    near.filter(({ program }) => (program === asked.program) === isOwn),
  );
  for (const group of [own!, others!]) {
    const found = new Map<string, LockedChoice>();
    for (const [key, workload] of group.flatMap(({ workloads }) => [...workloads])) {
      if (workload.kind !== 'record' && workload.kind !== 'left-out') continue;
      const known = found.get(key);
      if (known === undefined || rank(workload) > rank(known)) found.set(key, workload);
    }
    for (const [key, workload] of found) if (!records.has(key)) records.set(key, workload);
  }
  return records;
}

const rank = (workload: LockedChoice): number =>
  workload.kind === 'left-out' ? Infinity : workload.speedup.low;
