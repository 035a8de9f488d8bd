// The sources of executables, as the compiler writes them, and configurations in them.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, symbolsOf } from 'mlir-parser-ts';
import type { Configuration } from '../backend/configuration.ts';
import { attributeText, directiveOf } from '../backend/index.ts';
import type { Release } from '../compiler/release.ts';
import { withoutLocations } from '../input/dispatches.ts';
import { rewrittenRoot } from '../workload/contraction/strides.ts';
import { rootFormOf, type Workload } from '../workload/workload.ts';

/** Flags that make the compiler write sources into a folder, and end there. */
export function sourcesTo(folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  return [
    '--compile-to=executable-sources',
    `--iree-hal-dump-executable-sources-to=${folder}`,
    // With the places in the input written down, nothing of an output says where edited sources were.
    '--mlir-print-debuginfo',
  ];
}

/** What it has written, by the names of the executables. */
export function readSources(folder: string): ReadonlyMap<string, Uint8Array> {
  const sources = new Map<string, Uint8Array>();
  for (const file of readdirSync(folder)) {
    const source = readFileSync(join(folder, file));
    const [name, ...others] = symbolsOf(source, 'hal.executable');
    if (name !== undefined && others.length === 0) sources.set(name, source);
  }
  return sources;
}

/**
 * An executable's source with a configuration on the root of its dispatch; null when it has not got exactly one, or one of other
 * dimensions than the workload's. Pure.
 */
export function configuredSource(
  source: Uint8Array,
  { workload, configuration }: { readonly workload: Workload; readonly configuration: Configuration },
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

/**
 * The executable of another program that does the very same as one of the first, by its name there: the compiler counts in each
 * program anew. Those that do the same on other operands follow each other in the same order in both. Pure.
 */
export function sameExecutables(
  first: ReadonlyMap<string, Uint8Array>,
  second: ReadonlyMap<string, Uint8Array>,
): ReadonlyMap<string, string> {
  const [own, others] = [namesByWork(first), namesByWork(second)];
  return new Map(
    [...own].flatMap(([work, names]) => {
      const found = others.get(work) ?? [];
      return found.length === names.length ? names.map((name, i) => [name, found[i]!] as const) : [];
    }),
  );
}

/** Names of executables by what they do, in the order in which the compiler counts them. */
function namesByWork(sources: ReadonlyMap<string, Uint8Array>): Map<string, string[]> {
  const byWork = Map.groupBy(sources, ([, source]) => workOf(source));
  const numberOf = (name: string) => Number(/_dispatch_(\d+)/.exec(name)?.[1] ?? 0);
  return new Map(
    [...byWork].map(([work, all]) => [
      work,
      all.map(([name]) => name).sort((a, b) => numberOf(a) - numberOf(b)),
    ]),
  );
}

/** What is computed in an executable, without names, places and where its operands lie. */
function workOf(source: Uint8Array): string {
  const names = new Map<string, string>();
  const lines = Buffer.from(source)
    .toString('latin1')
    .split('\n')
    .filter((line) => COMPUTES.test(line) && !/\bindex\b/.test(line));
  return withoutLocations(lines.join('\n')).replaceAll(/%[\w#]+/g, (name) => {
    names.set(name, names.get(name) ?? `%${names.size}`);
    return names.get(name)!;
  });
}

/** Lines of what is done with elements. */
const COMPUTES = /\blinalg\.|^ *\^bb|\b(?:arith|math)\.(?!constant\b)/;
