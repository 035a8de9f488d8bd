// What is worth trying on all operations of a program at once, where nobody has compared it operation by operation.
import type { OwnConfiguration } from '../backend/configuration.ts';
import { backendNamed } from '../backend/index.ts';
import type { Input } from '../input/input.ts';
import type { Settings } from '../settings/index.ts';
import type { Site } from '../site/site.ts';
import type { Decision } from './decision.ts';
import { spaceOptionsOf } from './space-options.ts';

/** Configurations by the workload's key. */
export type ProgramWide = ReadonlyMap<string, OwnConfiguration>;

/**
 * The configurations that the operations could get together: of those for which there is one, and whose own search could not
 * choose it.
 */
export function programWideOf(
  decisions: readonly Decision[],
  input: Pick<Input, 'reading' | 'operations'>,
  site: Site,
  settings: Pick<Settings, 'inject'>,
): ProgramWide {
  const backend = backendNamed(site.target.key);
  const optionsOf = spaceOptionsOf(input, site, settings);
  const found = new Map<string, OwnConfiguration>();
  for (const { tunable, outcome, evidence, speedup } of decisions) {
    // What is locked was compared where the lock file was made.
    if (tunable === null || outcome === 'skipped' || tunable.written === null || speedup) continue;
    const configuration = backend?.programWide(tunable.workload, optionsOf(tunable)) ?? null;
    if (configuration !== null && evidence?.families.includes(configuration.kind) !== true)
      found.set(tunable.key, configuration);
  }
  return found;
}

/** The same decisions, with these configurations in place of their own. */
export const withProgramWide = (
  decisions: readonly Decision[],
  configurations: ProgramWide,
  reason: string,
): readonly Decision[] =>
  decisions.map((decision) => {
    const configuration = decision.tunable && configurations.get(decision.tunable.key);
    return configuration
      ? { ...decision, outcome: 'hit', reason, configuration, evidence: null, speedup: null, record: null }
      : decision;
  });
