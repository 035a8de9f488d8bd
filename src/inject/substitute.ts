// Substitution: the compiler writes the sources of its executables, and compiles edited sources in their place. A substitution reaches
// operations that no matcher reaches, but it holds for one input only, because the compiler numbers the names of executables.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyInsertions, insertionFor, parse, symbolsOf } from 'mlir-parser-ts';
import { compileAside, type AsideOptions } from '../compiler/ask.ts';
import { withTrailingFlags, type Compile } from '../compiler/command.ts';
import { withScratchFolder } from '../system/scratch.ts';
import type { Release } from '../compiler/release.ts';
import { dispatchDigests } from '../input/dispatches.ts';
import { readFlow } from '../input/flow.ts';
import { ELIDED } from '../input/survey.ts';
import { dispatchOf, matchKey, workloadOf } from '../workload/workload.ts';
import { attributeText, directiveOf } from '../backend/index.ts';
import { isReason } from '../system/reason.ts';
import {
  configuredExecutable,
  editVariants,
  isFor,
  readTexts,
  textsTo,
  type ExecutableTexts,
  type Substitute,
} from './executable-sources.ts';
import { isOfDispatch, type Entry } from './plan.ts';

/**
 * An executable's source with configurations on its operations; null if no variant has exactly one operation that matches an entry. Pure.
 */
export function editedExecutable(
  source: Uint8Array,
  entries: readonly Entry[],
  release: Release,
): Substitute | null {
  const [name, ...others] = symbolsOf(source, 'hal.executable');
  if (name === undefined || others.length > 0) return null;
  const text = editVariants(source, (variant) => {
    // The compiler rejects two configurations in a dispatch.
    if (Buffer.from(variant.text).includes('compilation_info')) return null;
    const own = entries.filter((entry) => isFor(entry, variant));
    const byForm = new Map(own.map((entry) => [matchKey(entry), entry.configuration]));
    const found = parse(variant.text).operations.flatMap((operation) => {
      const form = workloadOf(operation);
      if (isReason(form)) return [];
      const configuration = byForm.get(matchKey(form));
      const directive = configuration && directiveOf(configuration, form.loops, release);
      return directive ? [insertionFor(operation, attributeText(directive))] : [];
    });
    return found.length === 1 ? applyInsertions(variant.text, found) : null;
  });
  return text && { name, phase: 'source', text };
}

/** Compiles a program with more flags. The result is true on success. */
export type CompileWith = (flags: readonly string[]) => Promise<boolean>;

export const compilingWith =
  (executable: string, { argv, stdin }: Compile, asking: Omit<AsideOptions, 'stdin'>): CompileWith =>
  async (flags) => {
    const more = withTrailingFlags(argv, flags);
    return (await compileAside(executable, more, { ...asking, stdin })).code === 0;
  };

/**
 * Edits the executables of dispatches, then the executables with operations of the other entries. An executable is edited in one phase
 * only. Null if a compile fails.
 * @param compileWith with the other configurations
 * @param changesProgram whether the other configurations change the numbering of executables. The texts of dispatches then identify them
 * @param known texts of the program's executables; null to compile them
 * @throws UserError when nothing can be written
 */
export async function makeSubstitutes(
  compileWith: CompileWith,
  all: readonly Entry[],
  release: Release,
  cacheDirectory: string,
  changesProgram: boolean,
  known: ExecutableTexts | null = null,
): Promise<Substitute[] | null> {
  const dispatches = all.filter(isOfDispatch);
  const entries = all.filter((entry) => !isOfDispatch(entry));
  const wanted = changesProgram
    ? await namesByText(compileWith, dispatches, cacheDirectory)
    : dispatches.flatMap((entry) => entry.executables.map((name) => [name, entry] as const));
  if (wanted === null || wanted.length + entries.length === 0) return wanted && [];
  const texts = known ?? (await executableTexts(compileWith, cacheDirectory));
  if (texts === null) return null;
  const sources = new Map(texts.sources);
  const made = new Map<string, Substitute>();
  const note = (one: Substitute | null) => {
    if (one === null || (made.has(one.name) && made.get(one.name)!.phase !== one.phase)) return;
    made.set(one.name, one);
    if (one.phase === 'source') sources.set(one.name, one.text);
  };
  for (const [name, entry] of wanted) note(configuredExecutable({ ...texts, sources }, name, entry, release));
  for (const source of entries.length === 0 ? [] : [...sources.values()])
    note(editedExecutable(source, entries, release));
  return [...made.values()];
}

/** The names of executables with the other configurations; null if the compile fails. */
async function namesByText(
  compileWith: CompileWith,
  entries: readonly Entry[],
  cacheDirectory: string,
): Promise<(readonly [name: string, entry: Entry])[] | null> {
  if (entries.length === 0) return [];
  return withScratchFolder(cacheDirectory, 'flow', async (folder) => {
    const flow = join(folder, 'flow.mlir');
    if (!(await compileWith(['--compile-to=flow', ...ELIDED, '-o', flow]))) return null;
    const byDigest = Map.groupBy(entries, ({ workload }) => dispatchOf(workload));
    return dispatchDigests(readFlow(readFileSync(flow))).flatMap(([name, digest]) =>
      (byDigest.get(digest) ?? []).map((entry) => [name, entry] as const),
    );
  });
}

/** The texts of all executables; null if the compile fails. */
const executableTexts = (compileWith: CompileWith, cacheDirectory: string): Promise<ExecutableTexts | null> =>
  withScratchFolder(cacheDirectory, 'sources', async (folder) =>
    (await compileWith(textsTo(folder))) ? readTexts(folder) : null,
  );
