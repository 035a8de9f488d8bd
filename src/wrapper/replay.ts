// Replays a compile without new decisions while command, settings, input, compiler and database are unchanged.
import { statSync } from 'node:fs';
import { folderOf, headIn, isChanged } from '../base/installed.ts';
import type { Explanation } from '../report/explain.ts';
import { isExplained } from '../report/explain-file.ts';
import { DEVICE_VARIABLES } from '../backend/device.ts';
import {
  hasFields,
  isBoolean,
  isNumber,
  isObject,
  isText,
  listOf,
  optional,
  orNull,
} from '../system/data.ts';
import { isUnchanged, realpathOr, settled, settledIdentity, stampsOf, type Stamps } from '../system/files.ts';
import { cpuQuota } from '../system/cpu-quota.ts';
import { cacheSizesKiB, cpuFeatures, cpuModel, physicalCores } from '../system/processor.ts';
import type { InputText } from '../input/text.ts';
import { piecesOfFile } from '../system/bytes.ts';
import { createDigest } from '../system/digest.ts';
import { pathsOf } from '../settings/own-data.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Command } from '../compiler/command.ts';
import type { Ending } from './plan-run.ts';
import { REPLAYS } from '../system/cache.ts';
import { memoryOf } from '../system/memory.ts';
import { LINKER_VARIABLES, linkerOf } from '../compiler/identity.ts';

/** An output in the output cache. */
interface KeptOutput {
  /** Key in the output cache. */
  readonly identity: string;
  /** The user's path. */
  readonly path: string;
  /** Whether only this output can be replayed: `argv` alone would show messages that are not edited. */
  readonly isAll: boolean;
}

/** A compile to replay. */
export interface Replay {
  readonly identity: string;
  /** The real compiler's arguments. */
  readonly argv: readonly string[];
  /** Counts to add. */
  readonly counts: Readonly<Record<string, number>>;
  /** Left out if no setting asked for one. */
  readonly explanation?: Explanation;
  /** Left out if the output cache does not have it. */
  readonly output?: KeptOutput;
  /** Path of its input. */
  readonly input: string;
  readonly digest: string;
  /** `settledIdentity` of the input when its digest was verified last. */
  readonly settled: string | null;
  /** Features of the CPU. They are not in the identity, because their digest takes 1% of the time of a hit. */
  readonly features: string;
  /** States of the files that the run depends on. */
  readonly files: Stamps;
  /** Whether records that it lacks may be in a folder of the team now; left out for no. */
  readonly mayArrive?: boolean;
  /** The linker that the compiler found in `PATH`, or null; left out if the linker lies beside the compiler. */
  readonly linker?: string | null;
}

const memory = memoryOf(
  REPLAYS,
  hasFields<Replay>({
    ...{ identity: isText, input: isText, digest: isText, settled: orNull(isText), features: isText },
    ...{ argv: listOf(isText), counts: (value) => isObject(value) && Object.values(value).every(isNumber) },
    files: listOf((file) => Array.isArray(file) && isText(file[0]) && orNull(isText)(file[1])),
    ...{ mayArrive: optional(isBoolean), linker: optional(orNull(isText)) },
    output: optional(hasFields<KeptOutput>({ identity: isText, path: isText, isAll: isBoolean })),
    explanation: optional(isObject),
  }),
);

/** The last compile of a command; null if there is none, or if a new compile may differ. Never throws. */
export async function recallRun(
  argv: readonly string[],
  executable: string,
  surroundings: Surroundings,
): Promise<Replay | null> {
  try {
    const identity = identityOf(argv, executable, surroundings);
    const replay = identity === null ? null : memory.recall(surroundings.cacheDirectory, identity);
    if (replay === null || replay.features !== cpuFeatures()) return null;
    if (isExplained(surroundings.settings) && replay.explanation === undefined) return null;
    if (!isUnchanged(replay.files)) return null;
    if (replay.mayArrive === true && (await hasArrived(surroundings))) return null;
    const { linker } = replay;
    if (linker !== undefined && (linkerOf(executable, surroundings.env)?.path ?? null) !== linker)
      return null;
    // A pipe can be read once, and the compiler has to read it.
    if (!statSync(replay.input).isFile()) return null;
    const now = settledIdentity(replay.input);
    // Reading a model with its weights would dominate the time of a hit.
    if (now !== null && now === replay.settled) return replay;
    if ((await createDigest())(piecesOfFile(replay.input)) !== replay.digest) return null;
    if (now !== null) memory.remember(surroundings.cacheDirectory, { ...replay, settled: now });
    return replay;
  } catch {
    return null;
  }
}

/** Whether a folder of the team has changed. */
async function hasArrived({ settings: { bases }, cacheDirectory }: Surroundings): Promise<boolean> {
  for (const address of bases) if (await isChanged(address, folderOf(cacheDirectory, address))) return true;
  return false;
}

/**
 * States of the lock file, the user's data, the database and the bases before the decisions. Never throws.
 * @param others other files that the decisions depend on
 * @param withDatabase false if the database decides nothing
 */
export const stampsBefore = (
  { settings: { lock, database, bases, data }, cacheDirectory }: Surroundings,
  others: readonly string[] = [],
  withDatabase = true,
): Stamps =>
  stampsOf([
    ...(lock === undefined ? [] : [lock]),
    ...pathsOf(data),
    // SQLite keeps its other files next to the real file, not next to links.
    ...(withDatabase ? [database, `${realpathOr(database)}-wal`] : []),
    ...(withDatabase ? bases.map((address) => headIn(folderOf(cacheDirectory, address))) : []),
    ...others,
  ]);

/**
 * Remembers a compile if the next build may replay it, and no file that it depends on has changed during the build. Never throws.
 * @param written the user's own command
 * @param before states of files before the decisions: the lock file, the database, drivers and tools
 * @param files memories that this build has written
 * @param mayArrive whether records that it lacks may be in a folder of the team a moment later
 */
export function rememberRun(
  { output, isEdited, replayFiles }: Ending,
  {
    argv,
    counts,
    explanation,
  }: Pick<Replay, 'argv' | 'counts'> & { readonly explanation: Explanation | null },
  written: Command,
  { digest, file }: Pick<InputText, 'digest' | 'file'>,
  before: Stamps,
  files: readonly string[],
  surroundings: Surroundings,
  mayArrive = false,
): void {
  const { executable } = written.compiler;
  const { env } = surroundings;
  const { input, output: to } = written.arguments;
  if (replayFiles === null || input?.kind !== 'file') return;
  try {
    const identity = identityOf(written.argv, executable, surroundings);
    if (identity === null) return;
    const { ofCompiler, ofFlags } = written.files;
    const known = [...before, ...ofCompiler, ...ofFlags];
    if (!isUnchanged(known)) return;
    const linker = linkerOf(executable, env);
    memory.remember(surroundings.cacheDirectory, {
      ...{ argv, counts },
      ...(explanation && { explanation }),
      ...(output !== null &&
        to.kind === 'file' && { output: { identity: output, path: to.path, isAll: isEdited === true } }),
      ...(mayArrive && { mayArrive }),
      ...(linker?.isBeside !== true && { linker: linker?.path ?? null }),
      ...{ identity, input: input.path, digest, settled: settled(file) },
      features: cpuFeatures(),
      files: [...known, ...stampsOf([...files, ...replayFiles])],
    });
  } catch {
    // For example, the working directory is gone. The next build decides again.
  }
}

/** Null if a command is not replayable: its database is a server, or it has a response file, whose changes are not seen. */
function identityOf(
  argv: readonly string[],
  executable: string,
  { settings, env }: Surroundings,
): string | null {
  if (/^postgres/i.test(settings.database) || argv.some((argument) => argument.startsWith('@'))) return null;
  // The facts that distinguish devices and linkers.
  const variables = [...DEVICE_VARIABLES, ...LINKER_VARIABLES].map((name) => env[name]);
  const machine = [cpuModel(), physicalCores(), cpuQuota(), cacheSizesKiB(), variables];
  // No password goes into a file, and no build uses the fleet.
  return JSON.stringify([process.cwd(), argv, executable, { ...settings, fleet: undefined }, ...machine]);
}
