// One compile's place in the output cache.
import type { Command } from '../compiler/command.ts';
import type { Input } from '../input/input.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { createDigest } from '../system/digest.ts';
import { canDeliver } from './deliver.ts';
import { fetchOutput, keepOutput } from './outputs.ts';

export interface CachedOutput {
  /** Copies the output to the user's path, if it is there. Returns its key, or null. */
  fetch(): string | null;
  /** Moves a module into the cache. Returns its key, or null. */
  keep(module: string): string | null;
}

/** @param parts everything that decides about the output's bytes, except the input's name */
export async function cachedOutput(
  command: Command,
  { bytes }: Pick<Input, 'bytes'>,
  parts: readonly unknown[],
  { cacheDirectory, settings }: Surroundings,
): Promise<CachedOutput> {
  const { input, output } = command.arguments;
  const path = output.kind === 'file' && settings.outputs && canDeliver(command) ? output.path : null;
  // The output holds the input's name in its locations.
  const key = (await createDigest())([Buffer.from(JSON.stringify([...parts, input]))]);
  return {
    fetch: () => (path !== null && fetchOutput(cacheDirectory, key, path) ? key : null),
    keep: (module) =>
      path !== null && !linksObjects(bytes) && keepOutput(cacheDirectory, key, module) ? key : null,
  };
}

/** Whether the input links object files, which are no part of the key. */
const linksObjects = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes('hal.executable.object');
