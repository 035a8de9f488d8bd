// `iree-tuned lock`
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { isOnnx } from '../compiler/import-onnx.ts';
import { differences } from '../decision/lock/compare.ts';
import { readLock, updateLock } from '../decision/lock/file.ts';
import { EMPTY_LOCK, entryKey, withEntries, type Lock, type LockedProgram } from '../decision/lock/lock.ts';
import { lockText } from '../decision/lock/text.ts';
import { LOCK_FILE, projectFolder } from '../settings/files.ts';
import { printable } from '../report/text.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { UserError } from '../system/user-error.ts';
import { parseSizes } from '../workload/sizes.ts';
import { lockedProgram } from '../wrapper/locking.ts';
import { CliCommand } from './command.ts';
import { inspectEach, named, openIfThere, settingsOf, surroundingsOf, UsageError } from './context.ts';
import { changeLines, summaryLines, untunedIn } from './lock-summary.ts';
import { sentences } from './output.ts';

/** A compile to lock. */
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
  .option('--check', 'write nothing, and end with 1 if the lock file is out of date')
  .json()
  .examples(
    ['iree-tuned lock model.mlir -- --iree-llvmcpu-target-cpu=znver4', 'write the lock file'],
    ['iree-tuned lock', 'update the lock file'],
    ['iree-tuned lock --check', 'for CI: ends with 1 if the lock file is out of date'],
  )
  .action(lockInputs);

async function lockInputs(
  inputs: readonly string[],
  options: { check?: boolean },
  command: CliCommand,
): Promise<void> {
  const { flags } = command;
  if (inputs.length === 0 && flags.length > 0)
    throw new UsageError('compiler flags need an input: iree-tuned lock INPUT -- FLAGS');
  const model = inputs.find(isOnnx);
  if (model !== undefined)
    throw new UserError(`${model}: a lock file needs the MLIR that builds compile: name the imported MLIR`);
  const surroundings = surroundingsOf(command, { budget: '0' });
  const path = resolve(
    surroundings.settings.lock ?? join(projectFolder(settingsOf(command).files) ?? '.', LOCK_FILE),
  );
  const shown = relative('.', path) || path;
  const before = await readLock(path);
  if (before === null && inputs.length === 0)
    throw new UserError(`there is no lock file ${shown}: iree-tuned lock INPUT -- FLAGS writes one`);
  const old = before?.lock ?? EMPTY_LOCK;
  const isGone = ({ program: name }: LockedProgram) =>
    inputs.length === 0 && !existsSync(join(dirname(path), name));
  const wanted =
    inputs.length > 0
      ? inputs.map((input): Wanted => ({ input, flags, surroundings }))
      : lockedCommands(old, path, surroundings).filter(({ input }) => existsSync(input));

  const entries = await lockAll(wanted, old, path, surroundings);
  /** Keeps entries that other processes have written. */
  const after = (lock: Lock) =>
    withEntries({ programs: lock.programs.filter((entry) => !isGone(entry)) }, entries);
  const now = after(old);
  const found = differences(old, now);
  const changed = before?.text !== lockText(now);
  const isCheck = options.check === true;
  if (changed && !isCheck) await updateLock(path, surroundings.cacheDirectory, after);
  if (changed && isCheck) process.exitCode = 1;
  command.print({ path, changed, differences: found, untuned: untunedIn(entries) }, () =>
    [
      // Lines of the file, unwrapped.
      ...changeLines(old, now).map(printable),
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

/** The compiles of a lock file, each once for all machines. */
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
  old: Lock,
  path: string,
  surroundings: Surroundings,
): Promise<LockedProgram[]> {
  const store = await openIfThere(surroundings);
  try {
    const entries: LockedProgram[] = [];
    for (const { input, flags, surroundings: own } of wanted) {
      for (const { surroundings: one, ...written } of await inspectEach(input, flags, own))
        entries.push(await lockedProgram({ ...written, store, lock: old, path }, one).catch(named(input)));
    }
    return entries;
  } finally {
    store?.close();
  }
}
