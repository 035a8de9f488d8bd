// The plan of one compile. Its injection takes the first route that is not known to lose a configuration.
import { backendNamed } from '../backend/index.ts';
import type { Decision } from '../decision/decision.ts';
import { planInjection, type Injection, type InjectionOptions } from '../inject/plan.ts';
import type { Route } from '../settings/settings.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { FormedProgram, Inspected } from './inspected.ts';
import { ledger, planIdentity } from './ledger.ts';

/** A program, its decisions, and the way in which they reach the compiler. */
export interface Plan extends FormedProgram {
  readonly decisions: readonly Decision[];
  readonly injection: Injection;
  /** Its key in the ledger. */
  readonly identity: string;
}

export const planOf = (
  { command, inspected }: FormedProgram,
  decisions: readonly Decision[],
  injection: Injection,
): Plan => ({
  ...{ command, inspected, decisions, injection },
  identity: planIdentity(command, inspected.input.digest, decisions, injection.route),
});

/** Plans a compile by the first route that has not lost a configuration, by the ledger. If every route has, it is the first route. */
export function planCompile(
  program: FormedProgram,
  decisions: readonly Decision[],
  { settings, cacheDirectory }: Pick<Surroundings, 'cacheDirectory' | 'settings'>,
): Plan {
  const options = injectionOptions(program.inspected, settings.inject);
  const lost: Route[] = [];
  const next = () =>
    planOf(program, decisions, planInjection(decisions, { ...options, ...(lost.length > 0 && { lost }) }));
  const first = next();
  for (let plan = first; plan.injection.route !== 'none'; plan = next()) {
    const isLost = ledger.recall(cacheDirectory, plan.identity)?.state === 'lost';
    if (options.wanted !== 'auto' || !isLost) return plan;
    lost.push(plan.injection.route);
  }
  return first;
}

/** The facts about a command that the choice of a route depends on. */
export const injectionOptions = (
  { input: { isWhole, reading }, site: { compiler, target } }: Inspected,
  wanted: InjectionOptions['wanted'],
): InjectionOptions => {
  const { dataTiling, ownPreprocessing, ownPipeline } = reading;
  const { specFlag } = backendNamed(target.key)!.rendering;
  const { release } = compiler;
  return { wanted, release, specFlag, isWhole, dataTiling, ownPreprocessing, ownPipeline };
};
