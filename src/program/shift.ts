// Errors of quantized results that have one direction. Rounding moves such a result as far as a wrong channel does, but over several
// inputs its errors cancel out, and those of a wrong channel add up.
import { readFile } from 'node:fs/promises';
import { decodeElements } from '../measure/elements.ts';
import { isQuantized } from '../measure/quantized.ts';
import { isFloat } from '../workload/element-type.ts';
import { patienceFor, removeAll, type Draws } from './draws.ts';
import type { StockContest } from './verify.ts';

/** Draws of inputs over which errors are added, and the fewest that say something. */
const [MOST_DRAWS, LEAST_DRAWS] = [8, 4];

/** Seconds for all runs: a longer one would take the time of timing the program. */
const SECONDS = 4;

/**
 * A result may shift this many times as far as stock does when few inputs move by a step. Honest builds of a quantized ResNet18 and MobileNetV2
 * shift 0.5 to 1.0 times as far, and 5 of 6 wrong channels 2.2 to 4 times.
 */
const TIMES = 1.6;

export interface Shift {
  /** How many times the allowed shift it is. Above 1, it is an error. */
  readonly times: number;
  readonly reason: string;
}

/** Sums of errors, by element. */
class Errors {
  readonly #sums: Float64Array;

  constructor(length: number) {
    this.#sums = new Float64Array(length);
  }

  add(want: ArrayLike<number | bigint>, got: ArrayLike<number | bigint>): void {
    for (let i = 0; i < this.#sums.length; i++) this.#sums[i]! += Number(got[i]) - Number(want[i]);
  }

  get norm(): number {
    return Math.sqrt(this.#sums.reduce((sum, one) => sum + one * one, 0));
  }
}

/**
 * The largest shift of a quantized result of the tuned program; null without one, or without the time to find it.
 * @param seconds of a process of each program
 * @param isTimeLeft whether the programs may run once more
 */
export async function largestShift(
  { function: { results } }: StockContest,
  draws: Pick<Draws, 'stepped' | 'run'>,
  tuned: string,
  seconds: readonly [stock: number, tuned: number],
  callSeconds: number,
  isTimeLeft: () => boolean,
): Promise<Shift | null> {
  const most = Math.min(MOST_DRAWS, Math.floor(SECONDS / (2 * seconds[0] + seconds[1])));
  if (most < LEAST_DRAWS) return null;
  const found = new Map<number, { readonly own: Errors; readonly step: Errors }>();
  let count = 0;
  for (; count < most && isTimeLeft(); count++) {
    const stepped = await draws.stepped(count, callSeconds);
    if (stepped === null) return null;
    const { draw, files } = stepped;
    const own = await draws.run(tuned, draw.call, 'shifted', patienceFor(draw, callSeconds));
    if ('failure' in own) return null;
    for (const [i, { elementType }] of results.entries()) {
      if (!isFloat(elementType)) continue;
      const [want, got, moved] = await Promise.all(
        [draw.files, own.files, files].map(async (all) =>
          decodeElements(await readFile(all[i]!), elementType),
        ),
      );
      if (!want || got?.length !== want.length || moved?.length !== want.length) continue;
      if (count === 0 && isQuantized(want))
        found.set(i, { own: new Errors(want.length), step: new Errors(want.length) });
      found.get(i)?.own.add(want, got);
      found.get(i)?.step.add(want, moved);
    }
    await removeAll(own.files);
    if (found.size === 0) return null;
  }
  if (count < LEAST_DRAWS) return null;
  const shifts = [...found].flatMap(([i, { own, step }]): Shift[] => {
    const ratio = own.norm / step.norm;
    // Without any effect of a step there is nothing to compare with.
    if (!Number.isFinite(ratio)) return [];
    const reason = `result ${i}: its errors on ${count} inputs have one direction: their sum is ${ratio.toPrecision(2)} times that of a step of few inputs`;
    return [{ times: ratio / TIMES, reason }];
  });
  return shifts.reduce<Shift | null>((most, one) => (one.times > (most?.times ?? 0) ? one : most), null);
}
