// A configuration for all operations of a program at once, such as data tiling, if no search has compared it for each operation.
import type { Configuration, OwnConfiguration } from '../backend/configuration.ts';
import { backendNamed, needsOf } from '../backend/index.ts';
import type { Input } from '../input/input.ts';
import type { Settings } from '../settings/index.ts';
import type { Site } from '../site/site.ts';
import { isInjected, plainAlternative, type Decision } from './decision.ts';
import { spaceOptionsOf } from './space-options.ts';
import { formatRatio } from '../system/format.ts';
import { because } from '../system/reason.ts';

/** Configurations by the workload's key. */
export type ProgramWide = ReadonlyMap<string, OwnConfiguration>;

/** The alternative that changes the whole program; null for none. */
function wideAlternative({ configuration, alternative }: Decision): OwnConfiguration | null {
  if (alternative === undefined || needsOf(configuration) !== null || !isInjected(alternative)) return null;
  return alternative.configuration;
}

/**
 * The configurations that the operations could get together: of operations that have one, and whose own search could not choose it
 * or found it to be nearly the best.
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
  const isAlone = decisions.filter(({ tunable }) => tunable !== null).length === 1;
  for (const decision of decisions) {
    const { tunable, outcome, evidence, speedup } = decision;
    // The machine that made the lock file has compared them.
    if (tunable === null || outcome === 'skipped' || tunable.written === null || speedup) continue;
    const configuration = backend?.wholeProgram?.candidate(tunable.workload, optionsOf(tunable)) ?? null;
    if (configuration === null) continue;
    const isCompared = evidence?.families.includes(configuration.kind) === true;
    // A configuration that is nearly as fast alone may be faster if its neighbours have it, too.
    const wide = isCompared ? (isAlone ? null : wideAlternative(decision)) : configuration;
    if (wide !== null) found.set(tunable.key, wide);
  }
  return found;
}

/** Why all operations get their offer. @param gain stock's time over the program's time with it */
export function reasonOf(chosen: ProgramWide, gain: number): string {
  const needs = [...new Set([...chosen.values()].map((one) => needsOf(one) ?? ''))];
  return `${needs.join(', ')} of all that can have it makes this program ${formatRatio(gain)} as fast`;
}

const TOGETHER = because('faster', 'in this program, which is faster with it and others');

/**
 * The same decisions, with these configurations in place of their own.
 * @param reason for configurations that change the whole program
 */
export const withProgramWide = (
  decisions: readonly Decision[],
  configurations: ReadonlyMap<string, Configuration>,
  reason: string,
): readonly Decision[] =>
  decisions.map((decision) => {
    const configuration = decision.tunable && configurations.get(decision.tunable.key);
    if (!configuration) return decision;
    const isPlain = isInjected(decision) && needsOf(decision.configuration) === null;
    const plain = isPlain ? decision : plainAlternative(decision);
    const wide = { configuration, evidence: null, speedup: null, record: null };
    return {
      ...decision,
      outcome: decision.outcome === 'tuned' ? 'tuned' : 'hit',
      ...(needsOf(configuration) === null ? TOGETHER : because('program-wide', reason)),
      ...wide,
      ...(plain && { alternative: plain }),
    };
  });
