import { expect, test } from 'vitest';
import { independentRuns } from '../../src/program/independent.ts';
import { judge, type ComparedResults } from '../../src/program/judge.ts';
import type { ProgramsRun } from '../../src/program/runs.ts';
import type { SlowerWorkload } from '../../src/program/slower.ts';

const ALL = ['a', 'b', 'c'];

/** Runs of a program in which `b` is slower, and a note of what was asked. */
function runsOf(results: ComparedResults['results']): {
  readonly runs: ProgramsRun;
  readonly asked: string[];
} {
  const asked: string[] = [];
  const note = (what: string, keys: readonly string[]) => asked.push(`${what} ${keys.join('')}`);
  const slower: SlowerWorkload = {
    key: 'b',
    comparison: { ratio: 0.5, low: 0.4, high: 0.6, seconds: [1, 2] },
    isCertain: true,
  };
  return {
    asked,
    runs: {
      compare(keys) {
        note('compare', keys);
        const isEqual = results === 'equal' || !keys.includes('c');
        return Promise.resolve({ results: isEqual ? 'equal' : results, reason: isEqual ? null : 'no' });
      },
      slower(keys) {
        note('slower', keys);
        return Promise.resolve(keys.includes('b') ? [slower] : []);
      },
      ratio(keys) {
        note('ratio', keys);
        return Promise.resolve(1);
      },
      verdictsOf: () => [],
      comparedIn: () => [],
      secondsIn: () => new Map(),
      stockSecondsBeside: () => new Map(),
    },
  };
}

test('a program that is right with all of them is run with all of them alone', async () => {
  const { runs, asked } = runsOf('equal');
  const { kept, leftOut, open } = await judge(ALL, independentRuns(ALL, runs));
  expect({ kept, open, left: leftOut.map(({ key }) => key) }).toEqual({
    kept: ['a', 'c'],
    open: null,
    left: ['b'],
  });
  expect(asked.every((one) => one.endsWith('abc'))).toBe(true);
});

test('one that is wrong is run with some of them, as any program', async () => {
  const { runs, asked } = runsOf('different');
  const { kept } = await judge(ALL, independentRuns(ALL, runs));
  expect(kept).not.toContain('c');
  expect(asked).toContain('compare ab');
});
