// Substitution: the compiler writes the sources of its executables, those that hold an operation are edited, and the
// compile takes the edited ones instead. It reaches what no matcher of a whole program does, but only in exactly this
// input: executables are told by names that the compiler counts up.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { applyInsertions, insertionFor, parse, symbolsOf } from 'mlir-parser-ts';
import { askCompiler } from '../compiler/ask.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import type { Release } from '../compiler/release.ts';
import { dispatchesOf } from '../input/dispatches.ts';
import { otherDigests } from '../input/other-dispatches.ts';
import { ELIDED } from '../input/survey.ts';
import { matchKey, workloadOf } from '../workload/workload.ts';
import { attributeText, directiveOf } from '../backend/index.ts';
import { withTrailingFlags } from '../compiler/command.ts';
import {
  configuredExecutable,
  readTexts,
  textsTo,
  type ExecutableTexts,
  type Substitute,
} from './executable-sources.ts';
import type { DispatchEntry, GeneratedEntry } from './plan.ts';

/**
 * An executable's source with the configuration on its operation; null when it holds none of the entries, or several
 * operations that one would go to. Pure.
 */
export function editedExecutable(
  source: Uint8Array,
  entries: readonly GeneratedEntry[],
  release: Release,
): Substitute | null {
  const [name, ...others] = symbolsOf(source, 'hal.executable');
  const byForm = new Map(entries.map((entry) => [matchKey(entry), entry.configuration]));
  const found = parse(source).operations.flatMap((operation) => {
    const form = workloadOf(operation);
    if ('skipped' in form) return [];
    const configuration = byForm.get(matchKey(form));
    const directive = configuration && directiveOf(configuration, form.loops, release);
    return directive ? [insertionFor(operation, attributeText(directive))] : [];
  });
  return name === undefined || others.length > 0 || found.length !== 1
    ? null
    : { name, phase: 'source', text: applyInsertions(source, found) };
}

/** Surroundings of the question to the compiler. */
export interface SourceOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Uint8Array | undefined;
  readonly cacheDirectory: string;
}

/**
 * Edits the executables that hold the entries' operations; null when the compiler does not get that far or there is no
 * place for them.
 * @param argv the command without an injection
 */
export async function makeSubstitutes(
  executable: string,
  argv: readonly string[],
  entries: readonly GeneratedEntry[],
  release: Release,
  options: SourceOptions,
): Promise<Substitute[] | null> {
  const texts = await executableTexts(executable, argv, options);
  return (
    texts && [...texts.sources.values()].flatMap((source) => editedExecutable(source, entries, release) ?? [])
  );
}

/**
 * Edits the executables that the entries' dispatches become; null when the compiler does not get that far.
 * @param argv the command with everything else that is injected
 * @param changesProgram whether that changes what executables there are: they are told by the texts of their dispatches then, for the
 *   compiler counts in another way
 * @param known texts of the executables in the program that the command makes, where somebody has them
 */
export async function makeDispatchSubstitutes(
  executable: string,
  argv: readonly string[],
  entries: readonly DispatchEntry[],
  release: Release,
  options: SourceOptions,
  changesProgram: boolean,
  known: ExecutableTexts | null = null,
): Promise<Substitute[] | null> {
  const wanted = changesProgram
    ? await namesByText(executable, argv, entries, options)
    : entries.flatMap((entry) => entry.executables.map((name) => [name, entry] as const));
  if (wanted === null || wanted.length === 0) return wanted && [];
  const texts = known ?? (await executableTexts(executable, argv, options));
  return texts && wanted.flatMap(([name, entry]) => configuredExecutable(texts, name, entry, release) ?? []);
}

/** The names that executables have with everything else that is injected; null when the compiler does not get that far. */
async function namesByText(
  executable: string,
  argv: readonly string[],
  entries: readonly DispatchEntry[],
  options: SourceOptions,
): Promise<(readonly [name: string, entry: DispatchEntry])[] | null> {
  const folder = makeScratchFolder(options.cacheDirectory, 'flow');
  if (folder === null) return null;
  try {
    const flow = join(folder, 'flow.mlir');
    const flags = ['--compile-to=flow', ...ELIDED, '-o', flow];
    const { code } = await askCompiler(executable, withTrailingFlags(argv, flags), options);
    if (code !== 0) return null;
    const byDigest = new Map(entries.map((entry) => [entry.digest, entry]));
    const text = readFileSync(flow);
    return [...dispatchDigests(text), ...otherDigests(text)].flatMap(([name, digest]) => {
      const entry = byDigest.get(digest);
      return entry === undefined ? [] : [[name, entry] as const];
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Executables whose root is tuned in its dispatch, by digests of these. */
const dispatchDigests = (flow: Uint8Array) =>
  dispatchesOf(flow).map(
    ({ executable, form }) => [executable, form.workload.context?.digest ?? ''] as const,
  );

/** The texts of all executables; null when the compiler does not get that far or there is no place for them. */
async function executableTexts(
  executable: string,
  argv: readonly string[],
  options: SourceOptions,
): Promise<ExecutableTexts | null> {
  const folder = makeScratchFolder(options.cacheDirectory, 'sources');
  if (folder === null) return null;
  try {
    const { code } = await askCompiler(executable, withTrailingFlags(argv, textsTo(folder)), options);
    return code === 0 ? readTexts(folder) : null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
