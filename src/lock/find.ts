// What a lock file has to say about a program. Pure.
import { isInputFlag } from '../compiler/flag-roles.ts';
import type { LockedProgram, LockedWorkload, Lock, ProgramKey } from './lock.ts';

/** A program that is asked about. */
export interface AskedProgram extends ProgramKey {
  /** As a lock file would call it; null for one that has no name. */
  readonly program: string | null;
}

/** The entry of exactly this program; null where there is none. One of the same name before others: they say the same. */
export function programIn({ programs }: Lock, asked: AskedProgram): LockedProgram | null {
  const same = programs.filter((entry) => DIFFERENCES.every(({ of }) => of(entry) === of(asked)));
  return same.find(({ program }) => program === asked.program) ?? same[0] ?? null;
}

/**
 * How a program differs from the entry of its name that is most like it, such as `its text is another one`; null where it
 * has no entry.
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
  { of: ({ digest }) => digest, say: () => 'its text is another one' },
  {
    of: ({ compiler }) => compiler,
    say: (asked, locked) => `the compiler is ${asked.compiler} instead of ${locked.compiler}`,
  },
  {
    of: ({ target }) => target,
    say: (asked, locked) => `the target is "${asked.target}" instead of "${locked.target}"`,
  },
  { of: ({ flags }) => readingFlags(flags).join(' '), say: () => 'other flags say how its input is read' },
  {
    of: ({ inject }) => inject,
    say: (asked, locked) => `inject is ${asked.inject} instead of ${locked.inject}`,
  },
  {
    of: ({ dim }) => dim,
    say: (asked, locked) => `dim is ${asked.dim || 'not set'} instead of ${locked.dim || 'not set'}`,
  },
];

/** The target's key says nothing of these: see `inputFlags`. The others it has, as the compiler expands them. */
const readingFlags = (flags: readonly string[]): string[] =>
  flags.filter((flag) => isInputFlag(/^--([^=]*)/.exec(flag)?.[1] ?? ''));

/** What is locked of a workload that says something about it in any program. */
type LockedChoice = Extract<LockedWorkload, { kind: 'record' | 'left-out' }>;

/** What is locked for single workloads, whatever program they are in. */
export type LockedRecords = ReadonlyMap<string, LockedChoice>;

/**
 * What a lock file says about workloads of any program with this target and compiler. Entries of the program's own name
 * come first. Where several programs say something, one that is worse with its configuration decides, then the highest
 * end of the interval that is sure. What was chosen for all operations of a program says nothing about another one.
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
