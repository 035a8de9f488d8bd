// One compile's place in the output cache.
import type { Command } from '../compiler/command.ts';
import type { InputText } from '../input/text.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { createDigest } from '../system/digest.ts';
import { fileState } from '../system/files.ts';
import { canDeliver, deliverFile } from './deliver.ts';
import { fetchOutput, keepOutput } from './outputs.ts';

export interface CachedOutput {
  /**
   * Writes a known output to the user's path: from the cache, else from a module of this build, which is cached then.
   * @param module path of the module if this build has compiled it already
   * @returns the key if the output is in the cache now; null if nothing was written
   */
  deliver(module: string | null): { readonly output: string | null } | null;
  /** Moves a module into the cache, with the messages of its compile. Returns its key, or null. */
  keep(module: string, messages: Uint8Array): string | null;
}

/** @param parts everything that decides about the output's bytes, except the input's name */
export async function cachedOutput(
  command: Command,
  { bytes, file }: Pick<InputText, 'bytes' | 'file'>,
  parts: readonly unknown[],
  { cacheDirectory, settings, env }: Surroundings,
): Promise<CachedOutput> {
  const { input, output } = command.arguments;
  const path = output.kind === 'file' && settings.outputs && canDeliver(command) ? output.path : null;
  // The output holds the input's name in its locations.
  const key = (await createDigest())([Buffer.from(JSON.stringify([...parts, input]))]);
  /** The compiler may have read another input than we. */
  const isSameInput = () => input?.kind !== 'file' || fileState(input.path)?.identity === file?.identity;
  const keep = (module: string, messages: Uint8Array) => {
    const isKept =
      path !== null &&
      !linksObjects(bytes) &&
      isSameInput() &&
      keepOutput(cacheDirectory, key, module, messages, env);
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

/** Modules of this build are from compiles without messages. */
const NONE = new Uint8Array();

/** Whether the input links object files, which are no part of the key. */
const linksObjects = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes('hal.executable.object');
