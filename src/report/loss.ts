// Time that a program loses against the limits of the machine, dispatch by dispatch. Pure.
import { sumOf } from '../measure/statistics.ts';
import type { Amount } from '../workload/kind.ts';

/** Rates of a device, as a program of this compiler reaches them; null or absent if they were not measured. */
export interface DeviceRates {
  readonly bytesPerSecond: number | null;
  /** Bytes that the caches of all used cores hold together, and how fast these are read. */
  readonly cache: { readonly bytes: number; readonly bytesPerSecond: number } | null;
  /** Multiply-adds per second on all threads, by the element type of the factors. */
  readonly multiplicationsPerSecond: Readonly<Record<string, number>>;
}

export const NO_RATES: DeviceRates = { bytesPerSecond: null, cache: null, multiplicationsPerSecond: {} };

/** The least time of some work, and the rate that limits it. */
export interface Bound {
  readonly seconds: number;
  readonly limit: 'arithmetic' | 'memory' | 'cache';
}

/** The bound of one call, or why it is unknown. */
export function boundOf(
  { multiplications, type, bytes }: Amount,
  { bytesPerSecond, cache, multiplicationsPerSecond }: DeviceRates,
): Bound | { readonly unknown: string } {
  if (multiplications === null) return { unknown: 'its multiplications are unknown' };
  if (bytes === null) return { unknown: 'its bytes are unknown' };
  if (bytesPerSecond === null) return { unknown: 'the memory rate is not measured' };
  const peak = multiplicationsPerSecond[type ?? ''];
  if (multiplications > 0 && peak === undefined)
    return { unknown: `no peak of ${type ?? 'its element type'} is measured` };
  const arithmetic = multiplications === 0 ? 0 : multiplications / peak!;
  // Data that fits may come from the caches, so a slower rate would be no bound.
  const isCached = cache !== null && bytes <= cache.bytes;
  const moving = bytes / (isCached ? Math.max(cache.bytesPerSecond, bytesPerSecond) : bytesPerSecond);
  if (arithmetic > moving) return { seconds: arithmetic, limit: 'arithmetic' };
  return { seconds: moving, limit: isCached ? 'cache' : 'memory' };
}

/** A dispatch in one call of all functions of a program. */
export interface TimedDispatch {
  /** Such as `main_dispatch_1_matmul_like_196x512x256_f32`. */
  readonly dispatch: string;
  /** Of all calls together. */
  readonly seconds: number;
  /** Null if they were not counted. */
  readonly calls: number | null;
  /** Of one call; null if nobody has read the dispatch. */
  readonly amount: Amount | null;
}

export interface DispatchLoss extends Omit<TimedDispatch, 'amount'> {
  /** Such as `softmax or reduction`. */
  readonly group: string;
  /** Least seconds of all calls; null if unknown. So are the next three. */
  readonly boundSeconds: number | null;
  readonly limit: Bound['limit'] | null;
  /** Bound over seconds: 1 at the bound, more if a cache that cores share is faster than the memory. */
  readonly share: number | null;
  /** Seconds above the bound, at least 0. */
  readonly lostSeconds: number | null;
  /** Why the bound is unknown; null if it is known. */
  readonly unknown: string | null;
}

export interface ProgramLoss {
  /** The largest loss first, then dispatches without a bound, the longest first. */
  readonly dispatches: readonly DispatchLoss[];
  /** Sum over the dispatches with a bound; null if none has one. */
  readonly lostSeconds: number | null;
  /** Time in dispatches without a bound. */
  readonly unknownSeconds: number;
  readonly dispatchSeconds: number;
  /** Time of one call of each function; null if it was not noted. */
  readonly wholeSeconds: number | null;
  /** The whole time without the dispatches; below 0 if dispatches ran at once. */
  readonly outsideSeconds: number | null;
  readonly rates: DeviceRates;
}

/** @returns null for a program without timed dispatches */
export function lossOf(
  dispatches: readonly TimedDispatch[],
  wholeSeconds: number | null,
  rates: DeviceRates,
): ProgramLoss | null {
  if (dispatches.length === 0) return null;
  const all = dispatches.map((one) => dispatchLoss(one, rates));
  const known = all.flatMap(({ lostSeconds }) => lostSeconds ?? []);
  const dispatchSeconds = sumOf(all.map(({ seconds }) => seconds));
  return {
    dispatches: all.sort((a, b) => rank(b) - rank(a) || b.seconds - a.seconds),
    lostSeconds: known.length === 0 ? null : sumOf(known),
    unknownSeconds: sumOf(all.flatMap(({ lostSeconds, seconds }) => (lostSeconds === null ? seconds : []))),
    ...{ dispatchSeconds, wholeSeconds },
    outsideSeconds: wholeSeconds === null ? null : wholeSeconds - dispatchSeconds,
    rates,
  };
}

const rank = ({ lostSeconds }: DispatchLoss): number => lostSeconds ?? -1;

function dispatchLoss({ amount, ...timed }: TimedDispatch, rates: DeviceRates): DispatchLoss {
  const { dispatch, seconds, calls } = timed;
  const named = groupOf(dispatch);
  // The compiler has no name for a product in tiles, but for the zeros that it begins with.
  const group = named === COPY && (amount?.multiplications ?? 0) > 0 ? PRODUCT : named;
  const bound =
    amount === null
      ? { unknown: 'its work is not read' }
      : calls === null
        ? { unknown: 'its calls are not counted' }
        : boundOf(amount, rates);
  if ('unknown' in bound)
    return { ...timed, group, boundSeconds: null, limit: null, share: null, lostSeconds: null, ...bound };
  const boundSeconds = bound.seconds * calls!;
  return {
    ...{ ...timed, group, boundSeconds, limit: bound.limit, share: boundSeconds / seconds },
    lostSeconds: Math.max(0, seconds - boundSeconds),
    unknown: null,
  };
}

const [PRODUCT, COPY] = ['matrix product', 'transpose or copy'];

/** The first word that the name has decides, because the compiler names a dispatch after its main operation. */
const GROUPS: readonly (readonly [words: RegExp, group: string])[] = [
  [/attention/, 'attention'],
  [/conv|winograd/, 'convolution'],
  [/matmul|mmt4d|matvec|vecmat|contract|(?:^|_)dot(?:_|$)/, PRODUCT],
  [/pooling/, 'pooling'],
  [/softmax|reduction|reduce|arg_compare|topk|sort|scan/, 'softmax or reduction'],
  [/elementwise/, 'element-wise'],
  [/transpose|memcpy|copy|pack|encod|gather|scatter|broadcast|fill|slice|concat|im2col/, COPY],
];

/**
 * The group of a dispatch, by the compiler's name for its work.
 * @param name of a dispatch or of its work, such as `softmax_6x1500x1500xf32`
 */
export const groupOf = (name: string): string =>
  GROUPS.find(([words]) => words.test(name.replace(/^.*_dispatch_\d+_?/, '')))?.[1] ?? 'other dispatches';
