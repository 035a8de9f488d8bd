// Ranks by ratios: seconds of different batches are never compared.
import { expect, test } from 'vitest';
import { batchOf } from './support.ts';
import { Ranks } from '../../src/tuning/ranks.ts';
import { tiles } from '../support/backend.ts';

const configuration = (i: number) => tiles([i + 1, 1, 0], [1, 1, 0], [0, 0, 1]);
const [a, b, c] = [configuration(0), configuration(1), configuration(2)];

const order = (ranks: Ranks) => ranks.best(9).map(({ configuration }) => configuration);

test('ranks are by the ratio to the default of the same batch, and not by seconds', () => {
  const ranks = new Ranks();
  ranks.observe(batchOf([a], [4], [2]));
  // The machine is twice as fast by now.
  ranks.observe(batchOf([b, a], [2], [1.25], [1]));
  expect(order(ranks)).toEqual([a, b]);
  expect(ranks.ratioOf(a)).toBeCloseTo(2);
  expect(ranks.ratioOf(b)).toBeCloseTo(1.6);
});

test('a lucky incumbent is replaced after a second timing', () => {
  const ranks = new Ranks();
  ranks.observe(batchOf([a, b], [4], [2], [2.1]));
  expect(ranks.incumbent!.configuration).toBe(a);
  ranks.observe(batchOf([c, a], [4], [3], [2.6]));
  expect(ranks.incumbent!.configuration).toBe(b);
  expect(ranks.ratioOf(a)).toBeCloseTo(Math.sqrt(2 * (4 / 2.6)));
});

test('the incumbent links batches without the default', () => {
  const ranks = new Ranks();
  ranks.observe(batchOf([a, b], [100], [10], [20]));
  // Twice as slow, all of it.
  ranks.observe(batchOf([c, a], null, [16], [20]));
  expect(ranks.ratioOf(a)).toBeCloseTo(10);
  expect(ranks.ratioOf(c)).toBeCloseTo(12.5);
  expect(ranks.defaults[0]).toBeCloseTo(200);
  expect(order(ranks)).toEqual([c, a, b]);
});

test('the link stays the same, so that luck does not multiply', () => {
  const ranks = new Ranks();
  ranks.observe(batchOf([a, b], [100], [50], [60]));
  expect(ranks.timedAgain).toEqual([a]);
  // Each new one is as fast as the first, and lucky by a tenth: the best so far is another one each time.
  const others = Array.from({ length: 6 }, (_, i) => configuration(3 + i));
  for (const [i, other] of others.entries()) {
    const again = ranks.timedAgain;
    expect(again).toEqual(i < 2 ? (i === 0 ? [a] : [others[0], a]) : [expect.anything(), a]);
    ranks.observe(batchOf([other, ...again], null, [45], ...again.map(() => [50])));
  }
  expect(ranks.incumbent!.ratio).toBeCloseTo(100 / 45);
  // A batch with the default needs nothing else.
  ranks.observe(batchOf([c, ...ranks.timedAgain], [100], [49], ...ranks.timedAgain.map(() => [50])));
  expect(ranks.timedAgain).toEqual([ranks.incumbent!.configuration]);
});

test('without a link the default keeps its earlier time', () => {
  const ranks = new Ranks();
  ranks.observe(batchOf([a], [100], [10]));
  ranks.observe(batchOf([c, a], null, [5], null));
  expect(ranks.ratioOf(c)).toBeCloseTo(20);
});

test('the gain over several sizes is their geometric mean, unless one size is slower', () => {
  const ranks = new Ranks();
  ranks.observe(batchOf([a, b], [4, 9], [1, 9], [1, 10]));
  expect(ranks.ratioOf(a)).toBeCloseTo(2);
  expect(order(ranks)).toEqual([a, b]);
  expect(ranks.ratioOf(b)).toBeCloseTo(0.9);
});

test('a batch without any time of the default, and a failure, give no rank', () => {
  const ranks = new Ranks();
  ranks.observe(batchOf([a], null, [1]));
  expect(ranks.incumbent).toBeNull();
  expect(ranks.defaults).toEqual([]);
  ranks.observe(batchOf([a], [1], null));
  expect(ranks.ratioOf(a)).toBeNull();
});
