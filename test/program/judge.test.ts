// Which configurations a program keeps, whatever running it says.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judge, NO_TIME, WORSE, type ProgramRuns } from '../../src/program/judge.ts';
import type { SlowerWorkload } from '../../src/program/slower.ts';
import { because } from '../../src/system/reason.ts';

interface Fake {
  /** Give wrong results. */
  readonly wrong?: readonly string[];
  /** Crash. */
  readonly failing?: readonly string[];
  /** Whose dispatches are seen to be slower. */
  readonly seen?: readonly string[];
  /** Make the program slower. */
  readonly slow?: readonly string[];
  /** So many questions are answered before the time is over. */
  readonly answers?: number;
  /** Why stock gives no results. */
  readonly broken?: string;
}

/** A program that answers as it is told, and what it was asked. */
function fake({ wrong = [], failing = [], seen = [], slow = [], answers = Infinity, broken }: Fake) {
  const asked: string[] = [];
  const isLate = (question: string) => asked.push(question) > answers;
  const has = (keys: readonly string[], some: readonly string[]) => keys.some((key) => some.includes(key));
  const runs: ProgramRuns = {
    compare: (keys) =>
      Promise.resolve(
        broken !== undefined
          ? { results: 'unknown', reason: broken }
          : isLate(`compare ${keys.join('')}`)
            ? { results: 'unknown', reason: NO_TIME.reason }
            : has(keys, failing)
              ? { results: 'failed', reason: 'it crashed' }
              : has(keys, wrong)
                ? { results: 'different', reason: 'result 0 is another one' }
                : { results: 'equal', reason: null },
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

test('a program that is right and no slower keeps everything, and is asked no more than it takes', async () => {
  const { runs, asked } = fake({});
  expect(await judge(letters, runs)).toEqual({ kept: letters, leftOut: [], open: null });
  expect(asked).toEqual(['compare abcd', 'slower abcd', 'compare abcd', 'ratio abcd']);
});

describe('a dispatch that is slower', () => {
  test('is left out of a program whose results say nothing, too', async () => {
    const broken = 'result 0 is not finite on made-up inputs';
    const { runs } = fake({ broken, seen: ['b'] });
    expect(await judge(letters, runs)).toMatchObject({
      kept: ['a', 'c', 'd'],
      leftOut: [{ key: 'b', mark: { kind: 'slower' } }],
      open: because('results-unknown', broken),
    });
  });

  test('is left out at once, and what is left is confirmed once', async () => {
    const { runs, asked } = fake({ seen: ['b', 'c'] });
    const { kept, leftOut, open } = await judge(letters, runs);
    expect({ kept, open }).toEqual({ kept: ['a', 'd'], open: null });
    const detail = 'its dispatches take 1.00 ms instead of 720 us';
    const mark = { kind: 'slower', reason: `in a program ${detail}` };
    expect(leftOut).toEqual(['b', 'c'].map((key) => ({ key, reason: `${WORSE}: ${detail}`, mark })));
    expect(asked).toEqual(['compare abcd', 'slower abcd', 'compare ad', 'ratio ad']);
  });

  test('is no reason for a mark where it is not the same dispatch for certain', async () => {
    const { runs } = fake({});
    const uncertain = { ...runs, slower: () => Promise.resolve([slower('a', false)]) };
    expect((await judge(['a', 'b'], uncertain)).leftOut).toMatchObject([{ key: 'a', mark: null }]);
  });

  test('leaves nothing to confirm where it is the only one', async () => {
    const { runs, asked } = fake({ seen: ['a'] });
    expect(await judge(['a'], runs)).toMatchObject({ kept: [], open: null });
    expect(asked).toEqual(['compare a', 'slower a']);
  });

  test('is left out, too, where there is no time to confirm the rest', async () => {
    const { runs } = fake({ seen: ['b'], answers: 2 });
    expect(await judge(letters, runs)).toMatchObject({
      kept: ['a', 'c', 'd'],
      leftOut: [{ key: 'b' }],
      open: NO_TIME,
    });
  });
});

test('what makes the program slower and cannot be seen is found by halving, and not marked', async () => {
  await fc.assert(
    fc.asyncProperty(fc.subarray(letters), async (slow) => {
      const { kept, leftOut, open } = await judge(letters, fake({ slow }).runs);
      expect(kept).toEqual(letters.filter((key) => !slow.includes(key)));
      expect(leftOut.map(({ key, mark }) => [key, mark])).toEqual(slow.map((key) => [key, null]));
      expect(open).toBeNull();
    }),
  );
});

describe('what changes the program around its operations', () => {
  test('is looked at first where the program is slower and nothing else says why', async () => {
    const { runs, asked } = fake({ slow: ['b'] });
    expect(await judge(letters, runs, ['b', 'd'])).toMatchObject({
      kept: ['a', 'c', 'd'],
      leftOut: [{ key: 'b', mark: null }],
      open: null,
    });
    // The whole was timed before: it is not asked for anew in another order.
    expect(asked.filter((one) => one.startsWith('ratio'))).toEqual([
      'ratio abcd',
      'ratio ac',
      'ratio abcd',
      'ratio abc',
      'ratio acd',
    ]);
  });

  test('is left out alone where there is no time to see whether the others are to blame', async () => {
    const { runs } = fake({ slow: ['b'], answers: 4 });
    expect(await judge(letters, runs, ['b', 'd'])).toMatchObject({
      kept: ['a', 'c'],
      leftOut: [{ key: 'b' }, { key: 'd' }],
      open: NO_TIME,
    });
  });

  test('is no excuse for the others', async () => {
    await fc.assert(
      fc.asyncProperty(fc.subarray(letters), fc.subarray(letters), async (slow, suspects) => {
        const { kept, open } = await judge(letters, fake({ slow }).runs, suspects);
        expect({ kept, open }).toEqual({ kept: letters.filter((key) => !slow.includes(key)), open: null });
      }),
    );
  });
});

test('a slower program for whose halving there is no time keeps nothing that is not known to be good', async () => {
  const { runs } = fake({ slow: ['b'] });
  let ratios = 0;
  const hasty: ProgramRuns = {
    ...runs,
    ratio: (keys) => (ratios++ === 0 ? runs.ratio(keys) : Promise.resolve(null)),
  };
  expect(await judge(letters, hasty)).toMatchObject({ kept: [], open: null });
});

describe('wrong results', () => {
  test('are found by halving, and the only one to blame is marked', async () => {
    const { runs } = fake({ wrong: ['c'] });
    const detail = 'result 0 is another one';
    const mark = { kind: 'wrong-result', reason: `in a program ${detail}` };
    expect(await judge(letters, runs)).toEqual({
      kept: ['a', 'b', 'd'],
      leftOut: [{ key: 'c', reason: `${WORSE}: ${detail}`, mark }],
      open: null,
    });
  });

  test('of several are no reason for a mark', async () => {
    const { leftOut } = await judge(letters, fake({ wrong: ['a', 'c'] }).runs);
    expect(leftOut.map(({ key, mark }) => [key, mark])).toEqual([
      ['a', null],
      ['c', null],
    ]);
  });

  test('of those that are right alone neither', async () => {
    const { runs } = fake({});
    const together: ProgramRuns = {
      ...runs,
      compare: (keys) =>
        Promise.resolve(
          keys.includes('a') && keys.includes('b')
            ? { results: 'different', reason: 'result 0 is another one' }
            : { results: 'equal', reason: null },
        ),
    };
    const { kept, leftOut } = await judge(['a', 'b'], together);
    expect(kept).toHaveLength(1);
    expect(leftOut).toMatchObject([{ mark: null }]);
  });

  test('leave nothing that there is no time to look at', async () => {
    const { runs } = fake({ wrong: ['a'], answers: 1 });
    const { kept, leftOut, open } = await judge(letters, runs);
    expect({ kept, open }).toEqual({ kept: [], open: null });
    expect(leftOut.every(({ mark }) => mark === null)).toBe(true);
  });

  test('do not hide what is slower', async () => {
    const { runs } = fake({ wrong: ['a'], seen: ['b'], slow: ['c'] });
    expect((await judge(letters, runs)).kept).toEqual(['d']);
  });
});

test('what crashes is left out, and not marked: nobody knows why it did', async () => {
  const { leftOut } = await judge(letters, fake({ failing: ['d'] }).runs);
  expect(leftOut).toEqual([{ key: 'd', reason: `${WORSE}: it crashed`, mark: null }]);
});

test.each([
  [because('results-unknown', 'stock cannot be run'), { broken: 'stock cannot be run' }],
  [NO_TIME, { answers: 0 }],
  [NO_TIME, { answers: 3 }],
])('without an answer, because of %j, everything is kept and the question stays open', async (open, told) => {
  expect(await judge(letters, fake(told).runs)).toMatchObject({ kept: letters, leftOut: [], open });
});

describe('where results say nothing', () => {
  const broken = 'result 0 is not finite on made-up inputs';

  test('what is slower is found and left out all the same', async () => {
    const { runs } = fake({ broken, slow: ['c'] });
    const { kept, leftOut, open } = await judge(letters, runs);
    expect({ kept, open }).toEqual({ kept: ['a', 'b', 'd'], open: because('results-unknown', broken) });
    expect(leftOut).toMatchObject([{ key: 'c', mark: null }]);
  });

  test('and there are no times either, they are the reason that nobody knows', async () => {
    expect((await judge(letters, fake({ broken, answers: 0 }).runs)).open).toEqual(
      because('results-unknown', broken),
    );
  });
});
