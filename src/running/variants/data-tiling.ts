// Data tiling, or another configuration with requirements on the whole program, as a variant of the decisions: all operations get it at once
// whose own search could not choose it.
import { isInjected, type Decision } from '../../decision/decision.ts';
import type { OwnConfiguration } from '../../backend/configuration.ts';
import { backendNamed, configurationText, needsOf } from '../../backend/index.ts';
import { spaceOptionsOf } from '../../decision/space-options.ts';
import type { Settings } from '../../settings/index.ts';
import { formatRatio } from '../../system/format.ts';
import { isWorthTrying, type DecisionsNote, type KnownProgram } from './memory.ts';
import { NO_VERDICT, type VariantVerdict, type DecisionsVariant } from './variant.ts';

/**
 * The program with the variant of its decisions: the configurations that its operations could get together, unless a run has tried them. They
 * are for operations whose own search could not choose such a configuration, or found it to be nearly the best.
 */
export function withVariant<P extends Pick<KnownProgram, 'inspected' | 'decisions' | 'memory'>>(
  program: P,
  settings: Pick<Settings, 'inject' | 'budgetSeconds'>,
): P & Pick<KnownProgram, 'variant'> {
  const { inspected, decisions, memory } = program;
  const { input, site } = inspected;
  const note = memory?.programWide ?? null;
  // A run has tried the configurations that are left out.
  const chosen = note?.chosen.filter(({ configuration }) => needsOf(configuration) !== null) ?? [];
  const known = new Set([...chosen, ...(memory?.leftOut ?? [])].map(({ workload }) => workload));
  const others = decisions.filter(({ tunable }) => tunable !== null && !known.has(tunable.key));
  const backend = backendNamed(site.target.key);
  const optionsOf = spaceOptionsOf(input, site, settings);
  const variant = new Map<string, OwnConfiguration>();
  for (const decision of others) {
    const { tunable, outcome, evidence, speedup } = decision;
    // The machine that made the lock file has compared them.
    if (tunable === null || outcome === 'skipped' || tunable.written === null || speedup) continue;
    const configuration = backend?.wholeProgram?.candidate(tunable.workload, optionsOf(tunable)) ?? null;
    if (configuration === null) continue;
    const isCompared = evidence?.families.includes(configuration.kind) === true;
    // A configuration that is nearly as fast alone may be faster if its neighbours have it, too.
    const beside = others.length === 1 ? null : alternativeOf(decision);
    const own = isCompared ? beside : configuration;
    if (own !== null) variant.set(tunable.key, own);
  }
  const isTried =
    note !== null &&
    !isWorthTrying(note, settings.budgetSeconds) &&
    partsOf(variant).every((one) => note.offers.includes(one));
  return { ...program, variant: isTried ? new Map() : variant };
}

/** The alternative that changes the whole program; null for none. */
function alternativeOf({ configuration, alternative }: Decision): OwnConfiguration | null {
  if (alternative === undefined || needsOf(configuration) !== null || !isInjected(alternative)) return null;
  return alternative.configuration;
}

/** The parts of a variant, as they are noted. */
const partsOf = (variant: DecisionsVariant): string[] =>
  [...variant].map(([key, one]) => `${key} ${configurationText(one)}`);

/**
 * The verdict on a variant.
 * @param kept the part that the program keeps
 * @param gain stock's time over the program's time with this part; null if it is not certainly faster
 * @param isOpen whether the time was too short to find out
 */
export function verdictOn(kept: DecisionsVariant, gain: number | null, isOpen: boolean): VariantVerdict {
  if (gain === null) return { ...NO_VERDICT, isOpen };
  const needs = [...new Set([...kept.values()].map((one) => needsOf(one) ?? ''))];
  const reason = `${needs.join(', ')} of all that can have it makes this program ${formatRatio(gain)} as fast`;
  return { chosen: kept, reason, isOpen: false };
}

/** The note about tried variants; null for none. */
export function noteOn(
  variant: DecisionsVariant,
  { chosen, reason, isOpen }: VariantVerdict,
  before: DecisionsNote | null,
  budgetSeconds: number,
): DecisionsNote | null {
  if (variant.size === 0 && chosen.size === 0) return before;
  const all = new Map(before?.chosen.map(({ workload, configuration }) => [workload, configuration]));
  for (const [workload, configuration] of chosen) all.set(workload, configuration);
  return {
    offers: [...new Set([...(before?.offers ?? []), ...partsOf(variant)])],
    chosen: [...all].map(([workload, configuration]) => ({ workload, configuration })),
    reason: reason === '' ? (before?.reason ?? '') : reason,
    budgetSeconds: variant.size === 0 ? (before?.budgetSeconds ?? null) : isOpen ? budgetSeconds : null,
  };
}
