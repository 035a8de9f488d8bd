// Sources of executables, as the compiler writes them, their code for each target of the program, and the configurations in them.
import { VALUE } from '../compiler/symbol.ts';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'mlir-parser-ts';
import { isDefault, type Configuration } from '../backend/configuration.ts';
import { attributeText, backendOf, directiveOf } from '../backend/index.ts';
import type { Release } from '../compiler/release.ts';
import { withoutLocations } from '../compiler/locations.ts';
import { executablesByName } from '../input/executable-texts.ts';
import { eliding } from '../input/survey.ts';
import { bufferOf } from '../system/bytes.ts';
import type { SubstitutePhase } from './injection-flags.ts';
import type { Entry } from './plan.ts';
import { rewrittenRoot } from '../workload/contraction/strides.ts';
import { hasRoot, rootFormOf, type OperationWork } from '../workload/workload.ts';

/** Texts of a program's executables by name: before and after the compiler configures them. */
export interface ExecutableTexts {
  readonly sources: ReadonlyMap<string, Uint8Array>;
  readonly configured: ReadonlyMap<string, Uint8Array>;
}

/** Larger than any constant of an executable: see `eliding`. */
const LARGE = 2 ** 20;

/**
 * Flags that make the compiler write the texts of executables into a folder, and stop.
 * @param module path of the program with configured executables. As text its weights would take twice their size in memory
 */
export function textsTo(folder: string, module = '/dev/null'): string[] {
  const [sources, configured] = [join(folder, 'sources'), join(folder, 'configured')];
  mkdirSync(sources, { recursive: true });
  mkdirSync(configured, { recursive: true });
  return [
    '--compile-to=executable-configurations',
    // No constant of an executable is as large as weights.
    ...eliding(LARGE, LARGE),
    ...['--emit-mlir-bytecode', '-o', module],
    `--iree-hal-dump-executable-sources-to=${sources}`,
    `--iree-hal-dump-executable-configurations-to=${configured}`,
    // With locations of the input, the output contains no paths of edited sources.
    '--mlir-print-debuginfo',
  ];
}

/** The texts in the folder, without those that lack a constant. */
export const readTexts = (folder: string): ExecutableTexts => ({
  sources: wholeTexts(join(folder, 'sources')),
  configured: new Map(
    [...wholeTexts(join(folder, 'configured'))].map(([name, text]) => [name, withoutFolders(text)]),
  ),
});

/** Removes the folder from locations: the compiler points them at its dumps, and the output must not contain our paths. */
const withoutFolders = (text: Uint8Array): Uint8Array =>
  Buffer.from(
    Buffer.from(text)
      .toString('latin1')
      .replaceAll(/\bloc\("(?:[^"\\]|\\.)*\/sources\/([^"]+)"/g, 'loc("$1"'),
    'latin1',
  );

/** The compiler leaves the values of resources out of its dumps. A text with such a constant does not compile alone, and keeps no other from it. */
const wholeTexts = (folder: string): ReadonlyMap<string, Uint8Array> =>
  new Map([...executablesByName(folder)].filter(([, text]) => !isIncomplete(Buffer.from(text))));

const isIncomplete = (text: Buffer): boolean =>
  text.includes(' dense_resource<') && (text.includes('<__elided__>') || !text.includes('dialect_resources'));

/** A workload of an executable, with its configuration. */
type Configured = Pick<Entry, 'workload' | 'target'> & { readonly configuration: Configuration };

/** An executable that replaces the compiler's executable of this name. */
export interface Substitute {
  readonly name: string;
  readonly phase: SubstitutePhase;
  readonly text: Uint8Array;
}

/** An executable with a configuration; null if the program has no such executable, or if the workload does not fit. */
export function configuredExecutable(
  { sources, configured }: ExecutableTexts,
  name: string,
  own: Configured,
  release: Release,
): Substitute | null {
  const { workload, configuration } = own;
  if (isDefault(configuration)) return null;
  const phase = hasRoot(workload) ? 'source' : 'configuration';
  const executable = (phase === 'source' ? sources : configured).get(name);
  const text =
    executable &&
    editVariants(executable, (variant) => {
      if (!isFor(own, variant)) return null;
      if (hasRoot(workload)) return configuredSource(variant.text, { workload, configuration }, release);
      const before = Buffer.from(variant.text).toString('latin1');
      const after =
        backendOf(configuration).rendering.reconfigured?.(before, workload, configuration) ?? null;
      return after === null ? null : Buffer.from(after, 'latin1');
    });
  return text ? { name, phase, text } : null;
}

/** An executable's source with a configuration on its root; null without exactly one root of the workload's dimensions. Pure. */
export function configuredSource(
  source: Uint8Array,
  { workload, configuration }: Pick<Entry, 'configuration'> & { readonly workload: OperationWork },
  release: Release,
): Uint8Array | null {
  const roots = parse(source).operations.flatMap((operation) => {
    const form = rootFormOf(operation);
    return form === null ? [] : [{ operation, form }];
  });
  const [root, ...others] = roots;
  if (root === undefined || others.length > 0) return null;
  const sizesOf = ({ dimensions }: OperationWork) =>
    dimensions.map(({ kind, size }) => `${kind}${size}`).join();
  if (sizesOf(root.form.workload) !== sizesOf(workload)) return null;
  const directive = directiveOf(configuration, root.form.loops, release);
  if (directive === null) return null;
  const text = Buffer.from(source).toString('latin1');
  const edited = rewrittenRoot(text, root.operation, attributeText(directive));
  return edited === null ? null : Buffer.from(edited, 'latin1');
}

/**
 * Maps executables of a program to the executables of another program that do the same work. Names differ, because the compiler numbers
 * executables. Executables with the same work have the same order in both programs. Pure.
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

/** Names of executables by their work, in the compiler's order. */
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

/** The work of an executable, without names, locations and places of operands. */
function workOf(source: Uint8Array): string {
  const names = new Map<string, string>();
  const lines = Buffer.from(source)
    .toString('latin1')
    .split('\n')
    .filter((line) => COMPUTES.test(line) && !/\bindex\b/.test(line));
  return withoutLocations(lines.join('\n')).replaceAll(new RegExp(VALUE, 'g'), (name) => {
    names.set(name, names.get(name) ?? `%${names.size}`);
    return names.get(name)!;
  });
}

/** Lines that compute elements. */
const COMPUTES = /\blinalg\.|^ *\^bb|\b(?:arith|math)\.(?!constant\b)/;

/** An executable with one of its variants. */
export interface Variant {
  /** Name of the target's backend; null if unknown. */
  readonly backend: string | null;
  readonly text: Uint8Array;
}

/** A printed variant. */
const VARIANT = /^( *)hal\.executable\.variant [^]*?^\1\}(?: loc\([^\n]*\))?$/gm;
const BACKEND = /^[^\n]* target\(<"([^"\n]+)"/;

/** Whether a configuration is for a variant. */
export const isFor = ({ target }: Pick<Entry, 'target'>, { backend }: Variant): boolean =>
  target === undefined || target === backend;

/** An executable's variants, each in the executable without its other variants. */
export function variantsOf(executable: Uint8Array): Variant[] {
  const text = latin1(executable);
  const found = [...text.matchAll(VARIANT)];
  const backends = found.map(([own]) => BACKEND.exec(own)?.[1] ?? null);
  if (found.length < 2) return [{ backend: backends[0] ?? null, text: executable }];
  const [head, tail] = outside(text);
  return found.map(([own], i) => ({ backend: backends[i]!, text: Buffer.from(head + own + tail, 'latin1') }));
}

/**
 * Edits each variant of an executable, alone.
 * @param edit returns null to keep a variant
 * @returns null if no variant changes
 */
export function editVariants(
  executable: Uint8Array,
  edit: (variant: Variant) => Uint8Array | null,
): Uint8Array | null {
  const variants = variantsOf(executable);
  const edited = variants.map(edit);
  if (edited.every((one) => one === null)) return null;
  if (variants.length === 1) return edited[0]!;
  const text = latin1(executable);
  const [head, tail] = outside(text);
  let next = 0;
  return Buffer.from(
    text.replaceAll(VARIANT, (own) => {
      const one = edited[next++] ?? null;
      return one === null ? own : latin1(one).slice(head.length, one.length - tail.length);
    }),
    'latin1',
  );
}

/** The text before the first variant and after the last variant. */
function outside(text: string): [head: string, tail: string] {
  const found = [...text.matchAll(VARIANT)];
  const last = found.at(-1)!;
  return [text.slice(0, found[0]!.index), text.slice(last.index + last[0].length)];
}

const latin1 = (bytes: Uint8Array): string => bufferOf(bytes).toString('latin1');
