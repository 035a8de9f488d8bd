// The injection of one compile: the best route that is not known to lose anything.
import type { Settings } from '../settings/index.ts';
import type { Decision } from '../decision/decision.ts';
import { planInjection, type Injection, type Route } from '../inject/plan.ts';
import { injectionOptions } from './decide.ts';
import type { Command, Subjects, Surroundings } from './inspect.ts';
import { planIdentity, planMemory } from './plan-memory.ts';

/**
 * Plans the injection. Where not everything landed by a route before, the next one is tried, and the first again when
 * all of them were.
 */
export function planCompile(
  decisions: readonly Decision[],
  subjects: Pick<Subjects, 'digest' | 'description' | 'reading'>,
  command: Command,
  {
    settings,
    cacheDirectory,
  }: Pick<Surroundings, 'cacheDirectory'> & { readonly settings: Pick<Settings, 'inject'> },
): Injection {
  const options = injectionOptions(subjects, settings.inject);
  const first = planInjection(decisions, options);
  const lost: Route[] = [];
  for (let injection = first; injection.route !== 'none';) {
    const identity = planIdentity(command, subjects.digest, decisions, injection.route);
    const landed = planMemory.recall(cacheDirectory, identity)?.landed;
    if (options.wanted !== 'auto' || landed?.includes(false) !== true) return injection;
    lost.push(injection.route);
    injection = planInjection(decisions, { ...options, lost });
  }
  return first;
}
