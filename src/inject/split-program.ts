// A program that is split into executables of which none is compiled yet. Configurations go into their sources, as often as one
// likes, without reading, optimising or splitting the program again: that is half of what a compile takes.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Configuration } from '../backend/configuration.ts';
import type { Release } from '../compiler/release.ts';
import type { Workload } from '../workload/workload.ts';
import { configuredExecutable, readTexts, textsTo, type ExecutableTexts } from './executable-sources.ts';
import { substituteFlag } from './substitute-flags.ts';

/** Runs the compiler with more flags; null when that worked, else what it said. */
export interface ProgramCompiler {
  /** On the program's input. */
  whole(flags: readonly string[]): Promise<string | null>;
  /** On a file that holds the program at the end of `flow`, which goes on from there. */
  resumed(path: string, flags: readonly string[]): Promise<string | null>;
}

export interface SplitProgram extends ExecutableTexts {
  /** The program at the end of `flow`, as bytecode. */
  readonly path: string;
}

/** What an executable is to be compiled with. */
export interface ConfiguredExecutable {
  readonly executable: string;
  readonly workload: Workload;
  readonly configuration: Configuration;
}

/**
 * Compiles a program as far as its executables.
 * @param folder of ours, made where it is not there
 * @returns what the compiler said when it does not get that far
 */
export async function splitProgram(
  compiler: ProgramCompiler,
  folder: string,
): Promise<SplitProgram | string> {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'flow.mlirbc');
  const problem = await compiler.whole(['--compile-to=flow', '--emit-mlir-bytecode', '-o', path]);
  if (problem !== null) return problem;
  const texts = join(folder, 'texts');
  const dumped = await compiler.resumed(path, textsTo(texts));
  if (dumped !== null) return dumped;
  return { path, ...readTexts(texts) };
}

/** How configurations reach a split program. */
export interface Configured {
  readonly flags: readonly string[];
  /** The edited texts by the names of their executables. */
  readonly texts: ReadonlyMap<string, Uint8Array>;
}

/** @param folder of ours, for files */
export function configuredWith(
  program: ExecutableTexts,
  configured: readonly ConfiguredExecutable[],
  release: Release,
  folder: string,
): Configured {
  const edited = new Map<string, Uint8Array>();
  const flags = configured.flatMap((one, i) => {
    const own = configuredExecutable(program, one.executable, one, release);
    if (own === null) return [];
    edited.set(one.executable, own.text);
    const path = join(folder, `executable${i}.mlir`);
    writeFileSync(path, own.text);
    return [substituteFlag({ ...own, path })];
  });
  return { flags, texts: edited };
}

/** The executables that errors of the compiler are about: those with something of the places that are named. Pure. */
export function blamedFor(messages: string, texts: Configured['texts']): ReadonlySet<string> {
  const places = [...messages.matchAll(/^(.*):(\d+):(\d+): error: /gm)].map(
    ([, file = '', line, column]) => `"${file}":${line}:${column}`,
  );
  return new Set(
    [...texts].flatMap(([name, own]) => {
      const text = Buffer.from(own.buffer, own.byteOffset, own.byteLength);
      const isIn = (place: string) => {
        const at = text.indexOf(place);
        // Of a longer number it is only the beginning.
        return at >= 0 && !/\d/.test(String.fromCharCode(text[at + place.length] ?? 0));
      };
      return places.some(isIn) ? [name] : [];
    }),
  );
}
