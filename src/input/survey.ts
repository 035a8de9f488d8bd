// A survey asks the compiler which operations it generates code for. The compiler turns other dialects into linalg, folds transposes
// and casts into contractions, and drops unit dimensions.
import { integerOf, locationsOf, parse, type Operation, type SourceLocation } from 'mlir-parser-ts';
import {
  withInput,
  areTiledAlike,
  isMadeOf,
  isSameWork,
  matchKey,
  mayBecomeWork,
  workloadKey,
  workloadOf,
  writtenForm,
  type OperationWorkload,
  type SkippedOperation,
  type MatchedForm,
} from '../workload/workload.ts';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { askCompiler } from '../compiler/ask.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import { isParsable, requireRoom } from '../system/heap.ts';
import { trySlot } from '../system/slots.ts';
import { UserError } from '../system/user-error.ts';
import { preprocessingSpec, preprocessingFlags } from '../spec/preprocessing.ts';
import { passesOf, rewrittenCompile, withTrailingFlags, type Command } from '../compiler/command.ts';
import { IN_INTEGERS, readQuantized } from '../form/quantized.ts';
import { readRewritables, type Rewritable } from '../form/rewritable.ts';
import { formsSpec, REWRITE } from '../form/spec.ts';
import { pipelineFlags, rewritingPasses } from '../spec/pipeline.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { otherDispatches, rootsIn } from './dispatches.ts';
import { executablesByName } from './executable-texts.ts';
import { extentsIn, joinedExtents, type DispatchExtents, type ExtentsOf } from './dispatch-extents.ts';
import { readFlow, withoutInitializers, type Flow } from './flow.ts';
import type { ReadInput } from './input.ts';
import type { SurveyedOperation } from './survey-memory.ts';
import { SIZED } from './specialised.ts';
import { bufferOf } from '../system/bytes.ts';
import { because, isReason, type Reason } from '../system/reason.ts';

/** Attribute that carries the number of an operation's form through the compiler's optimisations. */
const MARKER = 'iree_tuned_form';

/**
 * Flags that elide constants from a text.
 * @param elements of the largest constant that stays
 * @param characters of the largest resource that stays. For limits above 0, the compiler prints each resource to measure it, which
 * takes memory and half of its time
 */
export const eliding = (elements: number, characters: number): string[] => [
  `--mlir-elide-elementsattrs-if-larger=${elements}`,
  `--mlir-elide-resource-strings-if-larger=${characters}`,
];

/** Elides weights, because texts with weights are as large as the model. */
export const ELIDED = eliding(8, 0);

/** Overrides the user's flags. */
const NO_DATA_TILING = ['opt', 'global-opt', 'dispatch-creation'].map(
  (part) => `--iree-${part}-data-tiling=false`,
);

/**
 * Turns off constant evaluation, which compiles and runs code and takes three times as long as the rest of a survey. Without it,
 * constants stay in initializers.
 */
const NO_CONST_EVAL = '--iree-opt-const-eval=false';

/** An operation before any optimisation. */
interface Written {
  readonly operation: Operation;
  readonly index: number | null;
  readonly location: string | null;
  readonly form: OperationWorkload | SkippedOperation;
}

/** An operation that code is generated for. */
interface Generated extends MatchedForm {
  readonly name: string;
  /** The places in the input that it comes from. */
  readonly locations: Set<string>;
  /** Index of the form from its mark; null if the compiler lost the mark or made the operation. */
  readonly mark: number | null;
  /** The reason why it is skipped although matchers find it; null for a tunable operation. */
  readonly skipped: Reason | null;
  /** Names of the executables with this operation. */
  readonly executables: Set<string>;
  /** Of its dynamic dimensions, in each executable; null where they are not known. */
  readonly extents: (readonly DispatchExtents[] | null)[];
}

/** The operations of linalg text, and the conversion of its element types. */
export interface WrittenText {
  readonly bytes: Uint8Array;
  readonly operations: readonly Operation[];
  readonly convert: (type: string) => string;
}

interface SurveyOptions {
  /** Null for input that is not linalg text. */
  readonly text: WrittenText | null;
  /** Whether the rewritable operations are enough. They are in the first text of the compiler, so the survey can end there. */
  readonly isEnough: (rewritables: readonly Rewritable[]) => boolean;
  /** Texts of the configured executables, if the caller has them anyway. */
  readonly configured?: Configured | undefined;
}

/** Gives the texts of executables by name; null on failure. */
export type Configured = () => Promise<ReadonlyMap<string, Uint8Array> | null>;

/** The result of a survey. */
export interface Found {
  /** Null if the rewritable operations were enough. */
  readonly operations: readonly SurveyedOperation[] | null;
  /** Operations that can have other forms, each once, in the order of the program. */
  readonly rewritables: readonly Rewritable[];
}

/**
 * Compiles the command's input up to its dispatches, and finds the generated form of each operation. Null if the compiler fails. The caller
 * has a slot for one compile at a time.
 */
export async function surveyInput(
  command: Command,
  input: ReadInput,
  { text: linalg, isEnough, configured: known }: SurveyOptions,
  { env, cacheDirectory }: Surroundings,
): Promise<Found | null> {
  const { isHuge } = input;
  const { dataTiling } = input.reading;
  const { argv: own, stdin } = rewrittenCompile(command, input);
  const folder = makeScratchFolder(cacheDirectory, 'survey');
  if (folder === null) return null;
  const passes = passesOf(command);
  const compileTo = async (
    phase: string,
    flags: readonly string[],
    more: readonly string[] = [],
  ): Promise<Uint8Array | null> => {
    const output = join(folder, `${phase}.mlir`);
    const all = [
      ...[`--compile-to=${phase}`, '--mlir-print-debuginfo', ...ELIDED, NO_CONST_EVAL],
      ...[...pipelineFlags([...passes, ...more]), ...flags],
      ...['-o', output],
      // Encodings hide the operations.
      ...(dataTiling ? NO_DATA_TILING : []),
    ];
    const argv = withTrailingFlags(own, all);
    const ask = (more: readonly string[]) =>
      askCompiler(command.compiler.executable, [...more, ...argv], { env, stdin });
    const first = await ask([]);
    // Threads of the compiler crash by chance, seldom. Python's launcher turns a signal into a code above 128.
    const isCrash = first.code === null || first.code > 128;
    const result = isCrash ? await ask(['--mlir-disable-threading']) : first;
    return result.code === 0 && isParsable(statSync(output).size) ? readFileSync(output) : null;
  };
  /** A quantized program, and its operations once it is computed in integers; null for others. */
  const quantizedIn = async (text: Uint8Array): Promise<Rewritable[] | null> => {
    const quantized = readQuantized(text);
    if (quantized === null) return null;
    const spec = join(folder, 'quantized.mlir');
    writeFileSync(spec, formsSpec([{ operation: quantized, form: IN_INTEGERS.name }]));
    const after = await compileTo('preprocessing', [], [rewritingPasses(spec, REWRITE)]);
    return after && [quantized, ...rewritablesOf(after, normalised(after))];
  };
  try {
    // A rewritten program is surveyed after the rewriting.
    const phase = command.rewriting === undefined ? 'input' : 'preprocessing';
    // Text of the compiler has one spelling, whoever wrote the input.
    const text = (await compileTo(phase, [])) ?? linalg?.bytes;
    if (text === undefined) return null;
    const own = normalised(text);
    const written = linalg === null ? own : fromText(linalg);
    const quantized = command.rewriting?.isFormed === true ? null : await quantizedIn(text);
    const rewritables = quantized ?? rewritablesOf(text, own);
    if (isEnough(rewritables)) return { operations: null, rewritables };
    const forms = distinctForms(written);
    const spec = join(folder, 'marks.mlir');
    const marks = forms.map((form, i) => ({
      form: writtenForm(form),
      attribute: MARKER,
      value: `${i} : i64`,
    }));
    writeFileSync(spec, preprocessingSpec(marks));
    const marking = forms.length > 0 ? preprocessingFlags(spec) : [];
    const configuredTexts: Configured = async () => {
      const dumps = join(folder, 'configured');
      mkdirSync(dumps);
      const flags = [...marking, `--iree-hal-dump-executable-configurations-to=${dumps}`];
      await compileTo('executable-configurations', flags);
      return executablesByName(dumps);
    };
    const compiling = compileTo('flow', marking);
    using second = isHuge ? null : await trySlot(env);
    if (second === null) await compiling;
    const [program, configured] = await Promise.all([
      compiling,
      // With data tiling the program has other dispatches.
      dataTiling ? null : (known ?? configuredTexts)(),
    ]);
    if (program === null) return null;
    const flow = readFlow(withoutInitializers(program));
    const extentsOf = extentsIn(flow);
    const generated = generatedFrom(flow, dataTiling ? new Map() : rootsIn(flow), extentsOf);
    const taken = new Set(generated.flatMap((one) => (one.skipped === null ? [...one.executables] : [])));
    const others = otherDispatches(flow, configured ?? new Map(), taken).map((one) => {
      const { generated: form, executables = [] } = one;
      const extents = joinedExtents(executables.map((name) => form && extentsOf(name, null, form)));
      return extents === null ? one : { ...one, extents };
    });
    return { operations: [...match(written, forms, generated), ...others], rewritables };
  } catch (error) {
    if (error instanceof UserError) throw error;
    // A failed survey must not fail the build.
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function fromText({ operations, convert }: WrittenText): Written[] {
  return operations.map((operation, index) => ({
    operation,
    index,
    location: null,
    form: workloadOf(operation, convert),
  }));
}

const rewritablesOf = (text: Uint8Array, written: readonly Written[]): Rewritable[] =>
  readRewritables(
    text,
    written.map(({ operation }) => operation),
    bufferOf(text).includes(SIZED),
  );

function normalised(text: Uint8Array): Written[] {
  const { operations } = parse(text);
  requireRoom(operations.length);
  const locations = locationsOf(text, operations);
  return operations.map((operation, i) => ({
    operation,
    index: null,
    location: locations[i]!.map(spellLocation)[0] ?? null,
    form: workloadOf(operation),
  }));
}

const spellLocation = ({ file, line, column }: SourceLocation) => `${file}:${line}:${column}`;

function distinctForms(written: readonly Written[]): OperationWorkload[] {
  const forms = new Map<string, OperationWorkload>();
  for (const { form } of written) {
    if (isReason(form)) continue;
    const key = matchKey(writtenForm(form));
    if (!forms.has(key)) forms.set(key, form);
  }
  return [...forms.values()];
}

/** The operations of all executables, equal operations once. */
function generatedFrom(
  { bytes, operations, executables }: Flow,
  roots: ReadonlyMap<string, OperationWorkload>,
  extentsOf: ExtentsOf,
): Generated[] {
  const found = new Map<string, Generated>();
  requireRoom(operations.length);
  const locations = locationsOf(bytes, operations);
  const executableOf = new Map(
    executables.flatMap(({ name, operations: own }) => own.map((one) => [one, name] as const)),
  );
  for (const [i, operation] of operations.entries()) {
    const executable = executableOf.get(operation);
    const read = roots.get(executable ?? '') ?? workloadOf(operation);
    const skipped = isReason(read) ? because(read.code, read.reason) : null;
    const form = isReason(read) ? read.matched : read;
    if (form === null) continue;
    const { workload, loops } = form;
    const mark = markOf(bytes, operation);
    const key = `${mark ?? ''} ${skipped?.reason ?? ''} ${matchKey({ workload, loops })} ${workloadKey(workload)}`;
    const one = found.get(key) ?? {
      ...{ name: operation.name, locations: new Set<string>(), mark, skipped, workload, loops },
      ...{ executables: new Set<string>(), extents: [] },
    };
    for (const location of locations[i]!) one.locations.add(spellLocation(location));
    if (executable !== undefined) {
      one.executables.add(executable);
      one.extents.push(extentsOf(executable, operation, form));
    }
    found.set(key, one);
  }
  return [...found.values()];
}

function markOf(text: Uint8Array, { attributes }: Operation): number | null {
  const attribute = attributes.find(({ name }) => name === MARKER);
  return attribute === undefined ? null : integerOf(text, attribute);
}

/** Matches written with generated operations: by marks, else by the amount of work. */
function match(
  written: readonly Written[],
  forms: readonly OperationWorkload[],
  generated: readonly Generated[],
): SurveyedOperation[] {
  const keys = forms.map((form) => matchKey(writtenForm(form)));
  const tuned = generated.filter((one) => one.skipped === null);
  const unmarked = tuned.filter((one) => one.mark === null);
  const used = new Set<Generated>();
  const take = (one: Generated) => {
    used.add(one);
    const { workload, loops } = one;
    const extents = joinedExtents(one.extents);
    return {
      generated: { workload, loops },
      executables: [...one.executables],
      ...(extents && { extents }),
    };
  };
  const surveyed = written.flatMap(({ operation, index, location, form }): SurveyedOperation[] => {
    const site = { name: operation.name, index, location };
    if (isReason(form)) {
      const { matched } = form;
      const skipped = because(form.code, form.reason);
      const possible = mayBecomeWork(operation)
        ? unmarked.filter((one) => isMadeOf(one.workload, operation))
        : [];
      // The compiler merges equal dispatches and keeps the location of one.
      const made = possible.find(({ locations }) => locations.has(location ?? '')) ?? possible[0];
      if (made !== undefined) return [{ ...site, skipped: null, ...take(made), written: null }];
      const same = generated.filter(
        (one) => one.skipped !== null && matched !== null && isSameWork(one.workload, matched.workload),
      );
      return same.length === 0
        ? [{ ...site, skipped, generated: null, written: null }]
        : same.map((one) => ({ ...site, skipped, ...take(one), written: matched }));
    }
    const mark = keys.indexOf(matchKey(writtenForm(form)));
    let own = tuned.filter((one) => one.mark === mark);
    if (own.length === 0) own = unmarked.filter((one) => isSameWork(one.workload, form.workload)).slice(0, 1);
    if (own.length === 0)
      return [{ ...site, skipped: because('not-generated'), generated: null, written: null }];
    return own.map((one): SurveyedOperation => {
      const { generated, ...taken } = take(one);
      const { loops } = generated;
      const workload = withInput(one.workload, form.workload);
      const isInDispatch = one.workload.context !== undefined;
      const isReachable = one.mark !== null && areTiledAlike(workload, form.workload);
      return {
        ...site,
        skipped: null,
        ...taken,
        generated: { workload, loops },
        // Tiles do not move when the compiler interchanges loops, so they must be in the final order. An operation that is tuned in
        // its dispatch gets no tiles before that.
        written: isInDispatch ? form : isReachable ? { ...form, loops } : null,
      };
    });
  });
  const made = generated
    .filter((one) => !used.has(one))
    .map((one): SurveyedOperation => ({
      name: one.name,
      index: null,
      location: [...one.locations][0] ?? null,
      skipped: one.skipped,
      ...take(one),
      written: null,
    }));
  return [...surveyed, ...made];
}
