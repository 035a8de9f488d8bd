// Substitution: the compiler writes the sources of its executables, those that hold an operation are edited, and the
// compile takes the edited ones instead. It reaches what no matcher of a whole program does, but only in exactly this
// input: executables are told by names that the compiler counts up.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { applyInsertions, insertionFor, parse } from 'mlir-parser-ts';
import { askCompiler, makeScratchFolder } from '../compiler/index.ts';
import type { Release } from '../space/render.ts';
import { workloadOf } from '../workload/from-operation.ts';
import { injectedAttribute } from './attribute.ts';
import { matchKey } from './matcher.ts';
import { withTrailingFlags } from './proof.ts';
import type { SpecEntry } from './spec.ts';

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
  entries: readonly SpecEntry[],
  release: Release,
): Substitute | null {
  const name = /^hal\.executable (?:public |private )?@([\w$.-]+)/m.exec(Buffer.from(source).toString())?.[1];
  const byForm = new Map(entries.map((entry) => [matchKey(entry), entry.configuration]));
  const found = parse(source).operations.flatMap((operation) => {
    const form = workloadOf(operation);
    if ('skipped' in form) return [];
    const configuration = byForm.get(matchKey(form));
    const attribute = configuration && injectedAttribute(configuration, form.loops, release);
    return attribute ? [insertionFor(operation, attribute)] : [];
  });
  return name === undefined || found.length !== 1 ? null : { name, source: applyInsertions(source, found) };
}

/**
 * Compiles up to the executables' sources and edits those that hold the entries' operations; null when the compiler
 * does not get that far or there is no place for them.
 * @param argv the command without an injection
 */
export async function makeSubstitutes(
  executable: string,
  argv: readonly string[],
  entries: readonly SpecEntry[],
  options: {
    readonly release: Release;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly stdin: Uint8Array | undefined;
    readonly cacheDirectory: string;
  },
): Promise<Substitute[] | null> {
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
    const { env, stdin } = options;
    const { code } = await askCompiler(executable, withTrailingFlags(argv, flags), { env, stdin });
    if (code !== 0) return null;
    return readdirSync(sources).flatMap((file) => {
      const source = readFileSync(join(sources, file));
      return editedExecutable(source, entries, options.release) ?? [];
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
