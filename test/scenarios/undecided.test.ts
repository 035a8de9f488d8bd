// Undecided workloads are tuned once, and again with more time or a new runtime.
// In full after a change of src/tuning/undecided.ts, src/store/claim.ts.
import { mkdirSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { giveAnswers } from '../support/answers.ts';
import { rememberingCompiler } from '../support/remembering-compiler.ts';
import { fakeTools } from '../tuning/fake-tools.ts';
import { expectStock, recordedWorkplace, workplace } from './faults/support.ts';
import { casesOfTier } from '../support/needs.ts';
import { decisionsOf, hasOpen, rowsOf, type Workplace, WRAPPER, argv } from './support.ts';
import { readExplanation } from '../support/explain-schema.ts';

const PATIENT = { timeout: 50_000 };

/** Tools that compile everything except candidates: candidates fail, or are measured at once. */
function quickTools(place: Workplace) {
  place.write('tried', '');
  const real = `case "$*" in */work/tuning-*) echo x >>tried ;; *) exec '${rememberingCompiler}' "$@" ;; esac`;
  const setting = (name: string, deed: string) => {
    mkdirSync(place.path(name));
    const { compiler } = fakeTools(place.path(name), { compiler: deed });
    giveAnswers(place.path('cache'), compiler);
    return { IREE_TUNED_COMPILER: compiler };
  };
  let before = 0;
  return {
    refusing: setting('refusing', `${real}\nexit 1`),
    measuring: setting('measuring', real),
    /** Whether the compiler got candidates since the last call. */
    wasTried: () => {
      const now = place.read('tried').length;
      const isMore = now > before;
      before = now;
      return isMore;
    },
  };
}

/** Number of commands to replay. */
const replays = (place: Workplace) => readdirSync(place.path('cache/replays')).length;

/** Nothing is open, so that the second of two equal commands is a replay. */
async function expectReplay(place: Workplace, env: Readonly<Record<string, string>>) {
  const before = replays(place);
  for (let i = 0; i < 2; i++) expect((await place.compile(argv, { env })).code).toBe(0);
  expect(replays(place)).toBe(before + 1);
}

const UNDECIDED = ['default: undecided'];

test(
  'an undecided workload is tried once per budget, and again on request',
  { tags: 'full', timeout: 240_000 },
  async () => {
    const place = workplace({ IREE_TUNED_BUDGET: '8' });
    const { refusing: env, measuring, wasTried } = quickTools(place);
    const build = async (budget: string) => {
      const result = await place.explain(argv, { env: { ...env, IREE_TUNED_BUDGET: budget } });
      await expectStock(place, result);
      return result.explanation;
    };
    expect(decisionsOf(await build('8'))).toEqual(UNDECIDED);
    expect(wasTried()).toBe(true);
    for (const budget of casesOfTier(['8.5', '0', '8', '3'], 2)) {
      const explanation = await build(budget);
      expect(decisionsOf(explanation)).toEqual(UNDECIDED);
      expect(explanation.seconds.tuning).toBe(0);
    }
    expect(wasTried()).toBe(false);

    await expectReplay(place, env);
    const explained = await place.tuned(['explain', 'in.mlir'], { env });
    expect(explained.stdout).toMatch(/default: cannot be decided: /);
    expect(wasTried()).toBe(false);

    expect(decisionsOf(await build('12'))).toEqual(UNDECIDED);
    expect(wasTried()).toBe(true);
    await build('12');
    expect(wasTried()).toBe(false);

    const tuned = await place.tuned(['tune', 'in.mlir', '--budget', '3'], { env });
    expect({ code: tuned.code, stderr: tuned.stderr }).toEqual({ code: 1, stderr: '' });
    expect(tuned.stdout).toMatch(/cannot be decided/);
    expect(wasTried()).toBe(true);
    // Less time than before gives no new result.
    await build('12');
    expect(wasTried()).toBe(false);

    // The same compiler without the fault. A larger budget would run the program, whose verdict depends on the machine.
    const again = ['tune', 'in.mlir', '--budget', '14', '--trials', '1'];
    await place.said(again, { env: measuring });
    const { explanation } = await place.explain(argv, { env });
    expect(explanation.operations).toMatchObject([{ outcome: 'hit' }]);
    expect(rowsOf(place, 'undecided')).toBe(0);
  },
);

test(
  'an unfinished search is continued by later builds, until it has had their whole budget',
  { timeout: 240_000 },
  async () => {
    const place = await recordedWorkplace({ IREE_TUNED_BUDGET: '5' });
    const { measuring: env, wasTried } = quickTools(place);
    const build = async (budget: string, more: Record<string, string> = {}) =>
      decisionsOf(await place.built(argv, { env: { ...env, IREE_TUNED_BUDGET: budget, ...more } }));
    const nothing = ['hit: search-unfinished'];
    place.inDatabase((database) =>
      database.exec(`UPDATE claim SET configuration = '{"version":1,"kind":"default"}', ratio = 1, low = 1, high = 1,
        complete = 0, tuning_seconds = 4.25`),
    );
    expect(await build('5')).toEqual(nothing);
    expect(await build('0')).toEqual(nothing);
    expect(await build('14', { IREE_TUNED_ON_MISS: 'default' })).toEqual(nothing);
    // A workload without another try makes a replay possible.
    await expectReplay(place, env);
    expect(wasTried()).toBe(false);

    expect(await build('14')).toEqual(['tuned: faster']);
    expect(wasTried()).toBe(true);
    expect(await build('14')).toEqual(['hit: faster']);
    expect(wasTried()).toBe(false);
  },
);

test('concurrent builds try it once', { timeout: 240_000, tags: 'full' }, async () => {
  // A build with a quarter more time tries again, so a slow start must be a small part of the budget.
  const place = workplace({ IREE_TUNED_BUDGET: '3000' });
  const tools = fakeTools(place.folder, {
    compiler: `case "$*" in */work/tuning-*) ;; *) exec '${rememberingCompiler}' "$@" ;; esac
echo x >>tried
while [ -e hold ]; do sleep 0.05; done
exit 1`,
  });
  const build = (name: string) =>
    place.start(WRAPPER, [...argv, '-o', `${name}.vmfb`], {
      env: { IREE_TUNED_COMPILER: tools.compiler, IREE_TUNED_EXPLAIN: `${name}.json` },
    });
  // The survey is cached by now: both builds begin with the wait for the measuring lock.
  await place.compile(argv, { env: { IREE_TUNED_COMPILER: tools.compiler, IREE_TUNED_BUDGET: '1' } });
  const attempts = () => place.columnOf<number>('SELECT attempts FROM undecided')[0] ?? 0;
  // Zero if the machine left the first build no time.
  const before = attempts();
  place.write('tried', '');
  place.write('hold', '');
  const builds = ['a', 'b', 'c'].map(build);
  // One build tries, and the others wait for it.
  await expect
    .poll(() => builds.map(({ child }) => hasOpen(child.pid!, place.database)), PATIENT)
    .toEqual([true, true, true]);
  await expect.poll(() => place.read('tried').length, PATIENT).toBeGreaterThan(0);
  place.remove('hold');
  const results = await Promise.all(builds.map(({ ended }) => ended));
  expect(results.map(({ code }) => code)).toEqual([0, 0, 0]);
  for (const name of ['a', 'b', 'c'])
    expect(decisionsOf(readExplanation(place.read(`${name}.json`).toString()))).toEqual(UNDECIDED);
  expect(attempts()).toBe(before + 1);
});
