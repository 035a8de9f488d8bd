// Finds forms whose dispatches are slower than the dispatches of the written operations. Pure.
import type { FormChoice } from './choose.ts';
import { extentsOf, isConvolution, type Convolution } from './convolution.ts';
import { isProduct } from './product.ts';
import { rewritableKey } from './rewritable.ts';
import { isSpread } from './spread-convolution.ts';

/** The name of a dispatch with a convolution or a product, with the sizes of its loops: `conv_64x56x56x3x3x3_f32`. */
const NAMED = /_(?:conv|matmul)_(\d+(?:x\d+)*)_/;

/** Equal for dispatches with equal loops. The compiler drops loops of size 1, and orders loops by the operation. */
const loopsKey = (sizes: readonly number[]): string =>
  sizes
    .filter((size) => size > 1)
    .sort((a, b) => a - b)
    .join('x');

function loopsOf(convolution: Convolution): string {
  const { batch, groups, channels, filters, filter, result } = extentsOf(convolution);
  return loopsKey([batch, groups, channels, filters, ...filter, ...result]);
}

/** A form must be this much faster, because its layout changes are other dispatches. */
const LEAST_GAIN = 1.03;

/** As a share of the program's time. Smaller losses are not worth another compile. */
const LEAST_LOSS = 0.02;

/** Pixels in registers in the best tiles of forms, about. */
const PIXELS = 8;

/**
 * Estimated speed-up of a form by tuned tiles. The default keeps as many pixels in registers as the largest power of two that
 * divides the columns: one pixel for 7 columns.
 */
function tuningGain(convolution: Convolution): number {
  const columns = extentsOf(convolution).result.at(-1)!;
  let pixels = 1;
  while (pixels < PIXELS && columns % (2 * pixels) === 0) pixels *= 2;
  return PIXELS / pixels;
}

/**
 * @param written seconds of each dispatch of the written program, by name
 * @param formed the same for the program in its forms
 * @param isOf whether a dispatch of the program in its forms computes an operation
 * @param isTuned whether forms get tuned tiles; a form stays if these are likely to make it faster than the written operation
 * @returns keys of operations to leave as written; empty if this saves too little
 */
export function slowerForms(
  choices: readonly FormChoice[],
  written: ReadonlyMap<string, number>,
  formed: ReadonlyMap<string, number>,
  isOf: (key: string, dispatch: string) => boolean,
  isTuned: boolean,
): ReadonlySet<string> {
  const secondsBefore = new Map<string, number>();
  for (const [name, seconds] of written) {
    const sizes = NAMED.exec(name)?.[1];
    if (sizes === undefined) continue;
    const loops = loopsKey(sizes.split('x').map(Number));
    secondsBefore.set(loops, seconds + (secondsBefore.get(loops) ?? 0));
  }
  const convolutions = choices.flatMap(({ operation }) => {
    if (isProduct(operation)) {
      const loops = loopsKey([...operation.factors[0].shape, operation.factors[1].shape[0]!]);
      return [{ key: rewritableKey(operation), loops, leastGain: LEAST_GAIN }];
    }
    const convolution = isSpread(operation) ? operation.convolution : operation;
    if (!isConvolution(convolution)) return [];
    const leastGain = LEAST_GAIN / (isTuned ? tuningGain(convolution) : 1);
    return [{ key: rewritableKey(operation), loops: loopsOf(convolution), leastGain }];
  });
  const total = sumOf(formed.values());
  const slower = new Set<string>();
  const unknown = new Set<string>();
  let loss = 0;
  // The rest of both programs: layout changes, other operations, and forms whose dispatches have unknown names.
  let [restBefore, restAfter] = [sumOf(written.values()), total];
  for (const [loops, own] of Map.groupBy(convolutions, (one) => one.loops)) {
    const before = secondsBefore.get(loops) ?? 0;
    const names = [...formed.keys()].filter((name) => own.some(({ key }) => isOf(key, name)));
    const after = sumOf(names.map((name) => formed.get(name)!));
    if (before === 0) continue;
    if (after === 0) {
      for (const { key } of own) unknown.add(key);
      continue;
    }
    restBefore -= before;
    restAfter -= after;
    if (before >= own[0]!.leastGain * after) continue;
    for (const { key } of own) slower.add(key);
    loss += Math.max(0, after - before);
  }
  if (unknown.size > 0 && restBefore < LEAST_GAIN * restAfter) {
    for (const key of unknown) slower.add(key);
    loss += Math.max(0, restAfter - restBefore);
  }
  return loss >= LEAST_LOSS * total ? slower : new Set();
}

const sumOf = (values: Iterable<number>): number => [...values].reduce((sum, one) => sum + one, 0);
