// Which of several searches the time goes to next. Pure.
import { sumOf } from '../measure/statistics.ts';

/** What is known of one search. */
export interface Standing {
  /** Nothing more is done with it. */
  readonly isClosed: boolean;
  /** Seconds of one run of the program that its operations take by default, measured or likely. */
  readonly programSeconds: number;
  /** How many times as fast the best is that was found; 0 where nothing was. */
  readonly ratio: number;
  readonly batches: number;
  /** Batches in a row that have brought nothing. */
  readonly idle: number;
  /** Whether another batch can bring nothing. */
  readonly isOver: boolean;
  /** Seconds that a batch and the finals are likely to take. */
  readonly batchSeconds: number;
  readonly finalsSeconds: number;
}

/** What is to be done, with the index of the search; `settle`: nothing that was tried is faster, and nothing more is tried. */
export interface Step {
  readonly kind: 'batch' | 'finals' | 'settle';
  readonly index: number;
}

/** What finals would not find to be faster than the default. */
const LEAST_RATIO = 1.02;

/**
 * Share of a workload's time that a first batch is likely to save, and one that comes after it. The first one's time is a guess
 * by its work alone, and awkward sizes take many times as long.
 */
const FIRST_SAVES = 1;
const NEXT_SAVES = 0.1;
/** Each later batch saves so much less than the one before, and so much less again after each that has brought nothing. */
const LATER = 0.65;
const IDLE = 0.5;

/** A batch that is likely to save less than this share of what all of them take is not worth its time. */
const LEAST_SHARE = 0.0005;

/** Finals that are about less than this share of it wait until nothing else is tried: by then there may be no time for them. */
const LEAST_FOUND_SHARE = 0.002;

/** Finals that are about more than this share of it are held in any case. */
const LARGE_FOUND_SHARE = 0.1;

/** Whether finals may find something. */
const isHopeful = ({ batches, ratio }: Standing) => batches > 0 && ratio > LEAST_RATIO;

/** Seconds of a run of the program that another batch is likely to save. */
function likelySaving({ programSeconds, ratio, batches, idle }: Standing): number {
  if (batches === 0) return FIRST_SAVES * programSeconds;
  return (NEXT_SAVES * LATER ** (batches - 1) * IDLE ** idle * programSeconds) / Math.max(1, ratio);
}

/** Seconds of a run of the program that finals are about. */
const foundSaving = ({ programSeconds, ratio }: Standing) => programSeconds * (1 - 1 / Math.max(1, ratio));

const secondsOfAll = (standings: readonly Standing[]) =>
  sumOf(standings.map(({ programSeconds }) => programSeconds));

/** Those whose finals time is kept for. */
function promising<S extends Standing>(some: readonly S[], standings: readonly Standing[]): S[] {
  const least = LEAST_FOUND_SHARE * secondsOfAll(standings);
  return some.filter((one) => isHopeful(one) && foundSaving(one) >= least);
}

/** Seconds that time is kept for the finals of all but one. */
export const reserveBeside = (standings: readonly Standing[], one: Standing): number =>
  sumOf(
    promising(standings, standings)
      .filter((other) => other !== one && !other.isClosed)
      .map(({ finalsSeconds }) => finalsSeconds),
  );

/**
 * What to do next with the searches that are not closed: what saves most of the program's time for the time it takes. Time
 * for the finals of what was found is kept: without them nothing is decided.
 * @param secondsLeft of the budget
 * @param mayGoOn whether more is to be tried
 * @param isAlone whether each is searched to its end as though it were alone, whatever the others take
 * @returns null when nothing is left to be done
 */
export function nextStep(
  standings: readonly Standing[],
  secondsLeft: number,
  mayGoOn = true,
  isAlone = standings.length === 1,
): Step | null {
  const open = standings.flatMap((one, index) => (one.isClosed ? [] : [{ ...one, index }]));
  if (open.length === 0) return null;
  const began = open.filter(({ batches }) => batches > 0);
  // One that is alone has the time to see whether it is not so after all.
  const hopeful = isAlone ? began : began.filter(isHopeful);
  const kept = isAlone ? began : promising(began, standings);
  const ended = best(
    kept.filter(({ isOver }) => isOver),
    foundSaving,
  );
  if (ended !== null) return { kind: 'finals', index: ended.index };
  const total = secondsOfAll(standings);
  const isFirst = standings.every(({ batches }) => batches === 0);
  const reserve = sumOf(kept.map(({ finalsSeconds }) => finalsSeconds));
  /** With the finals that become necessary by it. */
  const costOf = (one: (typeof open)[number]) =>
    one.batchSeconds + (kept.includes(one) ? 0 : one.finalsSeconds);
  const rateOf = (one: (typeof open)[number]) => likelySaving(one) / costOf(one);
  const worth = mayGoOn
    ? open.filter((one) => !one.isOver && (isAlone || likelySaving(one) >= LEAST_SHARE * total))
    : [];
  const fitting = worth.filter((one) => isFirst || reserve + costOf(one) <= secondsLeft);
  const batch = best(fitting, rateOf);
  const better = batch && best(worth, rateOf);
  // What is better does not fit beside the time that is kept: finals may show that they take less.
  const early = better === batch ? null : best(kept, (one) => -rateOf(one));
  if (early !== null) return { kind: 'finals', index: early.index };
  if (batch !== null) return { kind: 'batch', index: batch.index };
  // What there is no time for is left to the next build, which begins with what was found. One is decided in any case, and so is
  // what much depends on: time was kept for it, and something took more of it than anybody could know.
  const mayDecide = secondsLeft > 0 || standings.every(({ isClosed }) => !isClosed);
  const isLarge = (one: Standing) => foundSaving(one) >= LARGE_FOUND_SHARE * total;
  const found = best(
    mayDecide ? hopeful : hopeful.filter(isLarge),
    (one) => foundSaving(one) / one.finalsSeconds,
  );
  if (found !== null) return { kind: 'finals', index: found.index };
  const hopeless = began.find((one) => !hopeful.includes(one));
  return hopeless === undefined ? null : { kind: 'settle', index: hopeless.index };
}

/**
 * Searches whose next batches, or finals, are compiled at once: the one that is next, and those that would be next without it.
 * @param first what is next
 * @param most how many at once
 * @param mayGoOn as for `nextStep`
 * @param isAlone as for `nextStep`
 */
export function compiledAtOnce(
  standings: readonly Standing[],
  first: Step,
  secondsLeft: number,
  most: number,
  mayGoOn = true,
  isAlone = standings.length === 1,
): number[] {
  const chosen = [first.index];
  while (chosen.length < most) {
    const rest = standings.map((one, i) => (chosen.includes(i) ? { ...one, isClosed: true } : one));
    const taken = sumOf(
      chosen
        .map((i) => standings[i]!)
        .map(({ batchSeconds, finalsSeconds }) =>
          first.kind === 'batch' ? batchSeconds + finalsSeconds : finalsSeconds,
        ),
    );
    const step = nextStep(rest, secondsLeft - taken, mayGoOn, isAlone);
    if (step?.kind !== first.kind) break;
    chosen.push(step.index);
  }
  return chosen;
}

function best<T>(all: readonly T[], valueOf: (one: T) => number): T | null {
  return all.reduce<T | null>((a, b) => (a === null || valueOf(b) > valueOf(a) ? b : a), null);
}
