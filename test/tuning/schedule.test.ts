import { describe, expect, test } from 'vitest';
import { compiledAtOnce, nextStep, type SearchState } from '../../src/tuning/schedule.ts';

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
const found = { batches: 3, ratio: 1.5 };
const closed = state({ isClosed: true });
const nothing = { batches: 3, ratio: 1 };

describe('the next step', () => {
  test('is first a batch of the workload with most of the time', () => {
    const states = [1, 3, 2].map((programSeconds) => state({ programSeconds }));
    expect(nextStep(states, 60)).toEqual({ kind: 'batch', index: 1 });
  });

  test('is a first batch before a second batch of a workload with the same time', () => {
    expect(nextStep([state({ batches: 1, ratio: 1.5 }), state()], 60)?.index).toBe(1);
  });

  test('is another batch of a large workload before a first batch of a small one', () => {
    const little = state({ programSeconds: 0.02 });
    expect(nextStep([state({ batches: 1, ratio: 1.5 }), little], 60)?.index).toBe(0);
  });

  test('is a batch of a search that still finds gains', () => {
    const idle = state({ ...found, idle: 2 });
    expect(nextStep([idle, state(found)], 60)?.index).toBe(1);
  });

  test('is the finals of a search that is over', () => {
    const ended = state({ ...found, isOver: true });
    expect(nextStep([state(found), ended], 60)).toEqual({ kind: 'finals', index: 1 });
  });

  test('is no batch that takes the time of the finals', () => {
    const states = [state(found), state({ ...found, ratio: 3 }), state()];
    // Finals of two searches, and a batch with its finals.
    expect(nextStep(states, 14)?.kind).toBe('batch');
    // Finals may take less time than expected, and leave time for a first batch.
    expect(nextStep(states, 13)).toEqual({ kind: 'finals', index: 1 });
    expect(nextStep(states.slice(0, 2), 10)?.kind).toBe('batch');
    expect(nextStep(states, 9)).toEqual({ kind: 'finals', index: 1 });
  });

  test('is a first batch before finals of a small workload, which have no reserved time', () => {
    const hardly = state({ batches: 2, ratio: 1.04, programSeconds: 0.1, isOver: true });
    const states = [hardly, state(found), state()];
    expect(nextStep(states, 60)).toEqual({ kind: 'batch', index: 2 });
    // Finals, and a batch with its finals.
    expect(nextStep(states, 10)).toEqual({ kind: 'batch', index: 2 });
    expect(nextStep([hardly, closed], 60)).toEqual({ kind: 'finals', index: 0 });
  });

  test('is no batch of a workload that can save almost nothing', () => {
    const states = [closed, state({ ...found, isOver: true }), state({ programSeconds: 0.0001 })];
    expect(nextStep(states, 60)).toEqual({ kind: 'finals', index: 1 });
    expect(nextStep([closed, state({ programSeconds: 0.0001 })], 60)).toBeNull();
  });

  test('is a decision without finals if nothing seems to be faster, unless the search is alone', () => {
    expect(nextStep([state({ ...nothing, isOver: true }), closed], 60)).toEqual({
      kind: 'settle',
      index: 0,
    });
    expect(nextStep([state({ ...nothing, isOver: true })], 60)).toEqual({ kind: 'finals', index: 0 });
  });

  test('does not exist after the time is spent and a workload is decided', () => {
    const little = state({ ...found, programSeconds: 0.2 });
    expect(nextStep([little, closed], -1)).toBeNull();
    // Finals about a tenth of the program run in any case.
    expect(nextStep([state(found), closed], -20)).toEqual({ kind: 'finals', index: 0 });
    expect(nextStep([{ ...little, finalsSeconds: 0.1 }, state(found), closed], -20)?.index).toBe(1);
    // A small budget decides one workload.
    expect(nextStep([state(found), state()], -1)).toEqual({ kind: 'finals', index: 0 });
    expect(nextStep([state(), state()], 1)?.kind).toBe('batch');
    expect(nextStep([closed, closed], 60)).toBeNull();
  });

  test('is finals if no more configurations may be tried', () => {
    expect(nextStep([state(found), state()], 60, false)).toEqual({ kind: 'finals', index: 0 });
    expect(nextStep([state(), state()], 60, false)).toBeNull();
  });
});

describe('searches that are compiled at once', () => {
  const three = [1, 3, 2].map((programSeconds) => state({ programSeconds }));
  const batchOf = (index: number) => ({ kind: 'batch', index }) as const;

  test('are the next ones in their order', () => {
    expect(compiledAtOnce(three, batchOf(1), 60, 2)).toEqual([1, 2]);
    expect(compiledAtOnce(three, batchOf(1), 60, 4)).toEqual([1, 2, 0]);
    expect(compiledAtOnce(three, batchOf(1), 60, 1)).toEqual([1]);
  });

  test('leave time for the batches and the finals of the chosen ones', () => {
    const begun = [1, 3, 2].map((programSeconds) => state({ programSeconds, ...found }));
    // Each keeps 4 s for its finals, and takes 2 s of compiling and timing.
    expect(compiledAtOnce(begun, batchOf(1), 16, 3)).toEqual([1, 2, 0].slice(0, 2));
    expect(compiledAtOnce(begun, batchOf(1), 18, 3)).toEqual([1, 2, 0]);
  });

  test('end before a search whose finals come first', () => {
    const ended = state({ ...found, isOver: true, programSeconds: 2 });
    expect(compiledAtOnce([state({ programSeconds: 3 }), ended, state()], batchOf(0), 60, 3)).toEqual([0]);
  });

  test('are all searches that are over, for their finals', () => {
    const ended = [1, 3, 2].map((programSeconds) => state({ programSeconds, ...found, isOver: true }));
    const first = nextStep(ended, 60)!;
    expect(first).toEqual({ kind: 'finals', index: 1 });
    expect(compiledAtOnce(ended, first, 60, 2)).toEqual([1, 2]);
  });

  test('are only those with time for their finals', () => {
    const begun = [1, 3, 2].map((programSeconds) => state({ programSeconds, ...found }));
    const first = nextStep(begun, 8, false)!;
    expect(first).toEqual({ kind: 'finals', index: 1 });
    expect(compiledAtOnce(begun, first, 8, 3, false)).toEqual([1, 2]);
  });
});
