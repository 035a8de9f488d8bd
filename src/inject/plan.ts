// From decisions to an injection: how they reach the compiler.
import { insertionFor, type Insertion } from 'mlir-parser-ts';
import {
  isInjected,
  type Alike,
  type Decision,
  type Injected,
  type TunableOperation,
} from '../decision/decision.ts';
import type { Configuration } from '../space/configuration.ts';
import { isBefore, type Release } from '../space/render.ts';
import { ownConfiguration } from '../workload/from-operation.ts';
import { injectedAttribute } from './attribute.ts';
import { matchKey, type SpecForm } from './matcher.ts';
import { packedSpec } from './packed.ts';
import { preprocessingSpec, writtenForm } from './preprocess.ts';
import { tuningSpec, type SpecEntry } from './spec.ts';

/**
 * - `spec`: matched in every executable, just before its configuration is chosen
 * - `preprocess`: matched in the program as it is written, with data tiling where `dataTiling` says so, and a tuning
 *   spec for the packed operations that it leads to
 * - `inline`: written into a copy of the input
 * - `substitute`: written into copies of the executables
 */
export type Injection =
  | { readonly route: 'none'; readonly reason: string }
  | { readonly route: 'spec'; readonly text: string }
  | {
      readonly route: 'preprocess';
      readonly text: string;
      readonly dataTiling: boolean;
      /** A tuning spec for what data tiling makes; null where the compiler decides about that. */
      readonly packed: string | null;
    }
  | { readonly route: 'inline'; readonly insertions: readonly Insertion[] }
  | { readonly route: 'substitute'; readonly entries: readonly SpecEntry[] };

export type Route = Exclude<Injection['route'], 'none'>;

export interface InjectionOptions {
  readonly wanted: 'auto' | Route;
  readonly release: Release;
  /** The user compiles with data tiling: a spec's matchers would also hit the encoded matmuls, and the compile fails. */
  readonly dataTiling: boolean;
  /** The user has a preprocessing spec of his own, and the compiler takes only one. */
  readonly ownPreprocessing: boolean;
  /** The same of a preprocessing pipeline, without which a tuning spec can hang the compiler. */
  readonly ownPipeline: boolean;
  /** Routes by which not everything landed before: `auto` tries the others. */
  readonly lost?: readonly Route[];
}

/** The sooner, the less of the compile is touched. */
const AUTOMATIC: readonly Route[] = ['spec', 'preprocess', 'inline', 'substitute'];

/** Chooses the route and renders it. Pure. */
export function planInjection(decisions: readonly Decision[], options: InjectionOptions): Injection {
  const injected = decisions.filter(isInjected);
  if (injected.length === 0)
    return { route: 'none', reason: 'no operation has a configuration better than the default' };
  const problems: Record<Route, string | null> = {
    spec: specProblem(decisions, options),
    preprocess: preprocessProblem(decisions, options),
    inline: inlineProblem(decisions),
    substitute: generatedProblem(decisions, options),
  };
  const order: readonly Route[] =
    options.wanted === 'auto'
      ? AUTOMATIC.filter((one) => options.lost?.includes(one) !== true)
      : [options.wanted];
  const route = order.find((candidate) => problems[candidate] === null);
  if (route === undefined) {
    // Better some configurations than none.
    const others = decisions.map((decision) =>
      decision.configuration?.kind === 'data-tile' ? { ...decision, configuration: null } : decision,
    );
    return options.lost === undefined &&
      others.some(isInjected) &&
      others.some((decision, i) => decision !== decisions[i])
      ? planInjection(others, options)
      : { route: 'none', reason: order[0] === undefined ? 'every route was tried' : problems[order[0]]! };
  }
  return render(route, injected, options);
}

function render(route: Route, injected: readonly Injected[], options: InjectionOptions): Injection {
  const { release } = options;
  switch (route) {
    case 'spec':
      return { route, text: tuningSpec(generatedEntries(injected), release) };
    case 'substitute':
      return { route, entries: generatedEntries(injected) };
    case 'preprocess': {
      const dataTiling = injected.some(({ configuration }) => configuration.kind === 'data-tile');
      const entries = injected.map(({ tunable, configuration }) => ({
        written: tunable.written!,
        configuration,
      }));
      const text = preprocessingSpec(entries, release, { dataTileOnlyWhereAsked: dataTiling });
      const packed = options.ownPipeline
        ? []
        : injected.flatMap(({ tunable, configuration }) =>
            configuration.kind === 'data-tile' && configuration.packed !== undefined
              ? [{ workload: tunable.workload, packed: configuration.packed }]
              : [],
          );
      return { route, text, dataTiling, packed: packed.length === 0 ? null : packedSpec(packed) };
    }
    case 'inline': {
      // The compiler may make several operations of one; all of them want the same.
      const byOperation = new Map(injected.map((decision) => [decision.site.operation!, decision]));
      const insertions = [...byOperation].map(([operation, { tunable, configuration }]) =>
        insertionFor(operation, injectedAttribute(configuration, tunable.written!.loops, release)!),
      );
      return { route, insertions: insertions.sort((a, b) => a.offset - b.offset) };
    }
  }
}

const generatedEntries = (injected: readonly Injected[]): SpecEntry[] =>
  injected.map(({ tunable, configuration }) => ({ ...formOf(tunable), configuration }));

/** Whether a route finds operations by what code is generated for, so that nothing else gets their configurations. */
export const matchesGenerated = (route: Injection['route']): boolean =>
  route !== 'preprocess' && route !== 'inline';

/** For each loop of the operation that gets the configuration by this route, the index of the workload's dimension. */
export function injectedLoops(route: Route, tunable: TunableOperation): readonly number[] {
  return matchesGenerated(route) ? tunable.loops : (tunable.written?.loops ?? tunable.loops);
}

const formOf = ({ workload, loops }: Alike): SpecForm => ({ workload, loops });

function specProblem(decisions: readonly Decision[], options: InjectionOptions): string | null {
  if (isBefore(options.release, 3, 11)) return 'tuning specs need IREE 3.11';
  if (options.dataTiling) return 'a tuning spec and data tiling together break the compile';
  if (options.ownPipeline) return 'the command has a preprocessing pipeline of its own';
  return ownProblem(decisions) ?? generatedProblem(decisions, options);
}

/** Why operations cannot be found by what code is generated for. */
function generatedProblem(decisions: readonly Decision[], options: InjectionOptions): string | null {
  if (options.dataTiling) return 'the command has data tiling, which hides what code is generated for';
  if (decisions.some(({ configuration }) => configuration?.kind === 'data-tile'))
    return 'data tiling is asked for before code generation begins';
  const all = decisions.map(({ tunable, alike, configuration }) => ({
    key: keyOf(tunable ?? alike ?? null, formOf),
    wanted: wantedOf(configuration),
  }));
  return conflict(all) ? 'operations of the same form want different configurations' : null;
}

function preprocessProblem(decisions: readonly Decision[], options: InjectionOptions): string | null {
  if (isBefore(options.release, 3, 11)) return 'preprocessing specs are known to work from IREE 3.11 on';
  if (options.ownPreprocessing) return 'the command has a preprocessing spec of its own';
  if (decisions.some((decision) => isInjected(decision) && decision.tunable.written === null))
    return 'the compiler makes an operation itself that has a configuration';
  const all = decisions.map(({ tunable, alike, configuration }) => ({
    key: keyOf(tunable ?? alike ?? null, ({ written }) => written && writtenForm(written)),
    wanted: wantedOf(configuration, tunable),
  }));
  return (
    ownProblem(decisions) ??
    (conflict(all) ? 'operations that are written in the same form want different configurations' : null)
  );
}

function inlineProblem(decisions: readonly Decision[]): string | null {
  const injected = decisions.filter(isInjected);
  if (injected.some(({ site }) => site.operation === null))
    return 'inline edits need an input in linalg text';
  if (injected.some(({ configuration }) => configuration.kind === 'data-tile'))
    return 'inline edits cannot keep data tiling from the other operations';
  if (injected.some(({ tunable }) => tunable.written === null))
    return 'the compiler makes an operation of other dimensions of one that has a configuration';
  const all = decisions.map(({ site, tunable, configuration }) => ({
    key: site.operation,
    wanted: wantedOf(configuration, tunable),
  }));
  return conflict(all) ? 'the compiler makes operations of one that want different configurations' : null;
}

/** A matcher would also hit an operation that the user has configured, and overwrite it. */
const ownProblem = (decisions: readonly Decision[]) =>
  decisions.some(({ site }) => site.operation !== null && ownConfiguration(site.operation) !== null)
    ? 'the input has operations with configurations of their own'
    : null;

/** What an operation is found by, and what it wants. */
interface Wish {
  /** Null for one that cannot be found. */
  readonly key: unknown;
  readonly wanted: string | null;
}

/** Operations that are found by the same key must want the same. */
function conflict(wishes: readonly Wish[]): boolean {
  const byKey = new Map<unknown, string | null>();
  for (const { key, wanted } of wishes) {
    if (key === null) continue;
    if (byKey.has(key) && byKey.get(key) !== wanted) return true;
    byKey.set(key, wanted);
  }
  return false;
}

function keyOf<T>(operation: T | null, formOf: (operation: T) => SpecForm | null): string | null {
  const form = operation && formOf(operation);
  return form && matchKey(form);
}

/** @param tunable given where tiles are written down in the order of its loops, and not matched with them */
function wantedOf(
  configuration: Configuration | null,
  tunable: TunableOperation | null = null,
): string | null {
  return configuration === null || configuration.kind === 'default'
    ? null
    : JSON.stringify([configuration, tunable?.written?.loops]);
}
