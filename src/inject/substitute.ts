// Substitution: the compiler writes the sources of its executables, those that hold an operation are edited, and the
// compile takes the edited ones instead. It reaches what no matcher of a whole program does, but only in exactly this
// input: executables are told by names that the compiler counts up.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { applyInsertions, insertionFor, parse, symbolsOf } from 'mlir-parser-ts';
import { askCompiler } from '../compiler/index.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import type { Release } from '../compiler/release.ts';
import { dispatchesOf } from '../input/dispatches.ts';
import { ELIDED } from '../input/survey.ts';
import { rewrittenRoot } from '../workload/contraction/strides.ts';
import { matchKey, rootFormOf, workloadOf } from '../workload/workload.ts';
import { attributeText, directiveOf } from '../backend/index.ts';
import { withTrailingFlags } from '../compiler/command.ts';
import type { DispatchEntry, GeneratedEntry } from './plan.ts';

/** An executable that takes the place of the compiler's own of that name. */
export interface Substitute {
  readonly name: string;
  readonly source: Uint8Array;
}

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
    : { name, source: applyInsertions(source, found) };
}

/** An executable's source with an attribute on the root of its dispatch; null when it has not got exactly one. Pure. */
export function editedDispatch(source: Uint8Array, attribute: string): Substitute | null {
  const [name, ...others] = symbolsOf(source, 'hal.executable');
  const roots = parse(source).operations.filter((operation) => rootFormOf(operation) !== null);
  if (name === undefined || others.length > 0 || roots.length !== 1) return null;
  const text = rewrittenRoot(Buffer.from(source).toString('latin1'), roots[0]!, attribute);
  return text === null ? null : { name, source: Buffer.from(text, 'latin1') };
}

/** What the compiler is asked with. */
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
  const sources = await executableSources(executable, argv, options);
  return sources?.flatMap((source) => editedExecutable(source, entries, release) ?? []) ?? null;
}

/**
 * Edits the executables that the entries' dispatches become. They are told by the text of the dispatch, whatever it is
 * called: another injection makes the compiler count in another way.
 * @param argv the command with everything else that is injected
 */
export async function makeDispatchSubstitutes(
  executable: string,
  argv: readonly string[],
  entries: readonly DispatchEntry[],
  options: SourceOptions,
): Promise<Substitute[] | null> {
  const folder = makeScratchFolder(options.cacheDirectory, 'flow');
  if (folder === null) return null;
  try {
    const flow = join(folder, 'flow.mlir');
    const flags = ['--compile-to=flow', ...ELIDED, '-o', flow];
    const { code } = await askCompiler(executable, withTrailingFlags(argv, flags), options);
    if (code !== 0) return null;
    const attributes = new Map(entries.map(({ digest, attribute }) => [digest, attribute]));
    const wanted = new Map(
      dispatchesOf(readFileSync(flow)).flatMap(({ executable: name, form }) => {
        const attribute = attributes.get(form.workload.context?.digest ?? '');
        return attribute === undefined ? [] : [[name, attribute] as const];
      }),
    );
    if (wanted.size === 0) return [];
    const sources = await executableSources(executable, argv, options);
    return (
      sources?.flatMap((source) => {
        const attribute = wanted.get(symbolsOf(source, 'hal.executable')[0] ?? '');
        return attribute === undefined ? [] : (editedDispatch(source, attribute) ?? []);
      }) ?? null
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The sources of all executables; null when the compiler does not get that far or there is no place for them. */
async function executableSources(
  executable: string,
  argv: readonly string[],
  options: SourceOptions,
): Promise<Uint8Array[] | null> {
  const folder = makeScratchFolder(options.cacheDirectory, 'sources');
  if (folder === null) return null;
  try {
    const sources = join(folder, 'sources');
    mkdirSync(sources);
    const flags = [
      '--compile-to=executable-sources',
      `--iree-hal-dump-executable-sources-to=${sources}`,
      // With the places in the input written down, nothing of the output says where the edited sources were.
      '--mlir-print-debuginfo',
      '-o',
      join(folder, 'module.out'),
    ];
    const { code } = await askCompiler(executable, withTrailingFlags(argv, flags), options);
    return code === 0 ? readdirSync(sources).map((file) => readFileSync(join(sources, file))) : null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
