// Finds forms whose dispatches are slower than the dispatches of the written operations. Pure.
import type { FormChoice } from './choose.ts';
import { kindOf } from './rewritable.ts';

/** The name of a dispatch with a convolution or a product, with the sizes of its loops: `conv_64x56x56x3x3x3_f32`. */
const NAMED = /_(?:conv|matmul)_(\d+(?:x\d+)*)_/;

/** Equal for dispatches with equal loops. The compiler drops loops of size 1, and orders loops by the operation. */
const loopsKey = (sizes: readonly number[]): string =>
  sizes
    .filter((size) => size > 1)
    .sort((a, b) => a - b)
    .join('x');

/** A form must be this much faster, because its layout changes are other dispatches. */
const LEAST_GAIN = 1.03;

/** As a share of the program's time. Smaller losses are not worth another compile. */
const LEAST_LOSS = 0.02;

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
  const compared = choices.flatMap(({ operation }) => {
    const kind = kindOf(operation);
    const sizes = kind.loopsOf?.(operation);
    if (sizes === undefined) return [];
    const leastGain = LEAST_GAIN / (isTuned ? (kind.tuningGain?.(operation) ?? 1) : 1);
    return [{ key: kind.key(operation), loops: loopsKey(sizes), leastGain }];
  });
  const total = sumOf(formed.values());
  const slower = new Set<string>();
  const unknown = new Set<string>();
  let loss = 0;
  // The rest of both programs: layout changes, other operations, and forms whose dispatches have unknown names.
  let [restBefore, restAfter] = [sumOf(written.values()), total];
  for (const [loops, own] of Map.groupBy(compared, (one) => one.loops)) {
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
