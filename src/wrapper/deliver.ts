// Writes the output of a compile to the user's path, as the compiler would have written it: from the output cache, from a module of this
// build, or from a scratch file.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isAsBefore, runsSystemTools } from '../compiler/command-files.ts';
import type { Command } from '../compiler/command.ts';
import { givesOnlyOutput } from '../compiler/flag-roles.ts';
import type { InputText } from '../input/text.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { bufferOf, copyOver } from '../system/bytes.ts';
import { createDigest } from '../system/digest.ts';
import { fileState } from '../system/files.ts';
import { resultOr } from '../system/result-or.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import { fetchOutput, keepOutput, OUTPUTS_LIMIT } from './outputs.ts';

let isDelivered = false;

/** Whether the user has the output. After that no failure starts another compile. */
export const hasDelivered = (): boolean => isDelivered;

/** Notes that the user has the output. */
export const noteDelivered = (): void => {
  isDelivered = true;
};

/** Result of a compile that succeeds without running the compiler. */
export const SUCCESS = { code: 0, signal: null, forwarded: null };

/** Whether a copy of the module equals a compile: the output is a file, and no flag asks for other files. */
export function canDeliver({ arguments: { output, flags } }: Pick<Command, 'arguments'>): boolean {
  if (output.kind !== 'file' || !givesOnlyOutput(flags)) return false;
  const status = statSync(output.path, { throwIfNoEntry: false });
  return status === undefined || status.isFile();
}

/** Writes a file as the output. @returns false if only the compiler can write it, or if the copy fails */
export function deliverFile(module: string, command: Pick<Command, 'arguments'>): boolean {
  const { output } = command.arguments;
  if (output.kind !== 'file' || !canDeliver(command)) return false;
  // Like the compiler, writes into the existing file, or into a new file with default permissions.
  return resultOr(() => copyOver(module, output.path), false);
}

/**
 * Scratch path for the output of a compile that may fail. The compiler removes its output file if it fails, and an old file would lose its
 * mode and links.
 * @param mayFallBack whether the user gets an output in any case
 * @returns null if the compiler can write to the user's path at once: there is nothing to lose, the output is no regular file, an output of
 *   its size is not held, or nothing can be written to the cache
 */
export function heldOutput(
  command: Pick<Command, 'arguments'>,
  mayFallBack: boolean,
  { cacheDirectory }: Pick<Surroundings, 'cacheDirectory'>,
): string | null {
  const { output } = command.arguments;
  if (output.kind !== 'file' || !canDeliver(command)) return null;
  const old = statSync(output.path, { throwIfNoEntry: false });
  const isWorthIt = old === undefined ? !mayFallBack : old.size <= OUTPUTS_LIMIT;
  const folder = isWorthIt ? makeScratchFolder(cacheDirectory, 'output') : null;
  return folder && join(folder, 'output');
}

/** The output of one compile in the output cache. */
export interface CachedOutput {
  /** Whether an output of this compile may be in the cache. */
  readonly isPossible: boolean;
  /**
   * Writes the output to the user's path: from the cache, else from a module of this build, which goes into the cache.
   * @param module path of the module if this build has compiled it already
   * @returns the key if the output is in the cache now, and whether no build has delivered it before; null if nothing was written
   */
  deliver(module: string | null): Promise<{ readonly output: string | null; readonly isNew: boolean } | null>;
  /**
   * Puts an output into the cache, with the messages of its compile.
   * @param file the user's output, which is copied, or a scratch file, which is moved
   * @returns its key, or null
   */
  keep(file: string, messages: Uint8Array): Promise<string | null>;
}

/** @param plan everything that the output's bytes depend on, except the input's name */
export function cachedOutput(
  command: Pick<Command, 'arguments' | 'files'>,
  { bytes, digest, file }: Pick<InputText, 'bytes' | 'digest' | 'file'>,
  plan: string,
  { cacheDirectory, settings, env }: Surroundings,
): CachedOutput {
  const { arguments: args, files } = command;
  const { input, output } = args;
  const isPossible = settings.outputs && canDeliver(command) && !runsSystemTools(args);
  const path = output.kind === 'file' && isPossible ? output.path : null;
  // Locations in the output contain the input's name.
  const keyOf = async () => (await createDigest())([Buffer.from(JSON.stringify([plan, input]))]);
  /** False if a file has changed since this build looked at it: the compiler may have read the new one. */
  const isOfThese = () =>
    (input?.kind !== 'file' || fileState(input.path)?.identity === file?.identity) && isAsBefore(files);
  const keep = async (from: string, messages: Uint8Array) => {
    if (path === null) return null;
    const identity = await keyOf();
    if (readsUnknownFiles(bytes) || !isOfThese()) return null;
    const file = { from, isOurs: from !== path };
    return keepOutput(cacheDirectory, { identity, input: digest }, file, messages, env) ? identity : null;
  };
  return {
    isPossible,
    keep,
    async deliver(module) {
      if (path !== null) {
        const output = await keyOf();
        if (fetchOutput(cacheDirectory, output, path, env)) return { output, isNew: false };
      }
      if (module === null || !deliverFile(module, command)) return null;
      return { output: await keep(module, NONE), isNew: true };
    },
  };
}

/** This build keeps only modules of compiles without messages. */
const NONE = new Uint8Array();

/** Parts of inputs that are linked with object files, or by the system's linker. The key covers neither. */
const LINKED = ['hal.executable.object', 'link_embedded', 'wasm32', 'wasm64'];

const readsUnknownFiles = (bytes: Uint8Array): boolean =>
  LINKED.some((part) => bufferOf(bytes).includes(part));
