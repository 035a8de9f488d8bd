import { expect, test } from 'vitest';
import type { Configuration } from '../../src/backend/configuration.ts';
import { Rounds, type Assignment } from '../../src/program/rounds.ts';
import { coordinateDescent } from '../../src/search/descent.ts';
import { line, tileOf } from './line.ts';

const contender = (key: string, values: number, share = 0.5, kin = key) => ({
  ...{ key, kin, share },
  space: line(values),
});
const tilesOf = (assignments: readonly Assignment[], key: string) =>
  assignments.map((one) => one.get(key) && tileOf(one.get(key)!));
const all = (assignment: Assignment, ratioOf: (configuration: Configuration) => number | null) =>
  new Map([...assignment].map(([key, configuration]) => [key, ratioOf(configuration)] as const));

test('each round tries a different configuration of every workload', () => {
  const rounds = new Rounds([contender('a', 4), contender('b', 3)], coordinateDescent);
  const first = rounds.propose(2);
  expect(tilesOf(first, 'a')).toEqual([1, 2]);
  expect(tilesOf(first, 'b')).toEqual([1, 2]);
  for (const one of first) rounds.observe(one, all(one, tileOf));
  const second = rounds.propose(2);
  expect(tilesOf(second, 'a')).toEqual([3, 4]);
  // A workload without more to try has its best configuration.
  expect(tilesOf(second, 'b')).toEqual([3, 2]);
  expect(rounds.count).toBe(2);
});

test('workloads that take hardly any time wait for the third round, unless nothing else is left', () => {
  const rounds = new Rounds(
    [contender('large', 4, 0.99), contender('small', 4, 0.005), contender('like-large', 4, 0.005, 'large')],
    coordinateDescent,
  );
  const first = rounds.propose(2);
  expect(tilesOf(first, 'large')).toEqual([1, 2]);
  expect(tilesOf(first, 'small')).toEqual([undefined, undefined]);
  expect(tilesOf(first, 'like-large')).not.toContain(undefined);
  for (const one of first) rounds.observe(one, all(one, tileOf));
  expect(tilesOf(rounds.propose(2), 'small')).toEqual([1, 2]);
  const none = new Rounds([contender('large', 0, 0.99), contender('small', 4, 0.01)], coordinateDescent);
  expect(tilesOf(none.propose(1), 'small')).toEqual([1]);
});

test('no round tries nothing', () => {
  const rounds = new Rounds([contender('a', 2)], coordinateDescent);
  for (const one of rounds.propose(2)) rounds.observe(one, all(one, tileOf));
  expect(rounds.propose(2)).toEqual([]);
});

test('a configuration without a time is tried again, one that does not compile is not', () => {
  const rounds = new Rounds([contender('a', 3), contender('b', 3)], coordinateDescent);
  const [one] = rounds.propose(1);
  rounds.observe(one!, new Map([['a', null]]));
  const [next] = rounds.propose(1);
  expect(tilesOf([next!], 'a')).toEqual([2]);
  expect(tilesOf([next!], 'b')).toEqual([1]);
});

test('the best configuration of each workload has its last ratio', () => {
  const rounds = new Rounds([contender('a', 2), contender('b', 2)], coordinateDescent);
  const [first, second] = rounds.propose(2);
  rounds.observe(first!, new Map([['a', 2], ['b', 0.9]])); // prettier-ignore
  rounds.observe(second!, new Map([['a', 1.5], ['b', 1.01]])); // prettier-ignore
  expect([...rounds.bestFrom(1.03)].map(([key, { ratio }]) => [key, ratio])).toEqual([['a', 2]]);
  // `a` halves its half of the time, and `b` saves 1% of the other half.
  expect(rounds.ratio).toBeCloseTo(1 / (1 - 0.25 - 0.5 * (1 - 1 / 1.01)), 10);
  rounds.observe(first!, new Map([['a', 1.02]]));
  expect(rounds.bestFrom(1.03).size).toBe(0);
});

test('rounds with negligible gains end', () => {
  const rounds = new Rounds([contender('large', 40, 0.99), contender('small', 40, 0.01)], coordinateDescent);
  for (let i = 0; i < 6; i++) {
    expect(rounds.isIdle).toBe(false);
    // The small workload gets faster in each round.
    for (const one of rounds.propose(1)) rounds.observe(one, new Map([['large', 0.9], ['small', 1 + i / 10]])); // prettier-ignore
  }
  expect(rounds.isIdle).toBe(true);
});

test('kin try different configurations, and then the best of the others', () => {
  const kin = ['a', 'b', 'c'].map((key) => contender(key, 6, 1 / 3, 'alike'));
  const rounds = new Rounds(kin, coordinateDescent);
  const [first] = rounds.propose(1);
  expect([...first!].map(([, one]) => tileOf(one))).toEqual([1, 2, 3]);
  rounds.observe(first!, all(first!, tileOf));
  const second = rounds.propose(2);
  // The third workload has tried the best.
  expect(tilesOf(second, 'a')).toEqual([3, 4]);
  expect(tilesOf(second, 'b')).toEqual([3, 5]);
  expect(tilesOf(second, 'c')).toEqual([6, 3]);
});

test('more kin than starts repeat the starts', () => {
  const kin = ['a', 'b', 'c'].map((key) => contender(key, 2, 1 / 3, 'alike'));
  const [first] = new Rounds(kin, coordinateDescent).propose(1);
  expect([...first!].map(([, one]) => tileOf(one))).toEqual([1, 2, 1]);
});

test('kin do not try a configuration that did not compile for one of them', () => {
  const kin = ['a', 'b'].map((key) => contender(key, 4, 0.5, 'alike'));
  const rounds = new Rounds(kin, coordinateDescent);
  const [first] = rounds.propose(1);
  rounds.observe(first!, new Map([['a', null], ['b', 0.9]])); // prettier-ignore
  const second = rounds.propose(1);
  expect([...second[0]!].map(([, one]) => tileOf(one))).toEqual([3, 4]);
});
