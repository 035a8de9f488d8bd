// A survey asks the compiler what it makes of each operation: inputs in other dialects become linalg, transposes and
// casts are folded into contractions, unit dimensions disappear. What is tuned is what code is generated for.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, type Operation } from 'mlir-parser-ts';
import { askCompiler, makeScratchFolder } from '../compiler/index.ts';
import { matchKey } from '../inject/matcher.ts';
import { annotationSpec, preprocessingFlags, writtenForm } from '../inject/preprocess.ts';
import { withTrailingFlags } from '../inject/proof.ts';
import { workloadOf, type OperationWorkload, type Skipped } from '../workload/from-operation.ts';
import type { Workload } from '../workload/workload.ts';
import type { Command, Surroundings } from './inspect.ts';
import type { GeneratedForm, SurveyedOperation } from './survey-memory.ts';

/** Carries the number of an operation's form through the compiler's optimisations. */
const MARKER = 'iree_tuned_form';

/** Weights are of no interest here: the texts would be as large as the model. */
const ELIDED = ['--mlir-elide-elementsattrs-if-larger=8', '--mlir-elide-resource-strings-if-larger=8'];

/** Takes back whatever the user says: encodings would hide the operations. */
const NO_DATA_TILING = ['opt', 'global-opt', 'dispatch-creation'].map(
  (part) => `--iree-${part}-data-tiling=false`,
);

/** An operation before it is optimised. */
interface Written {
  readonly operation: Operation;
  readonly index: number | null;
  readonly location: string | null;
  readonly form: OperationWorkload | Skipped;
}

/** An operation as code is generated for it. */
interface Generated extends GeneratedForm {
  readonly name: string;
  readonly location: string | null;
  /** Index of the form that it was marked with; null when the compiler lost the mark or made the operation. */
  readonly mark: number | null;
  /** Why it is not tuned although matchers find it; null when it is. */
  readonly skipped: string | null;
}

export interface SurveyOptions {
  /** The operations of the input's text and what its element types are converted to; null when it is not linalg text. */
  readonly text: {
    readonly operations: readonly Operation[];
    readonly convert: (type: string) => string;
  } | null;
  /** The bytes of the input when it came from stdin. */
  readonly stdin: Uint8Array | undefined;
  /** The user compiles with data tiling, which would hide the operations behind encodings. */
  readonly dataTiling: boolean;
}

/**
 * Compiles the command's input as far as the executables' sources and says what became of each operation; null when
 * the compiler does not get that far.
 */
export async function surveyInput(
  command: Command,
  options: SurveyOptions,
  { env, cacheDirectory }: Surroundings,
): Promise<SurveyedOperation[] | null> {
  const folder = makeScratchFolder(cacheDirectory, 'survey');
  if (folder === null) return null;
  const compileTo = async (phase: string, flags: readonly string[]): Promise<Uint8Array | null> => {
    const output = join(folder, `${phase}.mlir`);
    const all = [`--compile-to=${phase}`, '--mlir-print-debuginfo', ...ELIDED, ...flags, '-o', output];
    const result = await askCompiler(
      command.compiler.executable,
      withTrailingFlags(command.expanded, options.dataTiling ? [...all, ...NO_DATA_TILING] : all),
      { env, stdin: options.stdin },
    );
    return result.code === 0 ? readFileSync(output) : null;
  };
  try {
    const written = options.text === null ? await normalised(compileTo) : fromText(options.text);
    if (written === null) return null;
    const forms = distinctForms(written);
    const spec = join(folder, 'marks.mlir');
    const marks = forms.map((form, i) => ({
      form: writtenForm(form),
      attribute: MARKER,
      value: `${i} : i64`,
    }));
    writeFileSync(spec, annotationSpec(marks));
    const sources = await compileTo(
      'executable-sources',
      forms.length > 0 ? preprocessingFlags(spec, false) : [],
    );
    return sources === null ? null : match(written, forms, generatedFrom(sources));
  } catch {
    // A survey is an improvement, never a reason to fail.
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function fromText({ operations, convert }: NonNullable<SurveyOptions['text']>): Written[] {
  return operations.map((operation, index) => ({
    operation,
    index,
    location: null,
    form: workloadOf(operation, convert),
  }));
}

async function normalised(
  compileTo: (phase: string, flags: readonly string[]) => Promise<Uint8Array | null>,
): Promise<Written[] | null> {
  const text = await compileTo('input', []);
  if (text === null) return null;
  return parse(text).operations.map((operation) => ({
    operation,
    index: null,
    location: locationAfter(text, operation),
    form: workloadOf(operation),
  }));
}

/** The first place that the operation's `loc(...)` names, as `file:line:column`. */
function locationAfter(text: Uint8Array, operation: Operation): string | null {
  const after = Buffer.from(text.subarray(operation.end, operation.end + 4096)).toString();
  const line = /^[^\n]*/.exec(after)![0];
  const found = /^\s*loc\(.*?"((?:[^"\\]|\\.)*)":(\d+):(\d+)/.exec(line);
  return found === null ? null : `${found[1]!}:${found[2]!}:${found[3]!}`;
}

function distinctForms(written: readonly Written[]): OperationWorkload[] {
  const forms = new Map<string, OperationWorkload>();
  for (const { form } of written) {
    if ('skipped' in form) continue;
    const key = matchKey(writtenForm(form));
    if (!forms.has(key)) forms.set(key, form);
  }
  return [...forms.values()];
}

/** The contractions of all executables; equal ones once. */
function generatedFrom(text: Uint8Array): Generated[] {
  const found = new Map<string, Generated>();
  for (const operation of parse(text).operations) {
    const read = workloadOf(operation);
    const skipped = 'skipped' in read ? read.skipped : null;
    const form = 'skipped' in read ? read.alike : read;
    if (form === null) continue;
    const { workload, loops } = form;
    const mark = markOf(text, operation);
    const key = `${mark ?? ''} ${skipped ?? ''} ${matchKey({ workload, loops })}`;
    if (found.has(key)) continue;
    const location = locationAfter(text, operation);
    found.set(key, { name: operation.name, location, mark, skipped, workload, loops });
  }
  return [...found.values()];
}

function markOf(text: Uint8Array, { attributes }: Operation): number | null {
  const attribute = attributes.find(({ name }) => name === MARKER);
  if (attribute === undefined) return null;
  const value = /=\s*(\d+)/.exec(Buffer.from(text.subarray(attribute.start, attribute.end)).toString());
  return value === null ? null : Number(value[1]);
}

/** Brings both sides together: by marks, and where a mark was lost, by the amount of work. */
function match(
  written: readonly Written[],
  forms: readonly OperationWorkload[],
  generated: readonly Generated[],
): SurveyedOperation[] {
  const keys = forms.map((form) => matchKey(writtenForm(form)));
  const used = new Set<Generated>();
  const surveyed = written.flatMap(({ operation, index, location, form }): SurveyedOperation[] => {
    const site = { name: operation.name, index, location };
    const nothing = { generated: null, written: null };
    if ('skipped' in form) {
      const { skipped, alike } = form;
      const same = generated.filter(
        (one) => one.skipped !== null && alike !== null && isSameWork(one.workload, alike.workload),
      );
      if (same.length === 0) return [{ ...site, ...nothing, skipped }];
      return same.map((one) => {
        used.add(one);
        return { ...site, skipped, generated: { workload: one.workload, loops: one.loops }, written: alike };
      });
    }
    const mark = keys.indexOf(matchKey(writtenForm(form)));
    const tuned = generated.filter((one) => one.skipped === null);
    let own = tuned.filter((one) => one.mark === mark);
    if (own.length === 0)
      own = tuned.filter((one) => one.mark === null && isSameWork(one.workload, form.workload)).slice(0, 1);
    if (own.length === 0)
      return [{ ...site, ...nothing, skipped: 'the compiler makes something else of it' }];
    return own.map((one): SurveyedOperation => {
      used.add(one);
      const workload = { ...one.workload, constantRhs: form.workload.constantRhs };
      const isReachable = one.mark !== null && haveSameDimensions(workload, form.workload);
      return {
        ...site,
        skipped: null,
        generated: { workload, loops: one.loops },
        // Tiles stay on the loops while the compiler interchanges them: they have to be in its order from the start.
        written: isReachable ? { ...form, loops: one.loops } : null,
      };
    });
  });
  const made = generated
    .filter((one) => !used.has(one))
    .map(({ name, location, skipped, workload, loops }): SurveyedOperation => ({
      name,
      index: null,
      location,
      skipped,
      generated: { workload, loops },
      written: null,
    }));
  return [...surveyed, ...made];
}

const isSameWork = (a: Workload, b: Workload) =>
  workOf(a) === workOf(b) && a.accumulator.elementType === b.accumulator.elementType;

/** The product of the static sizes, and how many others there are. */
function workOf({ dimensions }: Workload): string {
  const known = dimensions.filter(({ sizes }) => sizes === undefined);
  return `${known.reduce((product, { size }) => product * size, 1)}, ${dimensions.length - known.length} dynamic`;
}

/** A configuration has one tile per dimension, so both must have the same ones in the same order. */
const haveSameDimensions = (a: Workload, b: Workload) =>
  JSON.stringify(a.dimensions) === JSON.stringify(b.dimensions);
