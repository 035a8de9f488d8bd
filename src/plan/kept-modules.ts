// Modules that a build has compiled to measure them. The user's output is a copy of one of them if the commands are the same.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Compile } from '../compiler/command.ts';
import type { Injection } from '../inject/plan.ts';
import type { SplitProgram } from '../inject/split-program.ts';
import type { Uncompiled } from '../program/runs.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { createDigest } from '../system/digest.ts';
import { makeScratchFolder } from '../system/scratch.ts';

/** Key of the program at the end of `flow`, for one command. */
export const flowOf = ({ rewriting }: Pick<Command, 'rewriting'>, injection: Injection | null): string =>
  JSON.stringify([
    rewriting?.files ?? null,
    ...(injection?.route === 'preprocess' ? [injection.text, injection.flags] : []),
    ...(injection?.route === 'inline' ? [injection.insertions] : []),
  ]);

/** The split program, or the compiler's messages if it fails. */
type Split = Promise<SplitProgram | string>;

export class KeptModules {
  #folder: string | null = null;
  #stock: string | Uncompiled | null = null;
  #stockSeconds = 0;
  /** Split programs by `flowOf`; the result is null until the split ends. */
  readonly #splits = new Map<string, { result: SplitProgram | string | null; readonly end: Split }>();
  /** The command of each module, by the path of the module. */
  readonly #compiles = new Map<string, string>();

  /** Folder for modules and inputs of the program; null if it cannot be created. */
  folder({ cacheDirectory }: Pick<Surroundings, 'cacheDirectory'>): string | null {
    return (this.#folder ??= makeScratchFolder(cacheDirectory, 'verify'));
  }

  /**
   * Path of the untuned module, below `folder`, or why there is none.
   * @param stock compiles the untuned program into a file
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

  /** Forgets the untuned module, because the program is now in other forms. `find` still finds its file. */
  forgetStock(): void {
    this.#stock = null;
  }

  /** Seconds of compiling the untuned program; 0 if it was not compiled. */
  get stockSeconds(): number {
    return this.#stockSeconds;
  }

  /** The split program; null if it was not split, or the compiler failed. */
  splitOf(flow: string): SplitProgram | null {
    const split = this.#splits.get(flow)?.result ?? null;
    return typeof split === 'string' ? null : split;
  }

  /**
   * Splits the program, once. Later compiles start from the split program.
   * @param split splits the program, in a folder
   */
  async split(flow: string, folder: string, split: (folder: string) => Split): Split {
    const begun = this.#splits.get(flow);
    if (begun !== undefined) return begun.end;
    const entry = {
      result: null as SplitProgram | string | null,
      end: split(join(folder, `split${this.#splits.size}`)),
    };
    this.#splits.set(flow, entry);
    return (entry.result = await entry.end);
  }

  /** Notes the command of a module; null while the module is written, and if the compile gave messages. */
  async note(module: string, compile: Compile | null): Promise<void> {
    if (compile === null) this.#compiles.delete(module);
    else this.#compiles.set(module, await identityOf(compile));
  }

  /** Path of the module of this compile; null if there is none. */
  async find(compile: Compile): Promise<string | null> {
    if (this.#compiles.size === 0) return null;
    const identity = await identityOf(compile);
    return [...this.#compiles].find(([, own]) => own === identity)?.[0] ?? null;
  }

  /** Removes all modules. */
  discard(): void {
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = this.#stock = null;
    this.#splits.clear();
    this.#compiles.clear();
  }

  [Symbol.dispose](): void {
    this.discard();
  }
}

async function identityOf({ argv, stdin }: Compile): Promise<string> {
  return JSON.stringify([argv, stdin === undefined ? null : (await createDigest())([stdin])]);
}
