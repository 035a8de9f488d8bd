// A program that is split into executables. Each compile with other configurations edits their sources. Reading, optimising and splitting
// the program, half of the time of a compile, happen once.
import { bufferOf } from '../system/bytes.ts';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Configuration } from '../backend/configuration.ts';
import { NO_CHECKS, withTrailingFlags, type Compile } from '../compiler/command.ts';
import type { Release } from '../compiler/release.ts';
import {
  configuredExecutable,
  readTexts,
  textsTo,
  type ExecutableTexts,
  type Substitute,
} from './executable-sources.ts';
import type { Entry } from './plan.ts';
import { sampledText } from './sampled-workgroups.ts';
import { substituteFlag } from './injection-flags.ts';

/** Runs the compiler. The result is null on success, else the messages. */
type RunCompiler = (argv: readonly string[], stdin?: Uint8Array) => Promise<string | null>;

export interface SplitProgram extends ExecutableTexts {
  /** The program at the end of `flow`, as bytecode. */
  readonly path: string;
  /** Arguments that compile a file with a program at the end of `flow`; by default this one. */
  readonly resumed: (path?: string) => readonly string[];
}

/** The configuration of an executable. */
export interface ConfiguredExecutable extends Pick<Entry, 'workload'> {
  readonly configuration: Configuration;
  readonly executable: string;
}

/**
 * Compiles a program up to its executables.
 * @param resumed arguments that compile a file with the program at the end of `flow`
 * @param folder created if it does not exist
 * @returns the compiler's messages on failure
 */
export async function splitProgram(
  run: RunCompiler,
  { argv, stdin }: Compile,
  resumed: (path: string) => readonly string[],
  folder: string,
): Promise<SplitProgram | string> {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'flow.mlirbc');
  const toFlow = ['--compile-to=flow', '--emit-mlir-bytecode', NO_CHECKS, '-o', path];
  const texts = join(folder, 'texts');
  return (
    (await run(withTrailingFlags(argv, toFlow), stdin)) ??
    (await run(withTrailingFlags(resumed(path), textsTo(texts)))) ?? {
      ...{ path, resumed: (other = path) => resumed(other) },
      ...readTexts(texts),
    }
  );
}

/** The injection of configurations into a split program. */
export interface Configured {
  readonly flags: readonly string[];
  /** The edited texts by the names of their executables. */
  readonly texts: ReadonlyMap<string, Uint8Array>;
}

/**
 * @param folder for edited texts
 * @param isSampled whether all executables run only a sample of their workgroups
 */
export function configuredWith(
  program: ExecutableTexts,
  configured: readonly ConfiguredExecutable[],
  release: Release,
  folder: string,
  isSampled = false,
): Configured {
  const edited = configured.flatMap(
    (one) => configuredExecutable(program, one.executable, one, release) ?? [],
  );
  const names = new Set(edited.map(({ name }) => name));
  const others = isSampled ? [...program.configured].filter(([name]) => !names.has(name)) : [];
  const all: Substitute[] = [
    ...edited,
    ...others.map(([name, text]) => ({ name, text, phase: 'configuration' as const })),
  ];
  const flags = all.map(({ name, text, phase }, i) => {
    const path = join(folder, `executable${i}.mlir`);
    writeFileSync(path, (isSampled ? sampledText(text) : null) ?? text);
    return substituteFlag({ name, phase, path });
  });
  return { flags, texts: new Map(edited.map(({ name, text }) => [name, text])) };
}

/** The executables that the compiler's errors point at: those that contain a location of an error. Pure. */
export function blamedFor(messages: string, texts: Configured['texts']): ReadonlySet<string> {
  const places = [...messages.matchAll(/^(.*):(\d+):(\d+): error: /gm)].map(
    ([, file = '', line, column]) => `"${file}":${line}:${column}`,
  );
  return new Set(
    [...texts].flatMap(([name, own]) => {
      const text = bufferOf(own);
      const isIn = (place: string) => {
        const at = text.indexOf(place);
        // The place can be the beginning of a longer number.
        return at >= 0 && !/\d/.test(String.fromCharCode(text[at + place.length] ?? 0));
      };
      return places.some(isIn) ? [name] : [];
    }),
  );
}
