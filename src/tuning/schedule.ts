// Divides the budget among searches, and chooses the search that gets the next part. Pure.
import { sumOf } from '../measure/statistics.ts';

/** Least share of a workload: a few that are tuned well beat many that are tuned badly. */
const FAIR_SECONDS = 10;

/** Seconds for the next of `count` workloads that share `secondsLeft`. */
export const shareOf = (secondsLeft: number, count: number): number =>
  Math.min(secondsLeft, Math.max(FAIR_SECONDS, secondsLeft / count));

/** State of one search. */
export interface SearchState {
  /** Whether the search is closed. */
  readonly isClosed: boolean;
  /** Seconds of one run of the program in its operations by default, measured or estimated. */
  readonly programSeconds: number;
  /** The default's time over the time of the best configuration; 0 without one. */
  readonly ratio: number;
  readonly batches: number;
  /** Batches in a row without a gain. */
  readonly idle: number;
  /** Whether there is nothing left to try. */
  readonly isOver: boolean;
  /** Expected seconds of a batch and of the finals. */
  readonly batchSeconds: number;
  readonly finalsSeconds: number;
}

/** A step of a search. `settle` decides for the default without finals. */
type Kind = 'batch' | 'finals' | 'settle';

/** The next step, with the indices of the searches that take it at the same time. */
export interface Step {
  readonly kind: Kind;
  readonly indices: readonly number[];
}

/** Finals would not claim a smaller ratio. */
const LEAST_RATIO = 1.02;

/**
 * Share of a workload's time that a first batch, and a later batch, is likely to save. The first share is larger because the
 * estimated time before any measurement is too small for awkward sizes.
 */
const FIRST_SAVES = 1;
const NEXT_SAVES = 0.1;
/** Factors by which the expected saving falls with each batch, and with each batch without a gain. */
const LATER = 0.65;
const IDLE = 0.5;

/** A batch that is likely to save less than this share of the program's time is not run. */
const LEAST_SHARE = 0.0005;

/** Finals of less than this share of the program's time wait until all searches have ended. */
const LEAST_FOUND_SHARE = 0.002;

/** Finals of more than this share of the program's time always run. */
const LARGE_FOUND_SHARE = 0.1;

/** Whether finals may make a claim. */
const mayClaim = ({ batches, ratio }: SearchState) => batches > 0 && ratio > LEAST_RATIO;

/** Seconds of one run of the program that another batch is likely to save. */
function likelySaving({ programSeconds, ratio, batches, idle }: SearchState): number {
  if (batches === 0) return FIRST_SAVES * programSeconds;
  return (NEXT_SAVES * LATER ** (batches - 1) * IDLE ** idle * programSeconds) / Math.max(1, ratio);
}

/** Seconds of one run of the program that finals decide about. */
const foundSaving = ({ programSeconds, ratio }: SearchState) => programSeconds * (1 - 1 / Math.max(1, ratio));

const secondsOfAll = (states: readonly SearchState[]) =>
  sumOf(states.map(({ programSeconds }) => programSeconds));

/** Searches whose finals have reserved time. */
function promising<S extends SearchState>(some: readonly S[], states: readonly SearchState[]): S[] {
  const least = LEAST_FOUND_SHARE * secondsOfAll(states);
  return some.filter((one) => mayClaim(one) && foundSaving(one) >= least);
}

/** Seconds that are reserved for the finals of the other searches. */
export const reserveBeside = (states: readonly SearchState[], one: SearchState): number =>
  sumOf(
    promising(states, states)
      .filter((other) => other !== one && !other.isClosed)
      .map(({ finalsSeconds }) => finalsSeconds),
  );

/**
 * The step that saves most of the program's time per second of tuning. Time for the finals of earlier finds is reserved, because
 * nothing is decided without finals. Batches and finals of the searches that would be next without it are compiled at the same time.
 * @param secondsLeft of the budget
 * @param most number of compiles at the same time
 * @param mayGoOn whether more configurations may be tried
 * @param isAlone whether each search runs to its end, whatever the others take
 * @returns null if nothing is left to do
 */
export function nextStep(
  states: readonly SearchState[],
  secondsLeft: number,
  most: number,
  mayGoOn: boolean,
  isAlone: boolean,
): Step | null {
  const first = bestStep(states, secondsLeft, mayGoOn, isAlone);
  if (first === null) return null;
  const { kind, index } = first;
  const indices = [index];
  const secondsOf = ({ batchSeconds, finalsSeconds }: SearchState) =>
    (kind === 'batch' ? batchSeconds : 0) + finalsSeconds;
  while (kind !== 'settle' && indices.length < most) {
    const rest = states.map((one, i) => (indices.includes(i) ? { ...one, isClosed: true } : one));
    const taken = sumOf(indices.map((i) => secondsOf(states[i]!)));
    const step = bestStep(rest, secondsLeft - taken, mayGoOn, isAlone);
    if (step?.kind !== kind) break;
    indices.push(step.index);
  }
  return { kind, indices };
}

/** The next step of one search, with its index. */
function bestStep(
  states: readonly SearchState[],
  secondsLeft: number,
  mayGoOn: boolean,
  isAlone: boolean,
): { readonly kind: Kind; readonly index: number } | null {
  const open = states.flatMap((one, index) => (one.isClosed ? [] : [{ ...one, index }]));
  if (open.length === 0) return null;
  const began = open.filter(({ batches }) => batches > 0);
  // A single search has the time for finals even if it seems to have found nothing.
  const worthFinals = isAlone ? began : began.filter(mayClaim);
  const kept = isAlone ? began : promising(began, states);
  const over = kept.filter(({ isOver }) => isOver);
  const ended = best(over, foundSaving);
  if (ended !== null) return { kind: 'finals', index: ended.index };
  const total = secondsOfAll(states);
  const isFirst = states.every(({ batches }) => batches === 0);
  const reserve = sumOf(kept.map(({ finalsSeconds }) => finalsSeconds));
  /** Seconds of the step, with the finals that it makes necessary. */
  const costOf = (one: (typeof open)[number]) =>
    one.batchSeconds + (kept.includes(one) ? 0 : one.finalsSeconds);
  const rateOf = (one: (typeof open)[number]) => likelySaving(one) / costOf(one);
  const worth = mayGoOn
    ? open.filter((one) => !one.isOver && (isAlone || likelySaving(one) >= LEAST_SHARE * total))
    : [];
  const fitting = worth.filter((one) => isFirst || reserve + costOf(one) <= secondsLeft);
  const batch = best(fitting, rateOf);
  const better = batch && best(worth, rateOf);
  // The best step does not fit beside the reserved time. Finals may take less than that.
  const early = better === batch ? null : best(kept, (one) => -rateOf(one));
  if (early !== null) return { kind: 'finals', index: early.index };
  if (batch !== null) return { kind: 'batch', index: batch.index };
  // The next build goes on with the rest. One search is decided in any case. So is an important search: its time was reserved and
  // spent by something that took longer than expected.
  const mayDecide = secondsLeft > 0 || states.every(({ isClosed }) => !isClosed);
  const isLarge = (one: SearchState) => foundSaving(one) >= LARGE_FOUND_SHARE * total;
  const decidable = mayDecide ? worthFinals : worthFinals.filter(isLarge);
  const found = best(decidable, (one) => foundSaving(one) / one.finalsSeconds);
  if (found !== null) return { kind: 'finals', index: found.index };
  const settled = began.find((one) => !worthFinals.includes(one));
  return settled === undefined ? null : { kind: 'settle', index: settled.index };
}

function best<T>(all: readonly T[], valueOf: (one: T) => number): T | null {
  return all.reduce<T | null>((a, b) => (a === null || valueOf(b) > valueOf(a) ? b : a), null);
}
