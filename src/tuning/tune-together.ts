// Several searches within one budget. The search that saves most of the program's time gets the next part.
import { sumOf } from '../measure/statistics.ts';
import { nextStep, reserveBeside, shareOf, type SearchState } from './schedule.ts';
import type { TuningResult } from './result.ts';
import type { Effort, FinalsEffort } from './search-job.ts';
import type { WorkloadSearch } from './workload-search.ts';

/** A search and its weight in the program. */
export interface Part {
  readonly search: WorkloadSearch;
  /** Number of operations in the program. */
  readonly count: number;
  /** Estimated cost of one execution by default, see `likelyCost`. */
  readonly likelyCost: number;
  /** Measured seconds of one run of the program in its operations by default; null if the program was not timed. */
  readonly programSeconds: number | null;
}

export interface Budget {
  /** End of the budget, in seconds of the clock. */
  readonly end: number;
  /** Seconds that a new step needs. */
  readonly leastSeconds: number;
  readonly effort: Effort;
  /** Number of batches that are compiled at once, each of another search. */
  readonly compilesAtOnce: number;
  /** Whether each search runs to its end: it is the only one, or no program says which matters more. */
  readonly isAlone: boolean;
  /** Ends the searches early. Steps under way are still decided. */
  readonly finishEarly?: AbortSignal | undefined;
  /** Seconds on a monotonic clock. */
  readonly clock: () => number;
}

/** Assumed arithmetic operations in a second before any measurement. */
const LIKELY_RATE = 2e10;

/** Assumed seconds of a first batch and of finals before there was one. */
const FIRST_BATCH_SECONDS = 2;
const FINALS_SECONDS = 2;

/** Effort for workloads with at least such a share of the program's time. */
interface Tier {
  /** Least share of the program's time. */
  readonly share: number;
  readonly trialsPerBatch: number;
  readonly finals: FinalsEffort;
}

/** Programs of many small parts gain most by a short search for each. */
const SMALL: Tier = { share: 0.05, trialsPerBatch: 8, finals: { finalists: 2, isBrief: true } };
const TINY: Tier = { share: 0, trialsPerBatch: 3, finals: { finalists: 1, isBrief: true } };

/** State of a search, and its tier. */
interface PartState extends SearchState {
  readonly tier: Tier;
}

/** Limits for timing a first batch: in seconds at least, and as a share of the time that is left. The rest is for finals. */
const LEAST_TIMING_SECONDS = 5;
const FIRST_BATCH_SHARE = 0.5;

/** Share of the time for verifying records of other devices, if some workloads have no record at all. */
const VERIFYING_SHARE = 0.5;

/**
 * Searches and decides for all parts within the budget.
 * @param note receives each decision as soon as it is made; null if nothing could be decided
 */
export async function tuneTogether<P extends Part>(
  parts: readonly P[],
  { end, leastSeconds, effort, compilesAtOnce, isAlone, finishEarly, clock }: Budget,
  note: (part: P, result: TuningResult | null) => void,
): Promise<void> {
  const decided = new Set<Part>();
  const conclude = (part: P, result: TuningResult | null) => {
    decided.add(part);
    note(part, result);
  };
  const isFinished = () => finishEarly?.aborted === true;
  const verifiable = parts.filter(({ search }) => search.isVerifiable);
  // Verification leaves time for workloads without any record.
  const share = verifiable.length === parts.length ? 1 : VERIFYING_SHARE;
  const verified = clock() + share * (end - clock());
  const likely = likelySeconds(parts);
  const secondsOf = (part: P) => likely[parts.indexOf(part)]!;
  for (const part of verifiable.toSorted((a, b) => secondsOf(b) - secondsOf(a))) {
    if (isFinished() || verified - clock() < leastSeconds) break;
    const result = await part.search.verify(() => clock() < verified);
    if (result !== null) conclude(part, result);
  }
  /** Steps that were under way when the searches were ended early. */
  let latest: readonly P[] = [];
  for (;;) {
    const isClosed = (part: P) => decided.has(part) || (isFinished() && !latest.includes(part));
    const states = statesOf(parts, isClosed, isAlone, effort);
    const secondsLeft = end - clock();
    const mayGoOn = !isFinished() && (latest.length > 0 || secondsLeft >= leastSeconds);
    const step = nextStep(states, secondsLeft, compilesAtOnce, mayGoOn, isAlone);
    if (step === null) return;
    const { kind, indices: chosen } = step;
    latest = chosen.map((index) => parts[index]!);
    if (kind === 'batch') {
      const openParts = parts.filter((one) => !isClosed(one)).length;
      const share = Math.min(shareOf(secondsLeft, openParts), FIRST_BATCH_SHARE * secondsLeft);
      const firstSeconds = Math.max(LEAST_TIMING_SECONDS, share);
      /** Seconds that are left for a batch before its finals. */
      const roomFor = (own: PartState) => end - clock() - reserveBeside(states, own) - own.finalsSeconds;
      const modules = Math.max(1, Math.floor(compilesAtOnce / chosen.length));
      const { ready, preparedSeconds } = await readyTogether(chosen, clock, (index) => {
        const own = states[index]!;
        const { search } = parts[index]!;
        const compileSeconds = own.batches === 0 ? end - clock() : roomFor(own) - search.timingSeconds;
        return search.prepare(own.tier.trialsPerBatch, compileSeconds, modules);
      });
      for (const [i, index] of chosen.entries()) {
        const own = states[index]!;
        const { timingSeconds } = parts[index]!.search;
        const room = roomFor(own);
        // Compiling took longer than expected. Finals are worth more than this batch.
        const fitting = room < timingSeconds ? 0 : room;
        await ready[i]?.(own.batches === 0 ? firstSeconds : fitting, preparedSeconds);
      }
      for (const one of latest) if (one.search.isUndecidable) conclude(one, null);
    } else if (kind === 'finals') {
      const { ready, preparedSeconds } = await readyTogether(chosen, clock, (index) => {
        const { search } = parts[index]!;
        const { tier } = states[index]!;
        // A batch took longer than expected. Brief finals are better than none.
        const tiers = [tier, ...[SMALL, TINY].filter(({ share }) => share < tier.share)];
        const fitting = tiers.find(({ finals }) => search.finalsSeconds(finals) <= end - clock());
        return search.prepareFinals((fitting ?? tiers.at(-1)!).finals);
      });
      for (const [i, index] of chosen.entries()) {
        // Finals do not spend the time that is reserved for other searches.
        const now = statesOf(parts, isClosed, isAlone, effort);
        const until = end - reserveBeside(now, now[index]!);
        conclude(parts[index]!, await ready[i]!(() => clock() < until, preparedSeconds));
      }
    } else for (const one of latest) conclude(one, one.search.settleForDefault());
  }
}

/** Prepares steps of several searches at once. Returns them, and the seconds of the budget that each took. */
async function readyTogether<T>(
  chosen: readonly number[],
  clock: () => number,
  prepare: (index: number) => Promise<T>,
): Promise<{ ready: T[]; preparedSeconds: number }> {
  const begun = clock();
  const ready = await Promise.all(chosen.map(prepare));
  return { ready, preparedSeconds: (clock() - begun) / chosen.length };
}

/**
 * Seconds of one run of the program in each part by default: measured in the program, else measured alone, else estimated by
 * comparison with measured parts.
 */
function likelySeconds(parts: readonly Part[]): number[] {
  const known = parts.map(({ search, count, programSeconds }) =>
    programSeconds === null && search.batches > 0 ? count * search.defaultSeconds : programSeconds,
  );
  const costs = parts.map(({ count, likelyCost }) => count * likelyCost);
  const seconds = sumOf(known.map((one) => one ?? 0));
  const rate = seconds === 0 ? LIKELY_RATE : sumOf(costs.filter((_, i) => known[i] !== null)) / seconds;
  return known.map((one, i) => one ?? costs[i]! / rate);
}

/** States of all parts for the schedule. Parts that were not timed are estimated by the batches of others. */
function statesOf<P extends Part>(
  parts: readonly P[],
  isClosed: (part: P) => boolean,
  isAlone: boolean,
  { trialsPerBatch, finalists }: Effort,
): PartState[] {
  const times = likelySeconds(parts);
  const most: Tier = { share: 0.15, trialsPerBatch, finals: { finalists, isBrief: false } };
  const tierFor = (share: number) => [most, SMALL].find((one) => share >= one.share) ?? TINY;
  // A single search gets the largest effort.
  const tiers = times.map((seconds) => (isAlone ? most : tierFor(seconds / sumOf(times))));
  const timed = parts.flatMap(({ search }, i) => (search.batches > 0 ? [{ search, tier: tiers[i]! }] : []));
  return parts.map((part, i): PartState => {
    const { batches, ratio, idle, isOver } = part.search;
    const tier = tiers[i]!;
    const alike = timed.filter((one) => one.tier.share === tier.share);
    const own = batches > 0 ? [part] : alike.length > 0 ? alike : timed;
    const meanOf = (secondsOf: (search: WorkloadSearch) => number, otherwise: number) =>
      own.length === 0 ? otherwise : sumOf(own.map(({ search }) => secondsOf(search))) / own.length;
    return {
      ...{ isClosed: isClosed(part), tier, programSeconds: times[i]!, ratio, batches, idle, isOver },
      batchSeconds: meanOf((search) => search.batchSeconds, FIRST_BATCH_SECONDS),
      finalsSeconds: meanOf((search) => search.finalsSeconds(tier.finals), FINALS_SECONDS),
    };
  });
}
