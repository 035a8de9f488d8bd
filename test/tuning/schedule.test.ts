import { describe, expect, test } from 'vitest';
import { nextStep, shareOf, type SearchState } from '../../src/tuning/schedule.ts';

const state = (change: Partial<SearchState> = {}): SearchState => ({
  isClosed: false,
  programSeconds: 1,
  ratio: 0,
  batches: 0,
  idle: 0,
  isOver: false,
  batchSeconds: 2,
  finalsSeconds: 4,
  ...change,
});
/** The next step, of at most `most` searches at the same time. */
const next = (states: readonly SearchState[], secondsLeft: number, most = 1, mayGoOn = true) =>
  nextStep(states, secondsLeft, most, mayGoOn, states.length === 1);
const found = { batches: 3, ratio: 1.5 };
const closed = state({ isClosed: true });
const nothing = { batches: 3, ratio: 1 };

describe('the next step', () => {
  test('is first a batch of the workload with most of the time', () => {
    const states = [1, 3, 2].map((programSeconds) => state({ programSeconds }));
    expect(next(states, 60)).toEqual({ kind: 'batch', indices: [1] });
  });

  test('is a first batch before a second batch of a workload with the same time', () => {
    expect(next([state({ batches: 1, ratio: 1.5 }), state()], 60)?.indices[0]).toBe(1);
  });

  test('is another batch of a large workload before a first batch of a small one', () => {
    const little = state({ programSeconds: 0.02 });
    expect(next([state({ batches: 1, ratio: 1.5 }), little], 60)?.indices[0]).toBe(0);
  });

  test('is a batch of a search that still finds gains', () => {
    const idle = state({ ...found, idle: 2 });
    expect(next([idle, state(found)], 60)?.indices[0]).toBe(1);
  });

  test('is the finals of a search that is over', () => {
    const ended = state({ ...found, isOver: true });
    expect(next([state(found), ended], 60)).toEqual({ kind: 'finals', indices: [1] });
  });

  test('is no batch that takes the time of the finals', () => {
    const states = [state(found), state({ ...found, ratio: 3 }), state()];
    // Finals of two searches, and a batch with its finals.
    expect(next(states, 14)?.kind).toBe('batch');
    // Finals may take less time than expected, and leave time for a first batch.
    expect(next(states, 13)).toEqual({ kind: 'finals', indices: [1] });
    expect(next(states.slice(0, 2), 10)?.kind).toBe('batch');
    expect(next(states, 9)).toEqual({ kind: 'finals', indices: [1] });
  });

  test('is a first batch before finals of a small workload, which have no reserved time', () => {
    const hardly = state({ batches: 2, ratio: 1.04, programSeconds: 0.1, isOver: true });
    const states = [hardly, state(found), state()];
    expect(next(states, 60)).toEqual({ kind: 'batch', indices: [2] });
    // Finals, and a batch with its finals.
    expect(next(states, 10)).toEqual({ kind: 'batch', indices: [2] });
    expect(next([hardly, closed], 60)).toEqual({ kind: 'finals', indices: [0] });
  });

  test('is no batch of a workload that can save almost nothing', () => {
    const states = [closed, state({ ...found, isOver: true }), state({ programSeconds: 0.0001 })];
    expect(next(states, 60)).toEqual({ kind: 'finals', indices: [1] });
    expect(next([closed, state({ programSeconds: 0.0001 })], 60)).toBeNull();
  });

  test('is a decision without finals if nothing seems to be faster, unless the search is alone', () => {
    expect(next([state({ ...nothing, isOver: true }), closed], 60)).toEqual({
      kind: 'settle',
      indices: [0],
    });
    expect(next([state({ ...nothing, isOver: true })], 60)).toEqual({ kind: 'finals', indices: [0] });
  });

  test('does not exist after the time is spent and a workload is decided', () => {
    const little = state({ ...found, programSeconds: 0.2 });
    expect(next([little, closed], -1)).toBeNull();
    // Finals about a tenth of the program run in any case.
    expect(next([state(found), closed], -20)).toEqual({ kind: 'finals', indices: [0] });
    expect(next([{ ...little, finalsSeconds: 0.1 }, state(found), closed], -20)?.indices[0]).toBe(1);
    // A small budget decides one workload.
    expect(next([state(found), state()], -1)).toEqual({ kind: 'finals', indices: [0] });
    expect(next([state(), state()], 1)?.kind).toBe('batch');
    expect(next([closed, closed], 60)).toBeNull();
  });

  test('is finals if no more configurations may be tried', () => {
    expect(next([state(found), state()], 60, 1, false)).toEqual({ kind: 'finals', indices: [0] });
    expect(next([state(), state()], 60, 1, false)).toBeNull();
  });
});

describe('searches that are compiled at once', () => {
  const three = [1, 3, 2].map((programSeconds) => state({ programSeconds }));
  const begun = three.map((one) => ({ ...one, ...found }));

  test('are the next ones in their order', () => {
    expect(next(three, 60, 2)).toEqual({ kind: 'batch', indices: [1, 2] });
    expect(next(three, 60, 4)).toEqual({ kind: 'batch', indices: [1, 2, 0] });
    expect(next(three, 60, 1)).toEqual({ kind: 'batch', indices: [1] });
  });

  test('leave time for the batches and the finals of the chosen ones', () => {
    // Each keeps 4 s for its finals, and takes 2 s of compiling and timing.
    expect(next(begun, 16, 3)).toEqual({ kind: 'batch', indices: [1, 2] });
    expect(next(begun, 18, 3)).toEqual({ kind: 'batch', indices: [1, 2, 0] });
  });

  test('are all searches that are over, for their finals', () => {
    const ended = begun.map((one) => ({ ...one, isOver: true }));
    expect(next(ended, 60, 2)).toEqual({ kind: 'finals', indices: [1, 2] });
    // A batch is another step.
    expect(next([...ended, state()], 60, 9)).toEqual({ kind: 'finals', indices: [1, 2, 0] });
  });

  test('are only those with time for their finals', () => {
    expect(next(begun, 8, 3, false)).toEqual({ kind: 'finals', indices: [1, 2] });
  });

  test('are not several decisions without finals', () => {
    const over = state({ ...nothing, isOver: true });
    expect(next([over, over], 60, 2)).toEqual({ kind: 'settle', indices: [0] });
  });
});

test('a budget is shared evenly, with at least ten seconds for each workload', () => {
  expect([1, 3, 30].map((count) => shareOf(60, count))).toEqual([60, 20, 10]);
  expect(shareOf(4, 2)).toBe(4);
});
