// Shares of a program's time by kind of work. Pure.
import { percent, type DispatchTime } from '../shared/dispatch-time.ts';

export interface KindShare {
  readonly kind: string;
  /** Share of the time in all dispatches. */
  readonly share: number;
  readonly dispatches: number;
}

/** Patterns for the part of a dispatch's name behind its number. The first match counts. */
const KINDS: readonly (readonly [kind: string, name: RegExp])[] = [
  ['packing', /^(?:un)?pack(?:_|$)|^(?:un)?set_encoding|encoding|^encode/],
  ['softmax', /^softmax/],
  ['pooling', /^pooling|_pooling_/],
  ['convolution', /^(?:\w+_)?conv(?:_|$)|^winograd|^im2col/],
  ['matmul', /^(?:\w+_)?(?:matmul|mmt4d|matvec|vecmat|dot|contract)(?:_|$)|^attention/],
  ['copy or transpose', /memcpy|^copy|^(?:elementwise_)?transpose|^(?:elementwise_)?broadcast|^fill|^memset/],
  ['reduction', /^reduction|^reduce/],
  ['elementwise', /^elementwise|^generic/],
];

const OTHER = 'other';

/** Kinds with a smaller share are not printed. */
const LEAST_SHARE = 0.005;

/**
 * The kind of work of a dispatch.
 * @param name such as `main$async_dispatch_1_conv_64x111x111x3x3x3_f32`
 * @param isContraction whether the dispatch multiplies and sums; the compiler's names call every window a convolution
 */
export function kindOf(name: string, isContraction: boolean): string {
  const kind = KINDS.find(([, pattern]) => pattern.test(workOf(name)))?.[0] ?? OTHER;
  return kind === 'convolution' && !isContraction ? 'pooling' : kind;
}

/** The part of the name behind the number, which is the same in all programs of a model. */
const workOf = (name: string): string => /_dispatch_\d+_(.*)$/.exec(name)?.[1] ?? name;

/**
 * The kinds of a program's dispatches, largest share first; empty without times.
 * @param contractions names of dispatches that multiply and sum, in this program or in another of the same model
 */
export function kindShares(times: readonly DispatchTime[], contractions: Iterable<string>): KindShare[] {
  const known = new Set([...contractions].map(workOf));
  const total = times.reduce((sum, { seconds }) => sum + seconds, 0);
  if (total === 0) return [];
  const kinds = new Map<string, { share: number; dispatches: number }>();
  for (const { name, seconds } of times) {
    const kind = kindOf(name, known.has(workOf(name)));
    const { share, dispatches } = kinds.get(kind) ?? { share: 0, dispatches: 0 };
    kinds.set(kind, { share: share + seconds / total, dispatches: dispatches + 1 });
  }
  return [...kinds].map(([kind, one]) => ({ kind, ...one })).sort((a, b) => b.share - a.share);
}

/** One line, or none. */
export function kindLines(shares: readonly KindShare[]): string[] {
  const large = shares.filter(({ share }) => share >= LEAST_SHARE);
  return large.length === 0
    ? []
    : [`  time of tuned: ${large.map(({ kind, share }) => `${kind} ${percent(share)}`).join(', ')}`];
}
