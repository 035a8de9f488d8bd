// Substitution: the compiler writes the sources of its executables, and compiles edited sources in their place. A substitution reaches
// operations that no matcher reaches, but it holds for one input only, because the compiler numbers the names of executables.
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

/** An executable's source with the configuration on its operation; null without exactly one operation that matches an entry. Pure. */
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

/** Options of a compile to the sources of executables. */
export interface SourceOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Uint8Array | undefined;
  readonly cacheDirectory: string;
}

/**
 * Edits the executables with operations of the entries; null if the compile fails, or no folder can be created.
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
 * Edits the executables of the entries' dispatches; null if the compile fails.
 * @param argv the command with the other configurations
 * @param changesProgram whether the other configurations change the numbering of executables. The texts of dispatches then identify them
 * @param known texts of the program's executables; null to compile them
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

/** The names of executables with the other configurations; null if the compile fails. */
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

/** Executables with a root that is tuned in its dispatch, and the digests of the dispatches. */
const dispatchDigests = (flow: Uint8Array) =>
  dispatchesOf(flow).map(
    ({ executable, form }) => [executable, form.workload.context?.digest ?? ''] as const,
  );

/** The texts of all executables; null if the compile fails, or no folder can be created. */
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
