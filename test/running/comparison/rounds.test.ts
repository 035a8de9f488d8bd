// Interleaved rounds of timing, and the choice of the fastest build.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildVariants } from '../../../src/running/comparison/build.ts';
import { effortFor, fastest, inRounds, timeBuilds } from '../../../src/running/comparison/rounds.ts';
import { temporaryDirectory } from '../../support/folders.ts';

describe('rounds', () => {
  test('repeats short calls more often', () => {
    expect([1e-5, 0.02, 0.05, 1, Infinity].map((seconds) => effortFor(seconds).repetitions)).toEqual([
      20, 10, 4, 3, 3,
    ]);
  });

  test('times each contestant once a round, in a changing order', async () => {
    const order: string[] = [];
    const rounds = await inRounds(['a', 'b', 'c'], { rounds: 4, seconds: 60 }, (one) => {
      order.push(one);
      return Promise.resolve(order.length);
    });
    expect(rounds.map((times) => [...times.keys()].sort().join(''))).toEqual(['abc', 'abc', 'abc', 'abc']);
    expect(new Set(order.join('').match(/.../g)).size).toBeGreaterThan(2);
    expect(rounds[0]!.get(order[0]!)).toBe(1);
  });

  test('ends after three rounds if more would exceed the time', async () => {
    const rounds = await inRounds(['a'], { rounds: 9, seconds: 0 }, () => Promise.resolve(1));
    expect(rounds).toHaveLength(3);
  });
});

describe('builds', () => {
  const folder = temporaryDirectory();
  const build = (name: string, code: string, error: string | null = null) => {
    const module = join(folder, name);
    if (error === null) writeFileSync(module, code);
    return { name, module, flags: [], seconds: 1, error };
  };
  const extent = { rounds: 3, seconds: 60 };

  test('with the same code are timed once', async () => {
    const timed: string[] = [];
    const all = [build('default', 'a'), build('O3', 'a'), build('im2col', 'b')];
    const times = await timeBuilds(
      all,
      (module) => () => {
        timed.push(module);
        return Promise.resolve(module.endsWith('im2col') ? 1 : 2);
      },
      extent,
    );
    expect(times).toMatchObject([
      { name: 'default', rounds: [2, 2, 2], sameCodeAs: null },
      { name: 'O3', rounds: [2, 2, 2], sameCodeAs: 'default' },
      { name: 'im2col', rounds: [1, 1, 1], sameCodeAs: null },
    ]);
    // Each code also runs ahead of the rounds.
    expect(timed).toHaveLength(2 * (1 + 3));
    expect(fastest(times)?.name).toBe('im2col');
  });

  test('that fail keep the reason, and do not run again', async () => {
    let calls = 0;
    const all = [build('default', 'a'), build('O3', 'c'), build('im2col', '', 'it takes more than 9 s')];
    const times = await timeBuilds(
      all,
      (module) => () => {
        if (!module.endsWith('O3')) return Promise.resolve(2);
        calls++;
        return Promise.reject(new Error('a crash'));
      },
      extent,
    );
    expect(times.slice(1)).toMatchObject([
      { error: 'a crash', rounds: null },
      { error: 'it takes more than 9 s', rounds: null },
    ]);
    expect(calls).toBe(1);
    expect(fastest(times)?.name).toBe('default');
    expect(fastest(times.slice(1))).toBeUndefined();
  });

  test.each([
    [[], ['O3', 'data tiling', 'O3, data tiling', 'im2col']],
    [['iree-opt-level'], ['data tiling', 'im2col']],
    [['iree-opt-data-tiling'], ['O3', 'im2col']],
    [['iree-global-opt-use-im2col-for-convs', 'iree-opt-level'], ['data tiling']],
  ])('leave out flags of the user: %j', async (given, names) => {
    const compile = () => Promise.resolve({ seconds: 1, error: null });
    const flags = given.map((name) => ({ name }));
    expect((await buildVariants(flags, compile, folder)).map(({ name }) => name)).toEqual(names);
  });
});
