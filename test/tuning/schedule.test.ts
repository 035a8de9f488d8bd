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

describe('what is done next', () => {
  test('is what most of the program is spent in, at first', () => {
    const states = [1, 3, 2].map((programSeconds) => state({ programSeconds }));
    expect(nextStep(states, 60)).toEqual({ kind: 'batch', index: 1 });
  });

  test('is a first look before a second one at what takes no longer', () => {
    expect(nextStep([state({ batches: 1, ratio: 1.5 }), state()], 60)?.index).toBe(1);
  });

  test('is another look at what takes most of the time, before a first one at what hardly counts', () => {
    const little = state({ programSeconds: 0.02 });
    expect(nextStep([state({ batches: 1, ratio: 1.5 }), little], 60)?.index).toBe(0);
  });

  test('is what still gets better, before what does not', () => {
    const idle = state({ ...found, idle: 2 });
    expect(nextStep([idle, state(found)], 60)?.index).toBe(1);
  });

  test('is the decision about what can get no better, while time is left for the others', () => {
    const ended = state({ ...found, isOver: true });
    expect(nextStep([state(found), ended], 60)).toEqual({ kind: 'finals', index: 1 });
  });

  test('is no look that takes the time for the decisions', () => {
    const states = [state(found), state({ ...found, ratio: 3 }), state()];
    // Two decisions, and then a look and a decision more.
    expect(nextStep(states, 14)?.kind).toBe('batch');
    // Nor one that hardly counts, as long as the decisions may leave time for a first one.
    expect(nextStep(states, 13)).toEqual({ kind: 'finals', index: 1 });
    expect(nextStep(states.slice(0, 2), 10)?.kind).toBe('batch');
    expect(nextStep(states, 9)).toEqual({ kind: 'finals', index: 1 });
  });

  test('is a first look before the decision about what hardly matters, for which no time is kept', () => {
    const hardly = state({ batches: 2, ratio: 1.04, programSeconds: 0.1, isOver: true });
    const states = [hardly, state(found), state()];
    expect(nextStep(states, 60)).toEqual({ kind: 'batch', index: 2 });
    // A decision, and a look and a decision more.
    expect(nextStep(states, 10)).toEqual({ kind: 'batch', index: 2 });
    expect(nextStep([hardly, closed], 60)).toEqual({ kind: 'finals', index: 0 });
  });

  test('is no look at what can hardly save anything', () => {
    const states = [closed, state({ ...found, isOver: true }), state({ programSeconds: 0.0001 })];
    expect(nextStep(states, 60)).toEqual({ kind: 'finals', index: 1 });
    expect(nextStep([closed, state({ programSeconds: 0.0001 })], 60)).toBeNull();
  });

  test('takes no finals where nothing seems to be faster and others want the time', () => {
    expect(nextStep([state({ ...nothing, isOver: true }), closed], 60)).toEqual({
      kind: 'settle',
      index: 0,
    });
    expect(nextStep([state({ ...nothing, isOver: true })], 60)).toEqual({ kind: 'finals', index: 0 });
  });

  test('is nothing more once the time is spent and something is decided', () => {
    const little = state({ ...found, programSeconds: 0.2 });
    expect(nextStep([little, closed], -1)).toBeNull();
    // What took too long must not cost the decision about a tenth of the program.
    expect(nextStep([state(found), closed], -20)).toEqual({ kind: 'finals', index: 0 });
    expect(nextStep([{ ...little, finalsSeconds: 0.1 }, state(found), closed], -20)?.index).toBe(1);
    // Whoever gives some time gets something for it.
    expect(nextStep([state(found), state()], -1)).toEqual({ kind: 'finals', index: 0 });
    expect(nextStep([state(), state()], 1)?.kind).toBe('batch');
    expect(nextStep([closed, closed], 60)).toBeNull();
  });

  test('is a decision where nothing more may be tried', () => {
    expect(nextStep([state(found), state()], 60, false)).toEqual({ kind: 'finals', index: 0 });
    expect(nextStep([state(), state()], 60, false)).toBeNull();
  });
});

describe('what is compiled at once', () => {
  const three = [1, 3, 2].map((programSeconds) => state({ programSeconds }));
  const batchOf = (index: number) => ({ kind: 'batch', index }) as const;

  test('is what would be next, one after the other, and nothing twice', () => {
    expect(compiledAtOnce(three, batchOf(1), 60, 2)).toEqual([1, 2]);
    expect(compiledAtOnce(three, batchOf(1), 60, 4)).toEqual([1, 2, 0]);
    expect(compiledAtOnce(three, batchOf(1), 60, 1)).toEqual([1]);
  });

  test('leaves time for the batch and the finals of what is chosen already', () => {
    const begun = [1, 3, 2].map((programSeconds) => state({ programSeconds, ...found }));
    // Each keeps 4 s for its finals, and takes 2 s of compiling and timing.
    expect(compiledAtOnce(begun, batchOf(1), 16, 3)).toEqual([1, 2, 0].slice(0, 2));
    expect(compiledAtOnce(begun, batchOf(1), 18, 3)).toEqual([1, 2, 0]);
  });

  test('is no batch of what comes to its decision first', () => {
    const ended = state({ ...found, isOver: true, programSeconds: 2 });
    expect(compiledAtOnce([state({ programSeconds: 3 }), ended, state()], batchOf(0), 60, 3)).toEqual([0]);
  });

  test('is all that comes to its decision, where nothing more is tried', () => {
    const ended = [1, 3, 2].map((programSeconds) => state({ programSeconds, ...found, isOver: true }));
    const first = nextStep(ended, 60)!;
    expect(first).toEqual({ kind: 'finals', index: 1 });
    expect(compiledAtOnce(ended, first, 60, 2)).toEqual([1, 2]);
  });

  test('is only what there is time to decide', () => {
    const begun = [1, 3, 2].map((programSeconds) => state({ programSeconds, ...found }));
    const first = nextStep(begun, 8, false)!;
    expect(first).toEqual({ kind: 'finals', index: 1 });
    expect(compiledAtOnce(begun, first, 8, 3, false)).toEqual([1, 2]);
  });
});
