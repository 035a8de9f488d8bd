// Finalists and alternatives of both kinds: configurations with and without needs of the program.
import { describe, expect, test } from 'vitest';
import type { Configuration } from '../../src/backend/configuration.ts';
import type { Race, Standing } from '../../src/tuning/final-race.ts';
import { Ranks } from '../../src/tuning/ranks.ts';
import { batchOf } from './support.ts';
import { alternativeOf, decisionOf } from '../../src/tuning/result.ts';
import { tiles } from '../support/backend.ts';

const tile = (m: number) => tiles([m, 1, 0], [1, 1, 0], [0, 0, 1]);
const whole: Configuration = { version: 1, kind: 'data-tile' };
const packed = (m: number): Configuration => ({
  ...whole,
  packed: { inner: [8, 8, 1], swapped: false, distribution: [m, 8] },
});

describe('finalists', () => {
  const timed = (defaultSeconds: number, ...all: readonly (readonly [Configuration, number])[]) => {
    const ranks = new Ranks();
    ranks.observe(
      batchOf(
        all.map(([configuration]) => configuration),
        [defaultSeconds],
        ...all.map(([, seconds]) => [seconds]),
      ),
    );
    return ranks;
  };
  const among = (most: number, ...configurations: readonly Configuration[]) =>
    timed(10, ...configurations.map((one, i) => [one, 1 + i / 10] as const))
      .finalists(most)
      .map(({ configuration }) => configuration);

  test('are the best, with one without needs', () => {
    expect(among(3, whole, packed(4), packed(8), tile(1), tile(2))).toEqual([whole, packed(4), tile(1)]);
    expect(among(3, whole, packed(4), tile(1), tile(2))).toEqual([whole, packed(4), tile(1)]);
  });
  test('are the best, with one with needs if it is nearly as fast', () => {
    // In seconds: 1, 1.1, 1.2, 1.3.
    expect(among(2, tile(1), tile(2), whole)).toEqual([tile(1), whole]);
    expect(among(2, tile(1), tile(2), tile(3), whole)).toEqual([tile(1), tile(2)]);
  });
  test('are the best if there is no other kind, or no place for it', () => {
    expect(among(2, whole, packed(4), packed(8))).toEqual([whole, packed(4)]);
    expect(among(1, whole, tile(1))).toEqual([whole]);
    expect(new Ranks().finalists(3)).toEqual([]);
  });
  test('are four, and all others within the error of screening', () => {
    const counted = (defaultSeconds: number, ...seconds: readonly number[]) =>
      timed(defaultSeconds, ...seconds.map((one, i) => [tile(i + 1), one] as const)).finalists(8).length;
    expect(counted(10, 1, 1.1, 1.2, 1.3, 1.4)).toBe(4);
    expect(counted(10, 1, 1.01, 1.02, 1.03, 1.03, 1.1)).toBe(5);
    expect(counted(10, ...Array<number>(20).fill(1))).toBe(8);
  });
  test('are four at most if the gain is small', () => {
    expect(timed(1.05, ...[1, 2, 3, 4, 5].map((m) => [tile(m), 1] as const)).finalists(8)).toHaveLength(4);
  });
});

describe('the alternative of a decision', () => {
  const standing = (
    configuration: Configuration,
    ratio: number,
    low = ratio - 0.1,
    verdict: Standing['verdict'] = 'claim',
  ): Standing => ({
    ...{ configuration, ratio, low, high: ratio + 0.1, verdict },
    ...{ seconds: 1 / ratio, defaultSeconds: 1, maxError: 0, processes: 4, repetitions: 12 },
  });
  const searched = { trials: 20, tuningSeconds: 9, families: ['data-tile', 'tile'], complete: true };
  const alternative = (...standings: readonly Standing[]) => {
    const raced: Race = {
      ...{
        standings,
        failed: [],
        defaultSeconds: 1,
        noiseFloor: 0.01,
        processes: 4,
        repetitions: 12,
      },
    };
    return alternativeOf(decisionOf(raced, searched), raced, searched)?.configuration ?? null;
  };

  test('of a configuration with needs is the best without needs', () => {
    expect(alternative(standing(whole, 2), standing(packed(4), 1.9), standing(tile(1), 1.5))).toEqual(
      tile(1),
    );
    expect(alternative(standing(whole, 2), standing(tile(1), 1.7), standing(tile(2), 1.5))).toEqual(tile(1));
  });
  test('of a configuration without needs is the best with needs, if it is nearly as fast', () => {
    expect(alternative(standing(tile(1), 2), standing(whole, 1.7), standing(packed(4), 1.65))).toEqual(whole);
    expect(alternative(standing(tile(1), 2), standing(whole, 1.5))).toBeNull();
    expect(alternative(standing(tile(1), 2), standing(tile(2), 1.9))).toBeNull();
  });
  test('of the default does not exist', () => {
    expect(alternative(standing(tile(1), 1.01, 0.99, 'nothing'))).toBeNull();
  });
  test('is surely faster than the default, with a lower bound below that of the best', () => {
    expect(alternative(standing(whole, 2), standing(tile(1), 1.5, 0.9, 'undecided'))).toBeNull();
    expect(alternative(standing(whole, 2, 1.2), standing(tile(1), 1.5, 1.4))).toBeNull();
  });
});
