// From decisions to an injection: the way in which they reach the compiler.
import { insertionFor, type Insertion } from 'mlir-parser-ts';
import { isInjected, type Decision, type Injected } from '../decision/decision.ts';
import type { TunableOperation } from '../input/operation.ts';
import { attributeText, backendOf, directiveOf, needsOf } from '../backend/index.ts';
import type { OwnConfiguration } from '../backend/configuration.ts';
import { isBefore, type Release } from '../compiler/release.ts';
import { ROUTES, type InjectRoute, type Route } from '../settings/settings.ts';
import { preprocessingSpec } from '../spec/preprocessing.ts';
import { rulesOf, type Annotation, type Rule } from '../spec/rules.ts';
import { tuningSpec, type SpecFlag } from '../spec/tuning.ts';
import {
  dispatchOf,
  hasRoot,
  matchKey,
  ownConfiguration,
  writtenForm,
  type WorkloadForm,
} from '../workload/workload.ts';
import { because, type Reason } from '../system/reason.ts';

/** The way in which decisions reach the compiler. */
export type Injection = ByRoute & {
  /** Configurations that go into copies of the executables, by any route; absent for none. */
  readonly entries?: readonly Entry[];
};

/**
 * - `spec`: a tuning spec matches operations in every executable, just before the compiler chooses configurations
 * - `preprocess`: a preprocessing spec matches operations of the written program, and a tuning spec matches the generated operations
 * - `inline`: attributes in a copy of the input
 * - `substitute`: attributes in copies of the executables
 */
type ByRoute =
  | ({ readonly route: 'none' } & Reason)
  | { readonly route: 'spec'; readonly text: string; readonly flag: SpecFlag }
  | {
      readonly route: 'preprocess';
      readonly text: string;
      /** A change of the whole program that a configuration needs, such as `data tiling`; null for none. */
      readonly needs: string | null;
      /** More flags than the spec's own. */
      readonly flags: readonly string[];
      /** A tuning spec for the generated operations; null if the compiler chooses their configurations. */
      readonly following: string | null;
    }
  | { readonly route: 'inline'; readonly insertions: readonly Insertion[] }
  | { readonly route: 'substitute' };

/** The configuration of the generated operations of one form, or of one dispatch. */
export interface Entry extends WorkloadForm {
  readonly configuration: OwnConfiguration;
  /** Names of its executables, if no injection changes the program before; empty if the form finds them. */
  readonly executables: readonly string[];
  /** Backend of its only target in a program for several targets; absent in a program for one. */
  readonly target?: string;
}

/** Whether its dispatch finds it: by the names of the executables, or by the digest if an injection changes the program before. */
export const isOfDispatch = ({ workload, executables }: Entry): boolean =>
  executables.length > 0 || dispatchOf(workload) !== null;

const entryOf = (
  { tunable: { workload, loops }, configuration, target }: Injected,
  executables: readonly string[],
): Entry => ({ workload, loops, configuration, executables, ...(target && { target }) });

export interface InjectionOptions {
  readonly wanted: InjectRoute;
  readonly release: Release;
  readonly specFlag: SpecFlag;
  /** Whether the whole input is in memory. */
  readonly isWhole: boolean;
  /** The user compiles with data tiling: a tuning spec would also match the encoded matmuls, and the compile fails. */
  readonly dataTiling: boolean;
  /** The user has a preprocessing spec. The compiler takes only one. */
  readonly ownPreprocessing: boolean;
  /** The user has a preprocessing pipeline. The compiler takes only one, and can hang on a tuning spec without ours. */
  readonly ownPipeline: boolean;
  /** Rules of a tuning spec for dispatches; without rules, dispatches are substituted. */
  readonly dispatchRules?: readonly Rule[];
  /** Routes that have lost a configuration: `auto` tries the others. */
  readonly lost?: readonly Route[];
}

/** Chooses the route and renders it. Pure. */
export function planInjection(decisions: readonly Decision[], options: InjectionOptions): Injection {
  const injected = decisions
    .filter(isInjected)
    .filter(({ configuration }) => needsOf(configuration) === null);
  const inDispatches = injected.filter(({ tunable }) => dispatchOf(tunable.workload) !== null);
  const byForm = planWith(inDispatches, decisions, options);
  const { wanted, lost = [], dispatchRules } = options;
  const mayName = ['auto', 'substitute'].includes(wanted) && !lost.includes('substitute');
  if (byForm.lacksOthers !== true || !mayName || dispatchRules !== undefined) return byForm.injection;
  // A form with several configurations costs only its own operations: names of executables tell them apart.
  const forms = contested(decisions, formOf, true);
  const named = injected.filter(
    (decision) => forms.has(formOf(decision)) && (decision.tunable.executables?.length ?? 0) > 0,
  );
  return planWith([...new Set([...inDispatches, ...named])], decisions, options).injection;
}

/** The injection with some decisions in the dispatches that they belong to, and whether the others are left out. */
function planWith(
  inDispatches: readonly Injected[],
  decisions: readonly Decision[],
  options: InjectionOptions,
): { readonly injection: Injection; readonly lacksOthers?: boolean } {
  // Substituted executables are configured already, so no matcher looks for their operations.
  const others = decisions.map((decision) =>
    inDispatches.some((one) => one === decision)
      ? { ...decision, tunable: null, configuration: null }
      : decision,
  );
  const whole = planWhole(others, options);
  const lacksOthers = whole.route === 'none' && others.some(isInjected);
  if (inDispatches.length === 0) return { injection: whole, lacksOthers };
  const { dispatchRules } = options;
  if (dispatchRules !== undefined) {
    if (whole.route !== 'none') return { injection: whole };
    const problem =
      specProblem(decisions, options) ?? (dispatchRules.length === 0 ? ONLY_IN_DISPATCHES : null);
    return {
      injection:
        problem === null
          ? { route: 'spec', text: tuningSpec(dispatchRules), flag: options.specFlag }
          : { route: 'none', ...because('no-route', problem) },
    };
  }
  if (options.lost?.includes('substitute') === true) return { injection: whole };
  const dispatches = new Map(
    inDispatches.map((decision) => {
      const { workload, executables = [] } = decision.tunable;
      return [dispatchOf(workload) ?? executables.join(), entryOf(decision, executables)];
    }),
  );
  const entries = [...dispatches.values(), ...(whole.entries ?? [])];
  const base: Injection = whole.route === 'none' ? { route: 'substitute' } : whole;
  return { injection: { ...base, entries }, lacksOthers };
}

function planWhole(decisions: readonly Decision[], options: InjectionOptions): Injection {
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
    // Without configurations that need the whole program, another route may be possible.
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

/** The first problem, and the size of the input if that is a problem: no flag would change it. */
function reasonOf([first = 'every route was tried', ...others]: readonly string[]): string {
  return others.includes(TOO_LARGE) ? `${first}; ${TOO_LARGE}` : first;
}

const ONLY_IN_DISPATCHES =
  'the configurations belong to dispatches of this program, and no spec can carry them; use a lock file, or build with the database';

const TOO_LARGE = 'the input is too large to be copied for edits';

function render(route: Route, injected: readonly Injected[], options: InjectionOptions): Injection {
  const { release } = options;
  switch (route) {
    case 'spec': {
      const annotations = injected.flatMap(({ tunable: { workload, loops }, configuration }): Annotation[] =>
        hasRoot(workload)
          ? [{ form: { workload, loops }, ...directiveOf(configuration, loops, release)! }]
          : [],
      );
      const rules = [...rulesOf(annotations), ...(options.dispatchRules ?? [])];
      return { route, text: tuningSpec(rules), flag: options.specFlag };
    }
    case 'substitute':
      return {
        route,
        entries: injected
          .filter(({ tunable }) => hasRoot(tunable.workload))
          .map((decision) => entryOf(decision, [])),
      };
    case 'preprocess':
      return preprocessing(injected, options);
    case 'inline': {
      // One written operation can become several operations, which have the same configuration here.
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
): Injection {
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

/** The first change of the whole program that a configuration needs; null for none. */
const needsOfAll = (decisions: readonly Decision[]): string | null =>
  decisions.map(({ configuration }) => needsOf(configuration)).find((needs) => needs !== null) ?? null;

/** Whether a route matches generated operations. The other routes match written operations. */
export const matchesGenerated = (route: Injection['route']): boolean =>
  route !== 'preprocess' && route !== 'inline';

/** For each loop of the operation that this route configures, the index of the workload's dimension. */
export function injectedLoops(route: Injection['route'], tunable: TunableOperation): readonly number[] {
  return matchesGenerated(route) || dispatchOf(tunable.workload) !== null
    ? tunable.loops
    : (tunable.written?.loops ?? tunable.loops);
}

function specProblem(decisions: readonly Decision[], options: InjectionOptions): string | null {
  if (isBefore(options.release, 3, 11)) return 'tuning specs need IREE 3.11';
  if (options.dataTiling) return 'a tuning spec and data tiling together break the compile';
  if (options.ownPipeline) return 'the command has a preprocessing pipeline of its own';
  return ownProblem(decisions) ?? generatedProblem(decisions, options);
}

/** Why generated operations cannot be configured separately; null if they can. */
function generatedProblem(decisions: readonly Decision[], options: InjectionOptions): string | null {
  if (options.dataTiling) return 'the command has data tiling, which hides the generated operations';
  const needs = needsOfAll(decisions);
  if (needs !== null) return `${needs} must be requested before code generation`;
  const isConflict = conflict(decisions, formOf, true);
  return isConflict ? 'operations of the same form have different configurations' : null;
}

function preprocessProblem(decisions: readonly Decision[], options: InjectionOptions): string | null {
  if (isBefore(options.release, 3, 11)) return 'preprocessing specs are known to work from IREE 3.11 on';
  if (options.ownPreprocessing) return 'the command has a preprocessing spec of its own';
  if (decisions.some((decision) => isInjected(decision) && decision.tunable.written === null))
    return 'an operation with a configuration is not in the input';
  const isConflict = conflict(decisions, ({ tunable, matched }) => {
    const written = (tunable ?? matched)?.written;
    return keyOf(written && writtenForm(written));
  });
  return (
    ownProblem(decisions) ??
    (isConflict ? 'operations with the same written form have different configurations' : null)
  );
}

function inlineProblem(decisions: readonly Decision[], { isWhole }: InjectionOptions): string | null {
  const injected = decisions.filter(isInjected);
  if (injected.some(({ place }) => place.operation === null))
    return 'inline edits need an input in linalg text';
  const needs = needsOfAll(decisions);
  if (needs !== null) return `inline edits cannot keep ${needs} from the other operations`;
  if (injected.some(({ tunable }) => tunable.written === null))
    return 'an operation with a configuration has other dimensions in the input';
  if (conflict(decisions, ({ place }) => place.operation))
    return 'the compiler splits an operation into operations with different configurations';
  return isWhole ? null : TOO_LARGE;
}

/** A matcher would overwrite a configuration of the user. */
const ownProblem = (decisions: readonly Decision[]) =>
  decisions.some(({ place }) => place.operation !== null && ownConfiguration(place.operation) !== null)
    ? 'the input has operations with configurations of their own'
    : null;

/**
 * The keys whose operations have different configurations.
 * @param keyOf null for an operation that the route cannot match
 * @param isMapped whether a matcher maps tiles; otherwise they are written in the order of the operation's loops
 */
function contested(
  decisions: readonly Decision[],
  keyOf: (decision: Decision) => unknown,
  isMapped = false,
): ReadonlySet<unknown> {
  const wanted = (decision: Decision) =>
    isInjected(decision)
      ? JSON.stringify([decision.configuration, isMapped ? null : decision.tunable.written?.loops])
      : null;
  const byKey = Map.groupBy(decisions, keyOf);
  byKey.delete(null);
  return new Set([...byKey].filter(([, own]) => new Set(own.map(wanted)).size > 1).map(([key]) => key));
}

const conflict = (...of: Parameters<typeof contested>): boolean => contested(...of).size > 0;

const keyOf = (form: WorkloadForm | null | undefined): string | null => (form ? matchKey(form) : null);

/** The generated operation's form. */
const formOf = ({ tunable, matched }: Decision) => keyOf(tunable ?? matched);
