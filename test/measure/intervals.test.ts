// The interval of two equal programs excludes 1 in at most 1% of all cases, under several kinds of noise.
// In full after a change of src/measure/statistics.ts.
import { expect, test } from 'vitest';
import { undisturbedRatio } from '../../src/measure/statistics.ts';
import { seededRandom, type Random } from '../../src/search/strategy.ts';
import { casesOfTier, isFull } from '../support/needs.ts';

const normal = (random: Random) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

const SPREAD = 0.02;

/** Kinds of noise: random times of one process. */
const noises: readonly (readonly [string, (random: Random) => number])[] = [
  ['normal', (random) => Math.exp(SPREAD * normal(random))],
  [
    'a third is disturbed',
    (random) => Math.exp(SPREAD * normal(random)) * (random() < 1 / 3 ? 1 + random() / 2 : 1),
  ],
  ['heavy tails', (random) => Math.exp(SPREAD * Math.abs(normal(random) / (0.3 + Math.abs(normal(random)))))],
];

const SETS = isFull ? 5000 : 200;

/** 1%, plus three standard deviations for this number of sets. */
const MOST = 0.01 + 3 * Math.sqrt((0.01 * 0.99) / SETS);

test.each(
  noises.flatMap(([name, noise]) => casesOfTier([8, 24, 12, 16], 1).map((pairs) => ({ name, pairs, noise }))),
)('$name, $pairs pairs', { timeout: isFull ? 600_000 : 60_000 }, ({ pairs, noise }) => {
  const random = seededRandom(pairs);
  let excluded = 0;
  for (let set = 0; set < SETS; set++) {
    const { low, high } = undisturbedRatio(
      Array.from({ length: pairs }, () => [noise(random), noise(random)] as const),
    );
    if (low > 1 || high < 1) excluded++;
  }
  expect(excluded / SETS).toBeLessThanOrEqual(MOST);
});
