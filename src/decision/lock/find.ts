// Finds a program, and its workloads, in a lock file.
import { dirname, relative, resolve, sep } from 'node:path';
import { isConfiguration } from '../../backend/index.ts';
import type { Command } from '../../compiler/command.ts';
import { versionKey } from '../../compiler/describe.ts';
import { candidateFlags, inputFlags, isInputFlag } from '../../compiler/flag-roles.ts';
import type { Input } from '../../input/input.ts';
import { isTunable, type InputOperation, type TunableOperation } from '../../input/operation.ts';
import type { Settings } from '../../settings/settings.ts';
import { sizesText } from '../../settings/wanted-sizes.ts';
import type { Site } from '../../site/site.ts';
import { because, type Reason } from '../../system/reason.ts';
import { workloadRank } from '../../workload/workload.ts';
import { gainOf, passedOver, skipped, type Decision, type Override } from '../decision.ts';
import type { LockedProgram, LockedWorkload, Lock, ProgramKey } from './lock.ts';

/** The key of a program to find. */
export interface AskedProgram extends ProgramKey {
  /** Path of the input, as in a lock file; null for stdin. */
  readonly program: string | null;
}

/** The parts of a program that its key depends on. */
interface Asked {
  readonly command: Pick<Command, 'arguments'>;
  readonly inspected: {
    readonly input: Pick<Input, 'digest'>;
    readonly site: Pick<Site, 'compiler' | 'target'>;
  };
}

/** The key by which a lock file is asked about a program. @param path path of the lock file */
export function askedOf(
  { command, inspected: { input: read, site } }: Asked,
  { inject, sizes }: Pick<Settings, 'inject' | 'sizes'>,
  path: string,
): AskedProgram {
  const { input, flags } = command.arguments;
  const folder = dirname(resolve(path));
  return {
    program: input?.kind === 'file' ? relative(folder, resolve(input.path)).split(sep).join('/') : null,
    digest: read.digest,
    // A lock file is shared by machines that have built the compiler themselves.
    compiler: versionKey(site.compiler.key),
    target: site.target.key,
    flags: [...candidateFlags(flags), ...inputFlags(flags)],
    inject,
    dim: sizesText(sizes),
  };
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

/**
 * The locked workloads of all programs with this target and compiler, by key. Entries with the program's name come first. Of several entries
 * of a workload, one that leaves its configuration out decides, then the highest lower bound of the speedup. A choice for all
 * operations of one program does not count in another.
 */
export function recordsIn({ programs }: Lock, asked: AskedProgram): ReadonlyMap<string, LockedChoice> {
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

/** Decides about operations whose workloads are locked with a valid configuration. */
export const overrideOf =
  (locked: ReadonlyMap<string, LockedWorkload>): Override =>
  (operation) => {
    const entry = locked.get(operation.key);
    if (entry === undefined) return null;
    const rank = workloadRank(operation.workload);
    return entry.kind === 'unknown' || isConfiguration(entry.configuration, rank)
      ? decide(operation, entry)
      : null;
  };

function decide(tunable: TunableOperation, locked: LockedWorkload): Decision {
  if (locked.kind === 'unknown' || locked.kind === 'left-out')
    return passedOver(tunable, 'default', because('locked', `locked: ${locked.because}`));
  const { configuration } = locked;
  const nothing = { evidence: null, record: null };
  const decision = { place: tunable.place, tunable, outcome: 'hit', configuration, ...nothing } as const;
  if (locked.kind === 'program') return { ...decision, ...because('locked', `locked: ${locked.because}`) };
  const { speedup } = locked;
  return { ...decision, ...because('locked', `locked: ${gainOf(configuration, speedup).reason}`), speedup };
}

/** Decisions about all operations: of the override, else the default with the reason `whyNot`. */
export const decideAll = (
  operations: readonly InputOperation[],
  override: Override,
  whyNot: Reason,
): Decision[] =>
  operations.map((operation) =>
    isTunable(operation)
      ? (override(operation) ?? passedOver(operation, 'default', whyNot))
      : skipped(operation),
  );
