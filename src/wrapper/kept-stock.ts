// The program as it is, compiled for ourselves at most once in a build: who has seen what takes its time keeps it for who asks
// whether it is faster with what was found.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Uncompiled } from '../program/runs.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import type { ProgramBuilds } from './program-builds.ts';

export class KeptStock {
  #folder: string | null = null;
  #made: string | Uncompiled | null = null;

  /** Folder for modules and inputs of the program; null where there is no place for one. */
  folder({ cacheDirectory }: Pick<Surroundings, 'cacheDirectory'>): string | null {
    return (this.#folder ??= makeScratchFolder(cacheDirectory, 'verify'));
  }

  /** Path of the module, below `folder`, or why there is none. */
  async compiled({ stock }: Pick<ProgramBuilds, 'stock'>, folder: string): Promise<string | Uncompiled> {
    if (this.#made !== null) return this.#made;
    const module = join(folder, 'stock.vmfb');
    this.#made = (await stock(module)) ?? module;
    return this.#made;
  }

  /** Nobody needs it any more. */
  discard(): void {
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = this.#made = null;
  }
}
