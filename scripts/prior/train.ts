// Trains a prior on measured spaces.
import type { MeasuredSpace } from '../../bench/shared/measured-spaces.ts';
import { llvmCpu } from '../../src/backend/llvm-cpu/index.ts';
import { predict, type Forest } from '../../src/search/forest.ts';
import { seededRandom } from '../../src/search/strategy.ts';
import { processorAndType, type Prior } from '../../src/tuning/prior.ts';
import { boost, BOOST, type BoostOptions, type Sample } from '../../src/search/boost.ts';

/** Cap of slowness as a base-2 logarithm, which failures get, too. */
const SLOWEST = 3;

/** Slowness (base-2 logarithm, compressed) up to which the error of predictions counts. */
const GOOD = 0.3;

/** Standard deviation of a measurement, as a base-2 logarithm. */
const OF_TRIAL = 0.04;

/**
 * Deep trees, because what a tile gains depends on several sizes at once. Their leaves are larger, so that a leaf is about more than one
 * workload. Each tree adds less, so that the choice depends less on chance.
 */
const OPTIONS: BoostOptions = { ...BOOST, trees: 400, depth: 10, rate: 0.045, leastWeight: 24 };

/**
 * The value to learn from slowness. It is about the slowness of good configurations, which the prior must rank. The slowness of bad ones
 * is compressed.
 */
const compressed = (slowness: number): number => Math.log1p(4 * slowness) / 4;

/** Features of each configuration, and its slowness: base-2 logarithm of its time relative to the best, compressed. */
function samplesOf({ workload, options, trials }: MeasuredSpace): Sample[] {
  const best = Math.max(...trials.map(([, ratio]) => ratio ?? 0));
  return trials.flatMap(([configuration, ratio]) => {
    const x = llvmCpu.tuning(workload).features!(configuration, options);
    if (x === null) return [];
    const slowness = ratio === null ? SLOWEST : Math.min(SLOWEST, Math.log2(best / ratio));
    return [{ x, y: compressed(slowness), weight: 1 }];
  });
}

const trained = (samples: readonly Sample[]): Forest => boost(samples, OPTIONS, seededRandom(1));

/** Sizes without the element type. */
const shapeOf = ({ name }: MeasuredSpace): string => /^[\dx]*\d/.exec(name)![0];

/** Groups of shapes. One forest is trained without each group. */
const FOLDS = 12;

/** One forest for each space, trained without its shape in any element type and instruction set (cross-validation). */
export function forestsWithout(spaces: readonly MeasuredSpace[]): Forest[] {
  const samples = spaces.map(samplesOf);
  const shapes = [...new Set(spaces.map(shapeOf))];
  const foldOf = (space: MeasuredSpace) => shapes.indexOf(shapeOf(space)) % FOLDS;
  const forests = Array.from({ length: Math.min(FOLDS, shapes.length) }, (_, fold) =>
    trained(samples.filter((_, i) => foldOf(spaces[i]!) !== fold).flat()),
  );
  return spaces.map((space) => forests[foldOf(space)]!);
}

/** Root mean square error of predictions. @param forests from `forestsWithout` */
export function doubtOf(spaces: readonly MeasuredSpace[], forests: readonly Forest[]): Prior['doubt'] {
  const squares: number[] = [];
  for (const [i, space] of spaces.entries())
    for (const { x, y } of samplesOf(space)) if (y < GOOD) squares.push((y - predict(forests[i]!, x)) ** 2);
  const ofPrior = Math.sqrt(squares.reduce((sum, one) => sum + one, 0) / squares.length);
  return { ofPrior: Number(ofPrior.toFixed(3)), ofTrial: OF_TRIAL };
}

export function trainPrior(spaces: readonly MeasuredSpace[]): Prior {
  const measured = new Set(spaces.map(({ device, workload }) => processorAndType(device, workload)));
  const forest = trained(spaces.flatMap(samplesOf));
  return {
    features: samplesOf(spaces[0]!)[0]!.x.length,
    forest,
    doubt: doubtOf(spaces, forestsWithout(spaces)),
    measured: [...measured],
  };
}
