// Gains of programs, and their mean. Pure.
import type { ModuleComparison } from '../../src/measure/compare-modules.ts';
import { geometricMean } from '../../src/measure/statistics.ts';
import type { Verdict } from '../../src/program/verify.ts';

interface Compared {
  readonly verdict: Pick<Verdict, 'equal' | 'timing'> | null;
  readonly sameCode: boolean;
}

/** Stock's time over tuned's; 1 for the same code; null for wrong results or missing times. */
export function gainOf({ verdict, sameCode }: Compared): number | null {
  if (verdict?.equal !== true) return null;
  return sameCode ? 1 : (verdict.timing?.ratio ?? null);
}

export function gainText({ verdict, sameCode }: Compared): string {
  if (sameCode) return 'same code';
  return verdict?.timing ? intervalText(verdict.timing) : '-';
}

export const intervalText = ({ ratio, low, high }: ModuleComparison) =>
  `${ratio.toFixed(2)}x [${low.toFixed(2)}, ${high.toFixed(2)}]`;

/** Summary of all gains. */
export interface Rating {
  /** Number of models with a known gain. */
  readonly rated: number;
  /** Null without a known gain. */
  readonly geometricMean: number | null;
  readonly worst: Gain | null;
}

export interface Gain {
  readonly model: string;
  readonly gain: number;
}

/** @param models those with a gain of null do not count */
export function ratingOf(
  models: readonly { readonly model: string; readonly gain: number | null }[],
): Rating {
  const rated = models.filter((one): one is Gain => one.gain !== null).toSorted((a, b) => a.gain - b.gain);
  return {
    rated: rated.length,
    geometricMean: rated.length === 0 ? null : geometricMean(rated.map(({ gain }) => gain)),
    worst: rated[0] ?? null,
  };
}

/** `3.210x`; `-` for null. */
export const ratioText = (ratio: number | null): string => (ratio === null ? '-' : `${ratio.toFixed(3)}x`);

export const worstText = ({ worst }: Rating): string =>
  worst === null ? '-' : `${ratioText(worst.gain)}, ${worst.model}`;

/** Names in a line of a summary. */
export const listed = (names: readonly string[]): string => (names.length === 0 ? '0' : names.join(', '));
