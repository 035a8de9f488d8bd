import { expect, test } from 'vitest';
import { judge, type ComparedResults } from '../../src/program/judge.ts';
import { independentRuns, NOT_MEASURED, type ProgramsRun } from '../../src/program/runs.ts';
import type { SlowerWorkload } from '../../src/program/slower.ts';
import { because } from '../../src/system/reason.ts';

const ALL = ['a', 'b', 'c'];

/** Runs of a program in which `b` is slower, with a log of the queries. */
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
        return Promise.resolve({
          results: isEqual ? 'equal' : results,
          why: isEqual ? null : because('results-differ'),
        });
      },
      slower(keys) {
        note('slower', keys);
        return Promise.resolve(keys.includes('b') ? [slower] : []);
      },
      ratio(keys) {
        note('ratio', keys);
        return Promise.resolve(1);
      },
      measured: (keys) => ({
        ...NOT_MEASURED,
        functions: [
          {
            ...{ name: keys.join(''), equal: results === 'equal' || !keys.includes('c') },
            ...{ maxError: 0, compared: null, reason: null, timing: null },
          },
        ],
      }),
    },
  };
}

test('a program with correct results runs only with all configurations', async () => {
  const { runs, asked } = runsOf('equal');
  const { kept, leftOut, open } = await judge(ALL, independentRuns(ALL, runs));
  expect({ kept, open, left: leftOut.map(({ key }) => key) }).toEqual({
    kept: ['a', 'c'],
    open: null,
    left: ['b'],
  });
  expect(asked.every((one) => one.endsWith('abc'))).toBe(true);
});

test('a program with wrong results also runs with subsets of its configurations', async () => {
  const { runs, asked } = runsOf('different');
  const { kept } = await judge(ALL, independentRuns(ALL, runs));
  expect(kept).not.toContain('c');
  expect(asked).toContain('compare ab');
});

test.each([
  ['equal', 'abc'],
  ['different', 'ab'],
] as const)(
  'the verdicts on a subset, where all configurations give %s results, are of %s',
  (results, name) => {
    const { functions } = independentRuns(ALL, runsOf(results).runs).measured(['a', 'b']);
    expect(functions).toMatchObject([{ name, equal: true }]);
  },
);
