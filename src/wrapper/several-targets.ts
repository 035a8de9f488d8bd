// A build for several targets. The command for each target alone gives the decisions for that target. Attributes in the program would reach
// the code of every target, so the decisions of all targets are substituted in the executables.
import type { Configuration } from '../backend/configuration.ts';
import { loadBackendOfDriver, needsOf } from '../backend/index.ts';
import { targetKey, type Target } from '../backend/target.ts';
import { readCommand, type Command } from '../compiler/command.ts';
import { leaveOut, passedOver, type Decision } from '../decision/decision.ts';
import { planInjection, type Injection } from '../inject/plan.ts';
import type { Inspected } from '../plan/inspected.ts';
import { KeptModules } from '../plan/kept-modules.ts';
import { injectionOptions } from '../plan/route.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { argvForBackend } from '../site/one-target.ts';
import type { ProbedTarget } from '../site/probe.ts';
import { decide, type Decided } from './decide.ts';
import { inspect, passOnce, type PassThrough } from './inspect.ts';
import { withSurvey } from './resolve.ts';
import { because, type Reason } from '../system/reason.ts';

/** The route of a build for several targets. No other route can tell the targets apart. */
const ROUTE = 'substitute';

/** The command for one target. */
interface Part {
  readonly backend: string;
  readonly command: Command;
  readonly surroundings: Surroundings;
  /** The input with its survey, or the reason to leave the target untuned. */
  readonly inspected: Inspected | PassThrough;
}

/**
 * The command for each target.
 * @param several has the targets
 * @returns the pass-through if the targets cannot be told apart
 */
export async function partsOf(
  several: PassThrough,
  asked: Command,
  given: Surroundings,
): Promise<readonly Part[] | PassThrough> {
  const { inject } = given.settings;
  if (inject !== 'auto' && inject !== ROUTE)
    return passOnce(because('no-route', `inject=${inject} cannot tell several targets apart`));
  const { targets = [] } = several;
  const backends = new Set(targets.map(({ target }) => target.backend));
  if (backends.size < targets.length) return several;
  const parts: Part[] = [];
  for (const one of targets) parts.push(await partOf(one, asked, given));
  return parts;
}

/**
 * Decides for each target alone, within one budget. A verdict on the program is a verdict on the program for one target.
 * @param several has the targets
 * @returns a pass-through if no target can be tuned
 */
export async function decideEach(
  several: PassThrough,
  asked: Command,
  given: Surroundings,
): Promise<Decided | PassThrough> {
  const parts = await partsOf(several, asked, given);
  if ('pass' in parts) return parts;
  const open = parts.flatMap(({ inspected, ...part }) =>
    'pass' in inspected ? [] : [{ ...part, inspected }],
  );
  const [first] = open;
  if (first === undefined) return parts[0]!.inspected as PassThrough;
  const measuring = open.filter(({ inspected }) => inspected.site.whyNotHere === null);
  const budgetSeconds = given.settings.budgetSeconds / Math.max(1, measuring.length);
  const each: (Decided & { readonly backend: string })[] = [];
  for (const { backend, command, inspected, surroundings } of open) {
    const own = { ...surroundings, settings: { ...surroundings.settings, budgetSeconds } };
    const decided = await decide(inspected, command, own);
    each.push({ ...decided, decisions: leaveOut(decided.decisions, whyInseparable), backend });
  }
  for (const { store, kept } of each) {
    store?.close();
    kept.discard();
  }
  const untuned = parts.flatMap(({ backend, inspected }) =>
    'pass' in inspected
      ? first.inspected.input.operations.map(({ place }): Decision => ({
          ...passedOver(place, null, 'skipped', inspected.pass),
          target: backend,
        }))
      : [],
  );
  const until = each.flatMap((one) => one.until ?? []);
  return {
    command: asked,
    inspected: first.inspected,
    decisions: [
      ...each.flatMap(({ decisions, backend }) => decisions.map((one) => ({ ...one, target: backend }))),
      ...untuned,
    ],
    injection: injectionOf(each),
    ...{ verdict: null, forms: null },
    tuning: each.reduce((sum, { tuning }) => sum + tuning, 0),
    isFinal: each.every(({ isFinal }) => isFinal),
    until: until.length === 0 ? null : Math.min(...until),
    before: each.flatMap(({ before }) => before),
    files: each.flatMap(({ files, inspected }) => [...files, ...inspected.site.driverFiles]),
    // Failures of this compile mark no configuration: each was proven in the program for its target.
    store: null,
    kept: new KeptModules(),
    lock: each.find(({ lock }) => lock?.whole === null)?.lock ?? each[0]!.lock,
    surroundings: given,
  };
}

async function partOf(
  { target }: ProbedTarget,
  asked: Command,
  { settings, ...given }: Surroundings,
): Promise<Part> {
  const { backend } = target;
  const argv = argvForBackend(asked, backend);
  const command = await readCommand(argv, asked.compiler, given.cacheDirectory);
  const isOwn =
    settings.device !== undefined && (await loadBackendOfDriver(settings.device))?.name === backend;
  const device = isOwn ? settings.device : undefined;
  const surroundings: Surroundings = { ...given, settings: { ...settings, device, inject: ROUTE } };
  const own = { backend, command, surroundings };
  const inspected = await inspect(command, surroundings);
  if ('pass' in inspected) return { ...own, inspected };
  if (codeKey(inspected.site.target.target) !== codeKey(target))
    return { ...own, inspected: passOnce(because('target-unknown', `${backend} alone is another target`)) };
  // The executables have the generated operations.
  return { ...own, inspected: await withSurvey(inspected, command, surroundings) };
}

/** Why a configuration cannot be kept from the other targets; null if it can. */
function whyInseparable(_: string, configuration: Configuration | null): Reason | null {
  const needs = needsOf(configuration);
  return needs === null ? null : because('no-route', `${needs} would reach the code of every target`);
}

/** Key of a target without the user's flags, which differ between a command for several targets and for one. */
const codeKey = (target: Target): string => targetKey({ ...target, flags: [] });

/** The substitutions of all targets, each in the variants of its target. */
function injectionOf(each: readonly (Decided & { readonly backend: string })[]): Injection {
  const injections = each.map(({ backend, decisions, inspected }) => ({
    target: backend,
    injection: planInjection(decisions, injectionOptions(inspected.input, inspected.site, ROUTE)),
  }));
  const entries = injections.flatMap(({ target, injection }) =>
    injection.route === ROUTE ? injection.entries.map((entry) => ({ ...entry, target })) : [],
  );
  const dispatches = injections.flatMap(({ target, injection }) =>
    (injection.dispatches ?? []).map((entry) => ({ ...entry, target })),
  );
  return entries.length + dispatches.length === 0
    ? injections[0]!.injection
    : { route: ROUTE, entries, dispatches };
}
