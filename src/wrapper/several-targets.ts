// A build for several targets. The command for each target alone gives the decisions for that target. Attributes in the program would reach
// the code of every target, so the decisions of all targets are substituted in the executables.
import type { Configuration } from '../backend/configuration.ts';
import { loadBackendOfDriver, needsOf } from '../backend/index.ts';
import { targetKey, type Target } from '../backend/target.ts';
import type { Command } from '../compiler/command.ts';
import { commandForBackend } from '../compiler/one-target.ts';
import { leaveOut, skipped, type Decision } from '../decision/decision.ts';
import { planInjection, type Injection } from '../inject/plan.ts';
import type { FormedProgram } from '../plan/inspected.ts';
import { withSurvey } from '../input/operations.ts';
import { KeptModules } from '../plan/kept-modules.ts';
import { injectionOptions, planOf } from '../plan/route.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { decide, type Decided } from './decide.ts';
import { inspect, untuned, type Untuned } from './inspect.ts';
import type { NoSite } from '../site/site.ts';
import { because, isReason, type Reason } from '../system/reason.ts';

/** The route of a build for several targets. No other route can tell the targets apart. */
const ROUTE = 'substitute';

/** The command for one target, with the surveyed input. */
export interface Part extends FormedProgram {
  readonly backend: string;
  readonly surroundings: Surroundings;
}

/** The targets of a command: those to tune, and those that stay untuned, by backend. */
export interface Parts {
  readonly open: readonly Part[];
  readonly untuned: ReadonlyMap<string, Reason>;
}

/**
 * The command for each target.
 * @returns the reason if the targets cannot be told apart
 */
export async function partsOf(several: NoSite, asked: Command, given: Surroundings): Promise<Parts | Reason> {
  const { inject } = given.settings;
  if (inject !== 'auto' && inject !== ROUTE)
    return because('no-route', `inject=${inject} cannot tell several targets apart`);
  const { targets } = several;
  const backends = new Set(targets.map(({ target }) => target.backend));
  if (backends.size < targets.length) return several;
  const open: Part[] = [];
  const refused = new Map<string, Reason>();
  for (const { target } of targets) {
    const part = await partOf(target, asked, given);
    if (isReason(part)) refused.set(target.backend, part);
    else open.push(part);
  }
  return { open, untuned: refused };
}

/**
 * Decides for each target alone, within one budget. A verdict on the program is a verdict on the program for one target.
 * @returns the reason if no target can be tuned
 */
export async function decideEach(
  several: NoSite,
  asked: Command,
  given: Surroundings,
): Promise<Decided | Untuned> {
  const parts = await partsOf(several, asked, given);
  if (isReason(parts)) return untuned(parts);
  const { open, untuned: refused } = parts;
  const [first] = open;
  if (first === undefined) return untuned([...refused.values()][0]!);
  const measuring = open.filter(({ inspected }) => inspected.site.whyNotHere === null);
  const budgetSeconds = given.settings.budgetSeconds / Math.max(1, measuring.length);
  const each: Decided[] = [];
  for (const part of open) {
    const settings = { ...part.surroundings.settings, budgetSeconds };
    const decided = await decide(part, { ...part.surroundings, settings });
    each.push({ ...decided, decisions: decisionsFor(part.backend, decided.decisions) });
    decided.store?.close();
    decided.kept.discard();
  }
  const { operations } = first.inspected.input;
  const passed = [...refused].flatMap(([target, why]) =>
    operations.map(({ place }): Decision => ({ ...skipped({ place, ...why, matched: null }), target })),
  );
  const whole = { command: asked, inspected: first.inspected };
  const decisions = [...each.flatMap((one) => one.decisions), ...passed];
  return {
    ...planOf(whole, decisions, injectionOf(each)),
    ...{ verdict: null, forms: null, unproven: because('not-run') },
    tuning: each.reduce((sum, { tuning }) => sum + tuning, 0),
    isFinal: each.every(({ isFinal }) => isFinal),
    mayArrive: each.some(({ mayArrive }) => mayArrive),
    // The first is the earliest.
    before: each.flatMap(({ before }) => before),
    files: each.flatMap(({ files }) => files),
    // Failures of this compile mark no configuration: each was proven in the program for its target.
    store: null,
    kept: new KeptModules(),
    lock: each.find(({ lock }) => lock?.used === false)?.lock ?? each[0]!.lock,
    surroundings: given,
  };
}

/** Decisions for one target, without configurations that would reach the code of every target. */
export const decisionsFor = (backend: string, decisions: readonly Decision[]): Decision[] =>
  leaveOut(decisions, whyInseparable).map((one) => ({ ...one, target: backend }));

async function partOf(
  target: Target,
  asked: Command,
  { settings, ...given }: Surroundings,
): Promise<Part | Reason> {
  const { backend } = target;
  const command = await commandForBackend(asked, backend, given);
  const isOwn =
    settings.device !== undefined && (await loadBackendOfDriver(settings.device))?.name === backend;
  const device = isOwn ? settings.device : undefined;
  const surroundings: Surroundings = { ...given, settings: { ...settings, device, inject: ROUTE } };
  const found = await inspect(command, surroundings);
  if (isReason(found)) return found;
  if (codeKey(found.inspected.site.target.target) !== codeKey(target))
    return because('target-unknown', `${backend} alone is another target`);
  // The executables have the generated operations.
  return { backend, surroundings, ...(await withSurvey(found, surroundings)) };
}

/** Why a configuration cannot be kept from the other targets; null if it can. */
function whyInseparable(_: string, configuration: Configuration | null): Reason | null {
  const needs = needsOf(configuration);
  return needs === null ? null : because('no-route', `${needs} would reach the code of every target`);
}

/** Key of a target without the user's flags, which differ between a command for several targets and for one. */
const codeKey = (target: Target): string => targetKey({ ...target, flags: [] });

/** The substitutions of all targets, each in the variants of its target. */
function injectionOf(each: readonly Pick<Decided, 'decisions' | 'inspected'>[]): Injection {
  const injections = each.map(({ decisions, inspected }) =>
    planInjection(decisions, injectionOptions(inspected, ROUTE)),
  );
  const entries = injections.flatMap((one) => one.entries ?? []);
  return entries.length === 0 ? injections[0]! : { route: ROUTE, entries };
}
