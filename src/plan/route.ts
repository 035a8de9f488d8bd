// The injection of one compile: the first route that is not known to lose a configuration.
import { backendNamed } from '../backend/index.ts';
import type { Settings } from '../settings/index.ts';
import type { Decision } from '../decision/decision.ts';
import { planInjection, type Injection, type InjectionOptions } from '../inject/plan.ts';
import type { Route } from '../settings/settings.ts';
import type { Input } from '../input/input.ts';
import type { Site } from '../site/site.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Command } from '../compiler/command.ts';
import { planIdentity, recallPlan } from './ledger.ts';

/** Plans the injection by the first route that has not lost a configuration, by the ledger. If every route has, it is the first route. */
export function planCompile(
  decisions: readonly Decision[],
  {
    input,
    site,
  }: {
    readonly input: Pick<Input, 'digest' | 'isWhole' | 'reading'>;
    readonly site: Pick<Site, 'compiler' | 'target'>;
  },
  command: Command,
  {
    settings,
    cacheDirectory,
  }: Pick<Surroundings, 'cacheDirectory'> & { readonly settings: Pick<Settings, 'inject'> },
): Injection {
  const options = injectionOptions(input, site, settings.inject);
  const first = planInjection(decisions, options);
  const lost: Route[] = [];
  for (let injection = first; injection.route !== 'none';) {
    const identity = planIdentity(command, input.digest, decisions, injection.route);
    const isLost = recallPlan(cacheDirectory, identity)?.state === 'lost';
    if (options.wanted !== 'auto' || !isLost) return injection;
    lost.push(injection.route);
    injection = planInjection(decisions, { ...options, lost });
  }
  return first;
}

/** The facts about a command that the choice of a route depends on. */
export const injectionOptions = (
  { isWhole, reading: { dataTiling, ownPreprocessing, ownPipeline } }: Pick<Input, 'isWhole' | 'reading'>,
  { compiler: { release }, target }: Pick<Site, 'compiler' | 'target'>,
  wanted: InjectionOptions['wanted'],
): InjectionOptions => ({
  ...{ wanted, release, isWhole, dataTiling, ownPreprocessing, ownPipeline },
  specFlag: backendNamed(target.key)!.rendering.specFlag,
});
