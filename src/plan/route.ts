// The injection of one compile: the best route that is not known to lose anything.
import type { Settings } from '../settings/index.ts';
import type { Decision } from '../decision/decision.ts';
import { planInjection, type Injection, type InjectionOptions } from '../inject/plan.ts';
import type { Route } from '../settings/settings.ts';
import type { Input } from '../input/input.ts';
import type { Site } from '../site/site.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Command } from '../compiler/command.ts';
import { planIdentity, recallPlan } from './ledger.ts';

/**
 * Plans the injection. If a route lost a configuration before, the next route is tried; after the last one, the first again.
 * @param found what landed in this build already, by route
 */
export function planCompile(
  decisions: readonly Decision[],
  {
    input,
    site,
  }: { readonly input: Pick<Input, 'digest' | 'isWhole' | 'reading'>; readonly site: Pick<Site, 'compiler'> },
  command: Command,
  {
    settings,
    cacheDirectory,
  }: Pick<Surroundings, 'cacheDirectory'> & { readonly settings: Pick<Settings, 'inject'> },
  found: ReadonlyMap<Route, readonly (boolean | null)[]> = new Map(),
): Injection {
  const options = injectionOptions(input, site, settings.inject);
  const first = planInjection(decisions, options);
  const lost: Route[] = [];
  for (let injection = first; injection.route !== 'none';) {
    const identity = planIdentity(command, input.digest, decisions, injection.route);
    const landed = found.get(injection.route) ?? recallPlan(cacheDirectory, identity)?.landed;
    if (options.wanted !== 'auto' || landed?.includes(false) !== true) return injection;
    lost.push(injection.route);
    injection = planInjection(decisions, { ...options, lost });
  }
  return first;
}

/** The command's part in choosing a route. */
export const injectionOptions = (
  { isWhole, reading: { dataTiling, ownPreprocessing, ownPipeline } }: Pick<Input, 'isWhole' | 'reading'>,
  { compiler: { release } }: Pick<Site, 'compiler'>,
  wanted: InjectionOptions['wanted'],
): InjectionOptions => ({ wanted, release, isWhole, dataTiling, ownPreprocessing, ownPipeline });
