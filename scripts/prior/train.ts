// A prior from measured spaces.
import type { MeasuredSpace } from '../../bench/shared/measured-spaces.ts';
import { llvmCpu } from '../../src/backend/llvm-cpu/index.ts';
import { predict, type Forest } from '../../src/search/forest.ts';
import { seededRandom } from '../../src/search/strategy.ts';
import type { Prior } from '../../src/tuning/prior.ts';
import { boost, BOOST, type Sample } from './boost.ts';

/** What is slower than that, as a logarithm to base 2, is all the same, and so is what fails. */
const SLOWEST = 3;

/** Of configurations that are as good as that it matters how well they are predicted. */
const GOOD = 0.6;

/** Standard deviation of a measurement, as a logarithm to base 2. */
const OF_TRIAL = 0.04;

/** The numbers of each configuration, with how many times as long it takes as the best one, as a logarithm to base 2. */
export function samplesOf({ workload, options, trials }: MeasuredSpace): Sample[] {
  const best = Math.max(...trials.map(([, ratio]) => ratio ?? 0));
  return trials.flatMap(([configuration, ratio]) => {
    const x = llvmCpu.featuresOf(workload, configuration, options);
    if (x === null) return [];
    const y = ratio === null ? SLOWEST : Math.min(SLOWEST, Math.log2(best / ratio));
    // What is good has to be told from what is better.
    return [{ x, y, weight: 1 / (1 + 4 * y) }];
  });
}

export const trainForest = (spaces: readonly MeasuredSpace[]): Forest =>
  boost(spaces.flatMap(samplesOf), BOOST, seededRandom(1));

/** Trains on all spaces but one of each name, to know how far predictions are off. */
export function doubtOf(spaces: readonly MeasuredSpace[]): Prior['doubt'] {
  const squares: number[] = [];
  for (const space of spaces) {
    const forest = trainForest(spaces.filter(({ name }) => name !== space.name));
    for (const { x, y } of samplesOf(space)) if (y < GOOD) squares.push((y - predict(forest, x)) ** 2);
  }
  const ofPrior = Math.sqrt(squares.reduce((sum, one) => sum + one, 0) / squares.length);
  return { ofPrior: Number(ofPrior.toFixed(3)), ofTrial: OF_TRIAL };
}

export function trainPrior(spaces: readonly MeasuredSpace[]): Prior {
  const forest = trainForest(spaces);
  return { features: samplesOf(spaces[0]!)[0]!.x.length, forest, doubt: doubtOf(spaces) };
}
