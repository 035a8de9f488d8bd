// A program that is split into executables of which none is compiled yet. Configurations go into their sources, as often as one
// likes, without reading, optimising or splitting the program again: that is half of what a compile takes.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, symbolsOf } from 'mlir-parser-ts';
import { attributeText, directiveOf } from '../backend/index.ts';
import type { Configuration } from '../backend/configuration.ts';
import type { Release } from '../compiler/release.ts';
import { rewrittenRoot } from '../workload/contraction/strides.ts';
import { rootFormOf, type Workload } from '../workload/workload.ts';
import { substituteFlag } from './substitute-flags.ts';

/** Runs the compiler with more flags; null when that worked, else what it said. */
export interface ProgramCompiler {
  /** On the program's input. */
  whole(flags: readonly string[]): Promise<string | null>;
  /** On a file that holds the program at the end of `flow`, which goes on from there. */
  resumed(path: string, flags: readonly string[]): Promise<string | null>;
}

export interface SplitProgram {
  /** The program at the end of `flow`, as bytecode. */
  readonly path: string;
  /** Sources of its executables, by name. */
  readonly sources: ReadonlyMap<string, Uint8Array>;
}

/** What an executable is to be compiled with. */
export interface ConfiguredExecutable {
  readonly executable: string;
  readonly workload: Workload;
  readonly configuration: Configuration;
}

/**
 * Compiles a program as far as its executables.
 * @param folder of ours
 * @returns what the compiler said when it does not get that far
 */
export async function splitProgram(
  compiler: ProgramCompiler,
  folder: string,
): Promise<SplitProgram | string> {
  const path = join(folder, 'flow.mlirbc');
  const problem = await compiler.whole(['--compile-to=flow', '--emit-mlir-bytecode', '-o', path]);
  if (problem !== null) return problem;
  const dumps = join(folder, 'sources');
  mkdirSync(dumps);
  const dumped = await compiler.resumed(path, [
    '--compile-to=executable-sources',
    `--iree-hal-dump-executable-sources-to=${dumps}`,
    '-o',
    join(folder, 'sources.out'),
  ]);
  if (dumped !== null) return dumped;
  const sources = new Map<string, Uint8Array>();
  for (const file of readdirSync(dumps)) {
    const source = readFileSync(join(dumps, file));
    const [name, ...others] = symbolsOf(source, 'hal.executable');
    if (name !== undefined && others.length === 0) sources.set(name, source);
  }
  rmSync(dumps, { recursive: true });
  return { path, sources };
}

/**
 * An executable's source with a configuration on the root of its dispatch; null when it has not got exactly one, or one of other
 * dimensions than the workload's. Pure.
 */
export function configuredSource(
  source: Uint8Array,
  { workload, configuration }: Omit<ConfiguredExecutable, 'executable'>,
  release: Release,
): Uint8Array | null {
  const roots = parse(source).operations.flatMap((operation) => {
    const form = rootFormOf(operation);
    return form === null ? [] : [{ operation, form }];
  });
  const [root, ...others] = roots;
  if (root === undefined || others.length > 0) return null;
  const sizesOf = ({ dimensions }: Workload) => dimensions.map(({ kind, size }) => `${kind}${size}`).join();
  if (sizesOf(root.form.workload) !== sizesOf(workload)) return null;
  const directive = directiveOf(configuration, root.form.loops, release);
  if (directive === null) return null;
  const text = Buffer.from(source).toString('latin1');
  const edited = rewrittenRoot(text, root.operation, attributeText(directive));
  return edited === null ? null : Buffer.from(edited, 'latin1');
}

/** How configurations reach a split program. */
export interface Configured {
  readonly flags: readonly string[];
  /** Names of executables by the paths of the files that take their place: errors name these. */
  readonly files: ReadonlyMap<string, string>;
}

/** @param folder of ours, for the files */
export function configuredWith(
  { sources }: SplitProgram,
  configured: readonly ConfiguredExecutable[],
  release: Release,
  folder: string,
): Configured {
  const files = new Map<string, string>();
  const flags = configured.flatMap((one, i) => {
    const source = sources.get(one.executable);
    const edited = source && configuredSource(source, one, release);
    if (!edited) return [];
    const path = join(folder, `executable${i}.mlir`);
    writeFileSync(path, edited);
    files.set(path, one.executable);
    return [substituteFlag(one.executable, path)];
  });
  return { flags, files };
}
