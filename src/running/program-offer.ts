// Offers: configurations to try on all operations of a program at once.
import { needsOf } from '../backend/index.ts';
import { programWideOf, type ProgramWide } from '../decision/program-wide.ts';
import type { Settings } from '../settings/index.ts';
import { isMoreTime } from '../tuning/undecided.ts';
import { offersOf, type TriedProgramWide } from './program-memory.ts';
import type { KnownProgram } from './program-verdict.ts';
import type { Verification } from './verify-program.ts';

/** The offer that no run has tried yet. */
export function offerTo(
  { inspected, decisions, memory }: Pick<KnownProgram, 'inspected' | 'decisions' | 'memory'>,
  settings: Pick<Settings, 'inject' | 'budgetSeconds'>,
): ProgramWide {
  const { input, site } = inspected;
  // A run has tried the configurations that are left out.
  const chosen = memory?.programWide?.chosen.filter(({ configuration }) => needsOf(configuration) !== null);
  const known = new Set([...(chosen ?? []), ...(memory?.leftOut ?? [])].map(({ workload }) => workload));
  const open = decisions.filter(({ tunable }) => tunable === null || !known.has(tunable.key));
  const offer = programWideOf(open, input, site, settings);
  const tried = memory?.programWide ?? null;
  const isTried =
    tried !== null &&
    (tried.budgetSeconds === null || !isMoreTime(settings.budgetSeconds, tried.budgetSeconds)) &&
    offersOf(offer).every((one) => tried.offers.includes(one));
  return isTried ? new Map() : offer;
}

/** The note about tried offers; null for none. */
export function triedOf(
  offer: ProgramWide,
  { chosen, reason, isOpen }: Verification['programWide'],
  before: TriedProgramWide | null,
  budgetSeconds: number,
): TriedProgramWide | null {
  if (offer.size === 0 && chosen.size === 0) return before;
  const all = new Map(before?.chosen.map(({ workload, configuration }) => [workload, configuration]));
  for (const [workload, configuration] of chosen) all.set(workload, configuration);
  return {
    offers: [...new Set([...(before?.offers ?? []), ...offersOf(offer)])],
    chosen: [...all].map(([workload, configuration]) => ({ workload, configuration })),
    reason: reason === '' ? (before?.reason ?? '') : reason,
    budgetSeconds: offer.size === 0 ? (before?.budgetSeconds ?? null) : isOpen ? budgetSeconds : null,
  };
}
