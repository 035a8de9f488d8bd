// The output of one compile in the output cache.
import { isAsBefore, runsSystemTools } from '../compiler/command-files.ts';
import type { Command } from '../compiler/command.ts';
import type { InputText } from '../input/text.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { createDigest } from '../system/digest.ts';
import { fileState } from '../system/files.ts';
import { canDeliver, deliverFile } from './deliver.ts';
import { fetchOutput, keepOutput } from './outputs.ts';

export interface CachedOutput {
  /** Whether an output of this compile may be in the cache. */
  readonly isPossible: boolean;
  /**
   * Writes the output to the user's path: from the cache, else from a module of this build, which goes into the cache.
   * @param module path of the module if this build has compiled it already
   * @returns the key if the output is in the cache now; null if nothing was written
   */
  deliver(module: string | null): { readonly output: string | null } | null;
  /**
   * Puts an output into the cache, with the messages of its compile.
   * @param file the user's output, which is copied, or a scratch file, which is moved
   * @returns its key, or null
   */
  keep(file: string, messages: Uint8Array): string | null;
}

/** @param plan everything that the output's bytes depend on, except the input's name */
export async function cachedOutput(
  command: Command,
  { bytes, digest, file }: Pick<InputText, 'bytes' | 'digest' | 'file'>,
  plan: string,
  { cacheDirectory, settings, env }: Surroundings,
): Promise<CachedOutput> {
  const { arguments: args, files } = command;
  const { input, output } = args;
  const isPossible = settings.outputs && canDeliver(command) && !runsSystemTools(args);
  const path = output.kind === 'file' && isPossible ? output.path : null;
  // Locations in the output contain the input's name.
  const key = (await createDigest())([Buffer.from(JSON.stringify([plan, input]))]);
  /** False if a file has changed since this build looked at it: the compiler may have read the new one. */
  const isOfThese = () =>
    (input?.kind !== 'file' || fileState(input.path)?.identity === file?.identity) && isAsBefore(files);
  const keep = (from: string, messages: Uint8Array) => {
    const isKept =
      path !== null &&
      !readsUnknownFiles(bytes) &&
      isOfThese() &&
      keepOutput(
        cacheDirectory,
        { identity: key, input: digest },
        { from, isOurs: from !== path },
        messages,
        env,
      );
    return isKept ? key : null;
  };
  return {
    isPossible,
    keep,
    deliver(module) {
      if (path !== null && fetchOutput(cacheDirectory, key, path, env)) return { output: key };
      return module !== null && deliverFile(module, command) ? { output: keep(module, NONE) } : null;
    },
  };
}

/** This build keeps only modules of compiles without messages. */
const NONE = new Uint8Array();

/** Parts of inputs that are linked with object files, or by the system's linker. The key covers neither. */
const LINKED = ['hal.executable.object', 'link_embedded', 'wasm32', 'wasm64'];

const readsUnknownFiles = ({ buffer, byteOffset, byteLength }: Uint8Array): boolean => {
  const text = Buffer.from(buffer, byteOffset, byteLength);
  return LINKED.some((part) => text.includes(part));
};
