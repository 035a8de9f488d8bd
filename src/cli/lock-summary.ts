// The text of `iree-tuned lock`: the changes of the lock file, and a summary of the locked programs. Pure.
import { isDefault } from '../backend/configuration.ts';
import { differences } from '../decision/lock/compare.ts';
import { entryKey, type Lock, type LockedProgram, type LockedWorkload } from '../decision/lock/lock.ts';
import { counted } from '../system/format.ts';
import { NO_RECORD } from '../wrapper/locking.ts';

/** Most listed changes. `--json` has all. */
const MOST_CHANGES = 10;

/** Most listed reasons. */
const MOST_REASONS = 4;

/** A line for each new or removed program, then the changed lines of the others. */
export function changeLines(old: Lock, now: Lock): string[] {
  const keysOf = ({ programs }: Lock) => new Set(programs.map(entryKey));
  const [before, after] = [keysOf(old), keysOf(now)];
  const isKept = (entry: LockedProgram) => before.has(entryKey(entry)) && after.has(entryKey(entry));
  const others = ({ programs }: Lock, sign: string) =>
    programs.filter((entry) => !isKept(entry)).map(({ program, target }) => `${sign} ${program}: ${target}`);
  const kept = ({ programs }: Lock): Lock => ({ programs: programs.filter(isKept) });
  const lines = [...others(old, '-'), ...others(now, '+'), ...differences(kept(old), kept(now))];
  const more = lines.length - MOST_CHANGES;
  return more <= 0 ? lines : [...lines.slice(0, MOST_CHANGES), `... and ${more} more lines (--json has all)`];
}

/** Each program with the number of its workloads that have no record. */
export const untunedIn = (entries: readonly LockedProgram[]) =>
  entries.flatMap(({ program, workloads }) => {
    const isOpen = (one: LockedWorkload) => one.kind === 'unknown' && one.because === NO_RECORD.reason;
    const count = [...workloads.values()].filter(isOpen).length;
    return count === 0 ? [] : [{ program, count, of: workloads.size }];
  });

/** The number of workloads by their result, and the reasons for those that are left to the default. */
export function summaryLines(entries: readonly LockedProgram[]): string[] {
  const workloads = entries.flatMap((entry) => [...entry.workloads.values()]);
  const left = workloads.filter((one) => one.kind === 'unknown' || one.kind === 'left-out');
  const best = workloads.filter((one) => one.kind === 'record' && isDefault(one.configuration)).length;
  const groups = [
    [workloads.length - best - left.length, 'tuned'],
    [best, 'whose default is best'],
    [left.length, 'left to the default'],
  ] as const;
  const parts = groups.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  const programs = new Set(entries.map(({ program }) => program)).size;
  const reasons = [...Map.groupBy(left, ({ because }) => because)]
    .map(([reason, { length }]) => ({ reason, count: length }))
    .sort((a, b) => b.count - a.count);
  const rare = reasons.slice(MOST_REASONS).reduce((sum, { count }) => sum + count, 0);
  const untuned = [...new Set(untunedIn(entries).map(({ program }) => program))];
  return [
    [`${counted(programs, 'program')} with ${counted(workloads.length, 'workload')}`, parts.join(', ')]
      .filter(Boolean)
      .join(': '),
    ...reasons.slice(0, MOST_REASONS).map(({ reason, count }) => `  ${count} x ${reason}`),
    ...(rare > 0 ? [`  ${rare} x other reasons`] : []),
    ...(untuned.length > 0
      ? [`iree-tuned tune ${untuned.join(' ')} tunes the workloads without a record.`]
      : []),
  ];
}
