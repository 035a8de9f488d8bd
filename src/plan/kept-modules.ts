// Modules of one build that were compiled for ourselves: the program as it is, which is compiled once, and whatever the user's
// own command comes to in the end, which need not be compiled again.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Compile } from '../compiler/command.ts';
import type { Injection } from '../inject/plan.ts';
import type { SplitProgram } from '../inject/split-program.ts';
import type { Uncompiled } from '../program/runs.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { createDigest } from '../system/digest.ts';
import { makeScratchFolder } from '../system/scratch.ts';

/** What decides about a program at the end of `flow`, beside the command: equal where that is the same. */
export const flowOf = ({ rewriting }: Command, injection: Injection | null): string =>
  JSON.stringify([
    rewriting?.path ?? null,
    ...(injection?.route === 'preprocess' ? [injection.text, injection.flags] : []),
    ...(injection?.route === 'inline' ? [injection.insertions] : []),
  ]);

/** The program split, or what the compiler said when it does not get that far. */
type Split = Promise<SplitProgram | string>;

export class KeptModules {
  #folder: string | null = null;
  #stock: string | Uncompiled | null = null;
  #stockSeconds = 0;
  /** The program split, see `flowOf`; null while that is under way. */
  readonly #splits = new Map<string, { made: SplitProgram | string | null; readonly end: Split }>();
  /** By path, what each module is the outcome of. */
  readonly #compiles = new Map<string, string>();

  /** Folder for modules and inputs of the program; null where there is no place for one. */
  folder({ cacheDirectory }: Pick<Surroundings, 'cacheDirectory'>): string | null {
    return (this.#folder ??= makeScratchFolder(cacheDirectory, 'verify'));
  }

  /**
   * Path of the program's module as it is, below `folder`, or why there is none.
   * @param stock compiles it into a file
   */
  async compiledStock(
    stock: (output: string) => Promise<Uncompiled | null>,
    folder: string,
  ): Promise<string | Uncompiled> {
    if (this.#stock !== null) return this.#stock;
    const module = join(folder, 'stock.vmfb');
    const begun = performance.now();
    this.#stock = (await stock(module)) ?? module;
    this.#stockSeconds = (performance.now() - begun) / 1000;
    return this.#stock;
  }

  /** The next program without configurations is another one; what was compiled is still found by its command. */
  forgetStock(): void {
    this.#stock = null;
  }

  /** What compiling that has taken; 0 where it was not done. */
  get stockSeconds(): number {
    return this.#stockSeconds;
  }

  /** The program split there; null where nobody has asked for that, or the compiler does not get that far. */
  splitOf(flow: string): SplitProgram | null {
    const split = this.#splits.get(flow)?.made ?? null;
    return typeof split === 'string' ? null : split;
  }

  /**
   * Splits the program, once. What is compiled of it from now on goes on from there.
   * @param split does it, in a folder
   */
  async split(flow: string, folder: string, split: (folder: string) => Split): Split {
    const begun = this.#splits.get(flow);
    if (begun !== undefined) return begun.end;
    const entry = {
      made: null as SplitProgram | string | null,
      end: split(join(folder, `split${this.#splits.size}`)),
    };
    this.#splits.set(flow, entry);
    return (entry.made = await entry.end);
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
    this.#splits.clear();
    this.#compiles.clear();
  }
}

async function identityOf({ argv, stdin }: Compile): Promise<string> {
  return JSON.stringify([argv, stdin === undefined ? null : (await createDigest())([stdin])]);
}
