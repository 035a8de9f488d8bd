import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { argv, expectStock, expectStockBuild, recordedWorkplace, workplace } from './support.ts';

describe('a cache', () => {
  // /proc refuses a new folder with ENOENT.
  test.each(['file/cache', '/proc/cache'])(
    'in %s that cannot be written gives a build without tuning',
    async (cache) => {
      const place = workplace();
      place.write('file', '');
      const env = { IREE_TUNED_CACHE: resolve(place.folder, cache) };
      const explanation = await expectStockBuild(place, env);
      expect(explanation.operations[0]!.reason).toMatch(/tuning failed/);
    },
  );

  test('that cannot be written after tuning gives a stock build', async () => {
    const place = await recordedWorkplace();
    await place.compile(argv);
    place.write('file', '');
    const env = { IREE_TUNED_CACHE: join(place.folder, 'file', 'cache') };
    const explanation = await expectStockBuild(place, env);
    expect(explanation.reason).toMatch(/tuning failed/);
  });

  test('with damaged files is written again', async () => {
    const place = await recordedWorkplace();
    const first = await place.explain(argv);
    for (const folder of ['cache', 'cache/plans']) {
      const files = readdirSync(place.path(folder)).filter((file) => file.endsWith('.json'));
      expect(files).not.toEqual([]);
      for (const file of files) place.write(`${folder}/${file}`, '{"identity": 3, "garbage');
    }
    const again = await place.explain(argv);
    expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: '' });
    expect(again.explanation.operations[0]!.configuration).toEqual(
      first.explanation.operations[0]!.configuration,
    );
  });
});

describe('settings', () => {
  test('with an invalid value give a build without tuning', async () => {
    const place = workplace();
    await expectStock(place, await place.compile(argv, { env: { IREE_TUNED_BUDGET: 'soon' } }));
  });

  test('with an explanation that cannot be written do not stop the build', async () => {
    const place = workplace();
    const env = { IREE_TUNED_EXPLAIN: join(place.folder, 'no', 'such', 'folder'), IREE_TUNED_BUDGET: '0' };
    expect((await place.compile(argv, { env })).code).toBe(0);
  });
});

describe('a home folder', () => {
  const homeless = {
    IREE_TUNED_DB: undefined,
    IREE_TUNED_CACHE: undefined,
    XDG_CACHE_HOME: undefined,
    XDG_DATA_HOME: undefined,
  };
  test('that cannot be created gives a build without tuning', async () => {
    const place = workplace();
    place.write('file', '');
    const explanation = await expectStockBuild(place, {
      ...homeless,
      HOME: join(place.folder, 'file', 'home'),
    });
    expect(explanation.operations[0]!.reason).toMatch(/cannot be written/);
  });
  test('that is missing is created', async () => {
    const place = workplace({ IREE_TUNED_BUDGET: '0' });
    await expectStockBuild(place, { ...homeless, HOME: place.path('home') });
    expect(readdirSync(place.path('home')).length).toBeGreaterThan(0);
  });
});

describe('a clock', () => {
  test('that jumps back and forth changes nothing', async () => {
    const place = await recordedWorkplace();
    // A day back, a day ahead, and a time before 1970.
    place.write(
      'jumping.mjs',
      `const Real = Date;
let calls = 0;
const now = () => [-864e5, 864e5, 0, -4e12][calls++ % 4] + Real.now();
globalThis.Date = class extends Real {
  constructor(...given) { given.length === 0 ? super(now()) : super(...given); }
  static now() { return now(); }
};
`,
    );
    const env = { NODE_OPTIONS: `--import=${place.path('jumping.mjs')}`, IREE_TUNED_BUDGET: '1' };
    for (const outcome of ['hit', 'hit']) {
      const { code, stderr, explanation } = await place.explain(argv, { env });
      expect({ code, stderr, outcome: explanation.operations[0]!.outcome }).toEqual({
        code: 0,
        stderr: '',
        outcome,
      });
      expect(explanation.seconds.total).toBeGreaterThan(0);
    }
  });
});
