// What programs gain, one by one and all together. Pure.
import type { ModuleComparison } from '../../src/measure/compare-modules.ts';
import { geometricMean } from '../../src/measure/statistics.ts';
import type { Verdict } from '../../src/program/verify.ts';

interface Compared {
  readonly verdict: Pick<Verdict, 'equal' | 'timing'> | null;
  readonly sameCode: boolean;
}

/** The same code is neither faster nor slower; null when there is no telling. */
export function gainOf({ verdict, sameCode }: Compared): number | null {
  if (verdict?.equal !== true) return null;
  return sameCode ? 1 : (verdict.timing?.ratio ?? null);
}

export function gainText({ verdict, sameCode }: Compared): string {
  if (sameCode) return 'same code';
  return verdict?.timing ? intervalText(verdict.timing) : '-';
}

const intervalText = ({ ratio, low, high }: ModuleComparison) =>
  `${ratio.toFixed(2)}x [${low.toFixed(2)}, ${high.toFixed(2)}]`;

/** All gains together. */
export interface Rating {
  /** Models with a gain. */
  readonly rated: number;
  /** Null without any gain. */
  readonly geometricMean: number | null;
  readonly worst: Gain | null;
}

export interface Gain {
  readonly model: string;
  readonly gain: number;
}

/** Models without a gain do not count. */
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

/** `3.210x`, and `-` where there is none. */
export const ratioText = (ratio: number | null): string => (ratio === null ? '-' : `${ratio.toFixed(3)}x`);

export const worstText = ({ worst }: Rating): string =>
  worst === null ? '-' : `${ratioText(worst.gain)}, ${worst.model}`;

/** Names in a line of a summary. */
export const listed = (names: readonly string[]): string => (names.length === 0 ? '0' : names.join(', '));
