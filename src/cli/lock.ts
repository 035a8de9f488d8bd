// `iree-tuned lock`: writes down what builds get, so that all of them get the same; or says whether that is still so.
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { Command as Program } from 'commander';
import { isOnnx } from '../compiler/import-onnx.ts';
import { differences } from '../lock/compare.ts';
import { readLock, updateLock } from '../lock/file.ts';
import { EMPTY_LOCK, entryKey, withEntries, type Lock, type LockedProgram } from '../lock/lock.ts';
import { lockText } from '../lock/text.ts';
import { LOCK_FILE, projectFolder } from '../settings/files.ts';
import { printable } from '../report/text.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Store } from '../store/store.ts';
import { UserError } from '../system/user-error.ts';
import { parseSizes } from '../workload/sizes.ts';
import { lockedProgram, NO_RECORD } from '../wrapper/locking.ts';
import { inspectInput, openDatabase, settingsOf, surroundingsOf, UsageError } from './context.ts';
import { say } from './output.ts';

/** A compile that is to be locked. */
interface Wanted {
  /** Path from the working directory. */
  readonly input: string;
  readonly flags: readonly string[];
  readonly surroundings: Surroundings;
}

export async function lockInputs(
  given: readonly string[],
  options: { check?: boolean; json?: boolean },
  program: Program,
): Promise<void> {
  // What follows `--` are flags; the parser makes one list of both.
  const behind = process.argv.indexOf('--');
  const flags = behind < 0 ? [] : process.argv.slice(behind + 1);
  const inputs = given.slice(0, given.length - flags.length);
  if (inputs.length === 0 && flags.length > 0)
    throw new UsageError('flags are for an input: iree-tuned lock INPUT -- FLAGS');
  const model = inputs.find(isOnnx);
  if (model !== undefined)
    throw new UserError(`${model}: a lock file is about what builds compile: name the MLIR of the model`);
  const surroundings = surroundingsOf(program, { budget: '0' });
  const path = resolve(
    surroundings.settings.lock ?? join(projectFolder(settingsOf(program).files) ?? '.', LOCK_FILE),
  );
  const shown = relative('.', path) || path;
  const before = readLock(path);
  if (before === null && inputs.length === 0)
    throw new UserError(`there is no lock file ${shown}: iree-tuned lock INPUT -- FLAGS makes one`);
  const old = before?.lock ?? EMPTY_LOCK;
  const isGone = ({ program: name }: LockedProgram) =>
    inputs.length === 0 && !existsSync(join(dirname(path), name));
  const wanted =
    inputs.length > 0
      ? inputs.map((input): Wanted => ({ input, flags, surroundings }))
      : lockedCommands(old, path, surroundings).filter(({ input }) => existsSync(input));

  const entries = await lockAll(wanted, old, path, surroundings);
  /** Whatever somebody else has locked meanwhile stays. */
  const after = (lock: Lock) =>
    withEntries({ programs: lock.programs.filter((entry) => !isGone(entry)) }, entries);
  const now = after(old);
  const found = differences(old, now);
  const changed = before?.text !== lockText(now);
  const untuned = entries.flatMap(({ program: name, workloads }) => {
    const open = [...workloads.values()].filter(
      (one) => one.kind === 'unknown' && one.because === NO_RECORD.reason,
    );
    return open.length === 0 ? [] : [{ program: name, count: open.length, of: workloads.size }];
  });
  if (options.check !== true && changed) updateLock(path, surroundings.cacheDirectory, after);
  if (options.check === true && changed) process.exitCode = 1;
  if (options.json === true) {
    console.log(JSON.stringify({ path, changed, differences: found, untuned }, null, 2));
    return;
  }
  // Lines of a file, as they are there.
  for (const line of found) console.log(printable(line));
  say(changed ? verdict(shown, found, options.check === true) : `${shown} is up to date.`);
  for (const { program: name, count, of } of untuned)
    say(
      `${name}: ${count} of ${of} workloads have no record and are locked to the default; iree-tuned tune ${name} finds one.`,
    );
}

function verdict(path: string, found: readonly string[], isCheck: boolean): string {
  if (!isCheck) return `Wrote ${path}.`;
  const why =
    found.length > 0
      ? 'is not up to date'
      : 'says what it has to, but is not written as iree-tuned writes it';
  return `${path} ${why}: run iree-tuned lock.`;
}

/** The compiles that a lock file knows, each once, whatever machines they were locked on. */
function lockedCommands({ programs }: Lock, path: string, surroundings: Surroundings): Wanted[] {
  const each = new Map(programs.map((entry) => [entryKey({ ...entry, target: '' }), entry]));
  return [...each.values()].map(({ program, flags, inject, dim }) => ({
    input: relative('.', join(dirname(path), program)),
    flags,
    surroundings: {
      ...surroundings,
      settings: { ...surroundings.settings, inject, sizes: parseSizes(dim) ?? {} },
    },
  }));
}

async function lockAll(
  wanted: readonly Wanted[],
  lock: Lock,
  path: string,
  surroundings: Surroundings,
): Promise<LockedProgram[]> {
  const store = await openExisting(surroundings);
  try {
    const entries: LockedProgram[] = [];
    for (const { input, flags, surroundings: own } of wanted) {
      const { command, inspected } = await inspectInput(input, flags, own);
      entries.push(await lockedProgram({ inspected, command, store, lock, path }, own).catch(named(input)));
    }
    return entries;
  } finally {
    store?.close();
  }
}

/** A database that is not there is not made: what is locked may be all that there is. */
const openExisting = (surroundings: Surroundings): Promise<Store | null> =>
  existsSync(surroundings.settings.database) ? openDatabase(surroundings) : Promise.resolve(null);

/** Says which input an error is about. */
const named =
  (input: string) =>
  (error: unknown): never => {
    throw error instanceof UserError ? new UserError(`${input}: ${error.message}`, { cause: error }) : error;
  };
