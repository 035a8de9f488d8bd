// From decisions to an injection: how they reach the compiler.
import { insertionFor, type Insertion } from 'mlir-parser-ts';
import { isInjected, type Decision, type Injected } from '../decision/decision.ts';
import type { Alike, TunableOperation } from '../input/operation.ts';
import { attributeText, backendOf, directiveOf, needsOf } from '../backend/index.ts';
import { isDefault, type Configuration, type OwnConfiguration } from '../backend/configuration.ts';
import { isBefore, type Release } from '../compiler/release.ts';
import { ROUTES, type InjectRoute, type Route } from '../settings/settings.ts';
import { preprocessingSpec } from '../spec/preprocessing.ts';
import { rulesOf, type Annotation, type Rule } from '../spec/rules.ts';
import { tuningSpec, type SpecFlag } from '../spec/tuning.ts';
import { ownConfiguration } from '../workload/own-configuration.ts';
import {
  dispatchOf,
  isOperationWork,
  matchKey,
  writtenForm,
  type MatchedForm,
  type Workload,
  type WorkloadForm,
} from '../workload/workload.ts';
import { because, type Reason } from '../system/reason.ts';

/** How decisions reach the compiler. */
export type Injection = Whole & {
  /** Configurations for dispatches that were measured in the program; absent for none. */
  readonly dispatches?: readonly DispatchEntry[];
};

/**
 * - `spec`: matched in every executable, just before its configuration is chosen
 * - `preprocess`: matched in the program as it is written, with what it needs of the whole program, and a tuning spec for
 *   what the compiler makes of the operations
 * - `inline`: written into a copy of the input
 * - `substitute`: written into copies of the executables
 */
type Whole =
  | ({ readonly route: 'none' } & Reason)
  | { readonly route: 'spec'; readonly text: string; readonly flag: SpecFlag }
  | {
      readonly route: 'preprocess';
      readonly text: string;
      /** A requirement on the whole program, such as `data tiling`; null for none. */
      readonly needs: string | null;
      /** Flags beside the spec's own. */
      readonly flags: readonly string[];
      /** A tuning spec for the generated operations; null if the compiler decides about these. */
      readonly following: string | null;
    }
  | { readonly route: 'inline'; readonly insertions: readonly Insertion[] }
  | { readonly route: 'substitute'; readonly entries: readonly GeneratedEntry[] };

/** Configuration of the generated operations of one form. */
export interface GeneratedEntry extends MatchedForm {
  readonly configuration: OwnConfiguration;
}

/** Configuration of a dispatch's root. */
export interface DispatchEntry {
  /** Digest of the dispatch. */
  readonly digest: string;
  /** Names of the executables that it becomes where nothing changes the program before there are any. */
  readonly executables: readonly string[];
  readonly workload: Workload;
  readonly configuration: OwnConfiguration;
}

export interface InjectionOptions {
  readonly wanted: InjectRoute;
  readonly release: Release;
  /** Whether all of the input is in the memory. */
  readonly isWhole: boolean;
  /** The user compiles with data tiling: a spec's matchers would also hit the encoded matmuls, and the compile fails. */
  readonly dataTiling: boolean;
  /** The user has a preprocessing spec of his own, and the compiler takes only one. */
  readonly ownPreprocessing: boolean;
  /** The same of a preprocessing pipeline, without which a tuning spec can hang the compiler. */
  readonly ownPipeline: boolean;
  /** Rules of a tuning spec for dispatches, which are substituted without. */
  readonly dispatchRules?: readonly Rule[];
  /** Routes by which not everything landed before: `auto` tries the others. */
  readonly lost?: readonly Route[];
}

/** Chooses the route and renders it. Pure. */
export function planInjection(decisions: readonly Decision[], options: InjectionOptions): Injection {
  const inDispatches = decisions
    .filter(isInjected)
    .filter(
      (decision) =>
        dispatchOf(decision.tunable.workload) !== null && needsOf(decision.configuration) === null,
    );
  if (inDispatches.length === 0) return planWhole(decisions, options);
  // No matcher is to find these: they are configured by then.
  const others = decisions.map((decision) =>
    inDispatches.some((one) => one === decision)
      ? { ...decision, tunable: null, configuration: null }
      : decision,
  );
  const whole = planWhole(others, options);
  const { dispatchRules } = options;
  if (dispatchRules !== undefined)
    return whole.route !== 'none' || dispatchRules.length === 0 || specProblem(decisions, options) !== null
      ? whole
      : { route: 'spec', text: tuningSpec(dispatchRules), flag: specFlagOf(inDispatches) };
  if (options.lost?.includes('substitute') === true) return whole;
  const dispatches = new Map(
    inDispatches.map(({ tunable, configuration }) => {
      const { workload, executables = [] } = tunable;
      const digest = dispatchOf(workload)!;
      return [digest, { digest, executables, workload, configuration }];
    }),
  );
  const base: Whole = whole.route === 'none' ? { route: 'substitute', entries: [] } : whole;
  return { ...base, dispatches: [...dispatches.values()] };
}

function planWhole(decisions: readonly Decision[], options: InjectionOptions): Whole {
  const injected = decisions.filter(isInjected);
  if (injected.length === 0) return { route: 'none', ...because('no-gain') };
  const problems: Record<Route, string | null> = {
    spec: specProblem(decisions, options),
    preprocess: preprocessProblem(decisions, options),
    inline: inlineProblem(decisions, options),
    substitute: generatedProblem(decisions, options),
  };
  const order: readonly Route[] =
    options.wanted === 'auto'
      ? ROUTES.filter((one) => options.lost?.includes(one) !== true)
      : [options.wanted];
  const route = order.find((candidate) => problems[candidate] === null);
  if (route === undefined) {
    // Better some configurations than none.
    const others = decisions.map((decision) =>
      needsOf(decision.configuration) !== null ? { ...decision, configuration: null } : decision,
    );
    return options.lost === undefined &&
      others.some(isInjected) &&
      others.some((decision, i) => decision !== decisions[i])
      ? planWhole(others, options)
      : { route: 'none', ...because('no-route', reasonOf(order.map((one) => problems[one]!))) };
  }
  return render(route, injected, options);
}

/** The first problem, with that of a large input, which no flag and no other decision would change. */
function reasonOf([first = 'every route was tried', ...others]: readonly string[]): string {
  return others.includes(TOO_LARGE) ? `${first}; ${TOO_LARGE}` : first;
}

const TOO_LARGE = 'an input of this size is not copied to edit it';

/** All configurations of a program are for the backend of its target. */
const specFlagOf = ([first]: readonly Injected[]): SpecFlag => backendOf(first!.configuration).specFlag;

function render(route: Route, injected: readonly Injected[], options: InjectionOptions): Whole {
  const { release } = options;
  switch (route) {
    case 'spec': {
      const annotations = generatedEntries(injected).map(({ configuration, ...form }): Annotation => ({
        form,
        ...directiveOf(configuration, form.loops, release)!,
      }));
      const rules = [...rulesOf(annotations), ...(options.dispatchRules ?? [])];
      return { route, text: tuningSpec(rules), flag: specFlagOf(injected) };
    }
    case 'substitute':
      return { route, entries: generatedEntries(injected) };
    case 'preprocess':
      return preprocessing(injected, options);
    case 'inline': {
      // The compiler may make several operations of one; all of them want the same.
      const byOperation = new Map(injected.map((decision) => [decision.place.operation!, decision]));
      const insertions = [...byOperation].map(([operation, { tunable, configuration }]) =>
        insertionFor(operation, attributeText(directiveOf(configuration, tunable.written!.loops, release)!)),
      );
      return { route, insertions: insertions.sort((a, b) => a.offset - b.offset) };
    }
  }
}

function preprocessing(
  injected: readonly Injected[],
  { release, ownPipeline, dispatchRules = [] }: InjectionOptions,
): Whole {
  const annotations = injected.map(({ tunable, configuration }): Annotation => ({
    form: writtenForm(tunable.written!),
    ...directiveOf(configuration, tunable.written!.loops, release)!,
  }));
  const needy = injected.filter(({ configuration }) => needsOf(configuration) !== null);
  const parts = [
    ...new Set(needy.flatMap(({ configuration }) => backendOf(configuration).wholeProgram ?? [])),
  ];
  const rules = parts.flatMap((part) => part.rules);
  const entries = needy.map(({ tunable, configuration }) => ({ workload: tunable.workload, configuration }));
  const following = ownPipeline
    ? []
    : [...parts.flatMap((part) => part.followingRules(entries)), ...dispatchRules];
  return {
    route: 'preprocess',
    text: preprocessingSpec(annotations, rules),
    needs: needsOf(needy[0]?.configuration ?? null),
    flags: parts.flatMap((part) => part.flags),
    following: following.length === 0 ? null : tuningSpec(following),
  };
}

/** The first requirement on the whole program; null for none. */
const needsOfAll = (decisions: readonly Decision[]): string | null =>
  decisions.map(({ configuration }) => needsOf(configuration)).find((needs) => needs !== null) ?? null;

const generatedEntries = (injected: readonly Injected[]): GeneratedEntry[] =>
  injected.flatMap(({ tunable: { workload, loops }, configuration }) =>
    isOperationWork(workload) ? [{ workload, loops, configuration }] : [],
  );

/** Whether a route finds generated operations, so that no other operation gets their configurations. */
export const matchesGenerated = (route: Injection['route']): boolean =>
  route !== 'preprocess' && route !== 'inline';

/** For each loop of the operation that gets the configuration by this route, the index of the workload's dimension. */
export function injectedLoops(route: Injection['route'], tunable: TunableOperation): readonly number[] {
  return matchesGenerated(route) || dispatchOf(tunable.workload) !== null
    ? tunable.loops
    : (tunable.written?.loops ?? tunable.loops);
}

const formOf = ({ workload, loops }: Alike): WorkloadForm => ({ workload, loops });

function specProblem(decisions: readonly Decision[], options: InjectionOptions): string | null {
  if (isBefore(options.release, 3, 11)) return 'tuning specs need IREE 3.11';
  if (options.dataTiling) return 'a tuning spec and data tiling together break the compile';
  if (options.ownPipeline) return 'the command has a preprocessing pipeline of its own';
  return ownProblem(decisions) ?? generatedProblem(decisions, options);
}

/** Why generated operations cannot be told apart. */
function generatedProblem(decisions: readonly Decision[], options: InjectionOptions): string | null {
  if (options.dataTiling) return 'the command has data tiling, which hides what code is generated for';
  const needs = needsOfAll(decisions);
  if (needs !== null) return `${needs} is asked for before code generation begins`;
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

function inlineProblem(decisions: readonly Decision[], { isWhole }: InjectionOptions): string | null {
  const injected = decisions.filter(isInjected);
  if (injected.some(({ place }) => place.operation === null))
    return 'inline edits need an input in linalg text';
  const needs = needsOfAll(decisions);
  if (needs !== null) return `inline edits cannot keep ${needs} from the other operations`;
  if (injected.some(({ tunable }) => tunable.written === null))
    return 'the compiler makes an operation of other dimensions of one that has a configuration';
  const all = decisions.map(({ place, tunable, configuration }) => ({
    key: place.operation,
    wanted: wantedOf(configuration, tunable),
  }));
  if (conflict(all)) return 'the compiler makes operations of one that want different configurations';
  return isWhole ? null : TOO_LARGE;
}

/** A matcher would also hit an operation that the user has configured, and overwrite it. */
const ownProblem = (decisions: readonly Decision[]) =>
  decisions.some(({ place }) => place.operation !== null && ownConfiguration(place.operation) !== null)
    ? 'the input has operations with configurations of their own'
    : null;

/** The key of an operation, and its configuration. */
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

function keyOf<T>(operation: T | null, formOf: (operation: T) => WorkloadForm | null): string | null {
  const form = operation && formOf(operation);
  return form && matchKey(form);
}

/** @param tunable given where tiles are written down in the order of its loops, and not matched with them */
function wantedOf(
  configuration: Configuration | null,
  tunable: TunableOperation | null = null,
): string | null {
  return configuration === null || isDefault(configuration)
    ? null
    : JSON.stringify([configuration, tunable?.written?.loops]);
}
