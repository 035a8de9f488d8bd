// The output of one compile in the output cache.
import type { Command } from '../compiler/command.ts';
import type { InputText } from '../input/text.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { createDigest } from '../system/digest.ts';
import { fileState } from '../system/files.ts';
import { canDeliver, deliverFile } from './deliver.ts';
import { fetchOutput, keepOutput } from './outputs.ts';

export interface CachedOutput {
  /**
   * Writes the output to the user's path: from the cache, else from a module of this build, which goes into the cache.
   * @param module path of the module if this build has compiled it already
   * @returns the key if the output is in the cache now; null if nothing was written
   */
  deliver(module: string | null): { readonly output: string | null } | null;
  /** Moves a module into the cache, with the messages of its compile. Returns its key, or null. */
  keep(module: string, messages: Uint8Array): string | null;
}

/** @param plan everything that the output's bytes depend on, except the input's name */
export async function cachedOutput(
  command: Command,
  { bytes, digest, file }: Pick<InputText, 'bytes' | 'digest' | 'file'>,
  plan: string,
  { cacheDirectory, settings, env }: Surroundings,
): Promise<CachedOutput> {
  const { input, output } = command.arguments;
  const path = output.kind === 'file' && settings.outputs && canDeliver(command) ? output.path : null;
  // Locations in the output contain the input's name.
  const key = (await createDigest())([Buffer.from(JSON.stringify([plan, input]))]);
  /** False if the input has changed since we read it: the compiler may have read the new one. */
  const isSameInput = () => input?.kind !== 'file' || fileState(input.path)?.identity === file?.identity;
  const keep = (module: string, messages: Uint8Array) => {
    const isKept =
      path !== null &&
      !linksObjects(bytes) &&
      isSameInput() &&
      keepOutput(cacheDirectory, { identity: key, input: digest }, module, messages, env);
    return isKept ? key : null;
  };
  return {
    keep,
    deliver(module) {
      if (path !== null && fetchOutput(cacheDirectory, key, path, env)) return { output: key };
      return module !== null && deliverFile(module, command) ? { output: keep(module, NONE) } : null;
    },
  };
}

/** This build keeps only modules of compiles without messages. */
const NONE = new Uint8Array();

/** Whether the input links object files, which the key does not cover. */
const linksObjects = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes('hal.executable.object');
