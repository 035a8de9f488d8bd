// In full after a change of src/wrapper/deliver.ts, src/wrapper/required.ts, src/system/cache.ts.
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { casesOfTier } from '../../support/needs.ts';
import { compiler } from '../../support/real-tools.ts';
import { HOST, withoutMatmul, argv } from '../support.ts';
import {
  expectStock,
  expectStockBuild,
  misbehavingCompiler,
  recordedWorkplace,
  workplace,
} from './support.ts';

describe('a cache', () => {
  // /proc refuses a new folder with ENOENT.
  test.each(casesOfTier(['file/cache', '/proc/cache'], 1))(
    'in %s that cannot be written gives a build without tuning',
    async (cache) => {
      const place = workplace();
      place.write('file', '');
      const env = { IREE_TUNED_CACHE: resolve(place.folder, cache) };
      const explanation = await expectStockBuild(place, env);
      expect(explanation.operations[0]!.code).toBe('internal-error');
    },
  );
});

describe('a cache without room for a module', () => {
  /** A compiler that finds no room on the disk of the cache, and the number of its runs for the user's output since the last call. */
  async function fullPlace(env: Record<string, string> = {}) {
    const place = await recordedWorkplace({ IREE_TUNED_BUDGET: '0', IREE_TUNED_OUTPUTS: 'off', ...env });
    const own = misbehavingCompiler(
      place,
      '*in.mlir*',
      `case "$*" in *--compile-to*) ;; *) echo x >>ran ;; esac
       case "$*" in *cache/work/output-*) exec '${compiler.executable}' "$@" -o /dev/full ;; esac`,
    );
    const runs = () => {
      const count = place.has('ran') ? place.read('ran').toString().length / 2 : 0;
      place.write('ran', '');
      return count;
    };
    return { place, env: own, runs };
  }

  test('delivers the tuned output, and later builds need one compile', async () => {
    const { place, env, runs } = await fullPlace();
    expect(await place.stock([...HOST, 'in.mlir', '-o', 'stock.vmfb'])).toMatchObject({ code: 0 });
    for (const expected of [2, 1, 1]) {
      place.write('out.vmfb', 'before');
      const { code, stderr, explanation } = await place.explain(argv, { env });
      expect({ code, stderr, reason: explanation.reason }).toEqual({ code: 0, stderr: '', reason: null });
      expect(explanation.route).toBe('spec');
      expect(place.read('out.vmfb').equals(place.read('stock.vmfb'))).toBe(false);
      expect(runs()).toBe(expected);
    }
  });

  test('is not needed for a new output', { tags: 'full' }, async () => {
    const { place, env, runs } = await fullPlace();
    expect(await place.compile(argv, { env })).toMatchObject({ code: 0, stderr: '' });
    expect([runs(), place.has('out.vmfb')]).toEqual([1, true]);
  });

  test.each(['landed', 'tuned'])(
    'does not refuse a build with require=%s',
    { tags: 'full' },
    async (require) => {
      const { place, env } = await fullPlace({ IREE_TUNED_REQUIRE: require });
      for (const state of ['new', 'known']) {
        const { code, stderr } = await place.compile(argv, { env });
        expect([state, code, stderr]).toEqual([state, 0, '']);
        expect(place.has('out.vmfb')).toBe(true);
      }
    },
  );

  test('does not refuse a build with a frozen lock file', { tags: 'full' }, async () => {
    const { place, env } = await fullPlace();
    await place.said(['lock', 'in.mlir', '--', ...HOST]);
    place.remove('cache');
    expect(await place.compile([...argv, '--iree-tuned-frozen'], { env })).toMatchObject({
      code: 0,
      stderr: '',
    });
    expect(place.has('out.vmfb')).toBe(true);
  });
});

test("the user's own command runs once, whether it succeeds or not", async () => {
  const place = workplace({ IREE_TUNED_BUDGET: '0' });
  place.write('in.mlir', withoutMatmul);
  const env = misbehavingCompiler(
    place,
    '*in.mlir*-o*out.vmfb*',
    `echo x >>ran; if [ -e fail ]; then echo 'error: no such thing' >&2; exit 3; fi`,
  );
  place.write('fail', '');
  expect(await place.compile(argv, { env })).toMatchObject({ code: 3, stderr: 'error: no such thing\n' });
  expect(place.read('ran').toString()).toBe('x\n');
  place.remove('fail');
  place.write('in.mlir', `// changed\n${withoutMatmul}`);
  await expectStockBuild(place, env);
  expect(place.read('ran').toString()).toBe('x\nx\n');
});

describe('settings', () => {
  test('with an invalid value give a build without tuning', async () => {
    const place = workplace();
    await expectStock(place, await place.compile(argv, { env: { IREE_TUNED_BUDGET: 'soon' } }));
  });

  test('with an explanation that cannot be written do not stop the build', { tags: 'full' }, async () => {
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
