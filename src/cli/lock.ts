// `iree-tuned lock`
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { isDefault } from '../backend/configuration.ts';
import { isOnnx } from '../compiler/import-onnx.ts';
import { readLock, updateLock } from '../decision/lock/file.ts';
import {
  EMPTY_LOCK,
  entryKey,
  entryName,
  lockText,
  withEntries,
  type Lock,
  type LockedProgram,
  type LockedWorkload,
} from '../decision/lock/lock.ts';
import { LOCK_FILE, projectFolder } from '../settings/files.ts';
import { printable } from '../report/text.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { UserError } from '../system/user-error.ts';
import { parseSizes } from '../settings/wanted-sizes.ts';
import { counted } from '../system/format.ts';
import { lockedProgram, NO_RECORD } from '../wrapper/locking.ts';
import { CliCommand } from './command.ts';
import { openWithBases } from './database.ts';
import { UsageError } from './failure.ts';
import { inspectEach, named } from './input.ts';
import { sentences } from './output.ts';

interface Wanted {
  /** Relative to the working directory. */
  readonly input: string;
  readonly flags: readonly string[];
  readonly surroundings: Surroundings;
}

export const lock = new CliCommand(
  'lock',
  'write the decisions for inputs into a lock file, which later builds follow without a database; without inputs, update the lock file',
)
  .argument('[inputs...]', 'MLIR files')
  .withFlags('[inputs...]')
  .option(
    '--without-compiler <text>',
    'remove entries of other compilers whose key contains the text, such as a version',
  )
  .option('--check', 'write nothing, and end with 1 if the lock file is out of date')
  .json()
  .examples(
    ['iree-tuned lock model.mlir -- --iree-llvmcpu-target-cpu=znver4', 'write the lock file'],
    ['iree-tuned lock', 'update the lock file'],
    ['iree-tuned lock --without-compiler 3.11', 'also remove the entries of an old compiler'],
    ['iree-tuned lock --check', 'for CI: ends with 1 if the lock file is out of date'],
  )
  .action(lockInputs);

async function lockInputs(
  inputs: readonly string[],
  options: { check?: boolean; withoutCompiler?: string },
  command: CliCommand,
): Promise<void> {
  const { flags } = command;
  if (inputs.length === 0 && flags.length > 0)
    throw new UsageError('compiler flags need an input: iree-tuned lock INPUT -- FLAGS');
  const model = inputs.find(isOnnx);
  if (model !== undefined)
    throw new UserError(`${model}: a lock file needs the MLIR that builds compile: name the imported MLIR`);
  const surroundings = command.surroundings({ budget: '0' });
  const path = resolve(
    surroundings.settings.lock ?? join(projectFolder(command.settings().files) ?? '.', LOCK_FILE),
  );
  const shown = relative('.', path) || path;
  const before = await readLock(path);
  if (before === null && inputs.length === 0)
    throw new UserError(`there is no lock file ${shown}: iree-tuned lock INPUT -- FLAGS writes one`);
  const old = before?.lock ?? EMPTY_LOCK;
  const { check: isCheck = false, withoutCompiler: retired } = options;
  const wanted =
    inputs.length > 0
      ? inputs.map((input): Wanted => ({ input, flags, surroundings }))
      : lockedCommands(old, path, surroundings).filter(({ input }) => existsSync(input));

  const entries = await lockAll(wanted, old, path);
  const isRetired = (compiler: string) =>
    retired !== undefined && compiler.includes(retired) && entries.every((one) => one.compiler !== compiler);
  const isGone = ({ program, compiler }: LockedProgram) =>
    isRetired(compiler) || (inputs.length === 0 && !existsSync(join(dirname(path), program)));
  /** Keeps entries that other processes have written. */
  const after = (lock: Lock) =>
    withEntries({ programs: lock.programs.filter((entry) => !isGone(entry)) }, entries);
  const now = after(old);
  const found = changesOf(old, now);
  const changed = before?.text !== lockText(now);
  if (changed && !isCheck) await updateLock(path, surroundings.cacheDirectory, after);
  if (changed && isCheck) process.exitCode = 1;
  command.print({ path, changed, differences: found, untuned: untunedIn(entries) }, () =>
    [
      // Unwrapped.
      ...found.map(printable),
      sentences(
        changed ? verdict(shown, found, isCheck) : `${shown} is up to date.`,
        ...summaryLines(entries),
      ),
    ].join('\n'),
  );
}

function verdict(path: string, found: readonly string[], isCheck: boolean): string {
  if (!isCheck) return `Wrote ${path}.`;
  const why = found.length > 0 ? 'is not up to date' : 'has the right content in another format';
  return `${path} ${why}: run iree-tuned lock.`;
}

/** The compiles of a lock file, each once for all machines and compilers. */
function lockedCommands({ programs }: Lock, path: string, surroundings: Surroundings): Wanted[] {
  const each = new Map(programs.map((entry) => [entryKey({ ...entry, target: '', compiler: '' }), entry]));
  return [...each.values()].map(({ program, flags, inject, dim }) => ({
    input: relative('.', join(dirname(path), program)),
    flags,
    surroundings: {
      ...surroundings,
      settings: { ...surroundings.settings, inject, sizes: parseSizes(dim) ?? [] },
    },
  }));
}

async function lockAll(wanted: readonly Wanted[], old: Lock, path: string): Promise<LockedProgram[]> {
  const entries: LockedProgram[] = [];
  for (const { input, flags, surroundings: own } of wanted)
    for (const { surroundings: one, ...written } of await inspectEach(input, flags, own)) {
      using store = await openWithBases(written.inspected.site, one);
      entries.push(await lockedProgram({ ...written, store, lock: old, path }, one).catch(named(input)));
    }
  return entries;
}

const MOST_REASONS = 4;

/** A line for each entry that is new (`+`), gone (`-`) or changed (`~`). A diff of the file has a line for each workload. */
export function changesOf(old: Lock, now: Lock): string[] {
  const [before, after] = [old, now].map(
    ({ programs }) => new Map(programs.map((entry) => [entryKey(entry), entry])),
  );
  const all = withEntries(old, now.programs).programs;
  return all.flatMap((entry) => {
    const [was, is] = [before, after].map((entries) => entries!.get(entryKey(entry)));
    const sign = was === undefined ? '+' : is === undefined ? '-' : textOf(was) === textOf(is) ? null : '~';
    return sign === null ? [] : [`${sign} ${entryName(entry)}`];
  });
}

const textOf = (entry: LockedProgram): string => lockText({ programs: [entry] });

/** Each program with the number of its workloads that have no record. */
const untunedIn = (entries: readonly LockedProgram[]) =>
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
