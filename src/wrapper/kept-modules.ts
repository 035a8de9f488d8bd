// Modules of one build that were compiled for ourselves: the program as it is, which is compiled once, and whatever the user's
// own command comes to in the end, which need not be compiled again.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Uncompiled } from '../program/runs.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { createDigest } from '../system/digest.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import type { ProgramBuilds } from './program-builds.ts';

/** A compile, but for where its output goes. */
export interface Compile {
  readonly argv: readonly string[];
  readonly stdin: Uint8Array | undefined;
}

export class KeptModules {
  #folder: string | null = null;
  #stock: string | Uncompiled | null = null;
  /** By path, what each module is the outcome of. */
  readonly #compiles = new Map<string, string>();

  /** Folder for modules and inputs of the program; null where there is no place for one. */
  folder({ cacheDirectory }: Pick<Surroundings, 'cacheDirectory'>): string | null {
    return (this.#folder ??= makeScratchFolder(cacheDirectory, 'verify'));
  }

  /** Path of the program's module as it is, below `folder`, or why there is none. */
  async compiledStock({ stock }: Pick<ProgramBuilds, 'stock'>, folder: string): Promise<string | Uncompiled> {
    if (this.#stock !== null) return this.#stock;
    const module = join(folder, 'stock.vmfb');
    this.#stock = (await stock(module)) ?? module;
    return this.#stock;
  }

  /** Notes what a module is the outcome of; null when it is being written, or not all that the compile gave. */
  async note(module: string, compile: Compile | null): Promise<void> {
    if (compile === null) this.#compiles.delete(module);
    else this.#compiles.set(module, await identityOf(compile));
  }

  /** Path of what this compile gives; null where it was not done. */
  async find(compile: Compile): Promise<string | null> {
    if (this.#compiles.size === 0) return null;
    const identity = await identityOf(compile);
    return [...this.#compiles].find(([, own]) => own === identity)?.[0] ?? null;
  }

  /** Nobody needs them any more. */
  discard(): void {
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = this.#stock = null;
    this.#compiles.clear();
  }
}

async function identityOf({ argv, stdin }: Compile): Promise<string> {
  return JSON.stringify([argv, stdin === undefined ? null : (await createDigest())([stdin])]);
}
