// Repeats a compile without deciding anew, as long as command, settings, input, compiler and database are unchanged.
import { statSync } from 'node:fs';
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
import { fileIdentity, realpathOr, settled, settledIdentity } from '../system/files.ts';
import { cacheSizesKiB, cpuFeatures, cpuModel, physicalCores } from '../system/processor.ts';
import type { InputText } from '../input/text.ts';
import { piecesOfFile } from '../system/bytes.ts';
import { createDigest } from '../system/digest.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Command } from '../compiler/command.ts';
import { REPLAYS } from '../system/cache.ts';
import { memoryOf } from '../system/memory.ts';
import { filesOfFlags } from '../compiler/command-identity.ts';
import { compilerFiles } from '../compiler/identity.ts';

/** The command to run, and the counts to add. */
export interface Run {
  /** The real compiler's arguments. */
  readonly argv: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  /** Its explanation, if a setting asked for one. */
  readonly explanation?: Explanation;
  /** Its output in the output cache. */
  readonly output?: KeptOutput;
}

interface KeptOutput {
  /** Key in the output cache. */
  readonly identity: string;
  /** The user's path. */
  readonly path: string;
  /** Whether `argv` must not run without us, because messages of the compiler are edited. */
  readonly isAll: boolean;
}

/** A command whose end is known. */
export interface Replay extends Run {
  readonly identity: string;
  /** Path of its input. */
  readonly input: string;
  readonly digest: string;
  /** `settledIdentity` of the input when its digest was verified last. */
  readonly settled: string | null;
  /** Of the CPU. Compared as they are: to digest them with the identity would take a hundredth of the time of a hit. */
  readonly features: string;
  /** Identity of each file that the run depends on; null for a missing file. */
  readonly files: readonly (readonly [path: string, identity: string | null])[];
  /** When it is to be looked at again, in milliseconds of the system's clock; left out for as long as nothing changes. */
  readonly until?: number;
}

const memory = memoryOf(
  REPLAYS,
  hasFields<Replay>({
    ...{ identity: isText, input: isText, digest: isText, settled: orNull(isText), features: isText },
    ...{ argv: listOf(isText), counts: (value) => isObject(value) && Object.values(value).every(isNumber) },
    files: listOf((file) => Array.isArray(file) && isText(file[0]) && orNull(isText)(file[1])),
    until: optional(isNumber),
    output: optional(hasFields<KeptOutput>({ identity: isText, path: isText, isAll: isBoolean })),
    explanation: optional(isObject),
  }),
);

/** The run of a command when it was last compiled; null if there is none, or if it may differ now. Never throws. */
export async function recallRun(
  argv: readonly string[],
  executable: string,
  surroundings: Surroundings,
): Promise<Replay | null> {
  if (!isReplayable(argv, surroundings)) return null;
  try {
    const replay = memory.recall(surroundings.cacheDirectory, identityOf(argv, executable, surroundings));
    if (replay === null || replay.features !== cpuFeatures()) return null;
    if (isExplained(surroundings.settings) && replay.explanation === undefined) return null;
    if (replay.until !== undefined && Date.now() >= replay.until) return null;
    if (replay.files.some(([path, identity]) => contentIdentity(path) !== identity)) return null;
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

/** Identities of files at one moment; null for a missing file. */
export type Stamps = Replay['files'];

const stampsOf = (paths: readonly string[]): Stamps => paths.map((path) => [path, contentIdentity(path)]);

/**
 * Identities of lock file and database before they decide anything. Never throws.
 * @param withDatabase false where it is not asked
 */
export function stampsBefore({ settings: { lock, database } }: Surroundings, withDatabase = true): Stamps {
  try {
    // SQLite keeps its other files beside the real file, not beside links to it.
    return stampsOf([
      ...(lock === undefined ? [] : [lock]),
      ...(withDatabase ? [database, `${realpathOr(database)}-wal`] : []),
    ]);
  } catch {
    return [];
  }
}

/**
 * Remembers the run of a command, unless a file that decided about it has changed meanwhile. Never throws.
 * @param before identities when the decisions were made
 * @param files other files that decided about it
 * @param until when others may know more about it, in milliseconds of the system's clock; null for never
 */
export function rememberRun(
  run: Run,
  { argv, compiler: { executable }, arguments: args }: Command,
  {
    path,
    text: { digest, file },
  }: { readonly path: string; readonly text: Pick<InputText, 'digest' | 'file'> },
  before: Stamps,
  files: readonly string[],
  surroundings: Surroundings,
  until: number | null = null,
): void {
  if (!isReplayable(argv, surroundings)) return;
  try {
    if (before.length === 0 || before.some(([path, identity]) => contentIdentity(path) !== identity)) return;
    memory.remember(surroundings.cacheDirectory, {
      ...run,
      ...(until !== null && { until }),
      identity: identityOf(argv, executable, surroundings),
      ...{ input: path, digest, settled: settled(file) },
      features: cpuFeatures(),
      files: [...before, ...stampsOf([...compilerFiles(executable), ...filesOfFlags(args), ...files])],
    });
  } catch {
    // A working directory that is gone, say. Then it is looked at again.
  }
}

/** A database server does not tell when it changes, and a response file may change. */
const isReplayable = (argv: readonly string[], { settings }: Surroundings): boolean =>
  !/^postgres/i.test(settings.database) && !argv.some((argument) => argument.startsWith('@'));

function identityOf(argv: readonly string[], executable: string, { settings, env }: Surroundings): string {
  // The facts that distinguish devices.
  const variables = DEVICE_VARIABLES.map((name) => env[name]);
  const machine = [cpuModel(), physicalCores(), cacheSizesKiB(), variables];
  // No password goes into a file. The team is asked again after `until` anyway.
  const ours = { ...settings, team: settings.team !== undefined };
  return JSON.stringify([process.cwd(), argv, executable, ours, ...machine]);
}

/** An empty file is as good as none: so is the log that a database leaves behind. */
function contentIdentity(path: string): string | null {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0 ? null : fileIdentity(path);
}
