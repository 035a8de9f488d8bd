import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bestSubset, judge, NO_TIME, UNCHECKED, WORSE, type ProgramRuns } from '../../src/program/judge.ts';
import type { SlowerWorkload } from '../../src/program/slower.ts';
import { because } from '../../src/system/reason.ts';

interface Fake {
  /** Workloads with wrong results. */
  readonly wrong?: readonly string[];
  /** Workloads that crash. */
  readonly failing?: readonly string[];
  /** Workloads whose dispatches are slower. */
  readonly seen?: readonly string[];
  /** Workloads that slow the program down elsewhere. */
  readonly slow?: readonly string[];
  /** Number of queries until the time is over. */
  readonly answers?: number;
  /** Why stock has no usable results. */
  readonly broken?: string;
}

/** Scripted runs of a program, with a log of the queries. */
function fake({ wrong = [], failing = [], seen = [], slow = [], answers = Infinity, broken }: Fake) {
  const asked: string[] = [];
  const isLate = (question: string) => asked.push(question) > answers;
  const has = (keys: readonly string[], some: readonly string[]) => keys.some((key) => some.includes(key));
  const runs: ProgramRuns = {
    compare: (keys) =>
      Promise.resolve(
        broken !== undefined
          ? { results: 'unknown', why: because('results-unknown', broken) }
          : isLate(`compare ${keys.join('')}`)
            ? { results: 'unknown', why: NO_TIME }
            : has(keys, failing)
              ? { results: 'failed', why: because('results-differ', 'it crashed') }
              : has(keys, wrong)
                ? { results: 'different', why: because('results-differ', 'result 0 is another one') }
                : { results: 'equal', why: null },
      ),
    slower: (keys) =>
      Promise.resolve(
        isLate(`slower ${keys.join('')}`)
          ? []
          : keys.filter((key) => seen.includes(key)).map((key) => slower(key)),
      ),
    ratio: (keys) =>
      Promise.resolve(isLate(`ratio ${keys.join('')}`) ? null : has(keys, [...seen, ...slow]) ? 0.72 : 1),
  };
  return { runs, asked };
}

const slower = (key: string, isCertain = true): SlowerWorkload => ({
  key,
  isCertain,
  comparison: { ratio: 0.72, low: 0.7, high: 0.74, seconds: [0.72e-3, 1e-3] },
});

const letters = ['a', 'b', 'c', 'd'];

test('a correct program that is no slower keeps all configurations after the fewest queries', async () => {
  const { runs, asked } = fake({});
  expect(await judge(letters, runs)).toEqual({ kept: letters, leftOut: [], open: null });
  expect(asked).toEqual(['compare abcd', 'slower abcd', 'compare abcd', 'ratio abcd']);
});

describe('a dispatch that is slower', () => {
  test('is also left out of a program without usable results', async () => {
    const broken = 'result 0 is not finite on random inputs';
    const { runs } = fake({ broken, seen: ['b'] });
    expect(await judge(letters, runs)).toMatchObject({
      kept: ['a', 'c', 'd'],
      leftOut: [{ key: 'b', mark: { kind: 'slower' } }],
      open: because('results-unknown', broken),
    });
  });

  test('is left out at once, and the rest is confirmed once', async () => {
    const { runs, asked } = fake({ seen: ['b', 'c'] });
    const { kept, leftOut, open } = await judge(letters, runs);
    expect({ kept, open }).toEqual({ kept: ['a', 'd'], open: null });
    const detail = 'its dispatches take 1.00 ms instead of 720 us';
    const mark = { kind: 'slower', reason: `in a program ${detail}` };
    expect(leftOut).toEqual(['b', 'c'].map((key) => ({ key, reason: `${WORSE}: ${detail}`, mark })));
    expect(asked).toEqual(['compare abcd', 'slower abcd', 'compare ad', 'ratio ad']);
  });

  test('gives no mark if the loss is not certain', async () => {
    const { runs } = fake({});
    const uncertain = { ...runs, slower: () => Promise.resolve([slower('a', false)]) };
    expect((await judge(['a', 'b'], uncertain)).leftOut).toMatchObject([{ key: 'a', mark: null }]);
  });

  test('leaves nothing to confirm if it is the only one', async () => {
    const { runs, asked } = fake({ seen: ['a'] });
    expect(await judge(['a'], runs)).toMatchObject({ kept: [], open: null });
    expect(asked).toEqual(['compare a', 'slower a']);
  });

  test('is also left out without time to confirm the rest', async () => {
    const { runs } = fake({ seen: ['b'], answers: 2 });
    expect(await judge(letters, runs)).toMatchObject({
      kept: ['a', 'c', 'd'],
      leftOut: [{ key: 'b' }],
      open: NO_TIME,
    });
  });
});

test('halving finds a loss outside of the dispatches, and marks nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.subarray(letters), async (slow) => {
      const { kept, leftOut, open } = await judge(letters, fake({ slow }).runs);
      expect(kept).toEqual(letters.filter((key) => !slow.includes(key)));
      expect(leftOut.map(({ key, mark }) => [key, mark])).toEqual(slow.map((key) => [key, null]));
      expect(open).toBeNull();
    }),
  );
});

describe('a configuration that changes code around its operations', () => {
  test('is suspected first if the program is slower without a slower dispatch', async () => {
    const { runs, asked } = fake({ slow: ['b'] });
    expect(await judge(letters, runs, ['b', 'd'])).toMatchObject({
      kept: ['a', 'c', 'd'],
      leftOut: [{ key: 'b', mark: null }],
      open: null,
    });
    // Keys keep their order, so that the runs find the earlier answer for the whole program.
    expect(asked.filter((one) => one.startsWith('ratio'))).toEqual([
      'ratio abcd',
      'ratio ac',
      'ratio abcd',
      'ratio abc',
      'ratio acd',
    ]);
  });

  test('is left out, and the others are kept, without time to test the others', async () => {
    const { runs } = fake({ slow: ['b'], answers: 4 });
    expect(await judge(letters, runs, ['b', 'd'])).toMatchObject({
      kept: ['a', 'c'],
      leftOut: [{ key: 'b' }, { key: 'd' }],
      open: NO_TIME,
    });
  });

  test('does not hide losses of the others', async () => {
    await fc.assert(
      fc.asyncProperty(fc.subarray(letters), fc.subarray(letters), async (slow, suspects) => {
        const { kept, open } = await judge(letters, fake({ slow }).runs, suspects);
        expect({ kept, open }).toEqual({ kept: letters.filter((key) => !slow.includes(key)), open: null });
      }),
    );
  });
});

test('a slower program without time for halving keeps nothing', async () => {
  const { runs } = fake({ slow: ['b'] });
  let ratios = 0;
  const hasty: ProgramRuns = {
    ...runs,
    ratio: (keys) => (ratios++ === 0 ? runs.ratio(keys) : Promise.resolve(null)),
  };
  const leftOut = letters.map((key) => ({ key, reason: UNCHECKED, mark: null }));
  expect(await judge(letters, hasty)).toMatchObject({ kept: [], open: null, leftOut });
});

describe('wrong results', () => {
  test('are found by halving, and a single culprit is marked', async () => {
    const { runs } = fake({ wrong: ['c'] });
    const detail = 'result 0 is another one';
    const mark = { kind: 'wrong-result', reason: `in a program ${detail}` };
    expect(await judge(letters, runs)).toEqual({
      kept: ['a', 'b', 'd'],
      leftOut: [{ key: 'c', reason: `${WORSE}: ${detail}`, mark }],
      open: null,
    });
  });

  test('of several configurations give no mark', async () => {
    const { leftOut } = await judge(letters, fake({ wrong: ['a', 'c'] }).runs);
    expect(leftOut.map(({ key, mark }) => [key, mark])).toEqual([
      ['a', null],
      ['c', null],
    ]);
  });

  test('of configurations that are correct alone give no mark', async () => {
    const { runs } = fake({});
    const together: ProgramRuns = {
      ...runs,
      compare: (keys) =>
        Promise.resolve(
          keys.includes('a') && keys.includes('b')
            ? { results: 'different', why: because('results-differ', 'result 0 is another one') }
            : { results: 'equal', why: null },
        ),
    };
    const { kept, leftOut } = await judge(['a', 'b'], together);
    expect(kept).toHaveLength(1);
    expect(leftOut).toMatchObject([{ reason: `${WORSE}: its results are wrong beside others`, mark: null }]);
  });

  test('leave out every configuration without time to test it', async () => {
    const { runs } = fake({ wrong: ['a'], answers: 1 });
    const { kept, leftOut, open } = await judge(letters, runs);
    expect({ kept, open }).toEqual({ kept: [], open: null });
    expect(leftOut).toEqual(letters.map((key) => ({ key, reason: UNCHECKED, mark: null })));
  });

  test('do not hide slower configurations', async () => {
    const { runs } = fake({ wrong: ['a'], seen: ['b'], slow: ['c'] });
    expect((await judge(letters, runs)).kept).toEqual(['d']);
  });
});

test('a configuration that crashes is left out and not marked, because the cause is unknown', async () => {
  const { leftOut } = await judge(letters, fake({ failing: ['d'] }).runs);
  expect(leftOut).toEqual([{ key: 'd', reason: `${WORSE}: it crashed`, mark: null }]);
});

test.each([
  [because('results-unknown', 'stock cannot be run'), { broken: 'stock cannot be run' }],
  [NO_TIME, { answers: 0 }],
  [NO_TIME, { answers: 3 }],
])('without an answer, because of %j, all configurations are kept and unproven', async (open, told) => {
  expect(await judge(letters, fake(told).runs)).toMatchObject({ kept: letters, leftOut: [], open });
});

describe('without usable results', () => {
  const broken = 'result 0 is not finite on random inputs';

  test('a slower configuration is still left out', async () => {
    const { runs } = fake({ broken, slow: ['c'] });
    const { kept, leftOut, open } = await judge(letters, runs);
    expect({ kept, open }).toEqual({ kept: ['a', 'b', 'd'], open: because('results-unknown', broken) });
    expect(leftOut).toMatchObject([{ key: 'c', mark: null }]);
  });

  test('and without times, the results are the reason', async () => {
    expect((await judge(letters, fake({ broken, answers: 0 }).runs)).open).toEqual(
      because('results-unknown', broken),
    );
  });
});

describe('the best subset', () => {
  /** Each harmful item halves the score. */
  const harmedBy = (harmful: readonly number[]) => {
    const asked: (readonly number[])[] = [];
    const scoreOf = (subset: readonly number[]) => {
      asked.push(subset);
      return Promise.resolve(subset.filter((item) => harmful.includes(item)).reduce((score) => score / 2, 1));
    };
    return { asked, scoreOf };
  };
  const items = (count: number) => Array.from({ length: count }, (_, i) => i);

  test('without a harmful item, one score is enough to keep all items', async () => {
    const { asked, scoreOf } = harmedBy([]);
    expect(await bestSubset(items(8), 0.98, scoreOf)).toEqual({ subset: items(8), score: 1 });
    expect(asked).toHaveLength(1);
  });

  test('exactly the harmful items are left out', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(11), { maxLength: 12 }), async (harmful) => {
        const { subset } = await bestSubset(items(12), 0.98, harmedBy(harmful).scoreOf);
        expect(subset).toEqual(items(12).filter((item) => !harmful.includes(item)));
      }),
    );
  });

  test('the better half is kept if the halves are good alone and bad together', async () => {
    const scoreOf = (subset: readonly number[]) =>
      Promise.resolve(subset.includes(0) && subset.includes(3) ? 0.5 : subset.includes(3) ? 2 : 1.5);
    expect(await bestSubset(items(4), 0.98, scoreOf)).toEqual({ subset: [2, 3], score: 2 });
  });

  test('one harmful item among many costs few scores', async () => {
    const { asked, scoreOf } = harmedBy([5]);
    await bestSubset(items(64), 0.98, scoreOf);
    expect(asked.length).toBeLessThan(24);
  });
});
